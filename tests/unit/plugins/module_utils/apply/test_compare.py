# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What comparing one object with the cluster decides, and that it persists nothing (E10.21)."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.compare import Comparer, transition_probe
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.model import Decision
from ansible_collections.kubeflow.platform.tests.unit.api_double.kinds import EXTENSIONS, RBAC, Key
from ansible_collections.kubeflow.platform.tests.unit.api_double.objects import (
    aggregated_role,
    config,
    crd,
    deployment,
    documents,
    items,
    refusing,
    thing,
)
from ansible_collections.kubeflow.platform.tests.unit.api_double.world import DirectClient, World

MINE = Key("", "configmaps", "default", "mine")
APP = Key("apps", "deployments", "default", "app")
Obj = dict[str, Any]


def world(*objects: Obj) -> World:
    """A cluster to which the engine applied objects, some time ago."""
    found = World()
    found.run(documents(*objects), adopt="allow")
    found.clock.sleep(60.0)
    return found


def decide(cluster: World, obj: Obj, **options: Any) -> Decision:
    """The decision about one object; nothing may be written by it."""
    before = copy.deepcopy(cluster.server.objects)
    decision = Comparer(DirectClient(cluster), "kubeflow", **options).decide(items(obj)[0])
    assert cluster.server.objects == before
    return decision


def edit(cluster: World, manager: str, key: Key, change: Callable[[Obj], object]) -> None:
    after = copy.deepcopy(cluster.server.objects[key])
    change(after)
    cluster.server.update(manager, key, after)


def test_absent_object_is_created() -> None:
    decision = decide(World(), config("mine"))
    assert (decision.action, decision.live, decision.failure) == ("create", None, None)


def test_object_is_unchanged_when_the_server_would_change_nothing() -> None:
    assert decide(world(config("mine")), config("mine")).action == "unchanged"


@pytest.mark.parametrize("obj", [deployment("app"), aggregated_role("role"), crd("Widget")])
def test_object_is_unchanged_when_only_controllers_and_defaults_filled_it(obj: Obj) -> None:
    assert decide(world(obj), obj).action == "unchanged"


def test_object_is_unchanged_although_an_identical_apply_would_move_its_generation() -> None:
    policy = thing("NetworkPolicy", "open", "default", "networking.k8s.io/v1", spec={"podSelector": {}, "ingress": []})
    assert decide(world(policy), policy).action == "unchanged"


def test_paths_are_named_when_content_differs() -> None:
    decision = decide(world(config("mine", a="1", b="2")), config("mine", a="9", c="3"))
    assert decision.action == "configure" and decision.difference is not None
    assert decision.difference.paths == [".data.a", ".data.b", ".data.c"]


def test_aggregated_role_is_sent_without_rules_so_that_none_are_lost() -> None:
    cluster = world(aggregated_role("role"))
    cluster.clock.sleep(5.0)
    assert cluster.server.objects[Key(RBAC, "clusterroles", "", "role")]["rules"]
    assert "rules" not in decide(cluster, aggregated_role("role")).body


def test_invalid_change_and_forbidden_transition_are_told_apart_by_a_dry_run_under_another_name() -> None:
    moved = deployment("app")
    moved["spec"]["selector"] = {"matchLabels": {"app": "app", "new": "yes"}}
    cluster = world(deployment("app"))
    barred = decide(cluster, moved)
    assert barred.action == "recreate" and barred.failure is not None
    assert (barred.failure.error_class, "`recreate`" in barred.failure.advice) == ("transition", True)
    allowed = decide(cluster, moved, recreate_kinds=("Deployment",))
    assert (allowed.action, allowed.failure) == ("recreate", None)
    moved["metadata"]["annotations"] = {"refuse": "invalid"}
    wrong = decide(cluster, moved, recreate_kinds=("Deployment",))
    assert wrong.action == "invalid" and wrong.failure is not None and wrong.failure.error_class == "invalid"


def test_probe_of_a_transition_has_a_name_of_its_own_and_always_the_same() -> None:
    body = deployment("app")
    probe = transition_probe(body)
    assert probe["metadata"]["name"].startswith("probe-") and transition_probe(body) == probe
    assert {**probe, "metadata": body["metadata"]} == body


@pytest.mark.parametrize(("how", "word"), [("schema", "schema"), ("policy", "policy"), ("quota", "quota"), ("rbac", "rbac")])
def test_refusal_keeps_its_class(how: str, word: str) -> None:
    decision = decide(world(config("bad")), refusing(how))
    assert decision.action == "invalid" and decision.failure is not None and decision.failure.error_class == word


