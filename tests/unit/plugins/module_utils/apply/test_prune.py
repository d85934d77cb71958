# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What may be deleted, and what never is."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.ledger import Entry, Ledger
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.protected import PROTECTED_KINDS
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.prune import Circumstances, Decision, decide, order
from ansible_collections.kubeflow.platform.plugins.module_utils.objects.identity import Identity, identify
from hypothesis import given
from hypothesis import strategies as st

MINE = {
    "manager": "kubeflow.platform",
    "operation": "Apply",
    "apiVersion": "v1",
    "time": "2026-11-30T10:00:00Z",
    "fieldsV1": {"f:data": {"f:a": {}}},
}


def config_map(name: str, namespace: str = "n") -> Identity:
    return Identity("", "ConfigMap", namespace, name)


def metadata(uid: str = "u", **changes: Any) -> dict[str, Any]:
    return {"uid": uid, "resourceVersion": "7", "labels": {"kubeflow.platform/set": "kubeflow"}, "managedFields": [MINE], **changes}


def entry(component: str = "katib", uid: str = "u", **changes: Any) -> Entry:
    return replace(Entry(component, "hash", uid, "own", created=True), **changes)


KEPT = {config_map(f"kept-{number}"): entry(uid=f"k{number}") for number in range(20)}
ALL = Circumstances(components=frozenset({"katib", "pipelines"}))


def judge(identity: Identity, recorded: Entry, live: dict[str, Any] | None, circumstances: Circumstances = ALL, **more: Any) -> Decision:
    """Decide about one object beside twenty that stay."""
    ledger = Ledger("kubeflow", entries={**KEPT, identity: recorded})
    found = {identity: live} if live is not None else {}
    (decision,) = decide(ledger, frozenset(KEPT), found, circumstances, **more)
    return decision


OLD = config_map("old")


def test_an_object_that_left_the_render_is_pruned_with_its_uid() -> None:
    decision = judge(OLD, entry(), metadata())
    assert (decision.action, decision.uid, decision.resource_version) == ("prune", "u", "7")
    assert decision.reason == "no longer part of katib"


def test_nothing_is_decided_about_desired_objects_and_objects_outside_the_scope() -> None:
    ledger = Ledger("kubeflow", entries={**KEPT, OLD: entry("pipelines")})
    assert decide(ledger, frozenset(KEPT), {OLD: metadata()}, replace(ALL, scope=frozenset({"katib"}))) == []


def test_release_b_without_three_objects_deletes_one_and_keeps_the_claim_and_the_crd() -> None:
    claim = Identity("", "PersistentVolumeClaim", "n", "minio-pvc")
    crd = Identity("apiextensions.k8s.io", "CustomResourceDefinition", "", "tfjobs.kubeflow.org")
    outsider = config_map("same-label-but-never-recorded")
    ledger = Ledger("kubeflow", entries={config_map("stays"): entry(), OLD: entry(), claim: entry(), crd: entry()})
    live = {OLD: metadata(), claim: metadata(), crd: metadata(), outsider: metadata()}
    found = {row.identity: row for row in decide(ledger, frozenset({config_map("stays")}), live, ALL)}
    assert found[OLD].action == "prune"
    assert found[claim].action == found[crd].action == "keep"
    assert found[claim].reason.startswith("protected")
    assert outsider not in found


@pytest.mark.parametrize(
    ("recorded", "live", "words"),
    [
        (entry(), metadata(uid="another"), "made another"),
        (entry(), metadata(labels={}), "does not carry the label"),
        (entry(), metadata(labels={"kubeflow.platform/set": "other"}), "does not carry the label"),
        (entry(), metadata(managedFields=[]), "manages none of its fields"),
        (entry(uid=""), metadata(), "never confirmed"),
    ],
)
def test_an_object_that_is_not_ours_in_every_respect_is_left_as_foreign(recorded: Entry, live: dict[str, Any], words: str) -> None:
    decision = judge(OLD, recorded, live)
    assert decision.action == "foreign"
    assert words in decision.reason


def test_an_object_that_is_gone_is_only_forgotten() -> None:
    assert judge(OLD, entry(), None).action == "gone"


def test_an_object_whose_kind_could_not_be_read_is_neither_gone_nor_pruned() -> None:
    assert judge(OLD, entry(), None, replace(ALL, unreadable=frozenset({("", "ConfigMap")}))).action == "keep"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"failed": True}, "the run had failures"),
        ({"components": frozenset({"pipelines"})}, "component katib is recorded, but neither selected nor named"),
        ({"release_changed": True, "scope": frozenset({"katib"})}, "may have moved"),
    ],
)
def test_a_doubt_about_the_run_keeps_everything(changes: dict[str, Any], words: str) -> None:
    decision = judge(OLD, entry(), metadata(), replace(ALL, **changes))
    assert decision.action == "keep"
    assert words in decision.reason


