# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The one record of a run from which ``changed``, the diff, the counts and the list of actions are all read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ansible_collections.kubeflow.platform.plugins.module_utils.apply.model import WORKLOAD_KINDS, WRITES, Decision
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.errors import Failure
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.rbac import missing_permissions
from ansible_collections.kubeflow.platform.plugins.module_utils.objects import difference
from ansible_collections.kubeflow.platform.plugins.module_utils.objects.identity import Identity
from ansible_collections.kubeflow.platform.plugins.module_utils.objects.redaction import Redactor

SLOWEST = 3
LONGEST_DIFF = 20_000
# Seconds; a shorter wait is not worth a line in the result.
SHORTEST_WAIT = 1.0


@dataclass(frozen=True, slots=True)
class Row:
    """What was, or would be, done to one object."""

    identity: Identity
    component: str
    action: str
    reason: str = ""
    decision: Decision | None = None
    failure: Failure | None = None
    attempts: int = 0
    seconds: float = 0.0
    # The server accepted a write, although what was wanted failed.
    written: bool = False


@dataclass(frozen=True, slots=True)
class Wait:
    """What the run waited for, how long in seconds, and why."""

    what: str
    seconds: float
    why: str
    objects: int = 0


@dataclass(slots=True)
class Report:
    """Everything that a run found and did."""

    rows: list[Row] = field(default_factory=list)
    waited: list[Wait] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    findings: list[str] = field(default_factory=list)
    timeline: dict[str, float] = field(default_factory=dict)
    requests: Mapping[str, int] = field(default_factory=dict)
    waited_for_all: bool = False
    checks: list[dict[str, Any]] = field(default_factory=list)
    credentials: list[dict[str, str]] = field(default_factory=list)
    first_user: str = ""

    @property
    def changed(self) -> bool:
        """A persisted write to an object of the set, whatever came of it, and nothing else."""
        return any(row.written or (row.action in WRITES and row.failure is None) for row in self.rows)

    @property
    def failures(self) -> list[Row]:
        """Every object that is not as desired, skipped ones among them."""
        return [row for row in self.rows if row.failure is not None or row.action == "skipped"]

    def counts(self) -> dict[str, int]:
        """How many objects had each action."""
        return dict(sorted(Counter(_word(row) for row in self.rows).items()))

    def components(self) -> dict[str, dict[str, int]]:
        """For each component its desired objects and, after a run that waited, its workloads and how many of them are ready."""
        waiting = {row.identity for row in self.rows if row.action == "not_ready"}
        found: dict[str, dict[str, int]] = {}
        for row in self.rows:
            if row.action in ("prune", "keep", "not_ready", "check"):
                continue
            entry = found.setdefault(row.component, {"objects": 0, **({"workloads": 0, "ready": 0} if self.waited_for_all else {})})
            entry["objects"] += 1
            if self.waited_for_all and (row.identity.group, row.identity.kind) in WORKLOAD_KINDS:
                entry["workloads"] += 1
                entry["ready"] += row.failure is None and row.action != "skipped" and row.identity not in waiting
        return found

    def as_result(self, redactor: Redactor, *, diff: bool) -> dict[str, Any]:
        """The module's return values; everything in it has been through the redactor."""
        for row in self.rows:
            if row.decision is not None and row.decision.live is not None:
                redactor.learn(row.decision.live)
        result: dict[str, Any] = {
            "changed": self.changed,
            "counts": self.counts(),
            "components": self.components(),
            "actions": [
                _action(row) for row in self.rows if row.action != "check" and (row.action != "unchanged" or row.failure is not None)
            ],
            "waited": [{"what": row.what, "seconds": round(row.seconds, 1), "why": row.why, "objects": row.objects} for row in self.waited],
            "slowest": [{"object": str(row.identity), "seconds": round(row.seconds, 1)} for row in self._slowest()],
            "warnings": sorted(set(self.warnings)),
            "findings": self.findings,
            "checks": self.checks,
            "failed_objects": [_failed(row) for row in self.failures],
            "timeline": {stage: round(seconds, 2) for stage, seconds in self.timeline.items()},
            "requests": dict(self.requests),
        }
        result.update(missing_permissions(row.failure for row in self.failures if row.failure is not None))
        result = redactor.object(result)
        # Words and names only; by their names the redactor would take them for the values.
        result["credentials"] = self.credentials
        result["first_user"] = self.first_user
        if diff:
            result["diff"] = [
                rendered
                for row in self.rows
                if row.decision is not None and row.action in WRITES
                for rendered in [_diff(row, redactor)]
                if rendered is not None
            ]
        return result

    def _slowest(self) -> Sequence[Row]:
        return sorted((row for row in self.rows if row.seconds > 0), key=lambda row: -row.seconds)[:SLOWEST]


def _word(row: Row) -> str:
    return "failed" if row.failure is not None and row.action not in ("conflict", "blocked", "invalid", "skipped") else row.action


def _action(row: Row) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "action": row.action,
        "kind": row.identity.kind,
        "namespace": row.identity.namespace,
        "name": row.identity.name,
        "component": row.component,
    }
    if row.reason:
        entry["reason"] = row.reason
    if row.attempts > 1:
        entry["attempts"] = row.attempts
    decision = row.decision
    if decision is not None:
        if decision.difference is not None and row.action in ("configure", "recreate", "conflict"):
            entry["paths"] = list(decision.difference.paths)
        if decision.yielded:
            entry["yielded"] = list(decision.yielded)
        if decision.predicted:
            entry["predicted"] = True
    return entry


def _failed(row: Row) -> dict[str, Any]:
    failure = row.failure
    return {
        "kind": row.identity.kind,
        "namespace": row.identity.namespace,
        "name": row.identity.name,
        "component": row.component,
        "class": failure.error_class if failure else "skipped",
        "reason": failure.message if failure else row.reason,
        "what_to_do": failure.advice if failure else "Mend the object that failed first; then run again.",
        "attempts": row.attempts,
    }


def _diff(row: Row, redactor: Redactor) -> dict[str, str] | None:
    decision = row.decision
    if decision is None:
        return None
    change = decision.difference
    if change is None and row.action == "create":
        change = difference.compare({}, decision.body)
    if change is None:
        return None
    return difference.render(change, redactor, LONGEST_DIFF)


def summary(report: Report) -> str:
    """The end of a failed run in a few sentences: what failed first, how many more did, and what was applied but does not work."""
    rows = [row for row in report.failures if row.failure is not None]
    failed = [row for row in rows if row.action != "not_ready"]
    late = [row for row in rows if row.action == "not_ready"]
    skipped = len(report.failures) - len(rows)
    told = [f"{row.failure.message}. {row.failure.advice}".strip() for row in [*failed, *late][:1] if row.failure is not None]
    more = len(failed) - 1 if failed else 0
    waiting = len(late) if failed else len(late) - 1
    told += [f"{more} more failed."] if more else []
    told += [f"{waiting} more {'is' if waiting == 1 else 'are'} not ready."] if waiting > 0 else []
    told += (
        [f"{skipped} {'object was' if skipped == 1 else 'objects were'} skipped{' because of these' if rows else ''}."] if skipped else []
    )
    return " ".join(told)
