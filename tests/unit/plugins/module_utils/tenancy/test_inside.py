# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Inside a namespace: contributors as KFAM makes them, pull secrets, defaults for pods, limits, network policy."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from ansible_collections.kubeflow.platform.plugins.module_utils.tenancy import contributors, desired, inside, live
from ansible_collections.kubeflow.platform.plugins.module_utils.tenancy.live import Live
from ansible_collections.kubeflow.platform.plugins.module_utils.tenancy.model import Contributor, Subject
from ansible_collections.kubeflow.platform.tests.unit.tenants import (
    KINDS,
    PLATFORM,
    actions,
    apply,
    decided,
    settled,
    stored,
    tenant,
)

BOB, CAROL = {"name": "bob@example.com"}, {"name": "carol@example.com", "role": "view"}
BOBS = "user-bob-example-com-clusterrole-edit"
PEM = "-----BEGIN CERTIFICATE-----\nTUlJ\n-----END CERTIFICATE-----\n"
EVERYTHING: dict[str, Any] = {
    "contributors": [BOB, CAROL, {"kind": "Group", "name": "science", "role": "edit"}],
    "image_pull_secrets": ["registry", "other"],
    "limits": {"default": {"cpu": "1000m"}, "min": {"memory": "1Gi"}, "max": {"cpu": "4"}},
    "network_policy": {"isolated": True},
    "pod_defaults": {
        "pip_index": {"url": "https://pypi.example.com/simple", "extra_urls": ["https://b.example.com"], "trusted_hosts": ["b"]},
        "ca": {"certificate": PEM},
        "proxy": {"http": "http://proxy:3128", "no_proxy": ".svc"},
        "own": [{"name": "mine", "spec": {"selector": {"matchLabels": {"mine": "true"}}, "env": [{"name": "A", "value": "1"}]}}],
    },
}


def test_everything_is_unchanged_when_it_is_decided_again() -> None:
    wanted = tenant(**EVERYTHING)
    state = settled(wanted)
    assert actions(decided(wanted, state)) == []
    assert actions(decided(wanted, state, authoritative=True)) == []


# -- contributors


def test_a_contributor_is_written_exactly_as_kfam_writes_one() -> None:
    row = Contributor(Subject("User", "Bob.B@example.com"), "view")
    assert desired.binding("team-a", row) == {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "RoleBinding",
        "metadata": {
            "name": "user-bob-b-example-com-clusterrole-view",
            "namespace": "team-a",
            "annotations": {"role": "view", "user": "Bob.B@example.com"},
        },
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "kubeflow-view"},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "Bob.B@example.com"}],
    }
    policy = desired.policy("team-a", row, PLATFORM, "security.istio.io/v1")
    assert policy["metadata"] == desired.binding("team-a", row)["metadata"]
    assert policy["spec"] == {
        "rules": [
            {
                "from": [
                    {
                        "source": {
                            "principals": [
                                "cluster.local/ns/istio-system/sa/istio-ingressgateway-service-account",
                                "cluster.local/ns/kubeflow/sa/ml-pipeline-ui",
                            ]
                        }
                    }
                ],
                "when": [{"key": "request.headers[kubeflow-userid]", "values": ["Bob.B@example.com"]}],
            }
        ]
    }


def test_a_group_gets_one_binding_that_kfam_does_not_list() -> None:
    decision = decided(tenant(contributors=[{"kind": "Group", "name": "science"}]), settled(tenant()))
    (create,) = decision.changes
    assert create.identity.kind == "RoleBinding"
    assert "annotations" not in create.body["metadata"]
    assert create.body["subjects"] == [{"apiGroup": "rbac.authorization.k8s.io", "kind": "Group", "name": "science"}]


def test_contributors_that_the_data_does_not_name_are_reported_and_left() -> None:
    state = settled(tenant(contributors=[BOB, CAROL]))
    decision = decided(tenant(contributors=[BOB]), state)
    assert decision.changes == []
    assert decision.unnamed == ["carol@example.com (view)"]


