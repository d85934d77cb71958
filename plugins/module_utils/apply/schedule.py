# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The scheduler: which task to start next, given everything that has happened so far.

It owns all state of the dataflow, does nothing itself, and is deterministic: the same sequence of results and times leads to the same
tasks. Threads, requests and the clock are in ``execute``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from ansible_collections.kubeflow.platform.plugins.module_utils.apply.board import Board
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.flow import (
    Answer,
    Apply,
    GateState,
    Node,
    NodeState,
    Poll,
    Probe,
    Task,
)
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.gates import Gate, GateKind
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.model import Outcome
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.retry import Pressure, backoff, may_retry
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.errors import Failure

PROBE_PAUSE = {"kind": 0.25, "namespace": 0.5, "webhook": 0.5, "ready": 0.7}
# Seconds for which somebody outside the run may be about to bring a webhook's pods back.
ORPHAN_PATIENCE = 30.0
PROBE_PAUSE_LONGEST = {"kind": 2.0, "namespace": 1.0, "webhook": 1.0, "ready": 1.0}


class Scheduler(Board):
    """Gives out the tasks of one dataflow. ``jitter()`` gives numbers in [0, 1) and is the only source of chance."""

    def __init__(
        self,
        nodes: Iterable[Node],
        gates: Mapping[str, Gate],
        *,
        workers: int,
        crd_limit: int,
        jitter: Callable[[], float],
        stop_on_failure: bool = False,
    ) -> None:
        super().__init__(nodes, gates, stop_on_failure=stop_on_failure)
        self.pressure = Pressure(workers)
        self._crd_limit = crd_limit
        self._jitter = jitter
        self._polling: set[GateKind] = set()

    # -- what to do next

    def take(self, now: float) -> list[Task]:
        """The tasks to start now; each is under way from this moment."""
        return [*self._looks(now), *self._applies(now)]

    def wake_at(self, now: float) -> float | None:
        """When to call ``take`` again if no result arrives before; None when only a result can help."""
        times = [state.not_before for state in self.nodes.values() if state.phase == "waiting" and state.not_before > now]
        times += [state.next_look for state in self.gates.values() if not state.open and not state.looking and self._wanted(state)]
        return min(times, default=None)

    def _applies(self, now: float) -> list[Task]:
        room = self.pressure.limit - len(self._sent)
        crd_room = self._crd_limit - sum(self.nodes[index].node.is_crd for index in self._sent)
        tasks: list[Task] = []
        self._candidates = {index for index in self._candidates if self._free(self.nodes[index])}
        ready = [self.nodes[index] for index in self._candidates if self.nodes[index].not_before <= now]
        for state in sorted(ready, key=lambda row: (row.node.rank, row.node.index)):
            if len(tasks) >= room:
                break
            if state.node.is_crd:
                if crd_room <= 0:
                    continue
                crd_room -= 1
            state.phase = "sent"
            state.attempts += 1
            state.started = now
            self._sent.add(state.node.index)
            self._candidates.discard(state.node.index)
            tasks.append(Apply(state.node.index))
        return tasks

    def _looks(self, now: float) -> list[Task]:
        due: dict[GateKind, list[str]] = {}
        tasks: list[Task] = []
        for key, state in self.gates.items():
            if state.open or state.looking or not self._wanted(state):
                continue
            if state.wanted_since is None:
                state.wanted_since = now
            if state.next_look > now:
                continue
            if state.gate.kind == "webhook":
                state.looking = True
                tasks.append(Probe(key, self._representative(state)))
            elif state.gate.kind not in self._polling:
                due.setdefault(state.gate.kind, []).append(key)
        for kind, keys in due.items():
            self._polling.add(kind)
            for key in keys:
                self.gates[key].looking = True
            tasks.append(Poll(kind, tuple(keys)))
        return tasks

    # -- what has happened

    def applied(self, index: int, outcome: Outcome, now: float) -> None:
        """The end of one attempt at an object."""
        state = self.nodes[index]
        self._sent.discard(index)
        state.seconds += now - state.started
        failure = outcome.failure
        if failure is None:
            self._settle(state, "done")
            state.outcome = outcome
            self.pressure.success()
            self._progress(now)
            self._release(index)
            if state.node.is_crd:
                self._look_soon("kind", now)
            return
        state.last = failure
        if failure.error_class == "throttled":
            self.pressure.push_back()
        if failure.error_class == "webhook_down":
            self._park(state, failure, now)
        elif may_retry(
            failure,
            state.retries.get(failure.error_class, 0),
            waits_for_kind=self._has_gate(state, "kind"),
            waits_for_namespace=self._may_appear(state),
        ):
            tries = state.retries.get(failure.error_class, 0)
            state.retries[failure.error_class] = tries + 1
            state.not_before = now + backoff(failure, tries, self._jitter())
            state.phase = "waiting"
            self._candidates.add(index)
        else:
            self._fail(state, outcome, now)

    def polled(self, poll: Poll, reasons: Mapping[str, str], now: float) -> None:
        """One look at all gates of a kind: an empty reason means that the gate holds; a gate without an answer stays closed."""
        self._polling.discard(poll.kind)
        for key in poll.keys:
            self._looked(key, reasons.get(key, self.gates[key].reason or "no answer yet"), now)

    def probed(self, probe: Probe, answer: Answer, now: float) -> None:
        """One dry run through a webhook gate; where it told nothing about webhooks (the server was away) the gate stays closed."""
        state = self.gates[probe.key]
        if answer.failing is None:
            state.looking = False
            for key in self.nodes[probe.index].gates | {probe.key}:
                if self.gates[key].gate.kind == "webhook" and all(self._is_settled(need) for need in self.gates[key].gate.needs):
                    self._open(key, now)
            return
        self._looked(probe.key, answer.reason or "no answer yet", now)
        if not answer.failing:
            state.mute[probe.index] = state.mute.get(probe.index, 0) + 1
            return
        guilty = state if answer.guilty is None else self._blame(answer.guilty, probe.index, answer.reason, now)
        state.behind = "" if guilty is state else guilty.gate.key
        broken = [self.nodes[need].node.title for need in sorted(guilty.gate.needs) if self._phase(need) in ("failed", "skipped")]
        if broken:
            self._fail_gate(guilty, f"{broken[0]} failed, and {guilty.gate.title} cannot answer without it", now)
        self._orphan(guilty, answer.missing, now)

    def _blame(self, gate: Gate, index: int, reason: str, now: float) -> GateState:
        """Put an object behind the webhook that did not answer for it, whichever was asked; it is closed again if it was open."""
        state = self.gates.setdefault(gate.key, GateState(gate))
        state.open, state.opened_at, state.reason = False, None, reason
        state.wanted_since = now if state.wanted_since is None else state.wanted_since
        self._put_behind(index, gate.key, now)
        return state

    def _orphan(self, state: GateState, missing: str, now: float) -> None:
        """Give a webhook up behind which there has been nothing for a while, and that this run cannot bring back."""
        if not missing:
            state.missing_since = None
            return
        state.missing_since = now if state.missing_since is None else state.missing_since
        if now - state.missing_since >= ORPHAN_PATIENCE and not state.missing:
            state.missing = missing
            self._fail_gate(state, f"{state.gate.title} cannot answer: {missing}", now)

    def _looked(self, key: str, reason: str, now: float) -> None:
        state = self.gates[key]
        state.looking = False
        if not reason:
            self._open(key, now)
            return
        state.reason = reason
        kind = state.gate.kind
        state.pause = min(PROBE_PAUSE_LONGEST[kind], max(PROBE_PAUSE[kind], state.pause * 1.5))
        state.next_look = now + state.pause

    def _open(self, key: str, now: float) -> None:
        state = self.gates[key]
        state.looking = False
        state.behind, state.missing_since = "", None
        if not state.open:
            state.open = True
            state.opened_at = now
            self._progress(now)
            self._candidates |= {index for index in state.members if self.nodes[index].phase == "waiting"}

    def _look_soon(self, kind: GateKind, now: float) -> None:
        for state in self.gates.values():
            if state.gate.kind == kind and not state.open:
                state.pause = 0.0
                state.next_look = min(state.next_look, now + PROBE_PAUSE[kind])

    def add_gates(self, index: int, gates: Sequence[Gate], now: float) -> None:
        """Put an object behind further gates, found only now (the labels of a namespace that a Profile made)."""
        for gate in gates:
            self.gates.setdefault(gate.key, GateState(gate))
            self._put_behind(index, gate.key, now)

    def _put_behind(self, index: int, key: str, now: float) -> None:
        """An object waits for a gate; for one that was given up it waits no longer."""
        state = self.gates[key]
        state.members.add(index)
        self.nodes[index].gates.add(key)
        if state.failed:
            self._skip(self.nodes[index], state.failed, now)

    def _park(self, state: NodeState, failure: Failure, now: float) -> None:
        """Put an object whose webhook did not answer behind that webhook's gate, which is closed again if it was open."""
        keys = [key for key, row in self.gates.items() if row.gate.webhook is not None and row.gate.webhook.name == failure.webhook]
        own = [key for key in keys if key in state.gates] or keys
        if not own:
            own = [f"webhook:{failure.webhook}"]
            self.gates.setdefault(own[0], GateState(Gate(own[0], "webhook", f"webhook {failure.webhook}")))
        state.phase = "waiting"
        self._candidates.add(state.node.index)
        for key in own:
            row = self.gates[key]
            row.open, row.opened_at, row.reason = False, None, failure.message
            row.next_look = now + PROBE_PAUSE["webhook"]
            self._put_behind(state.node.index, key, now)
