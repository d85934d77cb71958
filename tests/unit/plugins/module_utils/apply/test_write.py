# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One attempt at one object always ends in an outcome that says what was done."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.compare import Comparer
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.ledger import Ledger
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.makers import stranger
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.model import Decision, Outcome
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.write import Writer
from ansible_collections.kubeflow.platform.plugins.module_utils.objects.identity import Identity
from ansible_collections.kubeflow.platform.tests.unit.api_double.kinds import Key
from ansible_collections.kubeflow.platform.tests.unit.api_double.objects import config, documents, items, refusing, thing
from ansible_collections.kubeflow.platform.tests.unit.api_double.world import DirectClient, World

MINE = Key("", "configmaps", "default", "mine")
Obj = dict[str, Any]


class Bench:
    """A cluster and a writer."""

    def __init__(self, *live: Obj) -> None:
        self.world = World()
        if live:
            self.world.run(documents(*live))
            self.world.clock.sleep(60.0)
        client = DirectClient(self.world)
        self.comparer = Comparer(client, "kubeflow")
        self.writer = Writer(client, self.comparer, self.world.clock.sleep, self.world.clock.monotonic)
        self.before = self.world.arrived

    def attempt(self, obj: Obj, decision: Decision | None = None, *, first: bool = True, fault: tuple[int, str] | None = None) -> Outcome:
        if fault:
            self.world.faults = {self.world.count + fault[0]: fault[1]}
        return self.writer.attempt(items(obj)[0], decision, first=first)

    def decide(self, obj: Obj) -> Decision:
        return self.comparer.decide(items(obj)[0])

    @property
    def writes(self) -> list[str]:
        return [row.verb for row in self.world.writes(self.before)]


def test_object_is_created_with_one_request_when_it_was_not_there() -> None:
    bench = Bench()
    decision = bench.decide(config("mine"))
    asked = bench.world.count
    outcome = bench.attempt(config("mine"), decision)
    assert (outcome.action, outcome.failure, bench.writes, bench.world.count - asked) == ("create", None, ["create"], 1)
    assert outcome.metadata["uid"] == bench.world.server.objects[MINE]["metadata"]["uid"]


def test_object_is_compared_first_when_nothing_was_decided_about_it() -> None:
    bench = Bench(config("mine"))
    assert (bench.attempt(config("mine")).action, bench.writes) == ("unchanged", [])
    assert (bench.attempt(config("mine", a="2")).action, bench.writes) == ("configure", ["update"])


@pytest.mark.parametrize("live", [(), (config("mine"),)])
def test_lost_answer_is_a_failure_and_the_next_attempt_tells_what_was_done_when_it_had_arrived(live: tuple[Obj, ...]) -> None:
    bench = Bench(*live)
    decision = bench.decide(config("mine", a="2"))
    lost = bench.attempt(config("mine", a="2"), decision, fault=(0, "lost"))
    assert lost.failure is not None and lost.failure.error_class == "transport" and lost.decision is decision
    outcome = bench.attempt(config("mine", a="2"), decision, first=False)
    assert (outcome.action, outcome.failure, len(bench.writes)) == (decision.action, None, 1)


def test_object_is_sent_again_when_the_first_attempt_did_not_arrive() -> None:
    bench = Bench()
    decision = bench.decide(config("mine"))
    bench.attempt(config("mine"), decision, fault=(0, "reset"))
    assert (bench.attempt(config("mine"), decision, first=False).action, bench.writes) == ("create", ["create"])


def test_refusal_is_classified_and_keeps_the_decision() -> None:
    bench = Bench()
    decision = bench.decide(refusing("quota"))
    outcome = bench.attempt(refusing("quota"), decision)
    assert outcome.failure is not None and (outcome.failure.error_class, outcome.decision, bench.writes) == ("quota", decision, [])


def test_nothing_is_sent_when_the_decision_is_a_failure() -> None:
    bench = Bench(config("bad"))
    decision = bench.decide(refusing("invalid"))
    asked = bench.world.count
    outcome = bench.attempt(refusing("invalid"), decision)
    assert (outcome.failure, bench.world.count) == (decision.failure, asked)


def test_accepted_apply_is_no_success_when_the_object_is_being_deleted() -> None:
    bench = Bench(config("mine"))
    decision = bench.decide(config("mine", a="2"))
    bench.world.server.objects[MINE]["metadata"].update(finalizers=["x/y"], deletionTimestamp="2026-01-01T00:00:00Z")
    outcome = bench.attempt(config("mine", a="2"), decision)
    assert outcome.failure is not None and (outcome.failure.error_class, bench.writer.touched) == ("terminating", {0})


