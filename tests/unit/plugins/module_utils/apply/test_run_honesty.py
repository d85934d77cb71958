# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a run says that it did is what it did, also where what was wanted failed (E10.3)."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.model import EngineError
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.prune_stage import PruneStage
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.settings import Settings
from ansible_collections.kubeflow.platform.plugins.module_utils.objects.identity import Identity
from ansible_collections.kubeflow.platform.tests.unit.api_double.kinds import Key
from ansible_collections.kubeflow.platform.tests.unit.api_double.objects import config, deployment, documents, items
from ansible_collections.kubeflow.platform.tests.unit.api_double.world import SET, World

MANY = [config(f"c{index}") for index in range(10)]
OLD = Key("", "configmaps", "default", "old")
APP = Key("apps", "deployments", "default", "app")


def installed(*objects: dict[str, Any]) -> World:
    world = World()
    world.run(documents(*MANY, *objects))
    world.clock.sleep(60.0)
    return world


def test_change_is_told_when_a_deletion_was_accepted_and_a_finalizer_holds_the_object() -> None:
    world = installed(config("old"))
    world.server.objects[OLD]["metadata"]["finalizers"] = ["example.com/hold"]
    before = world.arrived
    report = world.run(documents(*MANY), prune="delete")
    assert [row.verb for row in world.writes(before)] == ["delete"]
    (failed,) = report.failures
    assert (report.changed, failed.action, report.counts()["failed"]) == (True, "prune", 1)
    before = world.arrived
    again = world.run(documents(*MANY), prune="delete")
    assert (again.changed, world.writes(before), len(again.failures)) == (False, [], 1)


@pytest.mark.parametrize("fault", ["lost", "reset", "429"])
def test_prune_is_told_once_when_the_answer_to_the_deletion_fails_to_come(fault: str) -> None:
    probe = installed(config("old"))
    probe.run(documents(*MANY), prune="delete")
    number = next(row.number for row in probe.server.requests if row.method == "DELETE")
    world = installed(config("old"))
    world.faults = {number: fault}
    report = world.run(documents(*MANY), prune="delete")
    assert (report.changed, report.failures, report.counts()["prune"]) == (True, [], 1)


def test_nothing_is_told_when_somebody_else_deleted_the_object_before_its_turn() -> None:
    world = installed(config("old"))
    world.controllers.pause = 30.0
    world.clock.at(5.0, lambda: world.server.remove("somebody", OLD))
    report = world.run(documents(*MANY, deployment("late")), prune="delete")
    assert [row.identity.name for row in report.rows if row.action != "unchanged"] == ["late"]
    assert Identity("", "ConfigMap", "default", "old") not in world.ledger().entries


def test_object_is_forgotten_and_no_prune_is_told_when_its_kind_is_no_longer_served() -> None:
    world = installed(config("old"))
    options = Settings(set_name=SET, prune="delete")
    tools = world.tools(options, 0)  # nothing was discovered, so nothing is served
    stage = PruneStage(options, tools, world.ledger(), "")
    live = {Identity("", "ConfigMap", "default", key.name): row["metadata"] for key, row in world.server.objects.items()}
    planned = stage.plan(items(*MANY), live, failed=False)
    assert [row.action for row in planned] == ["prune"]
    assert list(stage.carry_out(planned, lambda: None)) == []
    assert [identity.name for identity in stage.gone] == ["old"]


def test_deletions_before_the_lease_was_lost_are_told() -> None:
    world = installed(config("old"), config("older"))
    lease = Key("coordination.k8s.io", "leases", "kubeflow-platform", "apply-kubeflow")

    def deleted(by: str, key: Key, obj: Any) -> None:
        if obj is None and by == "engine":
            current = world.server.objects[lease]
            world.server.write("other engine", lease, {**current, "spec": {**current["spec"], "holderIdentity": "other"}})
            world.clock.sleep(40.0)

    world.server.on_write.append(deleted)
    with pytest.raises(EngineError, match="Lease of this set was lost"):
        world.run(documents(*MANY), prune="delete")
    assert (world.engine.report.changed, world.engine.report.counts()["prune"]) == (True, 1)


def test_change_is_told_when_a_recreation_deleted_the_object_and_a_finalizer_holds_it() -> None:
    world = installed(deployment("app"))
    world.server.objects[APP]["metadata"]["finalizers"] = ["example.com/hold"]
    moved = deployment("app")
    moved["spec"]["selector"] = {"matchLabels": {"app": "app", "more": "x"}}
    report = world.run(documents(*MANY, moved), recreate=("Deployment",), run_timeout=60.0)
    assert (report.changed, [row.identity.name for row in report.failures]) == (True, ["app"])


def test_no_request_is_waited_for_much_longer_than_the_run_may_take() -> None:
    probe = World()
    probe.run(documents(*MANY))
    number = next(row.number for row in probe.server.requests if row.method == "PATCH" and row.path.endswith("/c5"))
    world = World(faults={number: "hang"})
    begun = world.clock.now
    report = world.run(documents(*MANY), run_timeout=20.0)
    assert "c5" in {row.identity.name for row in report.failures}
    assert world.clock.now - begun < 20.0 + 10.0
