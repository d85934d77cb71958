# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What always holds for a whole run, over random sets, faults and orders (apply-engines E10), on an API server in memory."""

from __future__ import annotations

import json
from typing import Any

from ansible_collections.kubeflow.platform.plugins.module_utils.apply.inputs import Document
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.result import Report
from ansible_collections.kubeflow.platform.plugins.module_utils.objects import normalise
from ansible_collections.kubeflow.platform.plugins.module_utils.objects.identity import Identity, identify
from ansible_collections.kubeflow.platform.plugins.module_utils.objects.redaction import Redactor
from ansible_collections.kubeflow.platform.tests.unit.api_double import fields
from ansible_collections.kubeflow.platform.tests.unit.api_double.kinds import Key
from ansible_collections.kubeflow.platform.tests.unit.api_double.objects import (
    REFUSALS,
    SECRET_VALUE,
    aggregated_role,
    config,
    documents,
    sets,
    thing,
    webhook,
)
from ansible_collections.kubeflow.platform.tests.unit.api_double.world import World
from hypothesis import given, settings
from hypothesis import strategies as st

few = settings(max_examples=settings.default.max_examples // 4)  # a whole run or two each; `make soak` searches longer
SEEDS = st.integers(0, 1000)
# Quota and policy depend on the namespace, which may not exist yet when it is asked.
OF_THE_OBJECT = ("schema", "invalid", "rbac")
PASSING = st.dictionaries(st.integers(0, 150), st.sampled_from(["429", "503", "reset", "lost"]), max_size=6)
CLUSTER_SCOPED = frozenset({"Namespace", "CustomResourceDefinition", "ClusterRole", "MutatingWebhookConfiguration", "Gadget", "Profile"})


def desired(document: Document) -> tuple[Identity, dict[str, Any]]:
    """What a document wants, by the true scope of its kind."""
    wanted = normalise.desired(document.content, document.content["kind"] not in CLUSTER_SCOPED)
    return identify(wanted, wanted["kind"] not in CLUSTER_SCOPED), wanted


def live(world: World, identity: Identity) -> dict[str, Any] | None:
    """The object of an identity."""
    found = [row for key, row in world.server.objects.items() if (key.group, row["kind"], key.namespace, key.name) == tuple(identity)]
    return found[0] if found else None


def as_desired(world: World, document: Document) -> bool:
    """Whether each field that is sent is live with its value."""
    identity, wanted = desired(document)
    found = live(world, identity)
    return found is not None and all(
        fields.same(fields.get(found, path), value) for path, value in fields.leaves(wanted).items() if value not in ([], {})
    )


def wrong(report: Report) -> list[str]:
    return [f"{row.action} {row.identity}: {row.failure or row.reason}" for row in report.failures]


@few
@given(sets(), SEEDS, PASSING, st.sampled_from([0.0, 3.0, 40.0]))
def test_all_is_as_desired_and_a_second_run_changes_nothing_when_faults_pass(
    rows: list[Document], seed: int, faults: dict[int, str], delay: float
) -> None:
    world = World(delay=delay, pause=delay / 2, faults=faults)
    report = world.run(rows, seed=seed)
    assert wrong(report) == []
    assert all(as_desired(world, row) for row in rows)
    assert report.changed == bool(world.writes())
    world.clock.sleep(delay)
    before = world.arrived
    again = world.run(rows, seed=seed + 1)
    assert (again.changed, world.writes(before), again.counts()) == (False, [], {"unchanged": len(rows)} if rows else {})


@few
@given(sets(refusals=REFUSALS), SEEDS)
def test_only_what_is_refused_fails_and_at_once_when_objects_are_wrong(rows: list[Document], seed: int) -> None:
    world = World()
    report = world.run(rows, seed=seed)
    bad = {desired(row)[0] for row in rows if "refuse" in (row.content["metadata"].get("annotations") or {})}
    assert {row.identity for row in report.failures} == bad
    assert all(as_desired(world, row) for row in rows if desired(row)[0] not in bad)
    assert all(row.attempts == 1 for row in report.failures)
    for identity in bad:
        sent = [row for row in world.server.requests if row.path.endswith(f"/{identity.name}") and row.method == "PATCH" and not row.dry]
        assert len([row for row in sent if f"/{identity.namespace}/" in row.path]) == 1
    assert report.changed == bool(world.writes())


@few
@given(sets(), SEEDS)
def test_no_object_is_sent_too_early_when_kinds_namespaces_and_webhooks_come_late(rows: list[Document], seed: int) -> None:
    world = World(delay=5.0, pause=2.0)
    world.run(rows, seed=seed)
    real = [row for row in world.server.requests if row.method == "PATCH" and not row.dry]
    assert [row for row in real if row.status >= 300] == []


@few
@given(sets(), SEEDS)
def test_every_object_of_ours_is_in_the_ledger_when_it_is_made(rows: list[Document], seed: int) -> None:
    world = World(delay=1.0)
    world.run(rows, seed=seed)
    assert world.ledger_missed == []
    assert set(world.ledger().entries) == {desired(row)[0] for row in rows}
    assert not any(entry.intent or entry.pending for entry in world.ledger().entries.values())


@few
@given(sets(refusals=OF_THE_OBJECT), sets(refusals=OF_THE_OBJECT), SEEDS, PASSING)
def test_check_mode_writes_nothing_and_predicts_the_run_when_anything_is_live(
    first: list[Document], second: list[Document], seed: int, faults: dict[int, str]
) -> None:
    world = World()
    if first:
        world.run(first, seed=seed)
        world.clock.sleep(5.0)
    before, state = world.arrived, world.content()
    world.faults = {world.count + number: fault for number, fault in faults.items()}
    predicted = world.run(second, seed=seed, check=True, removed=("infra",))
    world.faults = {}
    assert [row for row in world.server.writes if row.by == "engine" and row.request > before] == []
    assert world.content() == state
    done = world.run(second, seed=seed, removed=("infra",))
    failed = {row.identity for row in predicted.failures}
    assert failed == {row.identity for row in done.failures}
    assert {who: what for who, what in actions(predicted).items() if who not in failed} == {
        who: what for who, what in actions(done).items() if who not in failed
    }
    assert predicted.changed == done.changed


def actions(report: Report) -> dict[Identity, str]:
    return {row.identity: row.action for row in report.rows}


@few
@given(sets(), st.randoms(use_true_random=False), SEEDS, st.sampled_from([1, 2, 16]))
def test_result_is_the_same_when_documents_workers_and_answers_come_in_another_order(
    rows: list[Document], chance: Any, seed: int, workers: int
) -> None:
    shuffled = list(rows)
    chance.shuffle(shuffled)
    one, other = World(delay=1.0), World(delay=1.0)
    first = one.run(rows, seed=0, workers=8)
    second = other.run(shuffled, seed=seed, workers=workers)
    one.clock.sleep(10.0)
    other.clock.sleep(10.0)
    assert one.content() == other.content()
    assert actions(first) == actions(second)


@few
@given(sets(), SEEDS, st.data())
def test_dropped_field_goes_when_it_was_ours_alone_and_stays_when_another_has_it(
    rows: list[Document], seed: int, data: st.DataObject
) -> None:
    kept, dropped = config("mine"), config("mine")
    kept["data"] = {"a": "1", "b": "2"}
    shared = data.draw(st.booleans())
    world = World()
    world.run([*rows, *documents(kept)], seed=seed)
    key = Key("", "configmaps", "default", "mine")
    if shared:
        after, owners = fields.apply(world.server.objects[key], {"metadata": {"name": "mine"}, "data": {"b": "2"}}, "somebody", False)
        after["metadata"]["managedFields"] = fields.managed(owners, after["metadata"], "v1", "2026-01-01T00:00:00Z")
        world.server.write("somebody", key, after)
    report = world.run([*rows, *documents(dropped)], seed=seed)
    assert ("b" in world.server.objects[key]["data"]) == shared
    assert actions(report)[Identity("", "ConfigMap", "default", "mine")] in ("configure", "adopt")


@few
@given(sets(), SEEDS, st.sampled_from([0.0, 0.3, 2.0]))
def test_controllers_never_cause_a_change_when_they_fill_and_rewrite_fields(rows: list[Document], seed: int, pause: float) -> None:
    secret = thing("Secret", "keyed", "default")
    secret["metadata"]["annotations"] = {"keyed": "true"}
    every = [*rows, *documents(aggregated_role("admin"), secret, *webhook("hook", ["nothing"]))]
    world = World(pause=pause)
    world.run(every, seed=seed)
    world.clock.sleep(10.0)
    before = world.arrived
    again = world.run(every, seed=seed)
    assert (again.changed, world.writes(before), wrong(again)) == (False, [], [])
    assert world.controllers.fewest_rules["admin"] == 1
    assert world.server.objects[Key("", "secrets", "default", "keyed")]["data"] == {"tls.key": "a2V5"}


@few
@given(sets(refusals=REFUSALS), SEEDS)
def test_secret_values_stay_in_when_anything_is_told(rows: list[Document], seed: int) -> None:
    changed = thing("Secret", "mine", "default", data={"password": SECRET_VALUE})
    world = World()
    world.run(documents(thing("Secret", "mine", "default", data={"password": "b2xkLWNhbmFyeS05ODc2NQ=="})), seed=seed)
    every = [*rows, *documents(changed)]
    redactor = Redactor(())
    for row in every:
        redactor.learn(row.content)
    report = world.run(every, seed=seed, diff=True, removed=("infra",))
    told = json.dumps(report.as_result(redactor, diff=True))
    assert all(canary not in told for canary in (SECRET_VALUE, "secret-canary-12345", "b2xkLWNhbmFyeS05ODc2NQ==", "old-canary-98765"))
