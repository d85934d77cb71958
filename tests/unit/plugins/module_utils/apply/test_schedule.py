# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The scheduler, driven by a simulated cluster: a world of made-up answers and a clock that only moves when nothing can be done."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import pytest
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.flow import Answer, Apply, Node, Poll, Probe, Task
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.gates import Gate
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.model import Outcome
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.schedule import Scheduler
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.errors import Failure
from hypothesis import given, settings
from hypothesis import strategies as st

GOOD = Outcome("create", {"uid": "1"})
INVALID = Outcome(failure=Failure("invalid", "Failed to apply it: bad field", "Mend it."))
RESET = Outcome(failure=Failure("transport", "Failed to reach the API server: reset", "Check the network."))


def down(webhook: str) -> Outcome:
    return Outcome(failure=Failure("webhook_down", f"webhook {webhook} refused", "Wait.", webhook=webhook))


def node(
    index: int, *, rank: int = 2, hard: tuple[int, ...] = (), soft: tuple[int, ...] = (), gates: tuple[str, ...] = (), crd: bool = False
) -> Node:
    return Node(index, f"Thing {index}", rank, frozenset(hard), frozenset(soft), frozenset(gates), crd)


@dataclass
class World:
    """Answers for tasks; ``answer(index, attempt)`` for objects, ``opens_at`` for gates (seconds; missing: never)."""

    answer: Callable[[int, int], Outcome] = lambda _index, _attempt: GOOD
    opens_at: Mapping[str, float] = field(default_factory=dict)
    duration: float = 0.1
    sent: list[tuple[float, int]] = field(default_factory=list)
    probes: list[tuple[float, str]] = field(default_factory=list)
    under_way: int = 0
    most_under_way: int = 0

    def run(self, scheduler: Scheduler, until: float = 1000.0) -> float:
        """Let time pass until everything is settled; returns when that was."""
        now, flying = 0.0, []
        order = 0
        while not scheduler.settled and now < until:
            for task in scheduler.take(now):
                flying.append((now + self.duration, order, task))
                order += 1
                self._note(task, now)
            if flying:
                flying.sort(key=lambda row: row[:2])
                now = max(now, flying[0][0])
                self._answer(scheduler, flying.pop(0)[2], now)
            else:
                wake = scheduler.wake_at(now)
                now = until if wake is None else max(now + 0.001, wake)
        return now

    def _note(self, task: Task, now: float) -> None:
        if isinstance(task, Apply):
            self.sent.append((now, task.index))
            self.under_way += 1
            self.most_under_way = max(self.most_under_way, self.under_way)
        elif isinstance(task, Probe):
            self.probes.append((now, task.key))

    def _answer(self, scheduler: Scheduler, task: Task, now: float) -> None:
        if isinstance(task, Apply):
            self.under_way -= 1
            scheduler.applied(task.index, self.answer(task.index, scheduler.nodes[task.index].attempts), now)
        elif isinstance(task, Poll):
            scheduler.polled(task, {key: "" if self._is_open(key, now) else "not there" for key in task.keys}, now)
        else:
            open_now = self._is_open(task.key, now)
            scheduler.probed(task, Answer(None if open_now else "hook", "refused"), now)

    def _is_open(self, key: str, now: float) -> bool:
        return now >= self.opens_at.get(key, float("inf"))


def scheduler(nodes: list[Node], gates: dict[str, Gate] | None = None, *, workers: int = 4, stop: bool = False) -> Scheduler:
    return Scheduler(nodes, gates or {}, workers=workers, crd_limit=2, jitter=lambda: 0.5, stop_on_failure=stop)


def test_objects_go_in_the_order_of_rank_and_index_when_all_are_ready() -> None:
    world = World()
    world.run(scheduler([node(0, rank=7), node(1, rank=0), node(2, rank=2), node(3, rank=0)], workers=1))
    assert [index for _time, index in world.sent] == [1, 3, 2, 0]


def test_custom_resource_is_sent_only_after_its_kind_is_served() -> None:
    gate = Gate("kind:x", "kind", "X", frozenset({0}))
    world = World(opens_at={"kind:x": 8.0})
    ended = world.run(scheduler([node(0, crd=True), node(1, hard=(0,), gates=("kind:x",))], {"kind:x": gate}))
    assert [index for _time, index in world.sent] == [0, 1]
    assert 8.0 <= ended < 11.0


def test_objects_behind_a_closed_webhook_wait_while_others_go_on() -> None:
    gate = Gate("webhook:w", "webhook", "W")
    nodes = [node(0, gates=("webhook:w",)), *(node(index) for index in range(1, 20))]
    world = World(opens_at={"webhook:w": 10.0})
    state = scheduler(nodes, {"webhook:w": gate})
    world.run(state)
    assert all(row.phase == "done" for row in state.nodes.values())
    assert world.sent[-1][1] == 0 and world.sent[-1][0] >= 10.0
    assert max(time for time, index in world.sent if index) < 2.0


