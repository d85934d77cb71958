# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One attempt at one object: carry out what comparing it decided."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ansible_collections.kubeflow.platform.plugins.module_utils.apply import recreate
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.compare import Comparer
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.makers import applied_by_set
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.model import WRITES, Decision, Item, Outcome
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.errors import Failure, classify, classify_transport
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.requests import Client, Response, Unreachable
from ansible_collections.kubeflow.platform.plugins.module_utils.objects.identity import Identity

# Seconds for which an API server may judge custom resources by the schema that it had before; 1 to 13 were seen under load.
STALE_FOR = 15.0


def nobody(_identity: Identity, _metadata: Mapping[str, Any]) -> str:
    """Nobody is asked, since taking over is allowed."""
    return ""


@dataclass(frozen=True, slots=True)
class Writer:
    """Sends items; every method is one attempt and returns its outcome, whatever happens."""

    client: Client
    comparer: Comparer
    sleep: Callable[[float], None]
    clock: Callable[[], float]
    backup_dir: str | None = None
    deadline: float = math.inf
    # Custom resources (by index) whose CRD changes in this run.
    young: frozenset[int] = frozenset()
    # Who has to be asked before a live object is taken over, "" where nobody has to be.
    stranger: Callable[[Identity, Mapping[str, Any]], str] = nobody
    # Items (by index) of which the server accepted a write in any attempt.
    touched: set[int] = field(default_factory=set)
    _doubted: dict[int, float] = field(default_factory=dict)

    def attempt(self, item: Item, decision: Decision | None, *, first: bool) -> Outcome:
        """Compare where needed and write. ``decision`` is what an earlier comparison or attempt found, None when there was none."""
        outcome = self._attempt(item, decision, first)
        if outcome.written or (outcome.failure is None and outcome.action in WRITES):
            self.touched.add(item.index)
        return outcome

    def _attempt(self, item: Item, decision: Decision | None, first: bool) -> Outcome:
        try:
            if not first and decision is not None and decision.action == "create":
                return self._create_again(item, decision)
            if decision is None or not first:
                earlier, decision = decision, self._decide(item)
                if earlier is not None and arrived(earlier, decision):
                    return Outcome(earlier.action, (decision.live or {})["metadata"], decision=earlier)
            return self._doubt(item, self._carry_out(item, decision, first))
        except Unreachable as error:
            return Outcome(failure=classify_transport(error), decision=decision)

    def _decide(self, item: Item) -> Decision:
        """Compare an object now; one that others made since the whole set was compared is nobody's to take over unasked."""
        decision = self.comparer.decide(item)
        who = self.stranger(item.identity, decision.live["metadata"]) if decision.live is not None and decision.failure is None else ""
        if not who:
            return decision
        failure = Failure(
            "not_adopted",
            f"Failed to apply {item.identity}: another tool or a person ({who}) made it while this run was under way",
            "Look at it; then delete it, or set `adopt: allow` to take it over, and run again.",
        )
        return Decision("conflict", item.desired, decision.live, decision.difference, failure=failure)

    def _create_again(self, item: Item, decision: Decision) -> Outcome:
        """After a failed creation: its answer may have been lost or late while the object was made, so look before sending again.

        A busy server was seen to answer 504 to the creation of large CRDs that it then stored; sending those again only added load.
        """
        answer = self.client.get(item.path)
        metadata = (answer.body().get("metadata") or {}) if answer.ok else {}
        if applied_by_set(metadata, self.comparer.set_name) and not metadata.get("deletionTimestamp"):
            return Outcome("create", metadata, decision=decision)
        return self._apply(item, decision, first=False)

    def _doubt(self, item: Item, outcome: Outcome) -> Outcome:
        """The server takes up a changed CRD some time after it has accepted it, and judges by the old one until then."""
        failure = outcome.failure
        if item.index not in self.young or failure is None or failure.error_class not in ("schema", "invalid"):
            return outcome
        since = self._doubted.setdefault(item.index, self.clock())
        return replace(outcome, failure=replace(failure, error_class="stale_schema")) if self.clock() - since < STALE_FOR else outcome

    def _carry_out(self, item: Item, decision: Decision, first: bool) -> Outcome:
        if decision.failure is not None:
            return Outcome(failure=decision.failure, decision=decision)
        if decision.action == "unchanged":
            return Outcome("unchanged", (decision.live or {}).get("metadata") or {}, decision=decision)
        if decision.action == "recreate":
            return self._recreate(item, decision)
        if decision.rename:
            answer = self.client.json_patch(item.path, list(decision.rename))
            if not answer.ok:
                return self._failed(item, decision, answer)
            self.touched.add(item.index)
        return self._apply(item, decision, first)

    def _apply(self, item: Item, decision: Decision, first: bool) -> Outcome:
        creating = decision.action == "create"
        answer = self.client.apply(item.path, decision.body, dry_run=False, force=not creating, absent=creating)
        if creating and answer.status == 409:
            # Somebody made the object since it was looked for: now it has to be compared after all.
            found = self._decide(item)
            return self._carry_out(item, found, first) if found.action != "create" else self._failed(item, decision, answer)
        if not answer.ok:
            return self._failed(item, decision, answer)
        metadata = answer.json().get("metadata") or {}
        if metadata.get("deletionTimestamp"):
            failure = Failure("terminating", f"Failed to apply {item.identity}: the live object is being deleted", "Wait until it is gone.")
            return Outcome(failure=failure, decision=decision, written=True)
        return Outcome(decision.action, metadata, decision=decision, warnings=tuple(answer.warnings))

    def _recreate(self, item: Item, decision: Decision) -> Outcome:
        outcome = recreate.recreate(self.client, self.clock, self.sleep, item, decision, self.backup_dir, self.deadline)
        return replace(outcome, decision=decision)

    def _failed(self, item: Item, decision: Decision, answer: Response) -> Outcome:
        return Outcome(failure=classify(answer, resource=item.resource, identity=item.identity), decision=decision)


def arrived(earlier: Decision, now: Decision) -> bool:
    """Whether an attempt that seemed to fail was carried out: the object was not as desired, and is now with our entry on it."""
    return earlier.action in WRITES and now.action == "unchanged"