def test_contributors_that_the_data_does_not_name_are_removed_when_it_is_authoritative() -> None:
    state = settled(tenant(contributors=[BOB, CAROL, {"kind": "Group", "name": "science"}]))
    decision = decided(tenant(contributors=[BOB]), state, authoritative=True)
    assert sorted(actions(decision)) == [
        "delete AuthorizationPolicy team-a/user-carol-example-com-clusterrole-view",
        "delete RoleBinding team-a/group-science-clusterrole-edit",
        "delete RoleBinding team-a/user-carol-example-com-clusterrole-view",
    ]
    assert {change.uid for change in decision.changes} != {""}


def test_contributors_are_left_when_the_data_says_nothing_of_any() -> None:
    state = settled(tenant(contributors=[BOB]))
    decision = decided(tenant(), state, authoritative=True)
    assert decision.changes == []
    assert decision.unnamed == ["bob@example.com (edit)"]


def test_a_person_has_only_the_role_that_the_data_gives() -> None:
    state = settled(tenant(contributors=[BOB]))
    decision = decided(tenant(contributors=[{**BOB, "role": "view"}]), state)
    assert sorted(actions(decision)) == [
        "create AuthorizationPolicy team-a/user-bob-example-com-clusterrole-view",
        "create RoleBinding team-a/user-bob-example-com-clusterrole-view",
        f"delete AuthorizationPolicy team-a/{BOBS}",
        f"delete RoleBinding team-a/{BOBS}",
    ]
    assert decision.unnamed == []


@pytest.mark.parametrize("half", ["bindings", "policies"])
def test_a_contributor_is_completed_when_half_of_it_is_missing(half: str) -> None:
    wanted = tenant(contributors=[BOB])
    state = settled(wanted)
    del getattr(state, half)[BOBS]
    (create,) = decided(wanted, state).changes
    assert (create.action, create.name) == ("create", BOBS)


def test_an_edited_contributor_is_mended() -> None:
    wanted = tenant(contributors=[BOB])
    state = settled(wanted)
    state.bindings[BOBS]["subjects"].append({"kind": "User", "name": "x"})
    state.bindings[BOBS]["metadata"]["annotations"]["role"] = "kubeflow-edit"
    state.policies[BOBS]["spec"] = {"rules": [{}]}
    after = apply(state, decided(wanted, state).changes)
    assert actions(decided(wanted, after)) == []
    assert len(after.bindings[BOBS]["subjects"]) == 1


def test_a_binding_with_another_role_is_made_anew() -> None:
    wanted = tenant(contributors=[BOB])
    state = settled(wanted)
    state.bindings[BOBS]["roleRef"] = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"}
    (change,) = decided(wanted, state).changes
    assert (change.action, change.uid) == ("recreate", state.bindings[BOBS]["metadata"]["uid"])


def test_a_collision_with_a_live_contributor_is_refused_with_both_named() -> None:
    state = settled(tenant(contributors=[{"name": "a.b@example.com"}]))
    other = tenant(contributors=[{"name": "a-b@example.com"}])
    (error,) = decided(other, state).findings.errors
    assert "a.b@example.com" in error
    assert "a-b@example.com" in error
    replaced = apply(state, decided(other, state, authoritative=True).changes)
    assert "a.b@example.com" not in repr(replaced)
    assert actions(decided(other, replaced, authoritative=True)) == []


def odd_state() -> Live:
    state = settled(tenant(contributors=[BOB]))
    grant = {"roleRef": {"kind": "ClusterRole", "name": "kubeflow-edit"}}
    notes = {"user": "dave@example.com", "role": "edit"}
    two = [{"kind": "User", "name": "dave@example.com"}, {"kind": "User", "name": "x"}]
    state.bindings["two"] = stored({"metadata": {"name": "two", "annotations": notes}, "subjects": two, **grant})
    state.bindings["hashed"] = stored({"metadata": {"name": "hashed", "annotations": notes}, "subjects": two[:1], **grant})
    state.policies["orphan"] = stored({"metadata": {"name": "orphan", "annotations": notes}, "spec": {}})
    return state


