# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What must hold before an object can be sent, derived from the objects themselves and from the live cluster.

Four kinds of gate: the kind of a custom resource is served; the namespace that a Profile makes exists; a fail-closed webhook that
intercepts the object answers; the workloads of a required infrastructure part are ready.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from ansible_collections.kubeflow.platform.plugins.module_utils.apply import probes
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.graph import crds_by_kind
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.model import POD_MAKERS, WEBHOOK_KINDS, WORKLOAD_KINDS, Item
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.owners import Owner, Reach, Records, outside
from ansible_collections.kubeflow.platform.plugins.module_utils.objects.identity import Identity

GateKind = Literal["kind", "namespace", "webhook", "ready"]


@dataclass(frozen=True, slots=True)
class Gate:
    """One condition; ``needs`` are the items that must be in the cluster before it can hold.

    ``owner`` is whose the webhook is when nothing in this run can mend it; None when something may.
    """

    key: str
    kind: GateKind
    title: str
    needs: frozenset[int] = frozenset()
    group_version_kind: tuple[str, str, str] = ("", "", "")
    namespace: str = ""
    webhook: probes.Webhook | None = None
    backends: tuple[Identity, ...] = ()
    owner: Owner | None = None

    @property
    def short(self) -> str:
        """The title for a line that is read in passing."""
        if self.webhook is None or self.webhook.service is None:
            return self.title
        return f"webhook {self.webhook.name} at Service {self.webhook.service.namespace}/{self.webhook.service.name}"


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What of the live cluster and of earlier runs the gates depend on."""

    namespace_labels: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    webhook_configurations: Sequence[Mapping[str, Any]] = ()
    records: Records = Records()


@dataclass(frozen=True, slots=True)
class Gates:
    """All gates of a run, and the keys of those that each item waits behind."""

    by_key: Mapping[str, Gate]
    behind: Sequence[frozenset[str]]
    backing: frozenset[int]


def derive(items: Sequence[Item], surroundings: Surroundings) -> Gates:
    """All gates for ``items`` (whose indexes are their positions)."""
    found: dict[str, Gate] = {}
    behind: list[set[str]] = [set() for _item in items]
    _kind_gates(items, found, behind)
    _namespace_gates(items, found, behind)
    _ready_gates(items, found, behind)
    hooks = webhook_gates(items, surroundings)
    backing = frozenset(index for gate in hooks for index in gate.needs if items[index].group_kind in WORKLOAD_KINDS)
    labels = all_namespace_labels(items, surroundings)
    for item in items:
        for gate in hooks:
            if gate.webhook is not None and intercepts(gate.webhook, item, labels):
                found[gate.key] = gate
                behind[item.index].add(gate.key)
    _break_cycles(items, found, behind)
    return Gates(found, [frozenset(keys) for keys in behind], backing)


def _kind_gates(items: Sequence[Item], found: dict[str, Gate], behind: list[set[str]]) -> None:
    crds = crds_by_kind(items)
    for item in items:
        crd = crds.get(item.group_kind)
        if crd is not None:
            kind = (item.identity.group, item.version, item.identity.kind)
            key = "kind:" + "/".join(kind)
            found[key] = Gate(key, "kind", f"{item.identity.kind} ({kind[0]}/{kind[1]}) to be served", frozenset({crd.index}), kind)
            behind[item.index].add(key)


def _namespace_gates(items: Sequence[Item], found: dict[str, Gate], behind: list[set[str]]) -> None:
    profiles = {item.identity.name: item.index for item in items if item.group_kind == ("kubeflow.org", "Profile")}
    rendered = {item.identity.name for item in items if item.group_kind == ("", "Namespace")}
    for item in items:
        name = item.identity.namespace
        if name in profiles and name not in rendered:
            key = f"namespace:{name}"
            found[key] = Gate(
                key, "namespace", f"namespace {name}, which Profile {name} makes", frozenset({profiles[name]}), namespace=name
            )
            behind[item.index].add(key)


def _ready_gates(items: Sequence[Item], found: dict[str, Gate], behind: list[set[str]]) -> None:
    """Workloads of applications wait for the workloads of the infrastructure parts that they require, however far down."""
    parts = {item.part.name: item.part for item in items}
    workloads: dict[str, list[Item]] = {}
    for item in items:
        if item.group_kind in WORKLOAD_KINDS and item.part.layer == "infrastructure":
            workloads.setdefault(item.part.name, []).append(item)
    for item in items:
        if item.part.layer != "applications" or item.group_kind not in POD_MAKERS:
            continue
        for name in _required(item.part.name, parts):
            if name in workloads:
                key = f"ready:{name}"
                needs = frozenset(row.index for row in workloads[name])
                found[key] = Gate(key, "ready", f"the workloads of {name}", needs, backends=tuple(row.identity for row in workloads[name]))
                behind[item.index].add(key)


def _required(name: str, parts: Mapping[str, Any]) -> set[str]:
    seen: set[str] = set()
    todo = list(parts[name].requires)
    while todo:
        current = todo.pop()
        if current in parts and current not in seen:
            seen.add(current)
            todo += parts[current].requires
    return seen


def webhook_gates(items: Sequence[Item], surroundings: Surroundings) -> list[Gate]:
    """A gate for each fail-closed webhook, rendered or live; a live one may have rules that the rendered one lacks."""
    rows: dict[str, Gate] = {}
    configurations = {item.identity: item.index for item in items if item.group_kind in WEBHOOK_KINDS}
    services = {(i.identity.namespace, i.identity.name): i for i in items if i.group_kind == ("", "Service")}
    sources = [(item.desired, item.index) for item in items if item.group_kind in WEBHOOK_KINDS]
    for live in surroundings.webhook_configurations:
        identity = Identity(probes.ADMISSION_GROUP, live["kind"], "", live["metadata"]["name"])
        sources.append((dict(live), configurations.get(identity, -1)))
    reach = Reach(frozenset(item.part.component for item in items), frozenset(item.identity.namespace for item in items) - {""})
    for content, index in sources:
        for hook in probes.webhooks_of(content):
            if hook.fails_closed:
                gate = _webhook_gate(hook, index, items, services)
                if not gate.needs:
                    gate = replace(gate, owner=outside(content, hook, reach, surroundings.records))
                # The second source of one webhook gets a key of its own only in this table, so that both sets of rules count.
                rows[f"{gate.key}#{len(rows)}"] = gate
    return list(rows.values())


def _webhook_gate(hook: probes.Webhook, index: int, items: Sequence[Item], services: Mapping[tuple[str, str], Item]) -> Gate:
    needs = {index} if index >= 0 else set()
    backends: list[Identity] = []
    if hook.service is not None:
        service = services.get((hook.service.namespace, hook.service.name))
        if service is not None:
            workloads = {item.identity: item for item in items if item.group_kind in WORKLOAD_KINDS}
            backends = probes.service_backends(service.desired, (item.desired for item in workloads.values()))
            needs |= {service.index, *(workloads[identity].index for identity in backends)}
    where = f"Service {hook.service.namespace}/{hook.service.name}" if hook.service else "its URL"
    title = f"webhook {hook.name} of {hook.configuration_kind} {hook.configuration} at {where}"
    key = f"webhook:{hook.configuration_kind}/{hook.configuration}/{hook.name}"
    return Gate(key, "webhook", title, frozenset(needs), webhook=hook, backends=tuple(backends))


def culprit(hooks: Iterable[Gate], name: str, reason: str) -> Gate | None:
    """The gate of the webhook that an error text names; where several bear the name, the one whose Service the text names too."""
    found = [gate for gate in hooks if gate.webhook is not None and gate.webhook.name == name]
    services = ((gate, gate.webhook.service) for gate in found if gate.webhook is not None and gate.webhook.service is not None)
    return next((gate for gate, service in services if f"{service.name}.{service.namespace}.svc" in reason), next(iter(found), None))


def all_namespace_labels(items: Iterable[Item], surroundings: Surroundings) -> dict[str, dict[str, str]]:
    """Labels of each namespace: the live ones, and over them what the set will set."""
    labels = {name: dict(found) for name, found in surroundings.namespace_labels.items()}
    for item in items:
        if item.group_kind == ("", "Namespace"):
            own = (item.desired.get("metadata") or {}).get("labels") or {}
            labels.setdefault(item.identity.name, {}).update(own)
    return {name: probes.namespace_labels(name, row) for name, row in labels.items()}


def intercepts(hook: probes.Webhook, item: Item, namespace_labels: Mapping[str, Mapping[str, str]]) -> bool:
    """Whether a webhook sees the item itself, or the pods that the item makes."""
    resource = item.resource
    metadata = item.desired.get("metadata") or {}
    own = metadata.get("labels") or {}
    if item.group_kind == ("", "Namespace"):
        where: Mapping[str, str] = namespace_labels.get(item.identity.name, {})
    else:
        where = namespace_labels.get(item.identity.namespace) or probes.namespace_labels(item.identity.namespace, None)
    if any(
        hook.matches(resource.group, resource.version, resource.plural, operation, where, own, resource.namespaced)
        for operation in ("CREATE", "UPDATE")
    ):
        return True
    template = item.pod_template
    if template is None:
        return False
    labels = (template.get("metadata") or {}).get("labels") or {}
    return hook.matches("", "v1", "pods", "CREATE", where, labels, True)


def _break_cycles(items: Sequence[Item], found: Mapping[str, Gate], behind: list[set[str]]) -> None:
    """A workload that backs a webhook never waits for what, directly or through others, waits for that workload."""
    backers = sorted(
        {index for gate in found.values() if gate.kind == "webhook" for index in gate.needs if items[index].group_kind in WORKLOAD_KINDS}
    )
    for index in backers:
        for key in sorted(behind[index]):
            if found[key].kind in ("webhook", "ready") and index in _reached(found[key].needs, found, behind):
                behind[index].discard(key)


def _reached(start: Iterable[int], found: Mapping[str, Gate], behind: Sequence[set[str]]) -> set[int]:
    seen: set[int] = set()
    todo = list(start)
    while todo:
        index = todo.pop()
        if index in seen:
            continue
        seen.add(index)
        for key in behind[index]:
            todo += found[key].needs
    return seen
