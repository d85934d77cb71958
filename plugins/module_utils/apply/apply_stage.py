# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The stage that writes: records the intent, runs the dataflow, and keeps the ledger as results come."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from ansible_collections.kubeflow.platform.plugins.module_utils.apply import ledger as ledgers
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.compare_stage import Comparison, comparer, deferred, deferred_by_crd
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.execute import Execution, Limits
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.flow import GateState, Node, NodeState
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.gates import Gates, Surroundings, derive, webhook_gates
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.graph import edges, ranks
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.lease import Lease
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.look import Looker
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.makers import stranger
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.model import Decision, Item, Outcome
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.observe import surroundings
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.owners import Records, orphan_row
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.result import SHORTEST_WAIT, Row, Wait
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.schedule import Scheduler
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.settings import Settings
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.write import Writer, nobody
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.requests import Unreachable
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.wording import brief, lasting
from ansible_collections.kubeflow.platform.plugins.module_utils.objects import ownership
from ansible_collections.kubeflow.platform.plugins.module_utils.objects.identity import Identity

if TYPE_CHECKING:
    from ansible_collections.kubeflow.platform.plugins.module_utils.apply.run import Tools

# The server's CRD controllers are nearly single-file: more at once only makes single requests slower, up to its own timeout.
CRD_LIMIT = 2
SAVE_EVERY = 5.0
SAY_EVERY = 5.0