def test_gate_is_probed_at_most_once_per_pause_when_closed() -> None:
    gate = Gate("webhook:w", "webhook", "W")
    world = World(opens_at={"webhook:w": 30.0})
    world.run(scheduler([node(index, gates=("webhook:w",)) for index in range(50)], {"webhook:w": gate}))
    times = [time for time, dummy in world.probes]
    pauses = [later - earlier for earlier, later in zip(times, times[1:])]
    assert min(pauses) >= 0.5


def test_object_is_parked_when_a_webhook_that_nobody_knew_refuses_it() -> None:
    answers = {1: down("surprise.example.com"), 2: GOOD}
    world = World(lambda _index, attempt: answers[attempt], {"webhook:surprise.example.com": 5.0})
    state = scheduler([node(0)])
    world.run(state)
    assert state.nodes[0].phase == "done" and state.nodes[0].attempts == 2


def test_open_gate_closes_again_when_its_webhook_dies() -> None:
    gate = Gate("webhook:w", "webhook", "W")
    state = scheduler([node(0, gates=("webhook:w",))], {"webhook:w": gate})
    world = World(lambda _index, attempt: down("hook") if attempt == 1 else GOOD, {"webhook:w": 0.0, "webhook:hook": 3.0})
    world.run(state)
    assert state.nodes[0].phase == "done"


@pytest.mark.parametrize("error_class", ["invalid", "schema", "rbac", "quota", "policy", "conflict_owner", "transition", "auth"])
def test_object_gets_one_attempt_when_its_failure_is_final(error_class: str) -> None:
    state = scheduler([node(0), node(1)])
    world = World(lambda index, _attempt: GOOD if index else Outcome(failure=Failure(error_class, "no", "")))
    world.run(state)
    assert (state.nodes[0].phase, state.nodes[0].attempts, state.nodes[1].phase) == ("failed", 1, "done")


@pytest.mark.parametrize(
    "error_class", ["transport", "throttled", "server_down", "internal", "conflict_version", "terminating", "ns_terminating"]
)
def test_object_is_sent_again_when_its_failure_may_pass(error_class: str) -> None:
    state = scheduler([node(0)])
    World(lambda _index, attempt: GOOD if attempt == 4 else Outcome(failure=Failure(error_class, "wait", ""))).run(state)
    assert (state.nodes[0].phase, state.nodes[0].attempts) == ("done", 4)


def test_retry_after_of_the_server_wins_over_the_own_pause() -> None:
    state = scheduler([node(0)])
    world = World(lambda _index, attempt: GOOD if attempt == 2 else Outcome(failure=Failure("throttled", "slow down", "", retry_after=2.0)))
    world.run(state)
    assert world.sent[1][0] - world.sent[0][0] == pytest.approx(2.1)


def test_fewer_requests_are_under_way_after_the_server_pushed_back() -> None:
    state = scheduler([node(index) for index in range(40)], workers=8)
    first = World(
        lambda index, attempt: GOOD if index or attempt > 1 else Outcome(failure=Failure("throttled", "slow down", "", retry_after=0.1))
    )
    first.run(state)
    assert first.most_under_way == 8
    assert state.pressure.limit < 8


def test_dependents_are_skipped_with_the_reason_when_an_object_fails() -> None:
    gate = Gate("kind:x", "kind", "X", frozenset({0}))
    state = scheduler([node(0, crd=True), node(1, hard=(0,), gates=("kind:x",)), node(2, hard=(1,)), node(3)], {"kind:x": gate})
    World(lambda index, _attempt: GOOD if index else INVALID).run(state)
    assert [state.nodes[index].phase for index in range(4)] == ["failed", "skipped", "skipped", "done"]
    assert state.nodes[2].because == "Thing 0 failed"


def test_objects_behind_a_webhook_are_skipped_when_what_backs_it_failed_and_it_does_not_answer() -> None:
    gate = Gate("webhook:w", "webhook", "W", frozenset({0}))
    state = scheduler([node(0), node(1, gates=("webhook:w",))], {"webhook:w": gate})
    World(lambda index, _attempt: GOOD if index else INVALID).run(state)
    assert state.nodes[1].phase == "skipped"


def test_object_goes_after_a_soft_need_even_when_that_failed() -> None:
    state = scheduler([node(0), node(1, soft=(0,))])
    World(lambda index, _attempt: GOOD if index else INVALID).run(state)
    assert state.nodes[1].phase == "done"


def test_nothing_more_is_sent_after_a_failure_when_on_failure_is_stop() -> None:
    state = scheduler([node(index) for index in range(10)], workers=1, stop=True)
    world = World(lambda index, _attempt: INVALID if index == 3 else GOOD)
    world.run(state)
    assert len(world.sent) == 4
    assert {state.nodes[index].phase for index in range(4, 10)} == {"skipped"}


