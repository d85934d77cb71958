# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Waits until the platform is there: every object by its kind's rule, every fail-closed webhook by an answer.

That an apply was accepted proves little: with a pod webhook down every object is applied and no pod can start.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from ansible_collections.kubeflow.platform.plugins.module_utils.apply.context import gather
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.flow import Answer
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.gates import Gate
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.look import Looker, has_ready_pod
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.model import Item
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.readiness import Readiness, has_predicate, state
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.representative import representative
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.rules import Rule, judged
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.schedule import ORPHAN_PATIENCE
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.discovery import Resource
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.errors import Refused
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.patience import Clock
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.requests import Client, Unreachable
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.wording import brief, lasting
from ansible_collections.kubeflow.platform.plugins.module_utils.objects.identity import Identity

PAUSE = 1.0
SAY_EVERY = 10.0
# Of a line that is read in passing: how many names it holds, and how long the reason of each may be.
MOST_NAMED = 2
SHORT = 90
# Seconds after which pods are read too, to say why a workload is late.
PATIENCE = 10.0
# What controllers write into a workload's status when a webhook keeps its pods from being made.
CALLED = re.compile(r'failed calling webhook "([^"]+)"')


@dataclass(slots=True)
class Waiting:
    """What is not ready yet and why: objects by identity, webhooks by gate key.

    ``orphans``: what is missing of webhooks that nobody in this run can bring back; ``lost`` since when (monotonic) it is.
    """

    objects: dict[Identity, Readiness] = field(default_factory=dict)
    hooks: dict[str, str] = field(default_factory=dict)
    failed: dict[Identity, Readiness] = field(default_factory=dict)
    orphans: dict[str, str] = field(default_factory=dict)
    lost: dict[str, float] = field(default_factory=dict)

    @property
    def hopeless(self) -> bool:
        """Whether waiting longer cannot end well."""
        return bool(self.failed or self.orphans)

    def note(self, answers: Iterable[Answer], now: float) -> None:
        """Remember which webhooks of others have nothing behind them, and give up those that had nothing for a while."""
        missing = {answer.guilty.key: answer.missing for answer in answers if answer.guilty is not None and answer.missing}
        self.lost = {key: self.lost.get(key, now) for key in missing}
        self.orphans = {key: missing[key] for key, since in self.lost.items() if now - since >= ORPHAN_PATIENCE}

    @property
    def over(self) -> bool:
        """Whether everything is ready."""
        return not self.objects and not self.hooks

    def unseen(self, pending: Iterable[Item], probes: Iterable[tuple[Gate, Item | None]], error: Exception) -> None:
        """The server could not be asked: whatever is pending is so still."""
        self.objects = {item.identity: Readiness("progressing", str(error)) for item in pending}
        self.hooks = {gate.key: str(error) for gate, _item in probes}

    def size(self) -> int:
        """How much is not ready."""
        return len(self.objects) + len(self.hooks)


