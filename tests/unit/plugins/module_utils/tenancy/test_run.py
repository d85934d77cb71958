# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whole runs in memory: what is sent, waited for and told, and what a fault at any request does."""

from __future__ import annotations

import contextlib
import copy
from typing import Any

import pytest
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.discovery import Resource
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.errors import ClusterError
from ansible_collections.kubeflow.platform.plugins.module_utils.tenancy import desired, result
from ansible_collections.kubeflow.platform.plugins.module_utils.tenancy.model import Contributor, Subject, TenancyError
from ansible_collections.kubeflow.platform.plugins.module_utils.tenancy.run import Invalid
from ansible_collections.kubeflow.platform.tests.unit.plugins.module_utils.tenancy.test_inside import EVERYTHING
from ansible_collections.kubeflow.platform.tests.unit.tenants_server import HOOKS, SERVED, Killed, World

ALICE, EVE = {"name": "alice@example.com"}, {"name": "eve@example.com"}
FULL: dict[str, Any] = {"name": "team-a", "owner": ALICE, "quota": {"cpu": "1"}, "labels": {"a": "b"}, **EVERYTHING}
PLAIN: dict[str, Any] = {"name": "team-b", "owner": EVE}


def test_a_run_makes_what_the_data_says_and_a_second_one_writes_nothing() -> None:
    world = World()
    outcome = world.run(FULL, PLAIN)
    assert outcome.failures == []
    assert outcome.late == {}
    assert [row["ready"] for row in outcome.states] == [True, True]
    count = len(world.writes)
    again = world.run(FULL, PLAIN)
    assert (again.changed, len(world.writes)) == (False, count)


def test_check_mode_foretells_exactly_what_a_run_does_and_writes_nothing() -> None:
    world = World()
    foretold = world.run(FULL, PLAIN, check=True)
    assert world.writes == []
    assert not foretold.changed
    done = world.run(FULL, PLAIN)
    assert {(row.change.action, row.change.identity) for row in foretold.sent} == {
        (row.change.action, row.change.identity) for row in done.sent
    }
    assert result.as_result(foretold, check=True, diff=True, requests={})["changed"]


def test_lists_are_read_page_by_page() -> None:
    world = World()
    world.run(*({"name": f"t{number}", "owner": ALICE} for number in range(7)))
    world.page = 2
    before = len(world.writes)
    assert not world.run(*({"name": f"t{number}", "owner": ALICE} for number in range(7))).changed
    assert len(world.writes) == before


def test_requests_of_an_unchanged_run_do_not_grow_with_the_tenants() -> None:
    counts = []
    for number in (2, 20):
        world = World()
        rows = [{"name": f"t{which}", "owner": ALICE, "contributors": [{"name": "bob@example.com"}]} for which in range(number)]
        world.run(*rows)
        begun = len(world.requests)
        world.run(*rows)
        counts.append(len(world.requests) - begun)
    assert counts[0] == counts[1] <= 20


def test_the_controller_is_named_when_it_does_not_act() -> None:
    world = World()
    world.controller = False
    outcome = world.run(FULL, timeout=5)
    assert list(outcome.late) == ["team-a"]
    assert "Deployment kubeflow/profiles-deployment has 1 of 1 replicas available" in outcome.late["team-a"]
    assert "Namespace team-a" in outcome.late["team-a"]
    assert result.as_result(outcome, check=False, diff=False, requests={})["failed"]


@pytest.mark.parametrize("hook", HOOKS, ids=lambda hook: hook.kind)
def test_the_pipelines_objects_are_waited_for_whichever_hook_the_release_has(hook: Resource) -> None:
    world = World(hook)
    world.run(PLAIN)
    del world.objects["/api/v1/namespaces/team-b/secrets/mlpipeline-minio-artifact"]
    world.controller = False
    assert "Secret mlpipeline-minio-artifact" in world.run(PLAIN, timeout=2).late["team-b"]


def test_nothing_is_waited_for_when_that_is_not_wanted() -> None:
    world = World()
    world.controller = False
    begun = world.clock.now
    outcome = world.run(PLAIN, wait=False)
    assert (outcome.late, world.clock.now) == ({}, begun)
    assert outcome.states[0]["ready"] is False


def test_a_tenant_that_is_refused_does_not_hold_up_the_others() -> None:
    world = World()
    world.forbidden = "team-a"
    outcome = world.run(FULL, PLAIN)
    assert [row.change.tenant for row in outcome.failures] == ["team-a"]
    shown = result.as_result(outcome, check=False, diff=False, requests={})
    assert shown["missing_permissions"]["rules"][0]["resources"] == ["profiles"]
    assert "Failed to create Profile team-a" in result.message(outcome)
    world.forbidden = ""
    assert world.run(FULL, PLAIN).failures == []


