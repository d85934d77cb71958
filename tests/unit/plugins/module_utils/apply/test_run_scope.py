# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs about a part of the set, and runs in which components come, go and exchange objects."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.inputs import Document
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.model import EngineError, Part
from ansible_collections.kubeflow.platform.tests.unit.api_double.kinds import Key
from ansible_collections.kubeflow.platform.tests.unit.api_double.objects import config, crd, custom, documents, thing
from ansible_collections.kubeflow.platform.tests.unit.api_double.world import World

MANY = [f"c{index}" for index in range(10)]


def part(component: str, *objects: dict[str, Any]) -> list[Document]:
    return documents(*objects, part=Part(component, component, None, ()))


def both(world: World, **options: Any) -> None:
    """Install components one (ten objects and "extra") and two."""
    world.run([*part("one", *(config(name) for name in MANY), config("extra")), *part("two", config("other"))], **options)


def configs(world: World) -> set[str]:
    return {key.name for key in world.server.objects if key.plural == "configmaps"}


def test_nothing_outside_the_scope_is_touched_when_the_scope_is_narrow() -> None:
    world = World()
    both(world)
    report = world.run(part("one", *(config(name) for name in MANY)), scope=("one",), prune="delete")
    assert {row.identity.name: row.action for row in report.rows if row.action != "unchanged"} == {"extra": "prune"}
    assert configs(world) == {*MANY, "other"}
    assert world.ledger().selection == ("one", "two") and world.ledger().scope == ("one",)


def test_component_stays_when_it_is_missing_and_goes_only_when_it_is_named_as_removed() -> None:
    world = World()
    both(world)
    rows = part("one", *(config(name) for name in MANY), config("extra"))
    world.run(rows, prune="delete")
    assert "other" in configs(world)
    report = world.run(rows, prune="delete", removed=("two",))
    assert [(row.identity.name, row.action) for row in report.rows if row.action != "unchanged"] == [("other", "prune")]
    assert "other" not in configs(world) and not world.run(rows, prune="delete").changed


def test_object_is_handed_over_and_not_pruned_when_it_moves_to_another_component() -> None:
    world = World()
    both(world)
    before = world.arrived
    moved = [*part("one", *(config(name) for name in MANY)), *part("two", config("other"), config("extra"))]
    report = world.run(moved, prune="delete")
    assert (report.changed, world.writes(before)) == (False, [])
    assert configs(world) == {*MANY, "extra", "other"}
    world.run(part("one", *(config(name) for name in MANY)), scope=("one",), prune="delete")
    assert "extra" in configs(world)


def test_prune_is_only_told_when_it_is_not_allowed() -> None:
    world = World()
    both(world)
    rows = [*part("one", *(config(name) for name in MANY)), *part("two", config("other"))]
    report = world.run(rows)
    (kept,) = (row for row in report.rows if row.action != "unchanged")
    assert (kept.identity.name, kept.action, "`prune: delete`" in kept.reason, report.changed) == ("extra", "keep", True, False)
    assert "extra" in configs(world)


@pytest.mark.parametrize(
    ("obj", "key"),
    [
        (thing("Namespace", "gone"), Key("", "namespaces", "", "gone")),
        (crd("Widget"), Key("apiextensions.k8s.io", "customresourcedefinitions", "", "widgets.example.com")),
        (thing("PersistentVolumeClaim", "gone", "default", spec={}), Key("", "persistentvolumeclaims", "default", "gone")),
    ],
)
def test_protected_object_is_never_pruned(obj: dict[str, Any], key: Key) -> None:
    world = World()
    world.run([*part("one", *(config(name) for name in MANY)), *part("two", obj)], wait=False)
    world.run(part("one", *(config(name) for name in MANY)), prune="delete", removed=("two",), wait=False)
    assert key in world.server.objects


@pytest.mark.parametrize("recreate", [("Profile",), ("Profile.kubeflow.org", "CustomResourceDefinition", "Namespace")])
def test_protected_kind_is_never_recreated_although_it_is_named(recreate: tuple[str, ...]) -> None:
    world = World()
    profile = [crd("Profile", namespaced=False, group="kubeflow.org"), custom("Profile", "team", group="kubeflow.org")]
    world.run(part("one", *profile))
    key = Key("kubeflow.org", "profiles", "", "team")
    uid = world.server.objects[key]["metadata"]["uid"]
    refused = custom("Profile", "team", group="kubeflow.org", size=2)
    refused["metadata"]["annotations"] = {"refuse": "transition"}
    before = world.arrived
    with pytest.raises(EngineError, match="never recreated.*Nothing of the set was written"):
        world.run(part("one", profile[0], refused), recreate=recreate)
    assert world.server.objects[key]["metadata"]["uid"] == uid and world.writes(before) == []


def test_two_sets_do_not_know_each_other() -> None:
    world = World()
    world.run(part("one", config("a")))
    world.run(part("mon", config("b")), set_name="monitoring", prune="delete")
    assert configs(world) == {"a", "b"}
    assert not world.run(part("one", config("a")), prune="delete").changed
    with pytest.raises(EngineError, match="belongs to the set kubeflow"):
        world.run(part("mon", config("a"), config("b")), set_name="monitoring")
