# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs that are killed at any request, and servers that answer what nobody understands (apply-engines E9, E10.14, E10.22)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.inputs import Document
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.ledger import Entry
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.model import WRITES, EngineError
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.errors import ClusterError
from ansible_collections.kubeflow.platform.plugins.module_utils.objects.identity import Identity
from ansible_collections.kubeflow.platform.tests.unit.api_double.kinds import Key
from ansible_collections.kubeflow.platform.tests.unit.api_double.objects import (
    config,
    crd,
    custom,
    deployment,
    documents,
    sets,
    thing,
    webhook,
)
from ansible_collections.kubeflow.platform.tests.unit.api_double.world import STRANGE, Killed, World
from hypothesis import given, settings
from hypothesis import strategies as st

few = settings(max_examples=settings.default.max_examples // 4)
SEEDS = st.integers(0, 1000)
KILLS = st.sampled_from(["kill", "kill-after"])
DEMO = documents(
    crd("Widget"), custom("Widget", "w", "one"), thing("Namespace", "one"), *webhook("guard", ["widgets"]), config("c"), deployment("app")
)


def recorded(world: World) -> dict[Identity, Entry]:
    """The entries of the ledger, but for what differs from run to run."""
    return {identity: replace(entry, uid="", own="", generation=None) for identity, entry in world.ledger().entries.items()}


def outcome(world: World) -> tuple[Any, Any]:
    world.clock.sleep(30.0)
    return world.content(), recorded(world)


@few
@given(sets(), sets(), SEEDS, st.integers(0, 120), KILLS)
def test_rerun_ends_as_an_undisturbed_run_when_a_run_was_killed_anywhere(
    first: list[Document], second: list[Document], seed: int, moment: int, how: str
) -> None:
    calm, world = World(delay=1.0), World(delay=1.0)
    for one in (calm, world):
        one.run(first, seed=seed)
        one.clock.sleep(5.0)
    options: dict[str, Any] = {"seed": seed, "prune": "delete", "removed": ("infra",)}
    calm.run(second, **options)
    world.faults = {world.count + moment: how}
    try:
        world.run(second, **options)
    except Killed:
        world.revive()
        again = world.run(second, **{**options, "seed": seed + 1})
        assert again.failures == []
    assert world.ledger_missed == []
    assert outcome(world) == outcome(calm)


@pytest.mark.parametrize("how", ["kill", "kill-after"])
def test_install_is_finished_by_the_next_run_when_it_is_killed_at_each_request_in_turn(how: str) -> None:
    calm = World()
    calm.run(DEMO)
    wanted = outcome(calm)
    for moment in range(0, calm.count, 3):
        world = World(faults={moment: how})
        with pytest.raises(Killed):
            world.run(DEMO)
        world.revive()
        assert world.run(DEMO).failures == []
        assert outcome(world) == wanted


def test_recreation_is_finished_by_the_next_run_when_it_is_killed_in_between() -> None:
    moved = deployment("app")
    moved["spec"]["selector"] = {"matchLabels": {"app": "app", "new": "yes"}}
    key = Key("apps", "deployments", "default", "app")
    for moment in range(0, 60, 2):
        world = World()
        world.run(documents(deployment("app")))
        world.faults = {world.count + moment: "kill-after"}
        try:
            world.run(documents(moved), recreate=("Deployment",))
        except Killed:
            world.revive()
            assert world.run(documents(moved), recreate=("Deployment",)).failures == []
        assert world.server.objects[key]["spec"]["selector"] == moved["spec"]["selector"]
        assert recorded(world)[Identity("apps", "Deployment", "default", "app")].pending == ""


def test_next_run_waits_for_the_lease_of_a_killed_one_and_no_longer() -> None:
    world = World(faults={30: "kill"})
    with pytest.raises(Killed):
        world.run(DEMO)
    world.revive()
    begun = world.clock.now
    report = world.run(DEMO)
    assert report.failures == [] and world.clock.now - begun < 30.0 + 15.0


@few
@given(sets(), SEEDS, st.dictionaries(st.integers(0, 120), st.sampled_from(sorted(STRANGE)), min_size=1, max_size=4))
def test_strange_answers_never_count_as_success_and_never_crash_the_run(rows: list[Document], seed: int, faults: dict[int, str]) -> None:
    world = World(faults=faults)
    try:
        report = world.run(rows, seed=seed)
    except (EngineError, ClusterError) as error:
        assert str(error)
    else:
        told = {row.identity for row in report.rows if row.failure is None and row.action != "skipped"}
        there = {Identity(key.group, obj["kind"], key.namespace, key.name) for key, obj in world.server.objects.items()}
        assert told <= there
    world.faults = {}
    again = world.run(rows, seed=seed)
    assert again.failures == []
    assert all(row.action != "keep" for row in again.rows)


@pytest.mark.parametrize("strange", sorted(STRANGE))
@pytest.mark.parametrize("moment", range(0, 60, 5))
def test_run_says_what_is_wrong_when_any_answer_is_strange(strange: str, moment: int) -> None:
    world = World(faults={moment: strange})
    try:
        world.run(DEMO)
    except (EngineError, ClusterError) as error:
        assert str(error)
    world.faults = {}
    assert world.run(DEMO).failures == []


@pytest.mark.parametrize("fault", ["429", "503", "reset", "lost"])
def test_install_succeeds_when_every_fifth_request_meets_a_passing_fault(fault: str) -> None:
    world = World(faults=dict.fromkeys(range(0, 1000, 5), fault))
    assert world.run(DEMO).failures == []
    world.faults = {}
    before = world.arrived
    assert not world.run(DEMO).changed and world.writes(before) == []


@few
@given(sets(), sets(), SEEDS, st.dictionaries(st.integers(0, 100), st.sampled_from(["lost", "reset", "429"]), max_size=5))
def test_changed_says_whether_anything_was_written_when_answers_are_lost(
    first: list[Document], second: list[Document], seed: int, faults: dict[int, str]
) -> None:
    world = World()
    world.run(first, seed=seed)
    world.clock.sleep(5.0)
    world.faults = {world.count + number: fault for number, fault in faults.items()}
    before = len(world.server.writes)
    report = world.run(second, seed=seed, prune="delete", removed=("infra",))
    written = {row.key.name for row in world.server.writes[before:] if row.counts}
    assert {row.identity.name for row in report.rows if row.action in WRITES and row.failure is None} == written
    assert report.changed == bool(written)


@pytest.mark.parametrize("fault", ["lost", "reset"])
def test_each_kind_of_change_is_told_once_when_its_answer_is_lost(fault: str) -> None:
    moved = deployment("app")
    moved["spec"]["selector"] = {"matchLabels": {"app": "app", "new": "yes"}}
    before = documents(deployment("app"), config("a"), *(config(f"old-{index}") for index in range(2)))
    after = documents(moved, config("a", a="2"), config("b"))
    for moment in range(0, 70, 2):
        world = World()
        world.run(before)
        world.faults = {world.count + moment: fault}
        report = world.run(after, prune="delete", recreate=("Deployment",))
        done = {row.identity.name: row.action for row in report.rows if row.action in WRITES and row.failure is None}
        assert done.pop("app") in ("recreate", "create")
        assert done == {"a": "configure", "b": "create", "old-0": "prune", "old-1": "prune"}