def test_a_component_that_was_removed_by_name_is_pruned_however_big() -> None:
    ledger = Ledger("kubeflow", entries={**KEPT, config_map("stays"): entry("pipelines", "s")})
    live = {identity: metadata(recorded.uid) for identity, recorded in KEPT.items()}
    given_up = Circumstances(components=frozenset({"pipelines"}), removed=frozenset({"katib"}), scope=frozenset({"pipelines"}))
    found = decide(ledger, frozenset({config_map("stays")}), live, given_up)
    assert [row.action for row in found] == ["prune"] * 20


def test_an_empty_desired_set_prunes_nothing() -> None:
    ledger = Ledger("kubeflow", entries=KEPT)
    live = {identity: metadata(recorded.uid) for identity, recorded in KEPT.items()}
    found = decide(ledger, frozenset(), live, replace(ALL, removed=frozenset({"katib"})))
    assert {row.reason for row in found} == {"nothing at all is desired"}


def test_a_render_that_shrank_a_lot_is_doubted_unless_the_limit_is_raised() -> None:
    ledger = Ledger("kubeflow", entries=KEPT)
    live = {identity: metadata(recorded.uid) for identity, recorded in KEPT.items()}
    rest = frozenset(list(KEPT)[:15])
    found = decide(ledger, rest, live, ALL)
    assert {row.action for row in found} == {"keep"}
    assert "5 of 20 recorded objects are no longer rendered, which is more than 20%" in found[0].reason
    assert {row.action for row in decide(ledger, rest, live, ALL, shrink_limit=0.3)} == {"prune"}


def test_a_custom_resource_that_the_set_adopted_is_kept_and_one_that_it_made_is_not() -> None:
    route = Identity("networking.istio.io", "VirtualService", "n", "centraldashboard")
    assert judge(route, entry(created=False), metadata()).action == "keep"
    assert judge(route, entry(), metadata()).action == "prune"
    named = replace(ALL, named=frozenset({("VirtualService", "centraldashboard")}))
    assert judge(route, entry(created=False), metadata(), named).action == "prune"


SECRET = Identity("", "Secret", "n", "oauth2-proxy-h675gf55ht")


@pytest.mark.parametrize(
    ("identity", "recorded", "changes", "words"),
    [
        (OLD, entry(created=False), {"managedFields": [MINE, {**MINE, "manager": "terraform"}]}, "terraform holds fields"),
        (OLD, entry(created=False), {"managedFields": [MINE, {**MINE, "manager": "kubectl-edit"}]}, "kubectl-edit holds fields"),
        (config_map("kube-root-ca.crt"), entry(), {}, "the cluster made it"),
        (
            OLD,
            entry(),
            {"labels": {"kubeflow.platform/set": "kubeflow", "kubernetes.io/bootstrapping": "rbac-defaults"}},
            "the cluster made it",
        ),
    ],
)
def test_an_object_that_was_there_before_and_belongs_to_others_too_is_kept(
    identity: Identity, recorded: Entry, changes: dict[str, Any], words: str
) -> None:
    decision = judge(identity, recorded, metadata(**changes))
    assert decision.action == "keep"
    assert words in decision.reason


def test_an_object_that_was_adopted_whole_is_pruned_like_our_own() -> None:
    assert judge(OLD, entry(created=False), metadata()).action == "prune"


def test_a_secret_that_holds_credentials_is_kept_whatever_its_hash() -> None:
    credentials = replace(ALL, credentials=frozenset({Identity("", "Secret", "n", "oauth2-proxy-2456789bcd")}))
    assert judge(SECRET, entry(), metadata(), credentials).action == "keep"
    assert judge(SECRET, entry(), metadata()).action == "prune"


def test_a_secret_that_a_controller_filled_is_kept_since_it_may_hold_a_key() -> None:
    filled = {"manager": "jobset-manager", "operation": "Update", "fieldsV1": {"f:data": {".": {}, "f:ca.key": {}}}}
    decision = judge(SECRET, entry(), metadata(managedFields=[MINE, filled]))
    assert decision.action == "keep"
    assert "jobset-manager wrote data" in decision.reason


@pytest.mark.parametrize("kind", [("", "Namespace"), ("apiextensions.k8s.io", "CustomResourceDefinition"), ("", "PersistentVolumeClaim")])
def test_what_contains_others_goes_only_by_name_and_when_it_is_proved_to_be_empty(kind: tuple[str, str]) -> None:
    identity = Identity(kind[0], kind[1], "", "x")
    named = replace(ALL, named=frozenset({(kind[1], "x")}))
    assert judge(identity, entry(), metadata(), named).action == "keep"
    assert judge(identity, entry(), metadata(), replace(named, unused=frozenset({identity}))).action == "prune"


def test_an_object_waits_for_its_replacement() -> None:
    new = config_map("kept-1")
    waiting = replace(ALL, replacements={OLD: [new]}, unready=frozenset({new}))
    assert judge(OLD, entry(), metadata(), waiting).reason == "its replacement is not ready yet: ConfigMap n/kept-1"
    assert judge(OLD, entry(), metadata(), replace(waiting, unready=frozenset())).action == "prune"


