# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Profile, namespace and owner: what is done, in which order, and what is refused."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from ansible_collections.kubeflow.platform.plugins.module_utils.tenancy import changes, live, readiness
from ansible_collections.kubeflow.platform.plugins.module_utils.tenancy.decide import SET_LABEL, TOUCH
from ansible_collections.kubeflow.platform.plugins.module_utils.tenancy.live import Live
from ansible_collections.kubeflow.platform.plugins.module_utils.tenancy.model import Subject
from ansible_collections.kubeflow.platform.tests.unit.tenants import (
    PLATFORM,
    actions,
    apply,
    controlled,
    decided,
    namespace,
    settled,
    stored,
    tenant,
)

ALICE, EVE = "alice@example.com", "eve@example.com"


def test_a_new_tenant_needs_a_profile_only_when_the_data_says_no_more() -> None:
    decision = decided(tenant(), Live("team-a"))
    assert actions(decision) == ["create Profile team-a"]
    assert decision.changes[0].body["spec"] == {"owner": {"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": ALICE}}


def test_nothing_is_done_when_a_tenant_is_as_wanted() -> None:
    wanted = tenant(quota={"cpu": "1000m"}, labels={"a": "b"}, pod_security="baseline")
    state = settled(wanted)
    assert actions(decided(wanted, state)) == []
    assert readiness.missing(state, PLATFORM) == []


# -- a namespace that is there already (T28)


def adopt(notes: dict[str, str], *, asked: bool, **metadata: Any) -> tuple[list[str], list[str]]:
    state = Live("team-a", namespace=namespace(annotations=notes, **metadata))
    decision = decided(tenant(adopt=asked), state)
    return actions(decision), decision.findings.errors


@pytest.mark.parametrize(("notes", "said"), [({}, "names no owner"), ({"owner": ALICE}, "names the same owner")])
def test_an_existing_namespace_is_taken_only_when_asked(notes: dict[str, str], said: str) -> None:
    done, (error,) = adopt(notes, asked=False)
    assert done == []
    assert said in error
    assert "adopt: true" in error
    done, errors = adopt(notes, asked=True)
    assert errors == []
    assert [text.split()[1] for text in done] == ["Namespace", "Profile"]


def test_an_existing_namespace_is_refused_when_another_owner_is_noted() -> None:
    for asked in (False, True):
        done, (error,) = adopt({"owner": "mallory@example.com"}, asked=asked)
        assert done == []
        assert "names mallory@example.com, not alice@example.com" in error


@pytest.mark.parametrize(
    ("metadata", "word"),
    [
        ({"labels": {SET_LABEL: "kubeflow"}}, "belongs to the platform"),
        ({"ownerReferences": [{"kind": "Tenant", "name": "t", "uid": "1", "controller": True}]}, "controlled by Tenant t"),
        ({"deletionTimestamp": "2026-01-01T00:00:00Z"}, "being deleted"),
    ],
)
def test_an_existing_namespace_is_refused_when_it_is_not_free(metadata: dict[str, Any], word: str) -> None:
    done, (error,) = adopt({}, asked=True, **metadata)
    assert done == []
    assert word in error


def test_an_adopted_namespace_gets_what_the_controller_leaves_out() -> None:
    state = Live("team-a", namespace=namespace(labels={"x": "y"}))
    patch, create = decided(tenant(adopt=True), state).changes
    assert patch.action == "adopt"
    assert patch.body == {"metadata": {"annotations": {"owner": ALICE}, "labels": {"istio-injection": "enabled"}}}
    assert (patch.stage, create.stage) == (changes.NAMESPACE, changes.PROFILE)


def test_the_mesh_label_comes_back_when_somebody_removed_it() -> None:
    state = settled(tenant())
    assert state.namespace is not None
    del state.namespace["metadata"]["labels"]["istio-injection"]
    (patch,) = decided(tenant(), state).changes
    assert patch.body == {"metadata": {"labels": {"istio-injection": "enabled"}}}


@pytest.mark.parametrize("label", ["istio-injection", "istio.io/rev", "istio.io/dataplane-mode"])
def test_the_mesh_label_is_left_alone_when_somebody_decided_otherwise(label: str) -> None:
    state = settled(tenant())
    assert state.namespace is not None
    del state.namespace["metadata"]["labels"]["istio-injection"]
    state.namespace["metadata"]["labels"][label] = "other"
    assert actions(decided(tenant(), state)) == []


