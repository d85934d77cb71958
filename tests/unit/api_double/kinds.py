# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The kinds that the double serves from the start, and discovery as the server writes it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.discovery import Resource
from ansible_collections.kubeflow.platform.plugins.module_utils.objects.normalise import digest

RBAC = "rbac.authorization.k8s.io"
ADMISSION = "admissionregistration.k8s.io"
EXTENSIONS = "apiextensions.k8s.io"

BUILT_IN = (
    Resource("", "v1", "Namespace", "namespaces", False),
    Resource("", "v1", "ConfigMap", "configmaps", True),
    Resource("", "v1", "Secret", "secrets", True),
    Resource("", "v1", "Service", "services", True),
    Resource("", "v1", "ServiceAccount", "serviceaccounts", True),
    Resource("", "v1", "PersistentVolumeClaim", "persistentvolumeclaims", True),
    Resource("", "v1", "Pod", "pods", True),
    Resource("apps", "v1", "Deployment", "deployments", True),
    Resource("apps", "v1", "StatefulSet", "statefulsets", True),
    Resource("apps", "v1", "DaemonSet", "daemonsets", True),
    Resource(RBAC, "v1", "ClusterRole", "clusterroles", False),
    Resource(RBAC, "v1", "RoleBinding", "rolebindings", True),
    Resource("networking.k8s.io", "v1", "NetworkPolicy", "networkpolicies", True),
    Resource("storage.k8s.io", "v1", "StorageClass", "storageclasses", False),
    Resource("coordination.k8s.io", "v1", "Lease", "leases", True),
    Resource("discovery.k8s.io", "v1", "EndpointSlice", "endpointslices", True),
    Resource(ADMISSION, "v1", "MutatingWebhookConfiguration", "mutatingwebhookconfigurations", False),
    Resource(ADMISSION, "v1", "ValidatingWebhookConfiguration", "validatingwebhookconfigurations", False),
    Resource(EXTENSIONS, "v1", "CustomResourceDefinition", "customresourcedefinitions", False),
)
# Kinds without metadata.generation on a real server.
WITHOUT_GENERATION = frozenset(
    {"Namespace", "ConfigMap", "Secret", "Service", "ServiceAccount", "ClusterRole", "RoleBinding", "Lease", "PersistentVolumeClaim"}
)


class Key(NamedTuple):
    """Where an object is stored; "" as namespace for cluster-scoped ones."""

    group: str
    plural: str
    namespace: str
    name: str


def discovery(path: str, resources: Iterable[Resource]) -> tuple[dict[str, Any], str]:
    """The document of /api or /apis, and its ETag."""
    groups: dict[str, dict[str, list[Resource]]] = {}
    for row in resources:
        if (path == "/api") == (row.group == ""):
            groups.setdefault(row.group, {}).setdefault(row.version, []).append(row)
    items = [
        {
            "metadata": {"name": group} if group else {},
            "versions": [
                {"version": version, "freshness": "Current", "resources": [_entry(row) for row in rows]}
                for version, rows in versions.items()
            ],
        }
        for group, versions in sorted(groups.items())
    ]
    document = {"kind": "APIGroupDiscoveryList", "apiVersion": "apidiscovery.k8s.io/v2", "metadata": {}, "items": items}
    return document, f'"{digest(document)}"'


def _entry(row: Resource) -> Mapping[str, Any]:
    return {
        "resource": row.plural,
        "responseKind": {"group": row.group, "version": row.version, "kind": row.kind},
        "scope": "Namespaced" if row.namespaced else "Cluster",
        "verbs": list(row.verbs),
    }