class ApplyStage:
    """One dataflow over what the comparison left to do."""

    def __init__(
        self,
        settings: Settings,
        tools: Tools,
        comparison: Comparison,
        store: ledgers.LedgerStore,
        ledger: ledgers.Ledger,
        run_id: str,
        deadline: float,
        lease: Lease,
    ) -> None:
        self.settings = settings
        self.ledger = replace(
            ledger,
            run_id=run_id,
            release=settings.release or ledger.release,
            selection=ledger.selection if settings.scope else tuple(sorted({item.part.component for item in comparison.items})),
            scope=settings.scope,
            adopted=ledger.adopted or bool(comparison.adopting),
        )
        self._found = ledger
        self.warnings: list[str] = []
        self.since: dict[Identity, float] = {}
        self._touched: set[int] = set()
        self.surroundings = Surroundings()
        self.scheduler = Scheduler((), {}, workers=1, crd_limit=1, jitter=tools.jitter)
        self.looker = Looker(tools.client, tools.discovery, tools.clock.time)
        self.comparer = comparer(settings, tools)
        self._tools = tools
        self._comparison = comparison
        self._store = store
        self._deadline = deadline
        self._lease = lease
        self._saved = self._said = tools.clock.monotonic()

    @property
    def failed(self) -> bool:
        """Whether any object is not as desired."""
        return any(state.phase in ("failed", "skipped") for state in self.scheduler.nodes.values())

    def run(self) -> None:
        """Send everything that is not as desired; without such objects only the ledger learns what was found."""
        self._record_found()
        todo = self._comparison.to_send
        if not todo:
            return
        self.surroundings = surroundings(self._tools.client, self._comparison.live, self._tools.clock.sleep, records(self.ledger))
        self.ledger = ledgers.with_intent(self.ledger, [self._intent(item) for item in todo])
        self._store.save(self.ledger, patience=30.0)
        gates = derive(self._comparison.items, self.surroundings)
        self.scheduler = self._scheduler(todo, gates)
        execution = Execution(
            scheduler=self.scheduler,
            items={item.index: item for item in todo},
            decisions=self._known(todo),
            hooks=webhook_gates(self._comparison.items, self.surroundings),
            looker=self.looker,
            writer=Writer(
                self._tools.client,
                self.comparer,
                self._tools.clock.sleep,
                self._tools.clock.monotonic,
                self.settings.backup_dir,
                self._deadline,
                frozenset(item.index for item in todo if deferred_by_crd(self._comparison, item)),
                nobody if self.settings.adopt == "allow" else partial(stranger, self._found, takeover=self.settings.takeover),
                self._touched,
            ),
            clock=self._tools.clock.monotonic,
            pool=self._tools.pool,
            on_done=self._done,
            on_tick=self._tick,
            assure=self._lease.assure,
            results=self._tools.mailbox(),
        )
        execution.run(Limits(self._deadline, self.settings.no_progress_timeout))

    def _known(self, todo: list[Item]) -> Mapping[int, Decision]:
        decisions = self._comparison.decisions
        return {item.index: decisions[item.index] for item in todo if not deferred(decisions[item.index])}

    def _intent(self, item: Item) -> ledgers.Intent:
        action = self._comparison.action(item)
        return ledgers.Intent(item.identity, item.part.component, action == "create", "recreate" if action == "recreate" else "")

    def _record_found(self) -> None:
        """Objects that a close look found as desired: the next run need not look again. And those that another component has now."""
        self.ledger = ledgers.handed_over(self.ledger, {item.identity: item.part.component for item in self._comparison.items})
        for item in self._comparison.items:
            decision = self._comparison.decisions.get(item.index)
            if decision is not None and decision.action == "unchanged" and decision.live is not None:
                self._record(item, decision.live["metadata"])

    def _scheduler(self, todo: list[Item], gates: Gates) -> Scheduler:
        items = self._comparison.items
        before, turns = edges(items), ranks(items, gates.backing)
        nodes = [
            Node(
                item.index,
                str(item.identity),
                turns[item.index],
                before[item.index].hard,
                before[item.index].soft,
                gates.behind[item.index],
                item.is_crd,
            )
            for item in todo
        ]
        return Scheduler(
            nodes,
            gates.by_key,
            workers=self.settings.workers,
            crd_limit=min(CRD_LIMIT, self.settings.workers),
            jitter=self._tools.jitter,
            stop_on_failure=self.settings.on_failure == "stop",
        )

    def _record(self, item: Item, metadata: Mapping[str, Any], created: bool | None = None) -> None:
        entry = ownership.own_entry(dict(metadata))
        self.ledger = ledgers.with_result(
            self.ledger,
            item.identity,
            item.digest,
            str(metadata.get("uid") or ""),
            ownership.entry_key(entry) if entry else "",
            metadata.get("generation"),
            item.part.component,
            created=created,
        )

    def _done(self, item: Item, outcome: Outcome) -> None:
        made = outcome.action in ("create", "recreate")
        # What was announced as a creation and then found is somebody else's work.
        self._record(item, outcome.metadata, made if made or self._comparison.action(item) == "create" else None)
        self.warnings += outcome.warnings
        self.since[item.identity] = self._tools.clock.time()

    def _tick(self, now: float) -> None:
        if now - self._said >= SAY_EVERY:
            self._said = now
            self._tools.say(self._progress(now))
        if now - self._saved >= SAVE_EVERY:
            self._saved = now
            try:
                self._store.save(self.ledger)
            except (ledgers.LedgerUnavailable, Unreachable):
                return  # The next save, or the last one, carries this too.

    def _progress(self, now: float) -> str:
        board = self.scheduler
        done = sum(state.phase == "done" for state in board.nodes.values())
        text = f"{done} of {len(board.nodes)} objects applied"
        waiting = [
            (len(row.members), -row.wanted_since, row)
            for row in board.gates.values()
            if not row.open and not row.failed and row.wanted_since is not None and not board.unproven(row)
        ]
        if not waiting:
            return text
        _members, since, first = max(waiting, key=lambda row: row[:2])
        more = f" and {len(waiting) - 1} more" if len(waiting) > 1 else ""
        reason = f" ({brief(first.reason)})" if first.reason else ""
        until = min(self._deadline, board.last_progress + self.settings.no_progress_timeout)
        return f"{text}; waiting for {first.gate.short}{reason}{more}, {lasting(now + since, until - now)}"

    def rows(self) -> list[Row]:
        """What was done to every item of the set."""
        return [*(self._told(item) for item in self._comparison.items), *self._orphans()]

    def _orphans(self) -> list[Row]:
        """Webhooks of others that were given up, since nothing stands behind them."""
        states = [state for state in self.scheduler.gates.values() if state.missing]
        return [
            orphan_row(state.gate.webhook, state.gate.owner, state.missing)
            for state in states
            if state.gate.webhook is not None and state.gate.owner is not None
        ]

    def _told(self, item: Item) -> Row:
        return replace(self._row(item), written=item.index in self._touched)

    def _row(self, item: Item) -> Row:
        state = self.scheduler.nodes.get(item.index)
        component = item.part.component
        decision = self._comparison.decisions.get(item.index)
        if state is None and self._comparison.action(item) == "unchanged":
            return Row(item.identity, component, "unchanged", decision=decision)
        if state is not None and state.phase == "skipped":
            return Row(item.identity, component, "skipped", state.because)
        if state is None or state.outcome is None:
            return Row(item.identity, component, "skipped", "the run ended before the object was applied")
        outcome = state.outcome
        decision = outcome.decision or decision
        if outcome.failure is not None:
            return Row(item.identity, component, failed_action(decision), "", decision, outcome.failure, state.attempts, state.seconds)
        return Row(
            item.identity, component, outcome.action, decision.reason if decision else "", decision, None, state.attempts, state.seconds
        )

    def waits(self) -> list[Wait]:
        """The gates that something waited for, longest first."""
        now = self._tools.clock.monotonic()
        rows = [_wait(state, self.scheduler.nodes, now) for state in self.scheduler.gates.values() if state.wanted_since is not None]
        return sorted((row for row in rows if row.seconds >= SHORTEST_WAIT), key=lambda row: -row.seconds)


def records(ledger: ledgers.Ledger) -> Records:
    """What the ledger knows about the owners of objects."""
    return Records(ledger.set_name, {identity: entry.component for identity, entry in ledger.entries.items()})


def failed_action(decision: Decision | None) -> str:
    """The word for an object that could not be brought to its desired state."""
    return decision.action if decision is not None and decision.action in ("conflict", "invalid", "recreate") else "blocked"


def _wait(state: GateState, nodes: Mapping[int, NodeState], now: float) -> Wait:
    until = state.opened_at if state.opened_at is not None else now
    members = sum(index in nodes for index in state.members)
    return Wait(state.gate.title, until - (state.wanted_since or until), state.reason, members)
