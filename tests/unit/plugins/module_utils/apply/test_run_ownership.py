# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs on clusters where others hold fields: people's tools, controllers, and programs that nobody knows (E10.15, 16, 18)."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.inputs import Document
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.model import EngineError
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.result import Report
from ansible_collections.kubeflow.platform.plugins.module_utils.objects.identity import Identity
from ansible_collections.kubeflow.platform.tests.unit.api_double import fields
from ansible_collections.kubeflow.platform.tests.unit.api_double.kinds import Key
from ansible_collections.kubeflow.platform.tests.unit.api_double.objects import (
    aggregated_role,
    config,
    deployment,
    documents,
    items,
    sets,
    thing,
    webhook,
)
from ansible_collections.kubeflow.platform.tests.unit.api_double.storage import ours
from ansible_collections.kubeflow.platform.tests.unit.api_double.world import World
from hypothesis import given, settings
from hypothesis import strategies as st

few = settings(max_examples=settings.default.max_examples // 4)
SEEDS = st.integers(0, 1000)
CONFIG = Key("", "configmaps", "default", "mine")
APP = Key("apps", "deployments", "default", "app")


def applied_by(world: World, manager: str, *objects: dict[str, Any]) -> None:
    """Apply objects as another tool does."""
    for item in items(*objects):
        key = Key(item.resource.group, item.resource.plural, item.identity.namespace, item.identity.name)
        body = copy.deepcopy(item.desired)
        del body["metadata"]["labels"]["kubeflow.platform/set"]
        if not body["metadata"]["labels"]:
            del body["metadata"]["labels"]
        after, owners = fields.apply(world.server.objects.get(key) or {}, body, manager, True)
        after = {**after, "apiVersion": body["apiVersion"], "kind": body["kind"]}
        after["metadata"] = {**after.get("metadata", {}), "name": key.name, **({"namespace": key.namespace} if key.namespace else {})}
        after["metadata"]["managedFields"] = fields.managed(owners, after["metadata"], item.resource.api_version, "2026-01-01T00:00:00Z")
        if key.plural == "deployments":
            after["spec"]["revisionHistoryLimit"] = 10
        world.server.write(manager, key, after)


def edit(world: World, manager: str, key: Key, change: Callable[[dict[str, Any]], object]) -> None:
    """Change an object as a person or a controller does."""
    after = copy.deepcopy(world.server.objects[key])
    change(after)
    world.server.update(manager, key, after)


def action(report: Report, name: str) -> str:
    return next(row.action for row in report.rows if row.identity.name == name)


ADOPTED = [config("mine", a="1", b="2"), deployment("app"), thing("Namespace", "one"), config("other", "one")]


@few
@given(sets(), SEEDS, st.sampled_from(["kubectl", "helm", "kubectl-client-side-apply", "terraform-provider-x", "python-requests"]))
def test_what_others_applied_is_adopted_only_when_allowed_and_without_touching_its_content(
    rows: list[Document], seed: int, tool: str
) -> None:
    world = World()
    applied_by(world, tool, *ADOPTED)
    world.clock.sleep(5.0)
    every = [*rows, *documents(*(obj for obj in ADOPTED if obj["metadata"]["name"] != "one" or not named(rows, "one")))]
    before, state = world.arrived, {key: spec(obj) for key, obj in world.server.objects.items()}
    with pytest.raises(EngineError, match="applied by another tool.*Nothing of the set was written"):
        world.run(every, seed=seed)
    assert world.writes(before) == []
    report = world.run(every, seed=seed, adopt="allow")
    assert report.failures == [] and {action(report, name) for name in ("mine", "app")} == {"adopt"}
    assert {key: spec(world.server.objects[key]) for key in (CONFIG, APP)} == {key: state[key] for key in (CONFIG, APP)}
    world.clock.sleep(5.0)
    before = world.arrived
    again = world.run(every, seed=seed)
    assert (again.changed, world.writes(before), again.failures) == (False, [], [])


@pytest.mark.parametrize("manager", ["kubectl-create", "terraform-provider-x", "python-requests", "OpenAPI-Generator"])
def test_namespace_is_taken_over_only_when_allowed_whatever_program_made_it(manager: str) -> None:
    world = World()
    space = thing("Namespace", "one")
    space["metadata"]["labels"] = {"istio-injection": "enabled"}
    applied_by(world, manager, space)
    every = documents(space, config("other", "one"))
    plan = world.run(every, check=True)
    assert any(f"Namespace one ({manager})" in text for text in plan.warnings)
    before = world.arrived
    with pytest.raises(EngineError, match=f"1 objects exist already.*Namespace one \\({manager}\\)"):
        world.run(every)
    assert world.writes(before) == []
    assert {row.identity.name: row.action for row in world.run(every, adopt="allow").rows} == {"one": "adopt", "other": "create"}
    assert not world.run(every).changed


def test_nobody_is_asked_about_what_the_cluster_and_its_controllers_made() -> None:
    world = World()
    applied_by(world, "cert-manager-certificates-issuing", config("mine"))
    edit(world, "kubectl-label", CONFIG, lambda obj: obj["metadata"].setdefault("labels", {}).update(team="blue"))
    applied_by(world, "nobody-knows", config("owned"))
    owned = Key("", "configmaps", "default", "owned")
    world.server.objects[owned]["metadata"]["ownerReferences"] = [{"uid": "1", "kind": "Profile", "name": "x", "controller": True}]
    report = world.run(documents(thing("Namespace", "default"), config("mine"), config("owned")))
    assert (report.failures, report.warnings) == ([], [])


def named(rows: list[Document], name: str) -> bool:
    return any(row.content["metadata"]["name"] == name and row.content["kind"] == "Namespace" for row in rows)


def spec(obj: dict[str, Any]) -> dict[str, Any]:
    """An object's content without metadata and status."""
    return {key: value for key, value in obj.items() if key not in ("metadata", "status")}


def test_field_that_only_the_adopted_tool_had_goes_when_the_set_does_not_have_it() -> None:
    world = World()
    applied_by(world, "kubectl", config("mine", a="1", old="x"))
    world.run(documents(config("mine", a="1")), adopt="allow")
    assert world.server.objects[CONFIG]["data"] == {"a": "1"}


@few
@given(sets(), SEEDS, st.sampled_from(["somebody", "manager", "kubectl-edit", "kubectl-label"]))
def test_fields_that_others_added_survive_and_are_no_change(rows: list[Document], seed: int, manager: str) -> None:
    world = World()
    every = [*rows, *documents(config("mine"), deployment("app"))]
    world.run(every, seed=seed)
    edit(world, manager, CONFIG, lambda obj: obj["data"].update(extra="x"))
    edit(world, manager, APP, lambda obj: obj["spec"]["template"]["metadata"].update(annotations={"restartedAt": "now"}))
    world.clock.sleep(5.0)
    before = world.arrived
    again = world.run(every, seed=seed)
    assert (again.changed, world.writes(before), again.failures) == (False, [], [])
    report = world.run([*rows, *documents(config("mine", a="2"), deployment("app", image="x:2"))], seed=seed)
    assert report.failures == []
    assert world.server.objects[CONFIG]["data"] == {"a": "2", "extra": "x"}
    assert world.server.objects[APP]["spec"]["template"]["metadata"]["annotations"] == {"restartedAt": "now"}


@pytest.mark.parametrize("manager", ["kubectl-edit", "kubectl-patch", "helm"])
def test_edit_by_hand_is_mended(manager: str) -> None:
    world = World()
    world.run(documents(config("mine")))
    edit(world, manager, CONFIG, lambda obj: obj["data"].update(a="edited"))
    report = world.run(documents(config("mine")), diff=True)
    assert action(report, "mine") == "configure" and world.server.objects[CONFIG]["data"] == {"a": "1"}
    assert not world.run(documents(config("mine"))).changed


def test_value_of_a_program_that_nobody_knows_is_reported_and_left_and_the_rest_goes_on() -> None:
    world = World()
    world.run(documents(config("mine")))
    edit(world, "mystery", CONFIG, lambda obj: obj["data"].update(a="theirs"))
    report = world.run(documents(config("mine"), config("new")))
    (failed,) = report.failures
    assert (failed.action, failed.identity) == ("conflict", Identity("", "ConfigMap", "default", "mine"))
    assert failed.failure is not None and ".data.a by mystery" in failed.failure.message and "takeover" in failed.failure.advice
    assert world.server.objects[CONFIG]["data"] == {"a": "theirs"} and action(report, "new") == "create"


def test_value_of_a_program_is_overruled_when_takeover_names_it() -> None:
    world = World()
    world.run(documents(config("mine")))
    edit(world, "mystery", CONFIG, lambda obj: obj["data"].update(a="theirs"))
    report = world.run(documents(config("mine")), takeover=("mystery",))
    assert action(report, "mine") == "configure" and world.server.objects[CONFIG]["data"] == {"a": "1"}


def test_controller_keeps_a_field_that_it_owns_for_good_reason_and_only_that() -> None:
    world = World()
    world.run(documents(deployment("app", replicas=1)))
    edit(world, "kube-controller-manager", APP, lambda obj: obj["spec"].update(replicas=5))
    world.clock.sleep(5.0)
    before = world.arrived
    report = world.run(documents(deployment("app", replicas=1)))
    assert (report.failures, report.changed, world.writes(before)) == ([], False, [])
    assert world.server.objects[APP]["spec"]["replicas"] == 5
    report = world.run(documents(deployment("app", replicas=1, image="x:2")))
    assert action(report, "app") == "configure"
    assert world.server.objects[APP]["spec"]["replicas"] == 5
    assert world.server.objects[APP]["spec"]["template"]["spec"]["containers"][0]["image"] == "x:2"
    world.clock.sleep(5.0)
    before = world.arrived
    again = world.run(documents(deployment("app", replicas=1, image="x:2")))
    assert (again.changed, world.writes(before)) == (False, [])


def test_injected_bundle_stays_when_the_configuration_changes() -> None:
    rows = webhook("guard", ["nothing"])
    world = World()
    world.run(documents(*rows))
    world.clock.sleep(5.0)
    rows[0]["webhooks"][0]["rules"][0]["resources"] = ["something"]
    report = world.run(documents(*rows))
    hook = world.server.objects[Key("admissionregistration.k8s.io", "mutatingwebhookconfigurations", "", "guard")]["webhooks"][0]
    assert (report.failures, hook["clientConfig"]["caBundle"], hook["rules"][0]["resources"]) == ([], "Y2E=", ["something"])


def test_object_of_another_set_is_refused_before_anything_is_written() -> None:
    theirs = config("mine")
    world = World()
    world.run(documents(theirs))
    edit(world, "somebody", CONFIG, lambda obj: obj["metadata"]["labels"].update({"kubeflow.platform/set": "monitoring"}))
    before = world.arrived
    with pytest.raises(EngineError, match="belongs to the set monitoring.*Nothing of the set was written"):
        world.run(documents(config("mine", a="2"), config("new")))
    assert world.writes(before) == []


def test_deleted_object_is_made_again_and_told_as_created() -> None:
    world = World()
    world.run(documents(config("mine"), config("new")))
    world.server.remove("somebody", CONFIG)
    report = world.run(documents(config("mine"), config("new")))
    assert {row.identity.name: row.action for row in report.rows} == {"mine": "create", "new": "unchanged"}
    assert ours(world.server.objects[CONFIG])


def made_meanwhile(world: World, make: Callable[[], object]) -> None:
    """Somebody acts between the comparison and the first write: when the ledger announces it."""

    def seen(by: str, key: Key, obj: Any) -> None:
        if by == "engine" and key.name == "ledger-kubeflow" and CONFIG not in world.server.objects:
            make()

    world.server.on_write.append(seen)


@pytest.mark.parametrize("data", [{"a": "theirs"}, {"b": "theirs"}])
def test_object_that_another_tool_made_meanwhile_is_taken_over_only_when_allowed(data: dict[str, str]) -> None:
    world = World()
    made_meanwhile(world, lambda: applied_by(world, "kubectl", config("mine", **data)))
    (failed,) = world.run(documents(config("mine"))).failures
    assert failed.failure is not None and (failed.failure.error_class, failed.action) == ("not_adopted", "conflict")
    assert world.server.objects[CONFIG]["data"] == data
    with pytest.raises(EngineError, match="applied by another tool"):
        world.run(documents(config("mine")))
    report = world.run(documents(config("mine")), adopt="allow")
    assert (report.failures, action(report, "mine"), world.server.objects[CONFIG]["data"]) == ([], "configure", {"a": "1"})
    assert not world.run(documents(config("mine"))).changed


def test_object_that_another_tool_made_meanwhile_is_never_recorded_as_made_by_us() -> None:
    world = World()
    made_meanwhile(world, lambda: applied_by(world, "kubectl", config("mine")))
    world.run(documents(config("mine")), adopt="allow")
    assert not world.ledger().entries[Identity("", "ConfigMap", "default", "mine")].created


@pytest.mark.parametrize("data", [{"a": "1"}, {"a": "theirs"}, {"b": "theirs"}])
def test_object_that_another_set_made_meanwhile_is_left_as_it_is(data: dict[str, str]) -> None:
    world = World()
    made_meanwhile(world, lambda: world.run(documents(config("mine", **data)), set_name="monitoring"))
    before = world.arrived
    report = world.run(documents(config("mine"), config("new")))
    (failed,) = report.failures
    assert failed.failure is not None and failed.failure.error_class == "foreign_set"
    assert action(report, "new") == "create" and world.server.objects[CONFIG]["data"] == data
    assert [row.key.name for row in world.writes(before)] == ["mine", "new"]
    assert world.server.objects[CONFIG]["metadata"]["labels"] == {"kubeflow.platform/set": "monitoring"}


@pytest.mark.parametrize("manager", ["kubectl-edit", "mystery", "manager"])
def test_program_that_writes_its_own_value_back_during_the_run_is_named(manager: str) -> None:
    world = World()
    world.controllers.pause = 20.0

    def seen(by: str, key: Key, obj: Any) -> None:
        if by == "engine" and key == CONFIG:
            world.clock.at(3.0, lambda: edit(world, manager, CONFIG, lambda found: found["data"].update(a="theirs")))

    world.server.on_write.append(seen)
    report = world.run(documents(config("mine"), config("other"), deployment("app")))
    (finding,) = report.findings
    assert report.failures == [] and f"ConfigMap default/mine: {manager} changed .data.a after" in finding


def test_nothing_is_told_of_what_controllers_fill_in_during_the_run() -> None:
    report = World().run(documents(deployment("app"), aggregated_role("role"), *webhook("guard", ["nothing"])))
    assert (report.failures, report.findings) == ([], [])