@dataclass(slots=True)
class Waiter:
    """Looks again and again at what is not ready; ``since`` says when (wall clock) an object was written in this run."""

    client: Client
    clock: Clock
    pool: ThreadPoolExecutor
    looker: Looker
    tick: Callable[[str], None]
    rules: Sequence[Rule] = ()

    def wait(
        self,
        items: Sequence[Item],
        hooks: Sequence[Gate],
        since: Mapping[Identity, float],
        namespace_labels: Mapping[str, Mapping[str, str]],
        *,
        every: Sequence[Gate],
        deadline: float,
        no_progress: float,
    ) -> Waiting:
        """Until all is ready, something failed for good, or time is up (monotonic seconds); returns what is left.

        ``hooks`` must answer; ``every`` webhook that fails closed may stand in their way, or in that of pods.
        """
        begun = self.clock.time()
        pending = [item for item in items if self._can_be_late(item) and not item.is_crd]
        probes = self._probes(hooks, items, namespace_labels)
        waiting = Waiting()
        started = moved = self.clock.monotonic()
        said_at = started - SAY_EVERY
        while True:
            before = len(pending) + len(probes)
            try:
                pending = self._objects(pending, since, begun, waiting)
                probes = self._hooks(probes, waiting, every)
            except (Unreachable, Refused) as error:
                waiting.unseen(pending, probes, error)
            now = self.clock.monotonic()
            moved = now if len(pending) + len(probes) < before else moved
            if waiting.over or waiting.hopeless or now >= deadline or now - moved >= no_progress:
                return waiting
            if now - said_at >= SAY_EVERY:
                said_at = now
                self.tick(f"{told(waiting)}, {lasting(now - started, min(deadline, moved + no_progress) - now)}")
            self.clock.sleep(PAUSE)

    def _can_be_late(self, item: Item) -> bool:
        labels = item.desired["metadata"].get("labels") or {}
        return has_predicate(item.identity.group, item.identity.kind) or any(rule.selects(item.identity, labels) for rule in self.rules)

    def _objects(self, pending: Sequence[Item], since: Mapping[Identity, float], begun: float, waiting: Waiting) -> list[Item]:
        live = self._live({item.resource for item in pending})
        now = self.clock.time()
        context = gather(self.client, [item for item in pending if item.identity in live], with_pods=now - begun > PATIENCE)
        left = []
        waiting.objects = {}
        for item in pending:
            content = live.get(item.identity)
            if content is None:
                found = Readiness("progressing", "it does not exist")
            else:
                judge = partial(state, content, now=now, since=since.get(item.identity, begun), context=context)
                found = judged(self.rules, item.identity, content, judge)
            if found.status == "failed":
                waiting.failed[item.identity] = found
            if found.status != "ready":
                waiting.objects[item.identity] = found
                left.append(item)
        return left

    def _live(self, resources: Iterable[Resource]) -> dict[Identity, dict[str, Any]]:
        def one(resource: Resource) -> list[tuple[Identity, dict[str, Any]]]:
            answer = self.client.get(resource.collection(None))
            if not answer.ok and answer.status != 404:
                raise Refused(f"GET {resource.collection(None)}", answer)
            version = f"{resource.group}/{resource.version}" if resource.group else resource.version
            rows = (answer.json().get("items") or []) if answer.ok else []
            return [
                (
                    Identity(resource.group, resource.kind, row["metadata"].get("namespace", ""), row["metadata"]["name"]),
                    {"apiVersion": version, "kind": resource.kind, **row},
                )
                for row in rows
            ]

        return {identity: content for rows in self.pool.map(one, sorted(resources, key=str)) for identity, content in rows}

    def _probes(
        self, hooks: Sequence[Gate], items: Sequence[Item], namespace_labels: Mapping[str, Mapping[str, str]]
    ) -> list[tuple[Gate, Item | None]]:
        unique = {gate.key: gate for gate in hooks if gate.webhook is not None}
        return [(gate, representative(gate.webhook, items, namespace_labels)) for gate in unique.values() if gate.webhook is not None]

    def _hooks(self, probes: Sequence[tuple[Gate, Item | None]], waiting: Waiting, every: Sequence[Gate]) -> list[tuple[Gate, Item | None]]:
        """Ask the webhooks that have not answered yet; where no object can be made up, ready pods have to do.

        What is noted is the webhook that did not answer, which need not be the one that was asked.
        """
        workloads = self.looker.live_workloads(identity for gate, _item in probes for identity in gate.backends)
        answers = list(self.pool.map(lambda probe: self._ask(probe[0], probe[1], workloads, every), probes))
        closed = [(gate, answer) for (gate, _item), answer in zip(probes, answers) if answer.failing is not None]
        waiting.hooks = {(answer.guilty or gate).key: answer.reason or "no answer yet" for gate, answer in closed}
        waiting.note([*answers, *self._behind_pods(waiting, every)], self.clock.monotonic())
        return [probe for probe, answer in zip(probes, answers) if answer.failing is not None]

    def _ask(self, gate: Gate, item: Item | None, workloads: Mapping[Identity, dict[str, Any]], every: Sequence[Gate]) -> Answer:
        try:
            if item is None:
                ready = not gate.backends or any(has_ready_pod(workloads.get(identity)) for identity in gate.backends)
                return Answer(None) if ready else Answer("", f"{gate.backends[0]} has no ready pod")
            return self.looker.answer(gate, item, every, workloads)
        except Unreachable as error:
            return Answer("", str(error))

    def _behind_pods(self, waiting: Waiting, every: Sequence[Gate]) -> list[Answer]:
        """Webhooks that keep the pods of workloads from being made, as their status says."""
        found = {match[1]: row.reason for row in waiting.objects.values() for match in [CALLED.search(row.reason)] if match}
        return [self.looker.blamed(name, reason, every) for name, reason in found.items()]


def told(waiting: Waiting) -> str:
    """One line for the operator: how much is not ready, and the first two with their reasons."""
    names = [f"webhook {key.rpartition('/')[2]} ({brief(reason, SHORT)})" for key, reason in waiting.hooks.items()]
    names += [f"{identity} ({brief(row.reason, SHORT)})" for identity, row in waiting.objects.items()]
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return f"waiting for {', '.join(names[:MOST_NAMED])}{more} to be ready"
