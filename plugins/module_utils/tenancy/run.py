# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""One run over tenants: look, decide, refuse or send, wait for the controllers, look again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace

from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.discovery import Discovery
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.patience import Clock
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.requests import Client
from ansible_collections.kubeflow.platform.plugins.module_utils.tenancy import changes as stages
from ansible_collections.kubeflow.platform.plugins.module_utils.tenancy import contributors, decide, late, readiness, removal, validation
from ansible_collections.kubeflow.platform.plugins.module_utils.tenancy import platform as platforms
from ansible_collections.kubeflow.platform.plugins.module_utils.tenancy.changes import Change
from ansible_collections.kubeflow.platform.plugins.module_utils.tenancy.decision import Decision
from ansible_collections.kubeflow.platform.plugins.module_utils.tenancy.live import Live
from ansible_collections.kubeflow.platform.plugins.module_utils.tenancy.look import Wants, look
from ansible_collections.kubeflow.platform.plugins.module_utils.tenancy.model import Findings, Subject, TenancyError, Tenant
from ansible_collections.kubeflow.platform.plugins.module_utils.tenancy.send import Sender, Sent

_AT_ONCE = 100  # tenants whose changes are held in memory together
_PAUSES = (0.3, 0.5, 1.0, 2.0)  # between looks; after one that took long, because there are many tenants, longer


@dataclass(frozen=True, slots=True)
class Options:
    """How a run behaves; ``timeout`` is in seconds and covers all waiting."""

    authoritative: bool = False
    check: bool = False
    diff: bool = False
    wait: bool = True
    timeout: float = 300.0


@dataclass(frozen=True)
class Tools:
    """The edges of a run."""

    client: Client
    discovery: Discovery
    clock: Clock
    jitter: Callable[[], float]
    pool: Executor


class Invalid(TenancyError):
    """The data, or what is live, forbids to write anything. ``errors`` holds every reason."""

    def __init__(self, errors: Sequence[str]) -> None:
        super().__init__("\n".join(errors))
        self.errors = list(errors)


@dataclass(slots=True)
class Outcome:
    """What a run did. ``sent`` in order; ``late``: for each tenant that did not get ready, or did not go, why."""

    sent: list[Sent] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    unnamed: dict[str, list[str]] = field(default_factory=dict)
    lost: dict[str, dict[str, list[str]]] = field(default_factory=dict)
    late: dict[str, str] = field(default_factory=dict)
    states: list[dict[str, object]] = field(default_factory=list)
    skipped: list[Change] = field(default_factory=list)

    @property
    def changed(self) -> bool:
        """Whether anything was persisted."""
        return any(row.wrote for row in self.sent)

    @property
    def failures(self) -> list[Sent]:
        """The changes that were refused."""
        return [row for row in self.sent if row.failure is not None]


