# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which object must be in the cluster before which other, and in what order ready objects go."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ansible_collections.kubeflow.platform.plugins.module_utils.apply import probes
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.model import POD_MAKERS, WEBHOOK_KINDS, Item
from ansible_collections.kubeflow.platform.plugins.module_utils.objects.identity import Identity

CERT_MANAGER_GROUPS = frozenset({"cert-manager.io", "acme.cert-manager.io"})


@dataclass(frozen=True, slots=True)
class Edges:
    """What one item waits for: ``hard`` must have succeeded, ``soft`` must only be settled."""

    hard: frozenset[int] = frozenset()
    soft: frozenset[int] = frozenset()


def crds_by_kind(items: Iterable[Item]) -> dict[tuple[str, str], Item]:
    """The set's CRDs by the group and kind that they define."""
    found = {}
    for item in items:
        if item.is_crd:
            spec = item.desired.get("spec") or {}
            found[(spec.get("group", ""), (spec.get("names") or {}).get("kind", ""))] = item
    return found


def edges(items: Sequence[Item]) -> list[Edges]:
    """The edges of every item, by index: custom resource -> CRD, object -> Namespace; workload -> what its pods name."""
    namespaces = {item.identity.name: item.index for item in items if item.group_kind == ("", "Namespace")}
    crds = crds_by_kind(items)
    by_identity = {item.identity: item.index for item in items}
    rows = []
    for item in items:
        hard = set()
        if item.identity.namespace in namespaces:
            hard.add(namespaces[item.identity.namespace])
        crd = crds.get(item.group_kind)
        if crd is not None:
            hard.add(crd.index)
        soft = {by_identity[named] for named in named_by(item) if named in by_identity}
        rows.append(Edges(frozenset(hard), frozenset(soft - hard)))
    return rows


def named_by(item: Item) -> set[Identity]:
    """Objects that an item refers to and that should be there first: a workload's configuration, a binding's role."""
    namespace = item.identity.namespace
    if item.group_kind in POD_MAKERS:
        return _named_by_pods((item.pod_template or {}).get("spec") or {}, namespace)
    if item.identity.group == "rbac.authorization.k8s.io" and item.identity.kind.endswith("Binding"):
        role = item.desired.get("roleRef") or {}
        where = namespace if role.get("kind") == "Role" else ""
        return {Identity("rbac.authorization.k8s.io", role.get("kind", ""), where, role.get("name", ""))}
    return set()


def _named_by_pods(spec: Mapping[str, Any], namespace: str) -> set[Identity]:
    names: set[Identity] = set()

    def add(kind: str, name: Any) -> None:
        if isinstance(name, str) and name:
            names.add(Identity("", kind, namespace, name))

    add("ServiceAccount", spec.get("serviceAccountName"))
    for volume in spec.get("volumes") or []:
        add("ConfigMap", (volume.get("configMap") or {}).get("name"))
        add("Secret", (volume.get("secret") or {}).get("secretName"))
        add("PersistentVolumeClaim", (volume.get("persistentVolumeClaim") or {}).get("claimName"))
    for container in [*(spec.get("containers") or []), *(spec.get("initContainers") or [])]:
        for source in container.get("envFrom") or []:
            add("ConfigMap", (source.get("configMapRef") or {}).get("name"))
            add("Secret", (source.get("secretRef") or {}).get("name"))
        for variable in container.get("env") or []:
            value = variable.get("valueFrom") or {}
            add("ConfigMap", (value.get("configMapKeyRef") or {}).get("name"))
            add("Secret", (value.get("secretKeyRef") or {}).get("name"))
    return names


def ranks(items: Sequence[Item], backing: frozenset[int]) -> list[int]:
    """The turn of each item among those that are ready; lower goes first.

    Core objects before CRDs halves the time to a ready platform: the server rewrites each CRD several times, and whatever waits behind
    79 of them waits long. Webhook configurations go early, so that no pod is made before its injector exists; workloads that back
    webhooks go before others, since everything behind these webhooks waits for them.
    """
    instances = {item.group_kind for item in items}
    kinds = {item.index: kind for kind, item in crds_by_kind(items).items()}
    return [_rank(item, backing, kinds, instances) for item in items]


def _rank(item: Item, backing: frozenset[int], kinds: Mapping[int, tuple[str, str]], instances: set[tuple[str, str]]) -> int:
    if item.group_kind == ("", "Namespace"):
        return 0
    if item.group_kind in WEBHOOK_KINDS:
        return 1
    if item.index in backing:
        return 3
    if item.group_kind in POD_MAKERS:
        return 4
    if item.index in kinds:
        if kinds[item.index][0] in CERT_MANAGER_GROUPS:
            return 5
        if kinds[item.index] in instances:
            return 6
        # Its kind is usable only when a CA was injected into it, which takes the longest of all.
        return 7 if probes.conversion_webhook(item.desired) else 8
    return 2