def test_expired_run_says_what_each_object_was_waiting_for() -> None:
    gate = Gate("webhook:w", "webhook", "webhook W at Service a/b")
    state = scheduler([node(0, gates=("webhook:w",))], {"webhook:w": gate})
    World().run(state, until=20.0)
    state.expire("run_timeout is over", 20.0)
    outcome = state.nodes[0].outcome
    assert outcome is not None and outcome.failure is not None
    assert "webhook W at Service a/b: refused" in outcome.failure.message


@st.composite
def worlds(draw: st.DrawFn) -> tuple[list[Node], dict[str, Gate], World, float]:
    """A random acyclic set with gates, and a world in which faults stop and every gate opens sooner or later."""
    size = draw(st.integers(1, 25))
    gates: dict[str, Gate] = {}
    nodes = []
    for index in range(size):
        hard = tuple(draw(st.sets(st.integers(0, index - 1), max_size=3))) if index else ()
        soft = tuple(draw(st.sets(st.integers(0, index - 1), max_size=2))) if index else ()
        keys = []
        for number in draw(st.sets(st.integers(0, 3), max_size=2)):
            kind = ("kind", "namespace", "webhook", "ready")[number]
            key = f"{kind}:{number}"
            gates.setdefault(key, Gate(key, kind, key))  # type: ignore[arg-type]
            keys.append(key)
        nodes.append(node(index, rank=draw(st.integers(0, 7)), hard=hard, soft=soft, gates=tuple(keys), crd=draw(st.booleans())))
    seed = draw(st.integers(0, 2**32))
    last = draw(st.floats(0, 40))
    faulty = random.Random(seed)
    troubles = {index: faulty.randint(0, 3) for index in range(size)}
    world = World(lambda index, attempt: RESET if attempt <= troubles[index] else GOOD, {key: faulty.uniform(0, last) for key in gates})
    return nodes, gates, world, last


@given(worlds(), st.integers(1, 8))
@settings(max_examples=settings.default.max_examples * 3 // 4)
def test_every_object_is_applied_after_its_needs_when_faults_stop(
    case: tuple[list[Node], dict[str, Gate], World, float], workers: int
) -> None:
    nodes, gates, world, _last = case
    state = scheduler(nodes, gates, workers=workers)
    world.run(state)
    assert {row.phase for row in state.nodes.values()} == {"done"}
    assert world.most_under_way <= workers
    done_at: dict[int, float] = {}
    for time, index in world.sent:
        done_at[index] = time
    for row in nodes:
        first = min(time for time, index in world.sent if index == row.index)
        assert all(done_at[need] < first for need in row.hard | row.soft)
        assert all(world.opens_at[key] <= first for key in row.gates)


@given(worlds(), st.sets(st.integers(0, 24), max_size=4))
@settings(max_examples=settings.default.max_examples * 3 // 4)
def test_exactly_the_dependents_of_failed_objects_are_skipped(
    case: tuple[list[Node], dict[str, Gate], World, float], bad: set[int]
) -> None:
    nodes, gates, world, _last = case
    world.answer = lambda index, _attempt: INVALID if index in bad else GOOD
    state = scheduler(nodes, gates)
    world.run(state)
    hurt: set[int] = set()
    for row in nodes:
        if row.hard & (hurt | {index for index in bad if state.nodes.get(index) and state.nodes[index].phase == "failed"}):
            hurt.add(row.index)
    assert {index for index, row in state.nodes.items() if row.phase == "skipped"} == hurt
    assert all(row.attempts == 1 for row in state.nodes.values() if row.phase == "failed")


def test_webhook_is_not_asked_with_an_object_when_its_kind_is_not_served_yet() -> None:
    gates = {"kind:x": Gate("kind:x", "kind", "X", frozenset({0})), "webhook:w": Gate("webhook:w", "webhook", "W")}
    world = World(opens_at={"kind:x": 8.0, "webhook:w": 0.0})
    state = scheduler([node(0, crd=True), node(1, hard=(0,), gates=("kind:x", "webhook:w"))], gates)
    world.run(state)
    assert state.nodes[1].phase == "done"
    assert [key for time, key in world.probes if time < 8.0] == []
    assert len(world.probes) == 1


def test_webhook_is_asked_with_another_object_when_the_first_tells_nothing() -> None:
    state = scheduler([node(0, gates=("webhook:w",)), node(1, gates=("webhook:w",))], {"webhook:w": Gate("webhook:w", "webhook", "W")})
    asked = []
    for moment in range(0, 4, 2):
        (probe,) = state.take(float(moment))
        assert isinstance(probe, Probe)
        asked.append(probe.index)
        state.probed(probe, Answer("" if probe.index == 0 else None, "its namespace is being deleted"), float(moment))
    assert asked == [0, 1]
    assert {task.index for task in state.take(5.0) if isinstance(task, Apply)} == {0, 1}
