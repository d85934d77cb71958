# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How runs end: what fails, what is skipped because of it, what is deleted, and when time is up (E10.7 to E10.12, E10.21)."""

from __future__ import annotations

import json

import pytest
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.inputs import Document
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.model import EngineError
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.errors import ClusterError
from ansible_collections.kubeflow.platform.plugins.module_utils.objects.identity import Identity
from ansible_collections.kubeflow.platform.tests.unit.api_double.kinds import Key
from ansible_collections.kubeflow.platform.tests.unit.api_double.objects import (
    REFUSALS,
    config,
    crd,
    custom,
    deployment,
    documents,
    refusing,
    sets,
    webhook,
)
from ansible_collections.kubeflow.platform.tests.unit.api_double.world import World
from hypothesis import given, settings
from hypothesis import strategies as st

few = settings(max_examples=settings.default.max_examples // 4)
NEVER = 1e9


@few
@given(sets(refusals=REFUSALS), st.integers(0, 1000), st.sampled_from(["hook", "kind", "controllers", "server"]), st.integers(0, 100))
def test_run_ends_by_its_deadline_and_accounts_for_every_object_when_something_never_comes(
    rows: list[Document], seed: int, missing: str, moment: int
) -> None:
    world = World(delay=NEVER if missing == "kind" else 0.0, pause=NEVER if missing == "controllers" else 1.0)
    if missing == "hook":
        world.server.dead_hooks.add("guard.example.com")
    if missing == "server":
        world.faults = dict.fromkeys(range(moment, 100_000), "503")
    begun = world.clock.now
    try:
        report = world.run(rows, seed=seed, run_timeout=100.0, no_progress_timeout=40.0)
    except (EngineError, ClusterError):
        assert missing == "server"
    else:
        assert {row.identity for row in report.rows} >= {identity(world, row) for row in rows}
        assert all(row.attempts <= 40 for row in report.rows)
    assert world.clock.now - begun < 100.0 + 120.0


def identity(world: World, row: Document) -> Identity:
    name = row.content["metadata"]["name"]
    (found,) = {
        each.identity for each in world.engine.report.rows if (each.identity.kind, each.identity.name) == (row.content["kind"], name)
    }
    return found


def test_nothing_more_is_sent_after_a_failure_when_the_run_is_to_stop() -> None:
    rows = documents(refusing("rbac", "aaa"), *(config(f"c{index}") for index in range(30)))
    world = World()
    report = world.run(rows, on_failure="stop", workers=1)
    counts = report.counts()
    assert counts["skipped"] >= 25 and counts["blocked"] == 1
    assert all("on_failure=stop" in row.reason for row in report.rows if row.action == "skipped")
    assert {row.key.name for row in world.writes()} == {row.identity.name for row in report.rows if row.action == "create"}


def test_run_does_not_wait_for_readiness_when_it_is_told_so() -> None:
    world = World(pause=NEVER)
    report = world.run(documents(deployment("app")), wait=False)
    assert report.failures == [] and report.counts() == {"create": 1}


def test_object_is_skipped_only_when_something_that_it_needs_failed() -> None:
    broken = crd("Widget")
    broken["metadata"]["annotations"] = {"refuse": "rbac"}
    rows = documents(broken, custom("Widget", "w", "default"), crd("Gadget", namespaced=False), custom("Gadget", "g"), config("c"))
    world = World(delay=2.0)
    report = world.run(rows)
    assert {str(row.identity): row.action for row in report.rows} == {
        "CustomResourceDefinition widgets.example.com": "blocked",
        "Widget default/w": "skipped",
        "CustomResourceDefinition gadgets.example.com": "create",
        "Gadget g": "create",
        "ConfigMap default/c": "create",
    }


def test_object_behind_a_webhook_is_skipped_soon_when_the_workload_behind_the_webhook_is_refused() -> None:
    configuration, service, workload = webhook("guard", ["widgets"])
    workload["metadata"]["annotations"] = {"refuse": "quota"}
    world = World()
    begun = world.clock.now
    report = world.run(documents(crd("Widget"), custom("Widget", "w", "default"), configuration, service, workload, config("c")))
    assert {str(row.identity): row.action for row in report.failures} == {
        "Deployment default/guard": "blocked",
        "Widget default/w": "skipped",
    }
    assert world.clock.now - begun < 20.0


@pytest.mark.parametrize("how", ["rbac", "schema", "invalid"])
def test_object_behind_a_webhook_fails_at_once_when_it_is_refused_for_another_reason(how: str) -> None:
    wrong = custom("Widget", "w", "default")
    wrong["metadata"]["annotations"] = {"refuse": how}
    world = World()
    begun = world.clock.now
    report = world.run(documents(crd("Widget"), wrong, custom("Widget", "good", "default"), *webhook("guard", ["widgets"])))
    (failed,) = report.failures
    assert failed.failure is not None and (failed.identity.name, failed.failure.error_class, failed.attempts) == ("w", how, 1)
    assert world.clock.now - begun < 20.0


def test_run_ends_by_its_deadline_and_says_what_it_waited_for_when_a_webhook_stays_down() -> None:
    world = World()
    world.server.dead_hooks.add("guard.example.com")
    begun = world.clock.now
    report = world.run(
        documents(crd("Widget"), custom("Widget", "w", "default"), *webhook("guard", ["widgets"]), config("c")), run_timeout=90.0
    )
    assert world.clock.now - begun < 90.0 + 60.0
    (failure,) = (row.failure for row in report.failures)
    assert failure is not None and "guard.example.com" in failure.message and "connection refused" in failure.message
    assert Key("", "configmaps", "default", "c") in world.server.objects
    probes = [row.moment for row in world.server.requests if row.dry and row.path.endswith("/widgets/w")]
    assert min(later - earlier for earlier, later in zip(probes, probes[1:])) >= 0.5
    assert any("guard" in finding and "Widget default/w" in finding for finding in report.findings)


def test_run_ends_when_nothing_moves_any_more() -> None:
    world = World()
    world.controllers.never.add("app")
    begun = world.clock.now
    report = world.run(documents(deployment("app")), no_progress_timeout=50.0)
    assert 50.0 <= world.clock.now - begun < 70.0
    assert [row.action for row in report.failures] == ["not_ready"]


@pytest.mark.parametrize("kinds", [(), ("Deployment",)])
def test_immutable_change_is_told_from_an_invalid_one_and_never_persists_a_probe_when_refused(kinds: tuple[str, ...]) -> None:
    world = World()
    world.run(documents(deployment("app")))
    moved = deployment("app")
    moved["spec"]["selector"] = {"matchLabels": {"app": "app", "more": "x"}}
    before, uid = world.arrived, world.server.objects[Key("apps", "deployments", "default", "app")]["metadata"]["uid"]
    if not kinds:
        with pytest.raises(Exception, match="Nothing of the set was written"):
            world.run(documents(moved), recreate=kinds)
        assert world.writes(before) == []
    else:
        assert [row.action for row in world.run(documents(moved), recreate=kinds).rows] == ["recreate"]
        assert world.server.objects[Key("apps", "deployments", "default", "app")]["metadata"]["uid"] != uid
    assert [key.name for key in world.server.objects if key.plural == "deployments"] == ["app"]


@pytest.mark.parametrize("how", ["schema", "invalid", "policy"])
def test_wrong_change_of_a_live_object_fails_without_touching_it(how: str) -> None:
    world = World()
    world.run(documents(config("bad"), config("good")))
    before = world.arrived
    report = world.run(documents(refusing(how), config("good", a="2")), recreate=("ConfigMap",))
    assert {row.identity: row.action for row in report.rows} == {
        Identity("", "ConfigMap", "default", "bad"): "invalid",
        Identity("", "ConfigMap", "default", "good"): "configure",
    }
    assert {row.key.name for row in world.writes(before)} == {"good"}


@pytest.mark.parametrize("change", ["nothing", "empty", "shrunk", "failed", "one"])
def test_prune_deletes_only_what_may_go_when_it_is_allowed(change: str) -> None:
    names = [f"c{index}" for index in range(10)]
    world = World()
    world.run(documents(*(config(name) for name in names)))
    kept = {"nothing": names, "empty": [], "shrunk": names[:5], "failed": names[:9], "one": names[:9]}[change]
    rows = documents(*(config(name) for name in kept), *([refusing("invalid")] if change == "failed" else []))
    world.run(rows, prune="delete")
    gone = set(names) - {key.name for key in world.server.objects if key.plural == "configmaps"}
    assert gone == ({"c9"} if change == "one" else set())


def test_prune_spares_what_is_not_ours_any_more_when_it_is_in_the_ledger() -> None:
    names = ["again", "unlabelled", "mine", *(f"c{index}" for index in range(20))]
    world = World()
    world.run(documents(*(config(name) for name in names)))
    at = {name: Key("", "configmaps", "default", name) for name in names}
    world.server.remove("somebody", at["again"])
    world.server.write("somebody", at["again"], config("again"))
    bare = json.loads(json.dumps(world.server.objects[at["unlabelled"]]))
    del bare["metadata"]["labels"]
    world.server.update("somebody", at["unlabelled"], bare)
    report = world.run(documents(*(config(name) for name in names[3:])), prune="delete")
    assert {row.identity.name: row.action for row in report.rows if row.action != "unchanged"} == {
        "again": "keep",
        "unlabelled": "keep",
        "mine": "prune",
    }
    assert at["mine"] not in world.server.objects and at["again"] in world.server.objects and at["unlabelled"] in world.server.objects


def test_nothing_more_is_written_when_the_lease_is_lost_while_waiting() -> None:
    world = World()
    world.run(documents(config("old"), *(config(f"c{index}") for index in range(10))))
    world.controllers.pause = 60.0
    lease = Key("coordination.k8s.io", "leases", "kubeflow-platform", "apply-kubeflow")

    def take_over() -> None:
        current = world.server.objects[lease]
        world.server.write("other engine", lease, {**current, "spec": {**current["spec"], "holderIdentity": "other"}})

    world.clock.at(20.0, take_over)
    before = world.clock.now
    with pytest.raises(EngineError, match="Lease of this set was lost"):
        world.run(documents(deployment("late"), *(config(f"c{index}") for index in range(10))), prune="delete")
    late = [row for row in world.server.requests if row.method in ("DELETE", "PUT", "PATCH") and not row.dry and row.moment > before + 30.1]
    assert [row for row in late if "leases" not in row.path] == []
    assert Key("", "configmaps", "default", "old") in world.server.objects
