# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs what the scheduler says: threads, requests and the clock of the dataflow."""

from __future__ import annotations

import queue
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Protocol

from ansible_collections.kubeflow.platform.plugins.module_utils.apply.flow import Answer, Apply, Poll, Probe, Task
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.gates import Gate, Surroundings, all_namespace_labels, intercepts
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.look import Look, Looker
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.model import WRITES, Decision, Item, Outcome
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.schedule import Scheduler
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.write import Writer
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.errors import Failure
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.requests import Unreachable

LONGEST_SLEEP = 1.0


class Mailbox(Protocol):
    """Where workers put results; ``queue.SimpleQueue`` is one. Both ways to get raise ``queue.Empty``."""

    def put(self, item: tuple[Task, Any], /) -> None:
        """Add a result."""

    def get(self, *, timeout: float) -> tuple[Task, Any]:
        """Take a result, waiting for one up to ``timeout`` seconds."""

    def get_nowait(self) -> tuple[Task, Any]:
        """Take a result that is there."""


@dataclass(slots=True)
class Limits:
    """When a dataflow gives up; times are of the run's clock."""

    deadline: float
    no_progress: float


@dataclass(slots=True)
class Execution:
    """One dataflow over ``items`` (by index). ``on_done`` is told of every object that was written or found as desired."""

    scheduler: Scheduler
    items: Mapping[int, Item]
    decisions: Mapping[int, Decision]
    hooks: Sequence[Gate]
    looker: Looker
    writer: Writer
    clock: Callable[[], float]
    pool: ThreadPoolExecutor
    on_done: Callable[[Item, Outcome], None]
    on_tick: Callable[[float], None]
    assure: Callable[[], None]
    results: Mailbox
    # What a failed attempt was about to write: its answer may have been lost on the way back.
    tried: dict[int, Decision] = field(default_factory=dict)

    def run(self, limits: Limits) -> None:
        """Until every object is settled, or time is up. Raises what ``assure`` raises when the Lease was lost."""
        self.scheduler.last_progress = self.clock()
        while not self.scheduler.settled:
            now = self.clock()
            self.assure()
            if now >= limits.deadline:
                self._give_up("the time of `run_timeout` is over")
                break
            if now - self.scheduler.last_progress >= limits.no_progress:
                self._give_up(f"nothing moved for {limits.no_progress:.0f} s (`no_progress_timeout`)")
                break
            for task in self.scheduler.take(now):
                self.pool.submit(self._perform, task)
            self._collect(self._pause(now, limits))
            self.on_tick(self.clock())

    def _give_up(self, why: str) -> None:
        """Fail what is left, but wait for what was already sent: its answers decide about it."""
        self.scheduler.expire(why, self.clock())
        while not self.scheduler.idle:
            self._collect(LONGEST_SLEEP)
        self.scheduler.expire(why, self.clock())

    def _pause(self, now: float, limits: Limits) -> float:
        wake = self.scheduler.wake_at(now)
        times = [LONGEST_SLEEP, limits.deadline - now]
        if wake is not None:
            times.append(wake - now)
        return max(0.005, min(times))

    def _collect(self, timeout: float) -> None:
        try:
            self._handle(*self.results.get(timeout=timeout))
            while True:
                self._handle(*self.results.get_nowait())
        except queue.Empty:
            return

    def _perform(self, task: Task) -> None:
        """In a worker: do one task; whatever happens becomes a result, so that nothing is ever waited for in vain."""
        try:
            result: Any = self._do(task)
        except Unreachable as error:
            result = error
        except Exception as error:  # pylint: disable=broad-except
            result = error
        self.results.put((task, result))

    def _do(self, task: Task) -> Any:
        if isinstance(task, Apply):
            first = self.scheduler.nodes[task.index].attempts == 1
            decision = self.tried.get(task.index) or self.decisions.get(task.index)
            return self.writer.attempt(self.items[task.index], decision, first=first)
        if isinstance(task, Probe):
            return self.looker.answer(self.scheduler.gates[task.key].gate, self.items[task.index], self.hooks)
        gates = [self.scheduler.gates[key].gate for key in task.keys]
        look = {"kind": self.looker.kinds, "namespace": self.looker.namespaces, "ready": self.looker.workloads}[task.kind]
        return look(gates)

    def _handle(self, task: Task, result: Any) -> None:
        now = self.clock()
        if isinstance(task, Apply):
            self._applied(task, result, now)
        elif isinstance(task, Probe):
            self.scheduler.probed(task, Answer("", str(result)) if isinstance(result, Exception) else result, now)
        elif isinstance(task, Poll):
            if isinstance(result, Exception):
                result = Look({key: str(result) for key in task.keys}, {})
            if task.kind == "namespace":
                self._guard(task, result)
            self.scheduler.polled(task, result.reasons, now)

    def _applied(self, task: Apply, result: Any, now: float) -> None:
        if isinstance(result, Exception):
            item = self.items[task.index]
            text = f"Failed to apply {item.identity}: {type(result).__name__}: {result}"
            failure = Failure("internal", text, "This is a fault of the collection; report it.")
            result = Outcome(failure=failure)
        if result.failure is not None and result.decision is not None and result.decision.action in WRITES:
            self.tried.setdefault(task.index, result.decision)
        self.scheduler.applied(task.index, result, now)
        if result.failure is None:
            self.on_done(self.items[task.index], result)

    def _guard(self, poll: Poll, look: Look) -> None:
        """The labels of a namespace that a Profile made decide which webhooks see its pods; they are known only now."""
        labels = all_namespace_labels((), Surroundings(look.namespace_labels))
        for key in poll.keys:
            if look.reasons.get(key):
                continue
            for index in self.scheduler.gates[key].members:
                extra = [gate for gate in self.hooks if gate.webhook is not None and intercepts(gate.webhook, self.items[index], labels)]
                self.scheduler.add_gates(index, extra, self.clock())
