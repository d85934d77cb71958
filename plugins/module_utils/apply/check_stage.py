# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The last look of a run: the checks of records and of the inventory, over live objects whoever made them.

Controllers may need a moment after everything is ready, so a check that does not hold is asked again until nothing moves
for ``no_progress_timeout``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ansible_collections.kubeflow.platform.plugins.module_utils.apply.inputs import Document, InputRejected, resources_defined
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.result import SHORTEST_WAIT, Row, Wait
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.rules import Rule
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.settings import Settings
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.wait import PAUSE, SAY_EVERY
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.discovery import Discovery, Resource
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.errors import Failure, Refused
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.requests import Unreachable
from ansible_collections.kubeflow.platform.plugins.module_utils.objects.identity import Identity

if TYPE_CHECKING:
    from ansible_collections.kubeflow.platform.plugins.module_utils.apply.run import Tools


@dataclass(frozen=True, slots=True)
class Finding:
    """What one check came to. ``state``: passed, failed, or not made; ``objects``: how many it was about."""

    rule: Rule
    state: str
    reason: str = ""
    objects: int = 0
    wrong: Identity | None = None
    failure: Failure | None = None

    def as_result(self) -> dict[str, Any]:
        """The shape in which the module returns it."""
        rule = self.rule
        found = {"kind": rule.kind, "group": rule.group, "namespace": rule.namespace, "name": rule.name, "selector": rule.selector}
        told = {"component": rule.component, "expression": rule.expression, "state": self.state, "objects": self.objects}
        return {**{key: value for key, value in {**found, **told}.items() if value != ""}, "reason": self.reason}


def not_made(rules: Iterable[Rule], reason: str) -> list[Finding]:
    """The findings of a run that makes no checks."""
    return [Finding(rule, "not made", reason) for rule in rules]


def in_scope(settings: Settings) -> tuple[Rule, ...]:
    """The checks that this run makes: one that is about a component which the run leaves alone is none of its business."""
    return tuple(rule for rule in settings.checks if not (settings.scope and rule.component and rule.component not in settings.scope))


def assure_known(settings: Settings, documents: Sequence[Document], discovery: Discovery) -> None:
    """Raise InputRejected for checks of kinds that neither the cluster nor the desired objects know.

    A run that is narrowed to some components may come before the one that brings the kind; it makes the check only if it can.
    """
    if settings.scope:
        return
    made = {(group, kind) for group, _version, kind in resources_defined(document.content for document in documents)}
    unknown = [
        rule for rule in settings.checks if (rule.group, rule.kind) not in made and discovery.preferred(rule.group, rule.kind) is None
    ]
    if unknown:
        raise InputRejected(
            [
                f"check {rule.title}: neither the cluster nor any of the objects defines {rule.kind} in the API group "
                f"{rule.group or '(core)'}; correct `kind` and `group`, or add the component that brings it"
                for rule in unknown
            ]
        )


class CheckStage:
    """Makes the checks of a run whose objects all work."""

    def __init__(self, settings: Settings, tools: Tools, deadline: float) -> None:
        self.waits: list[Wait] = []
        self._settings = settings
        self._tools = tools
        self._deadline = deadline

    def make(self) -> list[Finding]:
        """Ask until every check holds or time is up."""
        clock = self._tools.clock
        rules = in_scope(self._settings)
        findings = {rule: Finding(rule, "failed") for rule in rules}
        begun = moved = clock.monotonic()
        said_at, waited_for = begun, ""
        while findings:
            pending = [rule for rule, found in findings.items() if found.state == "failed" and found.failure is None]
            findings.update(zip(pending, self._tools.pool.map(self._ask, pending)))
            left = [found for found in findings.values() if found.state == "failed" and found.failure is None]
            now = clock.monotonic()
            moved = now if len(left) < len(pending) else moved
            if not left or now >= self._deadline or now - moved >= self._settings.no_progress_timeout:
                break
            waited_for = f"{left[0].rule.title}: {left[0].reason}"
            if now - said_at >= SAY_EVERY:
                said_at = now
                self._tools.say(f"waiting for {len(left)} checks to hold: {waited_for}")
            clock.sleep(PAUSE)
        if waited_for and clock.monotonic() - begun >= SHORTEST_WAIT:
            self.waits.append(Wait("checks to hold", clock.monotonic() - begun, waited_for, len(rules)))
        return list(findings.values())

    def _ask(self, rule: Rule) -> Finding:
        resource = self._resource(rule)
        if resource is None:
            if self._settings.scope:
                return Finding(rule, "not made", f"the cluster does not serve {rule.kind} yet")
            return Finding(rule, "failed", f"the cluster does not serve {rule.kind}")
        try:
            rows = self._tools.client.list_objects(resource.collection(rule.namespace or None), selector=rule.selector)
        except Refused as error:
            return Finding(rule, "failed", error.failure.reason, failure=error.failure)
        except Unreachable as error:
            return Finding(rule, "failed", str(error))
        mine = [row for row in rows if rule.name in ("", row["metadata"]["name"])]
        if len(mine) < rule.at_least:
            return Finding(rule, "failed", f"{rule.message} (there are {len(mine)}, and {rule.at_least} are needed)", len(mine))
        for row in mine:
            found = rule.judge({"apiVersion": resource.api_version, "kind": resource.kind, **row})
            if found.status != "ready":
                identity = Identity(resource.group, resource.kind, row["metadata"].get("namespace", ""), row["metadata"]["name"])
                return Finding(rule, "failed", found.reason, len(mine), identity)
        return Finding(rule, "passed", "", len(mine))

    def _resource(self, rule: Rule) -> Resource | None:
        return self._tools.discovery.preferred(rule.group, rule.kind)


def rows(findings: Iterable[Finding]) -> list[Row]:
    """A failed row for each check that does not hold."""
    return [
        Row(
            finding.wrong or Identity(finding.rule.group, finding.rule.kind, finding.rule.namespace, finding.rule.name or "*"),
            finding.rule.component,
            "check",
            finding.reason,
            None,
            finding.failure or _failure(finding),
        )
        for finding in findings
        if finding.state == "failed"
    ]


def _failure(finding: Finding) -> Failure:
    what = finding.wrong or finding.rule.title
    return Failure(
        "check",
        f"A check of {what} does not hold: {finding.reason}",
        f"Mend it, or correct the check, whose expression is {finding.rule.expression}; then run again.",
        reason=finding.reason,
    )
