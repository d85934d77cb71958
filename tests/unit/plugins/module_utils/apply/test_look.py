# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A look at a gate says why it is closed, shares its requests, and persists nothing."""

from __future__ import annotations

import copy

import pytest
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.gates import Gate, Surroundings, derive
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.look import Looker, has_ready_pod
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.discovery import Discovery
from ansible_collections.kubeflow.platform.plugins.module_utils.objects.identity import Identity
from ansible_collections.kubeflow.platform.tests.unit.api_double.kinds import Key
from ansible_collections.kubeflow.platform.tests.unit.api_double.objects import config, crd, deployment, documents, items, thing, webhook
from ansible_collections.kubeflow.platform.tests.unit.api_double.world import DirectClient, World

GUARD = Identity("apps", "Deployment", "default", "guard")


def looker(world: World) -> Looker:
    client = DirectClient(world)
    return Looker(client, Discovery(client), world.clock.time)


def guarded(world: World, *more: str) -> tuple[Gate, Looker]:
    """A webhook that sees ConfigMaps and pods, applied to a world; its gate and a looker."""
    rows = webhook("guard", ["configmaps", "pods", *more], group="")
    world.run(documents(*rows), wait=False)
    found = derive(items(*rows, config("c")), Surroundings())
    (gate,) = (gate for gate in found.by_key.values() if gate.kind == "webhook")
    return gate, looker(world)


def test_kind_is_seen_once_discovery_has_it() -> None:
    world = World(delay=10.0)
    gate = Gate("k", "kind", "Widget", group_version_kind=("example.com", "v1", "Widget"))
    world.run(documents(crd("Widget")))
    eye = looker(world)
    assert eye.kinds([gate]).reasons == {"k": "not in discovery yet"}
    world.clock.sleep(10.0)
    assert eye.kinds([gate]).reasons == {"k": ""}


def test_namespace_is_seen_with_its_labels_and_not_while_it_is_being_deleted() -> None:
    world = World()
    gates = [Gate("a", "namespace", "", namespace="default"), Gate("b", "namespace", "", namespace="team")]
    look = looker(world).namespaces(gates)
    assert look.reasons["a"] == "" and "profile controller" in look.reasons["b"] and "default" in look.namespace_labels
    world.server.objects[Key("", "namespaces", "", "default")]["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    assert looker(world).namespaces(gates).reasons["a"] == "it is being deleted"


def test_workloads_that_are_absent_or_not_ready_are_named() -> None:
    world = World(pause=30.0)
    world.run(documents(deployment("late")), wait=False)
    late = Identity("apps", "Deployment", "default", "late")
    gate = Gate("r", "ready", "", backends=(late, Identity("apps", "Deployment", "default", "gone")))
    reason = looker(world).workloads([gate]).reasons["r"]
    assert "Deployment default/late: " in reason and "Deployment default/gone does not exist yet" in reason
    world.clock.sleep(30.0)
    assert looker(world).workloads([Gate("r", "ready", "", backends=(late,))]).reasons == {"r": ""}


def test_looks_at_about_the_same_time_share_one_list() -> None:
    world = World()
    eye = looker(world)
    for _look in range(5):
        eye.live_workloads([GUARD])
    assert eye.client.counts == {"LIST": 1}
    world.clock.sleep(1.0)
    eye.live_workloads([GUARD])
    assert eye.client.counts == {"LIST": 2}


def test_webhook_is_not_asked_while_no_pod_of_its_workload_is_ready() -> None:
    gate, eye = guarded(World(pause=1000.0))
    failing, reason = eye.webhook(gate, items(config("c"))[0])
    assert failing == "guard.example.com" and "Deployment default/guard" in reason
    assert "PATCH dry-run" not in eye.client.counts


@pytest.mark.parametrize("obj", [config("c"), deployment("app"), thing("Pod", "p", "default", spec={})])
def test_webhook_is_asked_by_a_dry_run_and_nothing_is_persisted(obj: dict[str, object]) -> None:
    world = World()
    gate, eye = guarded(world)
    world.clock.sleep(10.0)
    before = copy.deepcopy(world.server.objects)
    assert eye.webhook(gate, items(obj)[0]) == (None, "")
    world.server.dead_hooks.add("guard.example.com")
    failing, reason = eye.webhook(gate, items(obj)[0])
    assert failing == "guard.example.com" and "connection refused" in reason
    assert world.server.objects == before


@pytest.mark.parametrize("fault", ["503", "429"])
def test_busy_server_proves_nothing_about_a_webhook(fault: str) -> None:
    world = World()
    gate, eye = guarded(world)
    world.clock.sleep(10.0)
    world.faults = {world.count + 1: fault}
    failing, reason = eye.webhook(gate, items(config("c"))[0])
    assert failing == "" and reason


@pytest.mark.parametrize("how", ["invalid", "policy", "rbac", "schema"])
def test_webhook_no_longer_holds_an_object_that_is_refused_for_another_reason(how: str) -> None:
    world = World()
    gate, eye = guarded(world)
    world.clock.sleep(10.0)
    wrong = config("c")
    wrong["metadata"]["annotations"] = {"refuse": how}
    assert eye.webhook(gate, items(wrong)[0]) == (None, "")


@pytest.mark.parametrize(
    ("workload", "ready"),
    [
        (None, False),
        ({}, False),
        ({"status": {"availableReplicas": 0}}, False),
        ({"status": {"availableReplicas": 1}}, True),
        ({"status": {"readyReplicas": 2}}, True),
        ({"status": {"numberReady": 3}}, True),
    ],
)
def test_one_ready_pod_is_enough_to_answer(workload: dict[str, object] | None, ready: bool) -> None:
    assert has_ready_pod(workload) == ready
