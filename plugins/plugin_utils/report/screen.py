# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The closing table of a run as lines of text: components, addresses, credentials, and what to try next. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ansible_collections.kubeflow.platform.plugins.plugin_utils.report.rows import Line, actions, identity, lines, worth_telling
from ansible_collections.kubeflow.platform.plugins.plugin_utils.report.table import table

_MOST = 40


@dataclass(frozen=True, slots=True)
class Situation:
    """Where the run happened. C(kubeconfig) and C(context) are empty when the environment decided."""

    host: str
    kubeconfig: str = ""
    context: str = ""
    check: bool = False

    def kubectl(self) -> str:
        """The beginning of a kubectl command for this cluster."""
        words = ["kubectl"]
        if self.kubeconfig:
            words.append(f"--kubeconfig {self.kubeconfig}")
        if self.context:
            words.append(f"--context {self.context}")
        return " ".join(words)


def screen(plan: Mapping[str, Any], result: Mapping[str, Any], situation: Situation) -> list[str]:
    """What a person should know at the end of a run, from the planner's result and the engine's."""
    found = lines(plan, result)
    broken = bool(result.get("failed_objects") or result.get("failed"))
    blocks = [[_title(plan, found, situation, broken)]]
    blocks.append(_planned(found) if situation.check else _installed(found))
    blocks.append(_told(result, check=situation.check))
    blocks.append(_failures(result))
    if not situation.check and not broken:
        blocks += [_addresses(plan, situation), _kubeconfig(situation)]
    blocks.append(_credentials(plan))
    blocks.append(_next(situation, broken))
    return [line for block in blocks if block for line in ("", *block)]


def _title(plan: Mapping[str, Any], found: Sequence[Line], situation: Situation, broken: bool) -> str:
    changed = sum(line.changed for line in found)
    what = ", ".join(plan.get("scope") or []) or "Kubeflow"
    head = f"{what} {plan['release']['name']} on {situation.host}"
    if situation.check:
        return f"{head}: {_count(changed, 'object')} would change" if changed else f"{head}: nothing would change"
    if broken:
        return f"{head}: not everything could be applied"
    return f"{head}: {_count(changed, 'object')} changed" if changed else f"{head}: nothing had to change"


def _installed(found: Sequence[Line]) -> list[str]:
    headings = ("COMPONENT", "VERSION", "OBJECTS", "READY", "STATE", "WHY")
    rows = [(line.title, line.version, _number(line.objects), _ready(line), line.state(), line.because) for line in found]
    objects = _sum(line.objects for line in found)
    total = ("total", "", _number(objects), _ready_total(found), "", "") if objects else ()
    return table(headings, rows, right={"OBJECTS", "READY"}, total=total)


def _planned(found: Sequence[Line]) -> list[str]:
    words = actions(found)
    headings = ("COMPONENT", "VERSION", *(word.upper() for word in words), "UNCHANGED", "WHY")
    rows = [
        (line.title, line.version, *(_number(line.actions[word] or None) for word in words), _number(line.unchanged or None), line.because)
        for line in found
    ]
    sums = [str(sum(line.actions[word] for line in found)) for word in words]
    total = ("total", "", *sums, _number(_sum(line.unchanged for line in found) or None), "")
    return table(headings, rows, right={word.upper() for word in words} | {"UNCHANGED"}, total=total)


def _told(result: Mapping[str, Any], *, check: bool) -> list[str]:
    """What happens to objects that exist already, one by one."""
    told = worth_telling(result)
    shown = [f"  {action['action']:<10} {identity(action)}{_details(action)}" for action in told[:_MOST]]
    if len(told) > _MOST:
        shown.append(f"  ... and {len(told) - _MOST} more, in the result of kustomize_apply")
    if not shown:
        return []
    hint = " (--diff shows how they would change)" if check and any(action["action"] != "keep" for action in told) else ""
    return [f"Objects that are there already{hint}:", *shown]


def _details(action: Mapping[str, Any]) -> str:
    paths = list(action.get("paths") or [])
    text = ", ".join(paths[:3]) + (f" and {len(paths) - 3} more" if len(paths) > 3 else "")
    both = "; ".join(part for part in (text, str(action.get("reason") or "")) if part)
    return f": {both}" if both else ""


def _failures(result: Mapping[str, Any]) -> list[str]:
    failed = [item for item in result.get("failed_objects", []) if item.get("class") != "skipped"]
    skipped = len(result.get("failed_objects", [])) - len(failed)
    shown = [f"  {identity(item)}: {item['reason'].rstrip('.')}. {item.get('what_to_do') or ''}".rstrip() for item in failed[:_MOST]]
    if len(failed) > _MOST:
        shown.append(f"  ... and {len(failed) - _MOST} more, in failed_objects of the result")
    if skipped:
        shown.append(f"  Skipped because of these: {_count(skipped, 'object')}.")
    findings = [f"  {finding}" for finding in result.get("findings", [])]
    return [*(["Failed:", *shown] if shown else []), *(["Found:", *findings] if findings else [])]


def _addresses(plan: Mapping[str, Any], situation: Situation) -> list[str]:
    shown = []
    for address in plan.get("addresses", []):
        forward = (
            f"{situation.kubectl()} --namespace {address['namespace']} port-forward service/{address['service']} 8080:{address['port']}"
        )
        shown += [f"  {address['title']}: http://localhost:8080 while this runs:", f"    {forward}"]
    return ["Reach it:", *shown] if shown else []


def _kubeconfig(situation: Situation) -> list[str]:
    return [f"Kubeconfig: {situation.kubeconfig}"] if situation.kubeconfig else []


def _credentials(plan: Mapping[str, Any]) -> list[str]:
    shipped = plan.get("credentials", [])
    if not shipped:
        return []
    rows = [(f"  {item['namespace']}/{item['name']}", item["purpose"]) for item in shipped]
    warning = [
        f"WARNING: {_count(len(shipped), 'Secret')} applied as upstream ships them, with values that are public.",
        "Change them before anybody but you can reach the platform.",
    ]
    return [*warning, *table(("", ""), rows)[1:]]


def _next(situation: Situation, broken: bool) -> list[str]:
    limit = f"-i INVENTORY --limit {situation.host}"
    if situation.check:
        return ["Next:", f"  ansible-playbook kubeflow.platform.site {limit}    do it"]
    if broken:
        return ["Next: mend what failed and run the same again; it goes on where it stopped."]
    return [
        "Next:",
        f"  {situation.kubectl()} get pods --all-namespaces",
        f"  ansible-playbook kubeflow.platform.plan {limit}    what a change in the inventory would do",
    ]


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _number(value: int | None) -> str:
    return "" if value is None else str(value)


def _ready(line: Line) -> str:
    return "" if line.workloads is None or line.ready is None or not line.workloads else f"{line.ready}/{line.workloads}"


def _ready_total(found: Sequence[Line]) -> str:
    workloads = _sum(line.workloads for line in found)
    return f"{_sum(line.ready for line in found)}/{workloads}" if workloads else ""


def _sum(values: Any) -> int:
    return sum(value for value in values if value is not None)
