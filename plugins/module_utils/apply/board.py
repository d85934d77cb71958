# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where every object and gate of a dataflow stands, and what the end of one object means for the others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ansible_collections.kubeflow.platform.plugins.module_utils.apply.flow import GateState, Node, NodeState
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.gates import Gate, GateKind
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.model import Outcome
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.errors import Failure

# The server answers for a missing kind or namespace before it calls any webhook.
BEFORE_WEBHOOKS = frozenset({"kind", "namespace"})


class Board:
    """The state of one dataflow; times are of the run's clock."""

    def __init__(self, nodes: Iterable[Node], gates: Mapping[str, Gate], *, stop_on_failure: bool) -> None:
        self.nodes = {node.index: NodeState(node, set(node.gates)) for node in nodes}
        self.gates = {key: GateState(gate) for key, gate in gates.items()}
        self.last_progress = 0.0
        self._stop_on_failure = stop_on_failure
        self._sent: set[int] = set()
        self._dependents: dict[int, set[int]] = {}
        for state in self.nodes.values():
            for need in state.node.hard | state.node.soft:
                self._dependents.setdefault(need, set()).add(state.node.index)
            for key in state.gates:
                self.gates[key].members.add(state.node.index)
        # What may be sent as soon as there is room; whatever turns out to be blocked leaves, and comes back when a need is met.
        self._candidates = set(self.nodes)
        self._unsettled = set(self.nodes)

    @property
    def settled(self) -> bool:
        """Whether no object is left to send."""
        return not self._unsettled

    @property
    def idle(self) -> bool:
        """Whether no object is under way."""
        return not self._sent

    def unproven(self, state: GateState) -> bool:
        """Whether all that is known of a closed webhook gate is that another webhook is in the way."""
        return bool(state.behind) and not self.gates[state.behind].open

    # -- how things stand

    def _free(self, state: NodeState) -> bool:
        """Whether nothing but a pause keeps an object from being sent."""
        return state.phase == "waiting" and self._unblocked(state) and all(self.gates[key].open for key in state.gates)

    def _unblocked(self, state: NodeState) -> bool:
        """Whether all that must come before has come; gates and pauses aside."""
        return all(self._phase(index) == "done" for index in state.node.hard) and all(self._is_settled(index) for index in state.node.soft)

    def _phase(self, index: int) -> str:
        # Objects that were left out of this dataflow (already as desired) count as done.
        return self.nodes[index].phase if index in self.nodes else "done"

    def _is_settled(self, index: int) -> bool:
        return index not in self.nodes or self.nodes[index].settled

    def _parked(self, state: NodeState) -> bool:
        return state.phase == "waiting" and self._unblocked(state)

    def _wanted(self, state: GateState) -> bool:
        """Whether somebody waits for a gate, and it could be looked at."""
        waits = self._askable if state.gate.kind == "webhook" else self._parked
        return (
            not state.failed
            and all(self._is_settled(need) for need in state.gate.needs)
            and any(waits(self.nodes[index]) for index in state.members)
        )

    def _askable(self, state: NodeState) -> bool:
        """Whether a dry run of a parked object reaches webhooks: while its kind or namespace is missing it tells nothing about them."""
        return self._parked(state) and all(self.gates[key].open for key in state.gates if self.gates[key].gate.kind in BEFORE_WEBHOOKS)

    def _representative(self, gate: GateState) -> int:
        """The parked object with the fewest other closed webhooks in front: its dry run tells most. In turn where they tell nothing."""

        def silence(index: int) -> tuple[int, int, int]:
            return (gate.mute.get(index, 0), sum(not self.gates[key].open for key in self.nodes[index].gates), index)

        return min((index for index in gate.members if self._askable(self.nodes[index])), key=silence)

    def _has_gate(self, state: NodeState, kind: GateKind) -> bool:
        return any(self.gates[key].gate.kind == kind for key in state.gates)

    def _may_appear(self, state: NodeState) -> bool:
        return self._has_gate(state, "namespace") or bool(state.node.hard)

    # -- endings

    def _settle(self, state: NodeState, phase: str) -> None:
        state.phase = phase
        self._unsettled.discard(state.node.index)

    def _progress(self, now: float) -> None:
        self.last_progress = now

    def _release(self, index: int) -> None:
        self._candidates |= {row for row in self._dependents.get(index, ()) if self.nodes[row].phase == "waiting"}

    def _fail(self, state: NodeState, outcome: Outcome, now: float) -> None:
        self._settle(state, "failed")
        state.outcome = outcome
        self._progress(now)
        self._release(state.node.index)
        for index in sorted(self._dependents.get(state.node.index, ())):
            if state.node.index in self.nodes[index].node.hard:
                self._skip(self.nodes[index], f"{state.node.title} failed", now)
        for row in self.gates.values():
            if state.node.index in row.gate.needs and row.gate.kind != "webhook":
                self._fail_gate(row, f"{state.node.title} failed", now)
        if self._stop_on_failure:
            for other in self.nodes.values():
                self._skip(other, f"the run stops at the first failure (on_failure=stop), and {state.node.title} failed", now)

    def _fail_gate(self, state: GateState, why: str, now: float) -> None:
        state.failed = why
        for index in sorted(state.members):
            self._skip(self.nodes[index], why, now)

    def _skip(self, state: NodeState, because: str, now: float) -> None:
        if state.phase != "waiting":
            return
        self._settle(state, "skipped")
        state.because = because
        self._progress(now)
        self._release(state.node.index)
        for index in sorted(self._dependents.get(state.node.index, ())):
            if state.node.index in self.nodes[index].node.hard:
                self._skip(self.nodes[index], because, now)
        for row in self.gates.values():
            if state.node.index in row.gate.needs and row.gate.kind != "webhook" and not row.failed:
                self._fail_gate(row, because, now)

    def expire(self, why: str, now: float) -> None:
        """End the run: whatever is not settled or under way fails now, with what it was waiting for."""
        for state in self.nodes.values():
            if state.settled or state.phase == "sent":
                continue
            closed = [self.gates[key] for key in sorted(state.gates) if not self.gates[key].open and not self.unproven(self.gates[key])]
            if closed:
                reason = "; ".join(f"{row.gate.title}: {row.reason or 'not open yet'}" for row in closed)
                failure = Failure(
                    "deadline", f"Failed to apply {state.node.title}: {why}, still waiting for {reason}", "See what the gate waits for."
                )
            elif state.last is not None:
                failure = Failure(state.last.error_class, state.last.message, state.last.advice)
            else:
                blocked = [self.nodes[i].node.title for i in sorted(state.node.hard) if self._phase(i) != "done"]
                failure = Failure(
                    "deadline", f"Failed to apply {state.node.title}: {why}, still waiting for {', '.join(blocked) or 'its turn'}", ""
                )
            self._settle(state, "failed")
            state.outcome = Outcome(failure=failure)
            self._progress(now)
