# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Readiness and checks of a plan: what its records say, and what the inventory says on top of it or instead."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ansible_collections.kubeflow.platform.plugins.module_utils.apply.rules import row_faults
from ansible_collections.kubeflow.platform.plugins.plugin_utils.plan.model import Plan, Selected
from ansible_collections.kubeflow.platform.plugins.plugin_utils.records.model import Check

PLATFORM_CHECKS = "kubeflow_checks"


def ready(plan: Plan) -> list[dict[str, Any]]:
    """The rules of readiness of the components in scope. What C(<role>_ready) says of a kind stands in for the record's words on it."""
    found: list[dict[str, Any]] = []
    for item in plan.in_scope:
        own = _own(plan, item)
        kinds = {(row["kind"], row.get("group") or "") for row in own}
        found += [row for row in _recorded(plan, item, item.component.ready) if (row["kind"], row["group"]) not in kinds]
        found += [{**row, "component": item.component.name} for row in own]
    return found


def checks(plan: Plan) -> list[dict[str, Any]]:
    """The checks of the components in scope, and those of C(kubeflow_checks)."""
    found = [row for item in plan.in_scope for row in _recorded(plan, item, item.component.checks)]
    return found + [dict(row) for row in plan.values.get(PLATFORM_CHECKS) or []]


def faults(plan: Plan) -> list[str]:
    """What is wrong with the inventory's expressions, kinds and selectors, each with its variable; records are tested otherwise."""
    given = {f"{item.component.name}_ready": _own(plan, item) for item in plan.in_scope}
    given[PLATFORM_CHECKS] = plan.values.get(PLATFORM_CHECKS) or []
    told = [
        f"{name}, entry {number}: {text}"
        for name, rows in given.items()
        for number, row in enumerate(rows, 1)
        for text in row_faults(row, "checks" if name == PLATFORM_CHECKS else "ready")
    ]
    known = {item.component.name for item in plan.selected}
    for number, row in enumerate(given[PLATFORM_CHECKS], 1):
        if row.get("component") and row["component"] not in known:
            told.append(f"{PLATFORM_CHECKS}, entry {number}: the component {row['component']} is not in the selection")
    return told


def _own(plan: Plan, item: Selected) -> list[Mapping[str, Any]]:
    return list(plan.values.get(f"{item.component.name}_ready") or [])


def _recorded(plan: Plan, item: Selected, entries: Iterable[Check]) -> Iterator[dict[str, Any]]:
    for entry in entries:
        if entry.condition.holds(plan.release.name, plan.values):
            yield {"component": item.component.name, **entry.as_dict()}