@pytest.mark.parametrize("fault", ["503", "429", "500"])
def test_object_is_blocked_when_the_server_says_nothing_about_it(fault: str) -> None:
    cluster = world(config("mine"))
    cluster.faults = {cluster.count + 1: fault}
    assert decide(cluster, config("mine", a="2")).action == "blocked"


def test_object_that_is_being_deleted_is_not_compared() -> None:
    cluster = world(config("mine"))
    cluster.server.objects[MINE]["metadata"].update(finalizers=["example.com/hold"], deletionTimestamp="2026-01-01T00:00:00Z")
    decision = decide(cluster, config("mine"))
    assert decision.failure is not None and decision.failure.error_class == "terminating" and "example.com/hold" in decision.failure.message


def test_object_of_another_set_is_a_conflict() -> None:
    cluster = world(config("mine"))
    edit(cluster, "x", MINE, lambda obj: obj["metadata"]["labels"].update({"kubeflow.platform/set": "other"}))
    decision = decide(cluster, config("mine"))
    assert decision.action == "conflict" and decision.failure is not None and "belongs to the set other" in decision.failure.message


def test_value_of_a_human_is_overruled_and_of_a_stranger_reported() -> None:
    cluster = world(config("mine"))
    edit(cluster, "kubectl-edit", MINE, lambda obj: obj["data"].update(a="x"))
    assert decide(cluster, config("mine")).action == "configure"
    edit(cluster, "mystery", MINE, lambda obj: obj["data"].update(a="y"))
    decision = decide(cluster, config("mine"))
    assert decision.action == "conflict" and decision.failure is not None
    assert [(row.manager, row.field_path) for row in decision.failure.conflicts] == [("mystery", ".data.a")]
    assert decide(cluster, config("mine"), takeover=("mystery",)).action == "configure"


def test_path_is_left_out_of_the_body_when_a_controller_owns_it_for_good_reason() -> None:
    cluster = world(deployment("app", replicas=1))
    edit(cluster, "kube-controller-manager", APP, lambda obj: obj["spec"].update(replicas=4))
    decision = decide(cluster, deployment("app", replicas=1, image="x:2"))
    assert (decision.action, decision.yielded) == ("configure", (".spec.replicas",))
    assert "replicas" not in decision.body["spec"]
    assert decision.difference is not None and all("replicas" not in path for path in decision.difference.paths)


def test_value_of_a_controller_on_any_other_path_is_reported() -> None:
    cluster = world(config("mine"))
    edit(cluster, "kube-controller-manager", MINE, lambda obj: obj["data"].update(a="x"))
    assert decide(cluster, config("mine")).action == "conflict"


def test_additions_by_others_are_named_and_no_difference() -> None:
    cluster = world(config("mine"))
    edit(cluster, "mystery", MINE, lambda obj: obj["data"].update(extra="x"))
    decision = decide(cluster, config("mine"))
    assert (decision.action, [path for path in decision.additions if "extra" in path] != []) == ("unchanged", True)


def test_definition_that_would_lose_stored_objects_is_refused() -> None:
    cluster = world(crd("Widget"), {**thing("Widget", "w", "default"), "apiVersion": "example.com/v1"})
    key = Key(EXTENSIONS, "customresourcedefinitions", "", "widgets.example.com")
    cluster.server.objects[key]["status"] = {"storedVersions": ["v1"]}
    newer = crd("Widget")
    newer["spec"]["versions"][0]["name"] = "v2"
    decision = decide(cluster, newer)
    assert decision.action == "invalid" and decision.failure is not None and decision.failure.error_class == "crd_unsafe"


def test_additions_are_not_told_of_what_taking_over_or_our_own_apply_removes() -> None:
    cluster = world(config("mine", a="1", ours="x"))
    edit(cluster, "mystery", MINE, lambda obj: obj["data"].update(extra="x"))
    assert decide(cluster, config("mine", a="1")).additions == (".data.extra",)
    taken = config("mine", a="1", old="x")
    owners = [{"manager": "kubectl", "operation": "Apply", "apiVersion": "v1", "fieldsV1": {"f:data": {"f:a": {}, "f:old": {}}}}]
    owners.append({"manager": "mystery", "operation": "Update", "apiVersion": "v1", "fieldsV1": {"f:data": {"f:extra": {}}}})
    taken["data"]["extra"] = "y"
    cluster.server.objects[MINE].pop("data")
    cluster.server.objects[MINE].update(data=taken["data"])
    cluster.server.objects[MINE]["metadata"]["managedFields"] = owners
    decision = decide(cluster, config("mine", a="1"))
    assert decision.difference is not None and ".data.old" in decision.difference.paths
    assert decision.additions == (".data.extra",)