def test_one_object_under_two_api_groups_is_not_pruned() -> None:
    twin = config_map("kept-1")
    ledger = Ledger("kubeflow", entries={**KEPT, OLD: entry(uid="same")})
    (decision,) = decide(ledger, frozenset(KEPT), {OLD: metadata("same"), twin: metadata("same")}, ALL)
    assert decision.action == "keep"


def test_pods_go_before_what_they_use_and_guards_before_everything() -> None:
    rows = [
        Identity("", "Namespace", "", "n"),
        Identity("apiextensions.k8s.io", "CustomResourceDefinition", "", "c"),
        Identity("rbac.authorization.k8s.io", "ClusterRole", "", "r"),
        Identity("", "Service", "n", "s"),
        Identity("apps", "Deployment", "n", "d"),
        Identity("networking.istio.io", "VirtualService", "n", "v"),
        Identity("admissionregistration.k8s.io", "MutatingWebhookConfiguration", "", "m"),
    ]
    assert order(rows) == rows[::-1]
    assert judge(rows[4], entry(), metadata()).propagation == "Foreground"
    assert judge(rows[3], entry(), metadata()).propagation == "Background"


KINDS = [("", "ConfigMap"), ("apps", "Deployment"), ("networking.istio.io", "VirtualService"), *sorted(PROTECTED_KINDS)]
identities = st.builds(lambda kind, name: Identity(kind[0], kind[1], "n", name), st.sampled_from(KINDS), st.sampled_from("abcdef"))
records = st.dictionaries(
    identities, st.builds(entry, st.sampled_from(["katib", "pipelines", "dex"]), st.sampled_from(["", "u", "v"])), max_size=25
)
lives = st.dictionaries(
    identities,
    st.builds(
        lambda uid, label, mine: metadata(uid, labels={"kubeflow.platform/set": label}, managedFields=[MINE] if mine else []),
        st.sampled_from("uv"),
        st.sampled_from(["kubeflow", "other"]),
        st.booleans(),
    ),
    max_size=25,
)
components = st.frozensets(st.sampled_from(["katib", "pipelines", "dex"]))
situations = st.builds(
    Circumstances,
    scope=components,
    removed=components,
    components=components,
    failed=st.booleans(),
    named=st.frozensets(st.tuples(st.sampled_from(["Namespace", "Profile"]), st.sampled_from("ab"))),
    unused=st.frozensets(identities),
)


@given(records, st.frozensets(identities), lives, situations)
def test_only_what_is_recorded_ours_and_not_desired_is_ever_pruned(
    entries: dict[Identity, Entry], desired: frozenset[Identity], live: dict[Identity, dict[str, Any]], given_: Circumstances
) -> None:
    ledger = Ledger("kubeflow", entries=entries)
    for row in decide(ledger, desired, live, given_):
        assert row.identity in entries
        assert row.identity not in desired
        assert given_.covers(entries[row.identity].component)
        if row.action == "prune":
            assert row.uid == entries[row.identity].uid == live[row.identity]["uid"] != ""
            assert live[row.identity]["labels"]["kubeflow.platform/set"] == "kubeflow"
            assert live[row.identity]["managedFields"]
            protected = (row.identity.group, row.identity.kind) in PROTECTED_KINDS
            assert not protected or (row.identity.kind, row.identity.name) in given_.named


@given(records, st.frozensets(identities), lives, situations)
def test_nothing_is_pruned_after_a_failure_with_nothing_desired_or_beyond_the_limit(
    entries: dict[Identity, Entry], desired: frozenset[Identity], live: dict[Identity, dict[str, Any]], given_: Circumstances
) -> None:
    ledger = Ledger("kubeflow", entries=entries)
    found = decide(ledger, desired, live, given_, shrink_floor=0)
    base = [identity for identity, row in entries.items() if given_.covers(row.component) and row.component not in given_.removed]
    lost = [identity for identity in base if identity not in desired]
    if given_.failed or not desired or len(lost) > 0.2 * len(base):
        assert all(row.action != "prune" for row in found)


@given(records, st.frozensets(identities), lives, situations)
def test_decisions_do_not_depend_on_the_order_of_the_record(
    entries: dict[Identity, Entry], desired: frozenset[Identity], live: dict[Identity, dict[str, Any]], given_: Circumstances
) -> None:
    turned = dict(reversed(list(entries.items())))
    assert decide(Ledger("kubeflow", entries=turned), desired, live, given_) == decide(
        Ledger("kubeflow", entries=entries), desired, live, given_
    )


@given(st.sampled_from(["", "kubeflow", "n"]))
def test_a_stray_namespace_on_a_cluster_scoped_object_makes_no_other_entry(namespace: str) -> None:
    obj = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": "spark", "namespace": namespace}}
    recorded = {**KEPT, Identity("rbac.authorization.k8s.io", "ClusterRole", "", "spark"): entry()}
    assert decide(Ledger("kubeflow", entries=recorded), frozenset({*KEPT, identify(obj, False)}), {}, ALL) == []
