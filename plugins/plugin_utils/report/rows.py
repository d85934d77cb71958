# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a run did, or would do, component by component. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

ORDER = ("create", "configure", "adopt", "recreate", "prune", "keep", "foreign", "conflict", "blocked", "invalid", "skipped", "unchanged")
_WRITES = ("create", "configure", "adopt", "recreate", "prune")
_TROUBLE = ("conflict", "blocked", "invalid", "skipped")
NOT_READY = "not_ready"


@dataclass(slots=True)
class Line:
    """One component in the closing table."""

    name: str
    title: str
    version: str
    because: str
    objects: int | None = None
    workloads: int | None = None
    ready: int | None = None
    failed: int = 0
    not_ready: int = 0
    actions: Counter[str] = field(default_factory=Counter)

    @property
    def name_and_version(self) -> str:
        """The component in a sentence."""
        return f"{self.title} {self.version}".strip()

    @property
    def changed(self) -> int:
        """Objects that were, or would be, written."""
        return sum(self.actions[action] for action in _WRITES)

    @property
    def unchanged(self) -> int | None:
        """Objects that need nothing; None when the engine did not count them."""
        if self.objects is None:
            return None
        gone = ("prune", "keep", "foreign")
        return max(0, self.objects - sum(count for action, count in self.actions.items() if action not in gone))

    def state(self) -> str:
        """In a word or two, how the component is after a run."""
        if self.failed:
            return f"{self.failed} failed"
        troubled = sum(self.actions[action] for action in _TROUBLE)
        if troubled:
            return f"{troubled} not applied"
        if self.not_ready:
            return f"{self.not_ready} not ready"
        if self.actions["keep"] and not self.changed and not self.objects:
            return f"{self.actions['keep']} kept"
        if self.workloads is not None and self.ready is not None and self.ready < self.workloads:
            return "not ready"
        if self.objects is None and not self.actions:
            return "unchanged"
        return f"{self.changed} changed" if self.changed else "unchanged"


def lines(plan: Mapping[str, Any], result: Mapping[str, Any]) -> list[Line]:
    """The components in scope in the plan's order, then others that the result names: they are being removed, or in the way."""
    rows = {row["name"]: row for row in plan.get("components", [])}
    found = {name: _line(row, _reason(row.get("because", ""))) for name, row in rows.items() if row.get("in_scope", True)}

    def of(name: str) -> Line:
        if name not in found:
            gone = Line(name, name or "(other)", "", "no longer selected" if name else "")
            found[name] = _line(rows[name], "outside this run") if name in rows else gone
        return found[name]

    for action in result.get("actions", []):
        line = of(action.get("component") or "")
        if action["action"] != NOT_READY:
            line.actions[action["action"]] += 1
    failed, unready, _skipped = failures(result)
    for item in failed:
        of(item.get("component") or "").failed += 1
    for item in unready:
        of(item.get("component") or "").not_ready += 1
    for name, line in found.items():
        counts = (result.get("components") or {}).get(name) or {}
        line.objects = counts.get("objects")
        line.workloads = counts.get("workloads")
        line.ready = counts.get("ready")
    return list(found.values())


def _line(row: Mapping[str, Any], because: str) -> Line:
    return Line(row["name"], row["title"], row.get("version", ""), because)


Items = Sequence[Mapping[str, Any]]


def failures(result: Mapping[str, Any]) -> tuple[Items, Items, Items]:
    """The objects that could not be applied, those that were and do not work, and those that were skipped because of others."""
    waited = {identity(action) for action in result.get("actions", []) if action["action"] == NOT_READY}
    failed: list[Mapping[str, Any]] = []
    unready: list[Mapping[str, Any]] = []
    skipped: list[Mapping[str, Any]] = []
    for item in result.get("failed_objects", []):
        applied = item.get("class") == NOT_READY or (item.get("class") == "webhook_down" and identity(item) in waited)
        (skipped if item.get("class") == "skipped" else unready if applied else failed).append(item)
    return failed, unready, skipped


def actions(found: Iterable[Line]) -> list[str]:
    """The actions that occur, in the order of the house."""
    occurring = {action for line in found for action, count in line.actions.items() if count}
    return [action for action in ORDER if action in occurring] + sorted(occurring - set(ORDER))


def identity(item: Mapping[str, Any]) -> str:
    """C(Deployment kubeflow/ml-pipeline), or C(ClusterRole admin)."""
    where = f"{item['namespace']}/" if item.get("namespace") else ""
    return f"{item['kind']} {where}{item['name']}"


def worth_telling(result: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """The actions that are more than making something new."""
    return [action for action in result.get("actions", []) if action["action"] not in ("create", "unchanged", NOT_READY)]


def _reason(because: str) -> str:
    """Being in a named selection is no news."""
    return "" if because.startswith("in the selection ") else because