class Run:
    """One run; ``outcome`` holds what was done, also when ``execute`` raises."""

    def __init__(self, options: Options, tools: Tools) -> None:
        self.outcome = Outcome()
        self._options = options
        self._tools = tools
        self._sender = Sender(tools.client, tools.clock, tools.jitter, dry_run=options.check)
        self._look_took = 0.0
        self._end = tools.clock.monotonic() + options.timeout
        self._kinds: platforms.Kinds
        self._platform: platforms.Platform

    def execute(self, tenants: Sequence[Tenant], findings: Findings) -> Outcome:
        """Make the tenants as they are wanted. Raise Invalid (nothing was written) or ClusterError."""
        self.outcome.warnings += findings.warnings
        if findings.errors:
            raise Invalid(findings.errors)
        self._kinds = platforms.kinds(self._tools.discovery)
        self._platform = platforms.read_platform(self._tools.client, self._kinds)
        if not self._platform.found:
            self.outcome.warnings.append(
                f"The profile controller (Deployment {platforms.HOME}/{platforms.CONTROLLER}) is not installed; nothing will get ready."
            )
        by_name = {tenant.name: tenant for tenant in tenants}
        lives = self._look(by_name)
        decisions = self._decide(by_name, lives)
        self._tell(decisions, lives)
        if self._options.check:
            self._predict(decisions, lives)
            return self.outcome
        acted = self._act(decisions, by_name, lives)
        self._settle(by_name, lives, acted)
        return self.outcome

    def contribute(self, profile: str, subject: Subject, role: str, *, absent: bool) -> Outcome:
        """Give one contributor exactly ``role``, or take it ("" for every one) away. Raise Invalid or ClusterError."""
        self._kinds = platforms.kinds(self._tools.discovery)
        self._platform = platforms.read_platform(self._tools.client, self._kinds)
        tools = self._tools
        live = look(tools.client, tools.pool, self._kinds, self._platform, Wants(), {profile})[profile]
        decision = contributors.one(live, subject, role, self._kinds, self._platform, absent=absent)
        if decision.findings.errors:
            raise Invalid(decision.findings.errors)
        self._tell([decision], {profile: live})
        self.outcome.unnamed.clear()  # the others are not this call's business
        self.outcome.sent += self._send_all(decision.changes)
        return self.outcome

    # -- looking and deciding

    def _look(self, by_name: Mapping[str, Tenant], *, housing: bool = False, controllers: bool = False) -> dict[str, Live]:
        rows, tools = () if controllers else by_name.values(), self._tools
        wants = Wants(
            housing=housing,
            controllers=controllers,
            limits=any(row.limits is not None for row in rows),
            network_policy=any(row.network_policy is not None for row in rows),
            pod_defaults=any(row.pod_defaults is not None for row in rows),
            pull_secrets=any(row.image_pull_secrets is not None for row in rows),
        )
        begun = tools.clock.monotonic()
        found = look(tools.client, tools.pool, self._kinds, self._platform, wants, set(by_name)) if by_name else {}
        self._look_took = tools.clock.monotonic() - begun
        return found

    def _decide(self, by_name: Mapping[str, Tenant], lives: Mapping[str, Live]) -> list[Decision]:
        decisions = []
        for name, tenant in by_name.items():
            if tenant.absent:
                decisions.append(self._removal(tenant, lives[name]))
            else:
                live, authoritative = lives[name], self._options.authoritative
                decision = decide.decide(tenant, live, self._kinds, self._platform, authoritative=authoritative)
                if not self._options.check and not readiness.housed(tenant, live):
                    decision.later()
                decisions.append(decision)
        errors = [text for row in decisions for text in row.findings.errors]
        errors += _would_remove_all(decisions) if self._options.authoritative else []
        if errors:
            raise Invalid(errors)
        return decisions

    def _removal(self, tenant: Tenant, live: Live) -> Decision:
        lost: dict[str, list[str]] = {}
        if live.profile is not None and live.namespace is not None:
            lost = removal.losses(self._tools.client, self._tools.discovery, tenant.name)
            self.outcome.lost[tenant.name] = lost
        return removal.decide(tenant, live, self._kinds, lost)

    def _tell(self, decisions: Iterable[Decision], lives: Mapping[str, Live]) -> None:
        named: list[Tenant] = []
        live: dict[str, str] = {}
        for row in decisions:
            self.outcome.warnings += row.findings.warnings
            named.append(row.tenant)
            if row.unnamed:
                self.outcome.unnamed[row.tenant.name] = row.unnamed
                left = f"the data does not name these contributors, who were left: {', '.join(row.unnamed)}."
                self.outcome.warnings.append(f"Profile {row.tenant.name}: {left} authoritative removes them.")
            owner = lives[row.tenant.name].owner
            if owner is not None and owner.kind == "User":
                live.setdefault(owner.name, f"live owner of {row.tenant.name}")
            for binding in lives[row.tenant.name].bindings.values():
                noted = ((binding["metadata"].get("annotations")) or {}).get("user")
                if noted:
                    live.setdefault(noted, f"live in {row.tenant.name}")
        known = set(self.outcome.warnings)
        self.outcome.warnings += [text for text in validation.near_misses(validation.people(named), live) if text not in known]

    # -- doing

    def _predict(self, decisions: Iterable[Decision], lives: Mapping[str, Live]) -> None:
        """Ask the server by dry runs where it can answer: inside a namespace that is not there yet it cannot."""
        rows = [change for row in decisions for change in sorted(row.changes, key=lambda change: change.stage)]
        askable = [change for change in rows if change.stage != stages.INSIDE or lives[change.tenant].namespace is not None]
        answers = {id(change): sent for change, sent in zip(askable, self._send_all(askable), strict=True)}
        self.outcome.sent += [answers.get(id(change)) or self._told(Sent(change, wrote=False)) for change in rows]

    def _act(self, decisions: list[Decision], by_name: Mapping[str, Tenant], lives: Mapping[str, Live]) -> bool:
        """Send what can be sent, and the rest once the controller made the namespaces; True where the controllers were given work."""
        here = [change for row in decisions for change in row.changes]
        later = {row.tenant.name for row in decisions if row.waits}
        self._send_staged(here)
        later -= {row.change.tenant for row in self.outcome.failures}
        acted = any(change.stage != stages.INSIDE for change in here)
        decisions.clear()
        here.clear()
        if later:
            # A namespace that was not there when the run began holds nothing but what the controller makes: a quick look is enough.
            empty = all(lives[name].namespace is None for name in later)
            self._furnish({name: by_name[name] for name in later}, housing=empty)
        return acted or bool(later)

    def _furnish(self, waiting: dict[str, Tenant], *, housing: bool) -> None:
        """Wait for the namespaces of new tenants, and put into each what it is to have as soon as it is there."""
        for _round in self._rounds():
            lives = self._look(waiting, housing=housing)
            ready = {name: tenant for name, tenant in waiting.items() if readiness.housed(tenant, lives[name])}
            for names in batched(list(ready), _AT_ONCE):
                decisions = self._decide({name: ready[name] for name in names}, lives)
                self._send_staged([change for row in decisions for change in row.changes if change.stage != stages.PROFILE])
            waiting = {name: tenant for name, tenant in waiting.items() if name not in ready}
            if not waiting:
                return
        self._note_late(waiting, self._look(waiting))

    def _send_staged(self, rows: Sequence[Change]) -> None:
        """Send one stage after the other; a tenant whose change was refused gets no further ones."""
        for stage in (stages.NAMESPACE, stages.PROFILE, stages.INSIDE):
            broken = {row.change.tenant for row in self.outcome.failures}
            turn = [change for change in rows if change.stage == stage]
            self.outcome.skipped += [change for change in turn if change.tenant in broken]
            self.outcome.sent += self._send_all([change for change in turn if change.tenant not in broken])

    def _send_all(self, rows: Iterable[Change]) -> list[Sent]:
        return [self._told(sent) for sent in self._tools.pool.map(self._sender.send, rows)]

    def _told(self, sent: Sent) -> Sent:
        """What is kept of a change until the result is made."""
        return sent if self._options.diff else replace(sent, change=sent.change.slim())

    # -- waiting

    def _rounds(self) -> Iterable[int]:
        """Yield once for each look until the time is over."""
        number = 0
        while True:
            yield number
            if self._tools.clock.monotonic() >= self._end:
                return
            pause = max(_PAUSES[min(number, len(_PAUSES) - 1)], 4 * self._look_took)
            self._tools.clock.sleep(min(pause, max(_PAUSES[0], self._end - self._tools.clock.monotonic())))
            number += 1

    def _settle(self, by_name: Mapping[str, Tenant], lives: dict[str, Live], acted: bool) -> None:
        """Wait until every tenant is ready, or gone; the first look serves where the controllers were given nothing to do."""
        failed = {row.change.tenant for row in self.outcome.failures} | set(self.outcome.late)
        waiting = {name: tenant for name, tenant in by_name.items() if name not in failed}
        for _round in self._rounds():
            if acted and waiting and self._options.wait:
                lives.update(self._look(waiting, controllers=True))
            acted = True
            waiting = {name: tenant for name, tenant in waiting.items() if self._owed(tenant, lives[name])}
            if not waiting or not self._options.wait:
                break
        else:
            self._note_late(waiting, lives)
        present = [lives[name] for name, tenant in by_name.items() if not tenant.absent]
        self.outcome.states = [readiness.summary(row, self._platform) for row in present]

    def _owed(self, tenant: Tenant, live: Live) -> bool:
        return bool(removal.holding(live) if tenant.absent else readiness.missing(live, self._platform))

    def _note_late(self, waiting: Mapping[str, Tenant], lives: Mapping[str, Live]) -> None:
        self.outcome.late.update(late.explain(self._tools.client, waiting, lives, self._platform, self._options.timeout))


def batched(names: list[str], size: int) -> Iterator[list[str]]:
    """Yield ``names`` in pieces."""
    for start in range(0, len(names), size):
        yield names[start : start + size]


def _would_remove_all(decisions: Sequence[Decision]) -> list[str]:
    """Refuse to take every contributor from everybody: that is what data looks like that did not arrive."""
    if any(row.tenant.contributors for row in decisions):
        return []
    leaving = sorted(row.tenant.name for row in decisions if row.removes)
    if not leaving:
        return []
    return [
        f"The data names no contributor at all, and authoritative would remove those of {', '.join(leaving)}. "
        "Name at least one, or remove them one by one with the module profile_contributor."
    ]
