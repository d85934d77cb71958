# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""An object to ask a webhook with: one of the set's own where one is intercepted, else a made-up one that never is persisted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ansible_collections.kubeflow.platform.plugins.module_utils.apply import probes
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.gates import intercepts
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.graph import crds_by_kind
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.home import HOME
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.model import Item, Part
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.discovery import Resource, resource_from_crd
from ansible_collections.kubeflow.platform.plugins.module_utils.objects import schema
from ansible_collections.kubeflow.platform.plugins.module_utils.objects.identity import identify

NAME = "kubeflow-platform-probe"
PODS = Resource("", "v1", "Pod", "pods", True, ())
_PART = Part("probe", "probe", None, ())

Labels = Mapping[str, Mapping[str, str]]


def representative(hook: probes.Webhook, items: Sequence[Item], namespace_labels: Labels) -> Item | None:
    """An item that the webhook intercepts on creation; None where none can be made up."""
    for item in items:
        if intercepts(hook, item, namespace_labels):
            return item
    return _pod(hook, namespace_labels) or _custom(hook, items, namespace_labels)


def _pod(hook: probes.Webhook, namespace_labels: Labels) -> Item | None:
    labels = satisfying(hook.object_selector)
    for namespace, found in sorted(namespace_labels.items()):
        if hook.matches("", "v1", "pods", "CREATE", found, labels, True):
            return _item(probes.probe_pod(namespace, labels, {}, NAME), PODS)
    return None


def _custom(hook: probes.Webhook, items: Sequence[Item], namespace_labels: Labels) -> Item | None:
    labels = satisfying(hook.object_selector)
    for crd in crds_by_kind(items).values():
        for version in crd.desired["spec"].get("versions") or []:
            resource = resource_from_crd(crd.desired, version["name"])
            namespace = _namespace(hook, resource, labels, namespace_labels)
            if namespace is None:
                continue
            body = schema.minimal(crd.desired, version["name"], namespace, NAME)
            if body is not None:
                body["metadata"]["labels"] = labels
                return _item(body, resource)
    return None


def _namespace(hook: probes.Webhook, resource: Resource, labels: Mapping[str, str], namespace_labels: Labels) -> str | None:
    """A namespace (or "" for a cluster-scoped resource) in which the webhook would see such an object."""
    candidates = sorted(namespace_labels, key=lambda name: (name != HOME, name)) if resource.namespaced else [""]
    for name in candidates:
        if hook.matches(
            resource.group, resource.version, resource.plural, "CREATE", namespace_labels.get(name, {}), labels, resource.namespaced
        ):
            return name
    return None


def satisfying(selector: Mapping[str, Any]) -> dict[str, str]:
    """The smallest labels that a selector accepts."""
    labels = dict(selector.get("matchLabels") or {})
    rows = selector.get("matchExpressions") or []
    for row in rows:  # the ones that name values first: any value will do for the others
        if row.get("operator") == "In":
            labels.setdefault(row["key"], row["values"][0])
    for row in rows:
        if row.get("operator") == "Exists":
            labels.setdefault(row["key"], "probe")
    return labels


def _item(body: dict[str, Any], resource: Resource) -> Item:
    return Item(-1, identify(body, resource.namespaced), resource.version, body, "", _PART, resource)
