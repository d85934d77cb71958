# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What must not be deleted lightly: kinds that hold data or take other objects with them, and Secrets with keys."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.kubeflow.platform.plugins.module_utils.objects.ownership import MANAGER

# Never recreated, whatever the options say; pruned only when the user gives kind and name.
PROTECTED_KINDS = frozenset(
    {
        ("apiextensions.k8s.io", "CustomResourceDefinition"),
        ("", "Namespace"),
        ("", "PersistentVolumeClaim"),
        ("", "PersistentVolume"),
        ("storage.k8s.io", "StorageClass"),
        ("kubeflow.org", "Profile"),
        ("kubeflow.org", "Notebook"),
        ("kubeflow.org", "Workspace"),
        ("kubeflow.org", "Experiment"),
        ("serving.kserve.io", "InferenceService"),
        ("serving.kserve.io", "LLMInferenceService"),
    }
)
# Groups that kube-apiserver serves by itself; CRDs use names like them (gateway.networking.k8s.io), so no suffix tells.
_BUILT_IN = frozenset(
    {
        "",
        "admissionregistration.k8s.io",
        "apiextensions.k8s.io",
        "apiregistration.k8s.io",
        "apps",
        "autoscaling",
        "batch",
        "certificates.k8s.io",
        "coordination.k8s.io",
        "discovery.k8s.io",
        "events.k8s.io",
        "extensions",
        "flowcontrol.apiserver.k8s.io",
        "internal.apiserver.k8s.io",
        "networking.k8s.io",
        "node.k8s.io",
        "policy",
        "rbac.authorization.k8s.io",
        "resource.k8s.io",
        "scheduling.k8s.io",
        "storage.k8s.io",
        "storagemigration.k8s.io",
    }
)


def is_custom(group: str) -> bool:
    """Say whether a group's kinds come from CRDs or aggregated APIs."""
    return group not in _BUILT_IN


def foreign_secret_writer(metadata: Mapping[str, Any]) -> str:
    """Return the manager other than us that wrote data into a Secret, "" when nobody did.

    Several operators are shipped with an empty Secret that they fill with their CA's key.
    """
    for entry in metadata.get("managedFields") or []:
        fields = (entry.get("fieldsV1") or {}).get("f:data") or {}
        if entry.get("manager") != MANAGER and any(name.startswith("f:") for name in fields):
            return str(entry.get("manager") or "another program")
    return ""
