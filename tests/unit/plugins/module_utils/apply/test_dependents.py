# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Nothing that holds data goes because its owner goes: the garbage collector deletes what prune and recreate would never touch."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.dependents import Dependents
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.model import EngineError
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.discovery import Discovery
from ansible_collections.kubeflow.platform.tests.unit.api_double.kinds import Key
from ansible_collections.kubeflow.platform.tests.unit.api_double.objects import config, crd, custom, deployment, documents, thing
from ansible_collections.kubeflow.platform.tests.unit.api_double.world import DirectClient, World

CLAIM = Key("", "persistentvolumeclaims", "default", "data")
APP = Key("apps", "deployments", "default", "app")
SET = Key("apps", "statefulsets", "default", "db")
POD = Key("", "pods", "default", "db-0")
MANY = [config(f"c{index}") for index in range(10)]
Obj = dict[str, Any]


def put(world: World, key: Key, obj: Obj, owner: Key | None = None) -> None:
    """Somebody makes an object that another one owns."""
    if owner is not None:
        above = world.server.objects[owner]
        name, uid = above["metadata"]["name"], above["metadata"]["uid"]
        reference = {"apiVersion": above["apiVersion"], "kind": above["kind"], "name": name, "uid": uid}
        obj["metadata"]["ownerReferences"] = [reference]
    world.server.write("somebody", key, obj)


def claim(world: World, owner: Key) -> None:
    put(world, CLAIM, thing("PersistentVolumeClaim", "data", "default", spec={}), owner)


def asked(world: World) -> Dependents:
    client = DirectClient(world)
    discovery = Discovery(client)
    discovery.refresh()
    return Dependents(client, discovery, world.clock.sleep)


def uid(world: World, key: Key) -> str:
    return str(world.server.objects[key]["metadata"]["uid"])


def test_object_is_held_when_it_owns_what_holds_data_however_many_owners_up() -> None:
    world = World()
    put(world, APP, deployment("app"))
    put(world, SET, {**deployment("db"), "kind": "StatefulSet"}, APP)
    claim(world, SET)
    found = asked(world)
    told = "PersistentVolumeClaim default/data belongs to it and would be deleted with it"
    assert (found.of(uid(world, APP)), found.of(uid(world, SET)), found.of("another")) == (told, told, "")


def test_object_is_not_held_when_only_its_namesake_owned_it() -> None:
    world = World()
    put(world, APP, deployment("app"))
    put(world, SET, {**deployment("db"), "kind": "StatefulSet"}, APP)
    claim(world, SET)
    world.server.objects[CLAIM]["metadata"]["ownerReferences"][0]["uid"] = "before"
    assert asked(world).of(uid(world, APP)) == ""


def test_claim_of_a_pod_holds_nothing_since_it_is_meant_to_end_with_the_pod() -> None:
    world = World()
    put(world, SET, {**deployment("db"), "kind": "StatefulSet"})
    put(world, POD, thing("Pod", "db-0", "default"), SET)
    claim(world, POD)
    assert asked(world).of(uid(world, SET)) == ""


def test_cluster_is_asked_once_and_only_when_something_would_be_deleted() -> None:
    world = World()
    found = asked(world)
    before = world.count
    for name in ("one", "two"):
        assert found.of(name) == ""
    kinds = {row.path for row in world.server.requests[before:]}
    assert len(kinds) == world.count - before and any("persistentvolumeclaims" in path for path in kinds)


def test_object_is_held_when_what_depends_on_it_cannot_be_known() -> None:
    world = World()
    found = asked(world)
    world.faults = dict.fromkeys(range(world.count, world.count + 100), "teapot")
    assert "is not known" in found.of("one")


def test_object_is_not_pruned_when_a_claim_would_go_with_it() -> None:
    world = World()
    world.run(documents(*MANY, deployment("app")))
    claim(world, APP)
    report = world.run(documents(*MANY), prune="delete")
    (row,) = (row for row in report.rows if row.identity.name == "app")
    assert (row.action, "PersistentVolumeClaim default/data" in row.reason, report.changed) == ("keep", True, False)
    assert APP in world.server.objects
    world.server.objects[CLAIM]["metadata"].pop("ownerReferences")
    assert world.run(documents(*MANY), prune="delete").changed and APP not in world.server.objects


def test_object_is_not_recreated_when_a_claim_would_go_with_it() -> None:
    world = World()
    rows = [crd("Widget"), custom("Widget", "w", "default")]
    world.run(documents(*rows))
    key = Key("example.com", "widgets", "default", "w")
    claim(world, key)
    rows[1] = custom("Widget", "w", "default", size=2)
    rows[1]["metadata"]["annotations"] = {"refuse": "transition"}
    before, uid_before = world.arrived, uid(world, key)
    with pytest.raises(EngineError, match="PersistentVolumeClaim default/data belongs to it"):
        world.run(documents(*rows), recreate=("Widget",))
    assert (uid(world, key), world.writes(before)) == (uid_before, [])


def test_secret_is_not_recreated_when_another_program_filled_it() -> None:
    world = World()
    secret = thing("Secret", "keys", "default", type="Opaque")
    secret["metadata"]["annotations"] = {"keyed": "true"}
    world.run(documents(secret))
    world.clock.sleep(5.0)
    changed = copy.deepcopy(secret)
    changed["type"] = "kubernetes.io/tls"
    changed["metadata"]["annotations"]["refuse"] = "transition"
    before = world.arrived
    with pytest.raises(EngineError, match="manager wrote data into the Secret"):
        world.run(documents(changed), recreate=("Secret",))
    assert world.writes(before) == []
    assert world.server.objects[Key("", "secrets", "default", "keys")]["data"] == {"tls.key": "a2V5"}