def test_what_kfam_cannot_read_is_told_and_removed_only_when_the_data_is_authoritative() -> None:
    state = odd_state()
    decision = decided(tenant(contributors=[BOB]), state)
    assert decision.changes == []
    assert len(decision.unnamed) == 3
    names = {change.name for change in decided(tenant(contributors=[BOB]), state, authoritative=True).changes}
    assert names == {"two", "hashed", "orphan"}


def test_a_person_under_a_strange_name_is_moved_to_the_right_one() -> None:
    wanted = tenant(contributors=[BOB, {"name": "dave@example.com"}])
    state = odd_state()
    after = apply(state, decided(wanted, state).changes)
    assert {"two", "hashed"}.isdisjoint(after.bindings)
    assert "orphan" not in after.policies
    assert contributors.told(after) == (
        [Contributor(Subject("User", "bob@example.com"), "edit"), Contributor(Subject("User", "dave@example.com"), "edit")],
        [],
    )


# -- one contributor alone


def one(state: Live, name: str, role: str, *, absent: bool = False) -> Any:
    return contributors.one(state, Subject("User", name), role, KINDS, PLATFORM, absent=absent)


def test_one_contributor_gets_exactly_one_role_and_others_stay() -> None:
    state = settled(tenant(contributors=[BOB, CAROL]))
    after = apply(state, one(state, "bob@example.com", "view").changes)
    assert [str(row) for row in contributors.told(after)[0]] == ["bob@example.com (view)", "carol@example.com (view)"]
    assert one(after, "bob@example.com", "view").changes == []


@pytest.mark.parametrize(("role", "left"), [("", 0), ("view", 1), ("edit", 1), ("admin", 2)])
def test_one_contributor_loses_the_role_that_is_named_or_every_one(role: str, left: int) -> None:
    state = settled(tenant(contributors=[BOB, {**BOB, "role": "view"}]))
    after = apply(state, one(state, "bob@example.com", role, absent=True).changes)
    assert len(contributors.told(after)[0]) == left
    assert len(after.policies) == left + 1


def test_one_contributor_is_refused_when_there_is_no_profile_or_it_is_the_owner() -> None:
    assert "Make it with the module profile" in one(Live("team-a"), "bob@example.com", "edit").findings.errors[0]
    assert "is its owner" in one(settled(tenant()), "alice@example.com", "edit").findings.errors[0]
    assert one(Live("team-a"), "bob@example.com", "", absent=True).changes == []
    assert one(settled(tenant()), "alice@example.com", "", absent=True).changes == []


# -- pull secrets


def test_pull_secrets_are_added_beside_those_of_others_and_only_ours_are_taken_away() -> None:
    state = settled(tenant())
    for account in state.accounts.values():
        account["imagePullSecrets"] = [{"name": "default-dockercfg-x"}]
    state = settled(tenant(image_pull_secrets=["a", "b"]), state)
    assert inside.pull_secrets(state.accounts[live.EDITOR]) == ["default-dockercfg-x", "a", "b"]
    state = settled(tenant(image_pull_secrets=["b"]), state)
    assert inside.pull_secrets(state.accounts[live.VIEWER]) == ["default-dockercfg-x", "b"]
    state = settled(tenant(image_pull_secrets=[]), state)
    assert inside.pull_secrets(state.accounts[live.EDITOR]) == ["default-dockercfg-x"]
    assert inside.PULL_NOTE not in repr(state.accounts)
    assert actions(decided(tenant(image_pull_secrets=[]), state)) == []


# -- content


def test_limits_hold_what_the_server_would_add() -> None:
    obj = desired.limits(tenant(limits=EVERYTHING["limits"]))
    assert obj is not None
    assert obj["spec"]["limits"] == [
        {
            "type": "Container",
            "max": {"cpu": "4"},
            "min": {"memory": "1Gi"},
            "default": {"cpu": "1000m"},
            "defaultRequest": {"memory": "1Gi", "cpu": "1000m"},
        }
    ]


