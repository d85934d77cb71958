# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads from the cluster what the readiness of the objects still waited for depends on, and no more."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ansible_collections.kubeflow.platform.plugins.module_utils.apply.case import ReadinessContext
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.model import POD_MAKERS, Item
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.errors import Refused
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.requests import Client

CLAIM = ("", "PersistentVolumeClaim")
PROFILE = ("kubeflow.org", "Profile")
OWNER_BINDING = "namespaceAdmin"
DEFAULT_CLASS = "storageclass.kubernetes.io/is-default-class"


def gather(client: Client, pending: Sequence[Item], *, with_pods: bool) -> ReadinessContext:
    """The context for ``pending``; pods are read only ``with_pods``, since they are many and tell only why something is late."""
    kinds = {item.group_kind for item in pending}
    modes: dict[str, str] | None = None
    default = ""
    if CLAIM in kinds:
        modes, default = _classes(client)
    pods = _pods(client, pending, with_pods)
    namespaces = bindings = None
    if PROFILE in kinds:
        rows = client.list_metadata("/api/v1/namespaces")
        namespaces = frozenset(row["name"] for row in rows if not row.get("deletionTimestamp"))
        bindings = _owner_bindings(client)
    return ReadinessContext(
        binding_modes=modes,
        default_class=default,
        claims_in_use=frozenset(_claims(pod for rows in pods.values() for pod in rows)),
        namespaces=namespaces,
        owner_bindings=bindings,
        pods=pods,
    )


def _classes(client: Client) -> tuple[dict[str, str] | None, str]:
    """Binding modes by class and the default class; None where classes may not be read."""
    answer = client.get("/apis/storage.k8s.io/v1/storageclasses")
    if not answer.ok:
        return None, ""
    rows = answer.body().get("items") or []
    modes = {row["metadata"]["name"]: row.get("volumeBindingMode") or "Immediate" for row in rows}
    marked = (row["metadata"]["name"] for row in rows if (row["metadata"].get("annotations") or {}).get(DEFAULT_CLASS) == "true")
    return modes, next(marked, "")


def _owner_bindings(client: Client) -> frozenset[str] | None:
    """The namespaces that have an owner; None where bindings may not be read. Raises Refused for all that passes."""
    try:
        rows = client.list_metadata("/apis/rbac.authorization.k8s.io/v1/rolebindings")
    except Refused as error:
        if error.failure.error_class != "rbac":
            raise
        return None
    return frozenset(row["namespace"] for row in rows if row["name"] == OWNER_BINDING)


def _pods(client: Client, pending: Sequence[Item], with_pods: bool) -> dict[str, list[dict[str, Any]]]:
    places = {item.identity.namespace for item in pending if item.group_kind == CLAIM or (with_pods and item.group_kind in POD_MAKERS)}
    return {place: _items(client, f"/api/v1/namespaces/{place}/pods") for place in sorted(places)}


def _claims(pods: Iterable[dict[str, Any]]) -> Iterable[tuple[str, str]]:
    for pod in pods:
        for volume in (pod.get("spec") or {}).get("volumes") or []:
            claim = volume.get("persistentVolumeClaim")
            if claim:
                yield (pod["metadata"]["namespace"], claim["claimName"])


def _items(client: Client, path: str) -> list[dict[str, Any]]:
    answer = client.get(path)
    return (answer.json().get("items") or []) if answer.ok else []