def test_object_is_compared_after_all_when_another_tool_made_it_meanwhile() -> None:
    bench = Bench()
    decision = bench.decide(config("mine"))
    theirs = {**config("mine", a="theirs"), "metadata": {"name": "mine", "namespace": "default"}}
    theirs["metadata"]["managedFields"] = [
        {"manager": "kubectl", "operation": "Apply", "apiVersion": "v1", "fieldsType": "FieldsV1", "fieldsV1": {"f:data": {"f:a": {}}}}
    ]
    bench.world.server.write("kubectl", MINE, theirs)
    outcome = bench.attempt(config("mine"), decision)
    assert outcome.action == "configure" and bench.world.server.objects[MINE]["data"] == {"a": "1"}


def test_creation_is_told_as_configuration_when_the_object_turned_out_to_be_there() -> None:
    bench = Bench(config("mine"))
    outcome = bench.attempt(config("mine", a="2"), Decision("create", items(config("mine", a="2"))[0].desired))
    assert outcome.action == "configure"


def theirs(world: World, label: str = "") -> None:
    """Somebody makes the object with fields that nobody of ours sends, so that nothing would be fought about."""
    labels = {"labels": {"kubeflow.platform/set": label}} if label else {}
    manager = "kubeflow.platform" if label else "terraform-provider-x"
    entry = {"manager": manager, "operation": "Apply", "apiVersion": "v1", "fieldsType": "FieldsV1", "fieldsV1": {"f:data": {"f:b": {}}}}
    obj = {**config("mine", b="theirs"), "metadata": {"name": "mine", "namespace": "default", **labels, "managedFields": [entry]}}
    world.server.write(manager, MINE, obj)


def ask(identity: Identity, metadata: Mapping[str, Any]) -> str:
    return stranger(Ledger("kubeflow"), identity, metadata)


@pytest.mark.parametrize("lost", [False, True])
def test_object_that_another_set_made_meanwhile_is_refused_and_not_merged(lost: bool) -> None:
    bench = Bench()
    decision = bench.decide(config("mine"))
    if lost:
        bench.attempt(config("mine"), decision, fault=(0, "reset"))
    theirs(bench.world, "monitoring")
    outcome = bench.attempt(config("mine"), decision, first=not lost)
    assert outcome.failure is not None and (outcome.failure.error_class, bench.writes) == ("foreign_set", [])
    assert bench.world.server.objects[MINE]["data"] == {"b": "theirs"}


def test_object_that_others_made_meanwhile_is_taken_over_only_when_allowed() -> None:
    bench = Bench()
    decision = bench.decide(config("mine"))
    theirs(bench.world)
    outcome = replace(bench.writer, stranger=ask).attempt(items(config("mine"))[0], decision, first=True)
    assert outcome.failure is not None and (outcome.failure.error_class, bench.writes) == ("not_adopted", [])
    assert "terraform-provider-x" in outcome.failure.message and "`adopt: allow`" in outcome.failure.advice
    outcome = bench.attempt(config("mine"), decision)
    assert (outcome.action, bench.world.server.objects[MINE]["data"]) == ("configure", {"a": "1", "b": "theirs"})


def test_object_that_others_made_before_its_turn_is_not_taken_over_unasked() -> None:
    bench = Bench()
    theirs(bench.world)
    outcome = replace(bench.writer, stranger=ask).attempt(items(config("mine"))[0], None, first=True)
    assert outcome.failure is not None and (outcome.failure.error_class, bench.writes) == ("not_adopted", [])


def test_taking_over_is_a_write_although_the_apply_after_it_fails() -> None:
    bench = Bench()
    entry = {"manager": "kubectl", "operation": "Apply", "apiVersion": "v1", "fieldsType": "FieldsV1", "fieldsV1": {"f:data": {"f:a": {}}}}
    bench.world.server.write("kubectl", MINE, thing("ConfigMap", "mine", "default", data={"a": "1"}))
    bench.world.server.objects[MINE]["metadata"]["managedFields"] = [entry]
    outcome = bench.attempt(config("mine"), bench.decide(config("mine")), fault=(1, "reset"))
    assert outcome.failure is not None and (bench.writes, bench.writer.touched) == (["update"], {0})