def test_a_dying_profile_is_not_written_to() -> None:
    state = settled(tenant())
    assert state.profile is not None
    state.profile["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    decision = decided(tenant(quota={"cpu": "1"}), state)
    assert decision.changes == []
    assert "waiting for profile-finalizer" in decision.findings.errors[0]


# -- another owner


def test_a_hand_over_changes_namespace_profile_and_what_kfam_lists_by() -> None:
    state = settled(tenant())
    decision = decided(tenant(owner=EVE), state)
    assert actions(decision) == [
        "hand over Namespace team-a",
        "hand over Profile team-a",
        "hand over RoleBinding team-a/namespaceAdmin",
        "hand over AuthorizationPolicy team-a/ns-owner-access-istio",
    ]
    after = controlled(apply(state, decision.changes))
    assert readiness.missing(after, PLATFORM) == []
    assert ALICE not in repr([after.namespace, after.profile, after.bindings, after.policies])
    assert actions(decided(tenant(owner=EVE), after)) == []


def test_a_hand_over_is_not_ready_while_kfam_still_lists_the_old_owner() -> None:
    state = settled(tenant())
    done = [change for change in decided(tenant(owner=EVE), state).changes if change.stage != changes.INSIDE]
    after = controlled(apply(state, done))
    said = [row.what for row in readiness.missing(after, PLATFORM)]
    assert f"the annotation user of RoleBinding namespaceAdmin names {ALICE}" in said
    assert f"the annotation user of AuthorizationPolicy ns-owner-access-istio names {ALICE}" in said


def test_an_owner_whom_kfam_does_not_list_is_noted_again() -> None:
    state = settled(tenant())
    state.bindings[live.OWNER_BINDING]["metadata"]["annotations"] = {"role": "owner"}
    assert readiness.missing(state, PLATFORM)
    (patch,) = decided(tenant(), state).changes
    assert patch.body == {"metadata": {"annotations": {"role": "admin", "user": ALICE}}}


@pytest.mark.parametrize("sent", [1, 2, 3])
def test_an_interrupted_hand_over_is_finished_when_run_again(sent: int) -> None:
    state = settled(tenant())
    state = controlled(apply(state, decided(tenant(owner=EVE), state).changes[:sent]))
    decision = decided(tenant(owner=EVE), state)
    assert decision.findings.errors == []
    after = controlled(apply(state, decision.changes))
    assert readiness.missing(after, PLATFORM) == []
    assert after.owner == Subject("User", EVE)


def test_a_profile_edited_by_hand_is_brought_in_order_when_the_namespace_is_its_own() -> None:
    state = settled(tenant())
    assert state.profile is not None
    state.profile["spec"]["owner"]["name"] = EVE
    stuck = controlled(state)
    assert any("names alice@example.com, not eve@example.com" in row.what for row in readiness.missing(stuck, PLATFORM))
    decision = decided(tenant(owner=EVE), stuck)
    assert [change.identity.kind for change in decision.changes] == ["Namespace", "Profile", "RoleBinding", "AuthorizationPolicy"]
    # Nothing in the Profile's spec differs, and the controller looks at Profiles that change only.
    assert decision.changes[1].body == {"metadata": {"annotations": {TOUCH: "1"}}}
    assert readiness.missing(controlled(apply(stuck, decision.changes)), PLATFORM) == []


def test_a_profile_over_a_foreign_namespace_is_refused() -> None:
    state = Live("team-a", namespace=namespace(annotations={"owner": "mallory@example.com"}))
    state.profile = stored({"metadata": {"name": "team-a"}, "spec": {"owner": {"kind": "User", "name": ALICE}}})
    assert "belongs to another owner" in decided(tenant(), state).findings.errors[0]


def test_another_kind_of_owner_replaces_the_whole_subject() -> None:
    state = settled(tenant(owner={"kind": "ServiceAccount", "name": "x", "namespace": "ci"}))
    (patch,) = [change for change in decided(tenant(owner={"name": "x@example.com"}), state).changes if change.stage == changes.PROFILE]
    assert patch.after["spec"]["owner"] == {"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "x@example.com"}


# -- quota


def test_a_quota_is_compared_by_amount_and_loses_the_names_that_the_data_drops() -> None:
    state = settled(tenant(quota={"cpu": "1", "memory": "1Gi"}))
    assert actions(decided(tenant(quota={"cpu": "1000m", "memory": "1024Mi"}), state)) == []
    (patch,) = decided(tenant(quota={"cpu": "2"}), state).changes
    assert patch.body == {"spec": {"resourceQuotaSpec": {"hard": {"cpu": "2", "memory": None}}}}
    after = controlled(apply(state, [patch]))
    assert after.quota is not None
    assert after.quota["spec"]["hard"] == {"cpu": "2"}


def test_a_quota_is_removed_by_an_empty_one_and_left_alone_by_none() -> None:
    state = settled(tenant(quota={"cpu": "1"}))
    assert actions(decided(tenant(), state)) == []
    after = controlled(apply(state, decided(tenant(quota={}), state).changes))
    assert after.quota is None
    assert actions(decided(tenant(quota={}), after)) == []


def test_a_quota_edited_by_hand_is_mended_by_making_the_controller_look() -> None:
    wanted = tenant(quota={"cpu": "1"})
    state = settled(wanted)
    for drifted in ({"spec": {"hard": {"cpu": "99"}}}, None):
        bad = copy.deepcopy(state)
        bad.quota = drifted
        assert readiness.missing(bad, PLATFORM)
        (patch,) = decided(wanted, bad).changes
        assert patch.body == {"metadata": {"annotations": {TOUCH: "1"}}}
        after = controlled(apply(bad, [patch]))
        assert readiness.missing(after, PLATFORM) == []
        assert actions(decided(wanted, after)) == []


# -- labels


def test_labels_are_set_and_removed_one_by_one() -> None:
    state = settled(tenant(labels={"a": "1", "b": "2"}))
    (patch,) = decided(tenant(labels={"a": "9", "b": None, "c": None}, annotations={"n": "x"}, pod_security="restricted"), state).changes
    assert patch.body == {
        "metadata": {
            "labels": {"a": "9", "b": None, "pod-security.kubernetes.io/enforce": "restricted"},
            "annotations": {"n": "x"},
        }
    }
    assert patch.stage == changes.NAMESPACE


def test_whatever_the_namespace_is_to_have_is_a_patch_and_never_an_apply() -> None:
    state = Live("team-a", namespace=namespace())
    for decision in (decided(tenant(adopt=True, labels={"a": "b"}), state), decided(tenant(labels={"a": "b"}), Live("team-a"))):
        assert {change.verb for change in decision.changes if change.identity.kind == "Namespace"} == {"patch"}


@pytest.mark.parametrize(
    ("broken", "word"),
    [
        ("accounts", "ServiceAccount default-editor"),
        ("bindings", "RoleBinding namespaceAdmin"),
        ("policies", "AuthorizationPolicy ns-owner-access-istio"),
        ("namespace", "Namespace team-a"),
        ("profile", "Profile team-a"),
        ("artifacts", "Secret mlpipeline-minio-artifact"),
    ],
)
def test_a_tenant_is_not_ready_when_something_of_the_controllers_is_missing(broken: str, word: str) -> None:
    state = settled(tenant())
    setattr(state, broken, type(getattr(state, broken))() if broken not in ("namespace", "profile") else None)
    owed = readiness.missing(state, PLATFORM)
    assert word in [row.what for row in owed]
    text = readiness.explain("team-a", owed, {readiness.PROFILES: "0 of 1", readiness.PIPELINES: "gone"}, 12.0)
    assert "not ready after 12 s" in text
    assert ("the pipelines' profile controller" in text) == (broken == "artifacts")
    assert ("the profile controller did not act (0 of 1)" in text) == (broken != "artifacts")


def test_a_namespace_without_pipelines_owes_none() -> None:
    state = settled(tenant())
    assert state.namespace is not None
    state.artifacts = set()
    state.namespace["metadata"]["labels"]["pipelines.kubeflow.org/enabled"] = "false"
    assert readiness.missing(state, PLATFORM) == []


def test_an_object_is_kept_small_when_it_is_read() -> None:
    obj = {"metadata": {"name": "x", "uid": "1", "managedFields": [{}], "generation": 3}, "spec": {"a": [1]}, "status": {"b": 1}}
    assert live.compact(obj) == {"metadata": {"name": "x", "uid": "1"}, "spec": {"a": [1]}}
