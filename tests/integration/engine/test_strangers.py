# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Objects that others made, before a run or while it is under way, and data that hangs on what a run would delete."""

from __future__ import annotations

import json

import pytest

from . import objects
from .conftest import Place
from .driver import Engine, Running, eventually, persisted


@pytest.mark.parametrize("manager", ["kubectl-create", "terraform-provider-x"])
def test_namespace_that_anybody_made_is_reported_then_adopted_with_its_labels(place: Place, manager: str) -> None:
    place.bed.kubectl("create", "namespace", place.name, f"--field-manager={manager}")
    place.bed.kubectl("label", "namespace", place.name, "team=blue")
    desired = [objects.namespace(place.name), *objects.config_maps(place.name, 2)]
    before = place.bed.audit().end
    refused = place.engine.fails(desired)
    assert f"Namespace {place.name} ({manager})" in refused.message
    assert "Nothing of the set was written" in refused.message
    assert persisted(place.bed.audit(before), ledger=True) == []
    done = place.engine.succeeds(desired, adopt="allow")
    assert done.action("Namespace", place.name)["paths"] == [f".metadata.labels.{key}" for key in ("kubeflow.platform/set", "test")]
    assert place.bed.get("namespace", place.name)["metadata"]["labels"]["team"] == "blue"
    assert not place.engine.succeeds(desired).changed


def held_up(place: Place, desired: list[objects.Object]) -> Running:
    """A run that has compared everything and whose creation of the last object is on its way for three seconds."""
    name = desired[-1]["metadata"]["name"]
    slow = {"method": "PATCH", "path": f"/{place.name}/configmaps/{name}$", "action": "latency", "ms": 3000, "times": 1}
    place.bed.proxy({"rules": [slow]})
    run = place.proxied.start(desired)
    log = place.bed.folder / "proxy.log"
    assert eventually(lambda: log.exists() and f"/{place.name}/configmaps/{name}" in log.read_text(encoding="utf-8"), 30, 0.05)
    return run


@pytest.mark.parametrize("data", [{"key": "value"}, {"other": "theirs"}])
def test_object_that_another_set_creates_at_the_same_moment_stays_that_set_s(place: Place, data: dict[str, str]) -> None:
    place.engine.succeeds([objects.namespace(place.name)])
    desired = [objects.namespace(place.name), objects.config_map(place.name, "shared", key="value")]
    theirs = objects.config_map(place.name, "shared")
    theirs["data"] = data
    run = held_up(place, desired)
    other = Engine(place.bed, place.engine.folder, f"{place.name}o", place.bed.kubeconfig)
    assert other.succeeds([theirs]).actions() == {"ConfigMap shared": "create"}
    result = run.finish()
    assert result.failures()["ConfigMap shared"]["class"] == "foreign_set"
    live = place.bed.get("configmap", "shared", "-n", place.name)
    assert (live["data"], live["metadata"]["labels"]["kubeflow.platform/set"]) == (data, f"{place.name}o")


def test_object_that_another_tool_creates_at_the_same_moment_is_not_taken_over_unasked(place: Place) -> None:
    place.engine.succeeds([objects.namespace(place.name)])
    desired = [objects.namespace(place.name), objects.config_map(place.name, "shared", key="value")]
    run = held_up(place, desired)
    place.bed.kubectl("create", "configmap", "shared", "-n", place.name, "--from-literal=other=theirs", "--field-manager=python-requests")
    failure = run.finish().failures()["ConfigMap shared"]
    assert (failure["class"], "python-requests" in failure["reason"]) == ("not_adopted", True)
    assert place.bed.get("configmap", "shared", "-n", place.name)["data"] == {"other": "theirs"}
    place.engine.fails(desired)
    assert place.engine.succeeds(desired, adopt="allow").actions() == {"ConfigMap shared": "configure"}


def test_workload_that_owns_a_claim_is_neither_pruned_nor_recreated(place: Place) -> None:
    keep = [objects.namespace(place.name), *objects.config_maps(place.name, 8)]
    place.engine.succeeds([*keep, objects.deployment(place.name, "app")])
    uid = place.bed.get("deployment", "app", "-n", place.name)["metadata"]["uid"]
    claim = objects.claim(place.name, "data")
    claim["metadata"]["ownerReferences"] = [{"apiVersion": "apps/v1", "kind": "Deployment", "name": "app", "uid": uid}]
    place.bed.kubectl("create", "-f", "-", stdin=json.dumps(claim))
    moved = objects.deployment(place.name, "app")
    moved["spec"]["selector"]["matchLabels"]["more"] = moved["spec"]["template"]["metadata"]["labels"]["more"] = "x"
    refused = place.engine.fails([*keep, moved], recreate=["Deployment"])
    assert f"PersistentVolumeClaim {place.name}/data belongs to it" in refused.message
    result = place.engine.succeeds(keep, prune="delete")
    assert result.action("Deployment", "app")["action"] == "keep"
    assert not result.changed
    assert place.bed.get("deployment", "app", "-n", place.name)["metadata"]["uid"] == uid
    assert place.bed.get("persistentvolumeclaim", "data", "-n", place.name)
