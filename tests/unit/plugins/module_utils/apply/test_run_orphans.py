# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs about one component while the webhook of another is broken: it is named, and not waited for when nothing can bring it back."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.inputs import Document
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.model import Part
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.result import Report
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.schedule import ORPHAN_PATIENCE
from ansible_collections.kubeflow.platform.tests.unit.api_double.kinds import ADMISSION, Key
from ansible_collections.kubeflow.platform.tests.unit.api_double.objects import config, crd, custom, deployment, documents, webhook
from ansible_collections.kubeflow.platform.tests.unit.api_double.world import World

SERVICE = Key("", "services", "default", "guard")
BACKEND = Key("apps", "deployments", "default", "guard")
GUARD = "MutatingWebhookConfiguration guard"


def part(component: str, *objects: dict[str, Any]) -> list[Document]:
    return documents(*objects, part=Part(component, component, None, ()))


def own(size: int = 1) -> list[Document]:
    """The component that a run is about: it has a webhook of its own."""
    return part("mine", crd("Widget"), custom("Widget", "w", "default", size=size), config("c", a=str(size)), *webhook("zeal", ["widgets"]))


def platform() -> World:
    """A cluster with both components, in working order."""
    world = World()
    report = world.run([*own(), *part("other", *webhook("guard", ["widgets"]))])
    assert report.failures == []
    return world


def broken(world: World, *gone: Key) -> None:
    for key in gone:
        world.server.remove("somebody", key)


def told(report: Report) -> str:
    return " ".join(f"{row.failure.message} {row.failure.advice}" for row in report.failures if row.failure is not None)


def blamed(rows: Iterable[Any]) -> set[str]:
    return {str(row.identity) for row in rows if "Configuration" in row.identity.kind}


@pytest.mark.parametrize("size", [1, 2])
def test_run_ends_soon_and_names_the_other_component_when_its_webhook_is_gone(size: int) -> None:
    world = platform()
    broken(world, SERVICE, BACKEND)
    begun = world.clock.now
    report = world.run(own(size), scope=("mine",))
    assert ORPHAN_PATIENCE <= world.clock.now - begun < ORPHAN_PATIENCE + 15.0
    assert blamed(report.failures) == {GUARD}
    for words in (GUARD, "guard.example.com", "the component other", "Service default/guard does not exist", "`scope: [other]`"):
        assert words in told(report)
    assert not any("zeal" in finding for finding in report.findings)
    if size == 2:
        assert [(row.action, "does not exist" in row.reason) for row in report.rows if row.identity.name == "w"] == [("skipped", True)]
        assert {row.action for row in report.rows if row.identity.name == "c"} == {"configure"}


def test_component_counts_as_failed_and_the_owner_of_the_webhook_too_when_nothing_can_bring_it_back() -> None:
    world = platform()
    broken(world, SERVICE, BACKEND)
    report = world.run(own(), scope=("mine",))
    assert [row.component for row in report.failures] == ["other"]
    assert not report.changed


def test_webhook_without_any_pods_is_given_up_too() -> None:
    world = platform()
    broken(world, BACKEND)
    assert "Service default/guard has no pods behind it" in told(world.run(own(2), scope=("mine",)))


def test_run_goes_on_when_somebody_brings_the_other_webhook_back_in_time() -> None:
    world = platform()
    kept = {key: world.server.objects[key] for key in (SERVICE, BACKEND)}
    broken(world, SERVICE, BACKEND)
    world.clock.at(ORPHAN_PATIENCE / 2, lambda: [world.server.write("somebody", key, row) for key, row in kept.items()])
    assert world.run(own(2), scope=("mine",)).failures == []


def test_webhook_is_waited_for_when_the_run_brings_it_itself() -> None:
    world = platform()
    broken(world, SERVICE, BACKEND)
    rows = [*own(2), *part("other", *webhook("guard", ["widgets"]))]
    assert world.run(rows).failures == []


def test_other_webhook_is_blamed_and_waited_for_when_its_service_is_there() -> None:
    world = platform()
    world.server.dead_hooks.add("guard.example.com")
    world.server.write(
        "somebody",
        Key("discovery.k8s.io", "endpointslices", "default", "guard-1"),
        {
            "apiVersion": "discovery.k8s.io/v1",
            "kind": "EndpointSlice",
            "metadata": {"name": "guard-1", "namespace": "default", "labels": {"kubernetes.io/service-name": "guard"}},
            "endpoints": [{"conditions": {"ready": False}}],
        },
    )
    begun = world.clock.now
    report = world.run(own(), scope=("mine",), no_progress_timeout=60.0)
    assert 60.0 <= world.clock.now - begun < 75.0
    assert blamed(report.failures) == {GUARD}
    assert "connection refused" in told(report) and "`scope: [other]`" in told(report)


def test_webhook_of_another_set_is_named_by_its_label() -> None:
    world = World()
    world.run(part("mon", *webhook("guard", ["widgets"])), set_name="monitoring", wait=False)
    broken(world, SERVICE, BACKEND)
    assert "It belongs to the set monitoring".lower() in told(world.run(own(), no_progress_timeout=100.0)).lower()


def test_webhook_that_nobody_recorded_is_given_up_when_its_service_lies_elsewhere() -> None:
    world = World()
    configuration, _service, _workload = webhook("guard", ["widgets"], namespace="elsewhere")
    configuration["webhooks"][0]["clientConfig"]["caBundle"] = "Y2E="
    world.server.write("kubectl", Key(ADMISSION, "mutatingwebhookconfigurations", "", "guard"), configuration)
    begun = world.clock.now
    report = world.run(own())
    assert world.clock.now - begun < ORPHAN_PATIENCE + 30.0
    assert "belongs to something outside this set" in told(report) and "kubectl describe" in told(report)


def test_workload_whose_pods_a_lost_webhook_keeps_away_ends_the_run_soon() -> None:
    world = World()
    world.run([*part("mine", deployment("app")), *part("other", *webhook("guard", ["pods"], group=""))])
    broken(world, SERVICE, BACKEND)
    text = 'Internal error occurred: failed calling webhook "guard.example.com": failed to call webhook: service "guard" not found'
    condition = {"type": "ReplicaFailure", "status": "True", "reason": "FailedCreate", "message": text}
    world.clock.sleep(10.0)  # its controller is done with it
    world.server.objects[Key("apps", "deployments", "default", "app")]["status"] = {"observedGeneration": 1, "conditions": [condition]}
    begun = world.clock.now
    report = world.run(part("mine", deployment("app")), scope=("mine",))
    assert world.clock.now - begun < ORPHAN_PATIENCE + 15.0
    assert blamed(report.failures) == {GUARD} and "Deployment default/app" in told(report)


def test_progress_tells_the_cause_how_long_and_until_when() -> None:
    world = platform()
    world.server.dead_hooks.add("zeal.example.com")
    world.run(own(2), no_progress_timeout=60.0)
    line = world.said[-1]
    assert "webhook zeal.example.com at Service default/zeal (" in line and "connection refused)" in line
    assert "https://" not in line
    assert ", for " in line and line.endswith(" s") and "gives up in" in line
    left = [int(text.rpartition("gives up in ")[2].removesuffix(" s")) for text in world.said if "gives up in" in text]
    assert left == sorted(left, reverse=True) and 0 <= left[-1] < 10