@pytest.mark.parametrize("kind", ["Profile", "AuthorizationPolicy"])
def test_a_missing_part_of_the_platform_is_told_before_anything_is_written(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    module = "ansible_collections.kubeflow.platform.tests.unit.tenants_server.SERVED"
    monkeypatch.setattr(module, tuple(row for row in SERVED if row.kind != kind))
    world = World()
    with pytest.raises(TenancyError, match="Install the component"):
        world.run(PLAIN)
    assert world.writes == []


def test_everything_live_that_forbids_a_run_is_told_at_once_and_nothing_is_written() -> None:
    world = World()
    for name, notes in (("n1", {}), ("n2", {"owner": "mallory@example.com"})):
        world.put(SERVED[0], {"metadata": {"name": name, "annotations": notes}})
    with pytest.raises(Invalid) as raised:
        world.run({"name": "n1", "owner": ALICE}, {"name": "n2", "owner": ALICE, "adopt": True}, PLAIN)
    assert len(raised.value.errors) == 2
    assert world.writes == []


def test_an_adopted_namespace_keeps_the_contributors_that_it_has() -> None:
    data = {"name": "old", "owner": ALICE, "adopt": True, "contributors": [{"name": "bob@example.com"}], "image_pull_secrets": ["x"]}
    world = World()
    world.put(SERVED[0], {"metadata": {"name": "old"}})
    binding = desired.binding("old", Contributor(Subject("User", "bob@example.com"), "edit"))
    world.put(SERVED[1], binding)
    outcome = world.run(data)
    assert (outcome.failures, outcome.late) == ([], {})
    assert not world.run(data).changed


# -- faults at every request


START = [{**FULL, "contributors": [{"name": "bob@example.com", "role": "admin"}], "limits": None}, {**PLAIN, "name": "gone"}]
WANTED = [{**FULL, "owner": EVE, "quota": {"cpu": "2"}}, PLAIN, {"name": "gone", "state": "absent", "deletion": "confirmed"}]


def begun() -> World:
    """A platform with two tenants: one is to change all over, one is to go, and another is to come."""
    world = World()
    world.run(*START)
    world.requests.clear()
    return world


BEGUN = begun()


def journey() -> World:
    """That platform, before the run that changes it."""
    return copy.deepcopy(BEGUN)


def straight() -> World:
    world = journey()
    assert not world.run(*WANTED).late
    return world


DONE = straight()


@pytest.mark.parametrize("fault", ["kill", "kill-after", "lost"])
def test_a_fault_at_any_request_leaves_what_the_next_run_finishes(fault: str) -> None:
    wanted = DONE.content()
    for number in range(len(DONE.requests)):
        world = journey()
        world.faults = {number: fault}
        with contextlib.suppress(Killed, ClusterError):
            world.run(*WANTED)
        world.faults = {}
        outcome = world.run(*WANTED)
        assert (outcome.failures, outcome.late) == ([], {}), f"{fault} at request {number}: {world.requests[number]}"
        assert world.content() == wanted, f"{fault} at request {number}"


@pytest.mark.parametrize("fault", ["lost", "reset", "429", "503"])
def test_a_passing_fault_at_any_request_is_outlasted_in_the_same_run(fault: str) -> None:
    for number in range(len(DONE.requests)):
        world = journey()
        world.faults = {number: fault}
        outcome = world.run(*WANTED)
        assert (outcome.failures, outcome.late) == ([], {}), f"{fault} at request {number}"


# -- the end of a tenant


def test_a_profile_goes_only_when_that_is_confirmed() -> None:
    world = World()
    world.run(PLAIN)
    world.put(next(row for row in SERVED if row.kind == "Notebook"), {"metadata": {"name": "work", "namespace": "team-b"}})
    before = list(world.writes)
    with pytest.raises(Invalid, match=r"1 notebooks \(work\) would be deleted"):
        world.run({"name": "team-b", "state": "absent"})
    assert world.writes == before
    outcome = world.run({"name": "team-b", "state": "absent", "deletion": "confirmed"})
    assert outcome.lost == {"team-b": {"notebooks": ["work"]}}
    assert not any("team-b" in path for path in world.objects)
    assert not world.run({"name": "team-b", "state": "absent"}).changed


def test_an_adopted_namespace_stays_without_its_contributors() -> None:
    world = World()
    world.put(SERVED[0], {"metadata": {"name": "old"}})
    world.run({"name": "old", "owner": ALICE, "adopt": True, "contributors": [{"name": "bob@example.com"}]})
    outcome = world.run({"name": "old", "state": "absent", "deletion": "confirmed"})
    assert any("was adopted and stays" in text for text in outcome.warnings)
    assert [path for path in world.objects if path.endswith("/namespaces/old")]
    assert "bob@example.com" not in repr(world.objects)


def test_a_deletion_that_an_annotation_would_hold_up_is_mended_first() -> None:
    world = World()
    world.run(PLAIN)
    path = "/api/v1/namespaces/team-b"
    world.objects[path]["metadata"]["annotations"]["owner"] = "x@example.com"
    world.run({"name": "team-b", "state": "absent", "deletion": "confirmed"})
    assert path not in world.objects


def test_a_deletion_that_nobody_finishes_names_who_does_not_act() -> None:
    world = World()
    world.run(PLAIN)
    world.controller = False
    outcome = world.run({"name": "team-b", "state": "absent", "deletion": "confirmed"}, timeout=3)
    assert "kept by profile-finalizer: the profile controller did not act" in outcome.late["team-b"]


def test_no_run_writes_to_the_kinds_themselves() -> None:
    world = DONE
    assert not any("customresourcedefinitions" in url for _method, url in world.requests)


def test_all_contributors_are_not_removed_by_data_that_names_none() -> None:
    world = World()
    world.run(FULL, PLAIN)
    with pytest.raises(Invalid, match="names no contributor at all"):
        world.run({**FULL, "contributors": []}, {**PLAIN, "contributors": []}, authoritative=True)
    outcome = world.run({**FULL, "contributors": []}, {**PLAIN, "contributors": [ALICE]}, authoritative=True)
    assert outcome.changed
