# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The closing table of a run as lines of text: components, addresses, credentials, and what to try next. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ansible_collections.kubeflow.platform.plugins.plugin_utils.report.changes import told, would
from ansible_collections.kubeflow.platform.plugins.plugin_utils.report.rows import Line, actions, failures, identity, lines, worth_telling
from ansible_collections.kubeflow.platform.plugins.plugin_utils.report.situation import Situation
from ansible_collections.kubeflow.platform.plugins.plugin_utils.report.table import table

_MOST = 40
# How a line begins that must not be overlooked.
ALARM = "WARNING:"


def screen(plan: Mapping[str, Any], result: Mapping[str, Any], situation: Situation) -> list[str]:
    """What a person should know at the end of a run, from the planner's result and the engine's."""
    found = lines(plan, result)
    broken = bool(result.get("failed_objects") or result.get("failed"))
    title = [f"{_subject(plan, found)} on {situation.host}: {_outcome(result, found, situation)}"]
    if situation.check:  # the long list first: what stands last is what one sees
        blocks = [would(result, found, everything=situation.diff), title, _planned(found)]
    else:
        blocks = [title, _installed(found), _told(result)]
    blocks.append(_failures(result))
    if not situation.check and not broken:
        blocks += [_addresses(plan, situation), _kubeconfig(situation)]
    blocks.append(_credentials(result, situation))
    blocks.append(_next(situation, broken))
    return [line for block in blocks if block for line in ("", *block)]


def _subject(plan: Mapping[str, Any], found: Sequence[Line]) -> str:
    """The components that the run was about, or the whole platform."""
    scope = plan.get("scope") or []
    named = [line.name_and_version for line in found if line.name in scope]
    return ", ".join(named) or f"Kubeflow {plan['release']['name']}"


def _outcome(result: Mapping[str, Any], found: Sequence[Line], situation: Situation) -> str:
    failed, unready, skipped = failures(result)
    changed = sum(line.changed for line in found)
    if situation.check:
        text = f"{_count(changed, 'object')} would change" if changed else "nothing would change"
        return f"{text}, {len(failed) + len(skipped)} cannot be applied" if failed or skipped else text
    if failed or skipped:
        return "not everything could be applied"
    text = f"{_count(changed, 'object')} changed" if changed else "nothing had to change"
    if unready:
        return f"{text}, but not everything is ready"
    return f"{text}, but the run ended early" if result.get("failed") else text


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


def _told(result: Mapping[str, Any]) -> list[str]:
    """What happened to objects that existed already, one by one."""
    rows = worth_telling(result)
    shown = [f"  {told(action)}" for action in rows[:_MOST]]
    if len(rows) > _MOST:
        shown.append(f"  ... and {len(rows) - _MOST} more, in the result of kustomize_apply")
    return ["Objects that are there already:", *shown] if shown else []


def _failures(result: Mapping[str, Any]) -> list[str]:
    failed, unready, skipped = failures(result)
    shown = [*_reasons("Failed:", failed)]
    if skipped:
        shown += [] if failed else ["Skipped:"]
        shown.append(f"  Skipped because of {'these' if failed else 'what is not ready'}: {_count(len(skipped), 'object')}.")
    shown += _reasons("Not ready:", unready)
    findings = [f"  {finding}" for finding in result.get("findings", [])]
    return [*shown, *(["Found:", *findings] if findings else [])]


def _reasons(heading: str, items: Sequence[Mapping[str, Any]]) -> list[str]:
    shown = [f"  {_named(item).rstrip('.')}. {item.get('what_to_do') or ''}".rstrip() for item in items[:_MOST]]
    if len(items) > _MOST:
        shown.append(f"  ... and {len(items) - _MOST} more, in failed_objects of the result")
    return [heading, *shown] if shown else []


def _named(item: Mapping[str, Any]) -> str:
    """The reason, with the object in front unless the reason names it itself."""
    name, reason = identity(item), str(item["reason"])
    return reason if name in reason else f"{name}: {reason}"


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


def _credentials(result: Mapping[str, Any], situation: Situation) -> list[str]:
    """What became of the Secrets that upstream ships: those that everybody can still read, and the first user's password."""
    rows = result.get("credentials") or []
    public = _by_secret(row for row in rows if row["state"] == "default")
    shown = []
    if public:
        hold = f"{_count(len(public), 'Secret')} {'holds' if len(public) == 1 else 'hold'}"
        shown += [
            f"{ALARM} {'this is a demo: ' if situation.demo else ''}{hold} values that everybody can read upstream.",
            f"{ALARM} Nobody but you may reach the platform until they are changed (guide_credentials tells how).",
            *table(("", ""), public)[1:],
        ]
    made = _by_secret(row for row in rows if row["state"] in ("made", "given", "shared"))
    if made:
        would_get = "would get" if situation.check else "got"
        shown.append(f"{_count(len(made), 'Secret')} of those that upstream ships {would_get} values of this platform alone.")
    if result.get("first_user") and not situation.check:
        namespace, _slash, name = result["first_user"].partition("/")
        shown += [
            f"The first user's password, as long as nobody has changed it, is in the Secret {result['first_user']}:",
            f"  {situation.kubectl()} --namespace {namespace} get secret {name} --output jsonpath='{{.data.password}}' | base64 --decode",
        ]
    return shown


def _by_secret(rows: Iterable[Mapping[str, Any]]) -> list[tuple[str, str]]:
    """Each Secret once, with what it is for."""
    return list({(f"  {row['namespace']}/{row['name']}", row["purpose"]): None for row in rows})


def _next(situation: Situation, broken: bool) -> list[str]:
    if situation.check:
        return ["Next, to do it:", f"  {situation.playbook('site')}"]
    if broken:
        return ["Next: mend what failed and run the same again; it goes on where it stopped."]
    return [
        "Next:",
        f"  {situation.kubectl()} get pods --all-namespaces",
        "Next, to see what a change in the inventory would do:",
        f"  {situation.playbook('plan')}",
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