def test_limits_are_the_same_when_the_server_wrote_amounts_otherwise() -> None:
    wanted = tenant(limits=EVERYTHING["limits"])
    state = settled(wanted)
    assert state.limits is not None
    state.limits["spec"]["limits"][0]["default"]["cpu"] = "1"
    assert actions(decided(wanted, state)) == []
    state.limits["spec"]["limits"][0]["default"]["cpu"] = "2"
    assert actions(decided(wanted, state)) == ["configure LimitRange team-a/kubeflow-platform-limits"]


@pytest.mark.parametrize("key", ["limits", "network_policy", "pod_defaults"])
def test_what_is_managed_is_removed_by_an_empty_value_and_left_by_none(key: str) -> None:
    state = settled(tenant(**{key: EVERYTHING[key]}))
    assert actions(decided(tenant(), state)) == []
    decision = decided(tenant(**{key: {}}), state)
    assert {change.action for change in decision.changes} == {"delete"}
    assert actions(decided(tenant(**{key: {}}), apply(state, decision.changes))) == []


def test_a_network_policy_lets_in_the_tenant_and_the_platform() -> None:
    obj = desired.network_policy(tenant(network_policy={"isolated": True}))
    assert obj is not None
    (rule,) = obj["spec"]["ingress"]
    (expression,) = rule["from"][0]["namespaceSelector"]["matchExpressions"]
    assert expression["values"] == ["istio-system", "knative-serving", "kubeflow", "team-a"]
    assert desired.network_policy(tenant(network_policy={"isolated": False})) is None


def test_an_own_network_policy_is_unchanged_when_the_server_added_its_defaults() -> None:
    spec = {"ingress": [], "egress": [{"ports": [{"port": 53}], "to": []}]}
    assert desired.with_defaults(spec) == {
        "podSelector": {},
        "policyTypes": ["Ingress", "Egress"],
        "egress": [{"ports": [{"protocol": "TCP", "port": 53}], "to": []}],
    }


def test_pod_defaults_of_others_stay_and_ours_go_when_the_data_drops_them() -> None:
    state = settled(tenant(pod_defaults=EVERYTHING["pod_defaults"]))
    assert KINDS.pod_defaults is not None
    state.pod_defaults["theirs"] = stored({"metadata": {"name": "theirs"}, "spec": {"selector": {"matchLabels": {"a": "b"}}}})
    decision = decided(tenant(pod_defaults={"proxy": EVERYTHING["pod_defaults"]["proxy"]}), state)
    assert sorted(actions(decision)) == [
        "delete ConfigMap team-a/kubeflow-platform-ca",
        "delete PodDefault team-a/kubeflow-platform-ca",
        "delete PodDefault team-a/kubeflow-platform-pip-index",
        "delete PodDefault team-a/mine",
    ]


def test_a_pod_default_is_mended_without_touching_what_the_server_added() -> None:
    wanted = tenant(pod_defaults=EVERYTHING["pod_defaults"])
    state = settled(wanted)
    state.pod_defaults["mine"]["spec"]["env"][0]["protocol"] = "TCP"
    assert actions(decided(wanted, state)) == []
    edited = copy.deepcopy(state)
    edited.pod_defaults["mine"]["spec"]["command"] = ["x"]
    edited.pod_defaults["mine"]["spec"]["env"][0]["value"] = "2"
    (patch,) = decided(wanted, edited).changes
    assert patch.body == {"spec": {"command": None, "env": [{"name": "A", "value": "1"}]}}


def test_every_preset_can_be_chosen_in_the_notebook_form() -> None:
    state = settled(tenant(**EVERYTHING))
    assert all(obj["spec"]["selector"]["matchLabels"] for obj in state.pod_defaults.values())
