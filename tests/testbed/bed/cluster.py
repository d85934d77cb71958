# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What an empty cluster of the bed holds: nodes, a StorageClass and the rights of the read-only user."""

from __future__ import annotations

from typing import Any

from .api import Api
from .files import READ_ONLY
from .record import Bed
from .report import BedError

_RBAC = "/apis/rbac.authorization.k8s.io/v1"
_PROVISIONER = "testbed.kubeflow.platform/volumes"


def furnish(bed: Bed, api: Api) -> None:
    """Creates what is missing; harmless when all is there."""
    for number in range(1, bed.nodes + 1):
        _create(api, "/api/v1/nodes", _node(f"node-{number}"))
    _create(api, "/apis/storage.k8s.io/v1/storageclasses", _storage_class())
    rules = [
        {"apiGroups": ["*"], "resources": ["*"], "verbs": ["get", "list", "watch"]},
        {"nonResourceURLs": ["*"], "verbs": ["get"]},
    ]
    kind = {"apiVersion": "rbac.authorization.k8s.io/v1", "metadata": {"name": READ_ONLY}}
    _create(api, f"{_RBAC}/clusterroles", {**kind, "kind": "ClusterRole", "rules": rules})
    binding = {
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": READ_ONLY},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": READ_ONLY}],
    }
    _create(api, f"{_RBAC}/clusterrolebindings", {**kind, "kind": "ClusterRoleBinding", **binding})


def furnished(bed: Bed, api: Api) -> bool:
    """Whether pods could start now: nodes Ready and without taints, default ServiceAccount there."""
    nodes = (api.get("/api/v1/nodes") or {}).get("items") or []
    ready = [node for node in nodes if _is_ready(node) and not node["spec"].get("taints")]
    return len(ready) >= bed.nodes and api.get("/api/v1/namespaces/default/serviceaccounts/default") is not None


def _create(api: Api, path: str, body: dict[str, Any]) -> None:
    status, answer = api.request("POST", path, body)
    if status not in (201, 409):
        raise BedError(f"cannot create {body['kind']} {body['metadata']['name']}: {status} {answer.decode(errors='replace')[:300]}")


def _is_ready(node: dict[str, Any]) -> bool:
    conditions = node.get("status", {}).get("conditions") or []
    return any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)


def _node(name: str) -> dict[str, Any]:
    capacity = {"cpu": "64", "memory": "256Gi", "ephemeral-storage": "1Ti", "pods": "250"}
    labels = {"kubernetes.io/hostname": name, "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels, "annotations": {"kwok.x-k8s.io/node": "fake"}},
        "status": {"capacity": capacity, "allocatable": capacity},
    }


def _storage_class() -> dict[str, Any]:
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": "standard", "annotations": {"storageclass.kubernetes.io/is-default-class": "true"}},
        "provisioner": _PROVISIONER,
        "volumeBindingMode": "WaitForFirstConsumer",
        "reclaimPolicy": "Delete",
        "allowVolumeExpansion": True,
    }
