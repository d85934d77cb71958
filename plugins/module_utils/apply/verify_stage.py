# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The stage after applying: wait until the set works, say what does not and why, and settle what the ledger holds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ansible_collections.kubeflow.platform.plugins.module_utils.apply import ledger as ledgers
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.apply_stage import ApplyStage, records
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.compare_stage import Comparison
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.explain import explain
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.fights import taken_back
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.gates import Gate, all_namespace_labels, webhook_gates
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.model import WEBHOOK_KINDS, Item
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.observe import live_metadata, surroundings
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.owners import orphan_row
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.probes import ADMISSION_GROUP
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.result import SHORTEST_WAIT, Row, Wait
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.settings import Settings
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.wait import Waiter, Waiting
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.errors import Failure
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.requests import Unreachable
from ansible_collections.kubeflow.platform.plugins.module_utils.objects import ownership
from ansible_collections.kubeflow.platform.plugins.module_utils.objects.identity import Identity

if TYPE_CHECKING:
    from ansible_collections.kubeflow.platform.plugins.module_utils.apply.run import Tools


class VerifyStage:
    """Waits for and settles what an ApplyStage did."""

    def __init__(self, settings: Settings, tools: Tools, comparison: Comparison, applied: ApplyStage, deadline: float) -> None:
        self.waits: list[Wait] = []
        self.findings: list[str] = []
        self._settings = settings
        self._tools = tools
        self._comparison = comparison
        self._applied = applied
        self._deadline = deadline

    def explain_closed_gates(self) -> list[str]:
        """One sentence for each webhook that something still waits for."""
        nodes = self._applied.scheduler.nodes
        found = []
        for state in self._applied.scheduler.gates.values():
            parked = [nodes[index].node.title for index in sorted(state.members) if nodes[index].phase in ("failed", "skipped")]
            told = bool(state.missing) or self._applied.scheduler.unproven(state)
            if state.gate.webhook is not None and not state.open and parked and not told:
                found.append(explain(self._tools.client, state.gate.webhook, state.reason, parked))
        return found

    def wait(self) -> list[Row]:
        """Until the set works; a row with a failure for each object and webhook that does not."""
        tools = self._tools
        around = surroundings(tools.client, self._comparison.live, tools.clock.sleep, records(self._applied.ledger))
        items = self._comparison.items
        every = webhook_gates(items, around)
        hooks = [gate for gate in every if self._ours(gate)]
        labels = all_namespace_labels(items, around)
        waiter = Waiter(tools.client, tools.clock, tools.pool, self._applied.looker, tools.say, self._settings.ready)
        begun = tools.clock.monotonic()
        left = waiter.wait(
            items, hooks, self._applied.since, labels, every=every, deadline=self._deadline, no_progress=self._settings.no_progress_timeout
        )
        seconds = tools.clock.monotonic() - begun
        if seconds >= SHORTEST_WAIT:
            self.waits.append(Wait("everything to be ready", seconds, "", len(items)))
        return self._rows(left, every)

    def _ours(self, gate: Gate) -> bool:
        return gate.webhook is not None and any(
            item.group_kind in WEBHOOK_KINDS
            and item.identity.name == gate.webhook.configuration
            and item.identity.kind == gate.webhook.configuration_kind
            for item in (self._comparison.items[index] for index in gate.needs)
        )

    def _rows(self, left: Waiting, hooks: Sequence[Gate]) -> list[Row]:
        components = {item.identity: item.part.component for item in self._comparison.items}
        # First what the others may be due to.
        rows = [
            orphan_row(gate.webhook, gate.owner, left.orphans[gate.key])
            for gate in {gate.key: gate for gate in hooks if gate.key in left.orphans}.values()
            if gate.webhook is not None and gate.owner is not None
        ]
        for identity, found in {**left.objects, **left.failed}.items():
            failure = Failure(
                "not_ready", f"{identity} is not ready: {found.reason}", "Look at its events and its pods' logs, then run again."
            )
            rows.append(Row(identity, components[identity], "not_ready", found.reason, None, failure))
        for gate in {gate.key: gate for gate in hooks}.values():
            if gate.key in left.hooks and gate.key not in left.orphans and gate.webhook is not None:
                identity = Identity(ADMISSION_GROUP, gate.webhook.configuration_kind, "", gate.webhook.configuration)
                text = explain(self._tools.client, gate.webhook, left.hooks[gate.key], [])
                advice = gate.owner.advice(gate.webhook) if gate.owner else "Look at the pods behind its Service, then run again."
                failure = Failure("webhook_down", text.rstrip("."), advice, webhook=gate.webhook.name)
                component = gate.owner.component if gate.owner else components.get(identity, "")
                rows.append(Row(identity, component, "not_ready", "its webhook does not answer", None, failure))
        return rows

    def settle(self, ledger: ledgers.Ledger) -> ledgers.Ledger:
        """Record what controllers made of what was written, so that the next run need not look closely.

        Only an object that a dry run shows to be as desired is recorded anew; all others keep a record that the next run will doubt,
        and ``findings`` tell who changed them.
        """
        written = [item for item in self._comparison.items if item.identity in self._applied.since]
        if not written:
            return ledger
        tools = self._tools
        live = live_metadata(tools.client, {item.resource for item in written}, tools.pool, tools.clock.sleep)
        moved = [
            item
            for item in written
            if item.identity in live and not ledgers.verified(ledger.entries.get(item.identity), live[item.identity], item.digest)
        ]
        known = ledger.entries
        settled = list(tools.pool.map(lambda item: self._settled(item, known.get(item.identity), live[item.identity]), moved))
        for item, metadata in zip(moved, settled):
            if metadata is not None:
                ledger = ledgers.with_result(ledger, item.identity, item.digest, *recorded(metadata), item.part.component)
        return ledger

    def _settled(self, item: Item, entry: ledgers.Entry | None, metadata: dict[str, Any]) -> dict[str, Any] | None:
        """The live metadata of an object that still is as desired, else None."""
        if item.is_crd and entry is not None and entry.own and recorded(metadata)[:2] == (entry.uid, entry.own):
            # All that we sent is still there; a CA was injected beside it. A dry run of a large CRD costs the server seconds.
            return metadata
        return self._as_desired(item)

    def _as_desired(self, item: Item) -> dict[str, Any] | None:
        try:
            decision = self._applied.comparer.decide(item)
        except Unreachable:
            return None
        fight = taken_back(item.identity, decision)
        if fight:
            self.findings.append(fight)
        return decision.live["metadata"] if decision.action == "unchanged" and decision.live is not None else None


def recorded(metadata: dict[str, Any]) -> tuple[str, str, int | None]:
    """What the ledger keeps of live metadata: uid, key of our own entry, generation."""
    entry = ownership.own_entry(metadata)
    return str(metadata.get("uid") or ""), ownership.entry_key(entry) if entry else "", metadata.get("generation")
