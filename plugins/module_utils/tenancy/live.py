# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Tenants as they are in the cluster, without what nobody here asks for: a thousand of them must fit into little memory."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ansible_collections.kubeflow.platform.plugins.module_utils.tenancy.model import Contributor, Subject

OWNER_POLICY = "ns-owner-access-istio"
OWNER_BINDING = "namespaceAdmin"
EDITOR, VIEWER = "default-editor", "default-viewer"
QUOTA = "kf-resource-quota"
SECRET = "mlpipeline-minio-artifact"
PIPELINE_MAPS = ("kfp-launcher", "metadata-grpc-configmap", "artifact-repositories")
GROUP_LABEL = "kubeflow.platform/contributor"
MANAGED_LABEL = "kubeflow.platform/tenant"
_METADATA = ("name", "namespace", "uid", "labels", "annotations", "ownerReferences", "finalizers", "deletionTimestamp")
_CONTENT = ("spec", "roleRef", "subjects", "imagePullSecrets", "data")
_POOL: dict[str, Any] = {}
_SHORT = {"ClusterRole/kubeflow-admin": "admin", "ClusterRole/kubeflow-edit": "edit", "ClusterRole/kubeflow-view": "view"}


@dataclass(slots=True)
class Live:
    """One Profile and what hangs on it, each as a compact object; None or absent where there is none."""

    name: str
    profile: dict[str, Any] | None = None
    namespace: dict[str, Any] | None = None
    bindings: dict[str, dict[str, Any]] = field(default_factory=dict)
    policies: dict[str, dict[str, Any]] = field(default_factory=dict)
    accounts: dict[str, dict[str, Any]] = field(default_factory=dict)
    quota: dict[str, Any] | None = None
    limits: dict[str, Any] | None = None
    network_policy: dict[str, Any] | None = None
    pod_defaults: dict[str, dict[str, Any]] = field(default_factory=dict)
    authority: dict[str, Any] | None = None
    artifacts: set[str] = field(default_factory=set)

    @property
    def owner(self) -> Subject | None:
        """The owner that the Profile names."""
        raw = ((self.profile or {}).get("spec") or {}).get("owner")
        return subject(raw) if raw else None

    @property
    def owner_annotation(self) -> str | None:
        """The owner that the namespace names; the controller works only where both agree."""
        return notes(self.namespace).get("owner")

    @property
    def owned(self) -> bool:
        """Whether the namespace, or what the controller made in it, belongs to this very Profile."""
        uid = (self.profile or {}).get("metadata", {}).get("uid")
        return bool(uid) and any(_belongs(obj, uid) for obj in (self.namespace, self.bindings.get(OWNER_BINDING)))

    @property
    def housed_by_profile(self) -> bool:
        """Whether deleting the Profile deletes the namespace."""
        uid = (self.profile or {}).get("metadata", {}).get("uid")
        return bool(uid) and _belongs(self.namespace, uid)


def compact(obj: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parts of an object that decisions depend on; equal texts are kept once."""
    metadata = obj.get("metadata") or {}
    kept: dict[str, Any] = {"metadata": {key: _small(metadata[key]) for key in _METADATA if metadata.get(key)}}
    kept.update({key: _small(obj[key]) for key in _CONTENT if obj.get(key)})
    if {"user", "role"} == kept["metadata"].get("annotations", {}).keys():
        kept["metadata"]["annotations"] = _shared(kept["metadata"]["annotations"])  # binding and policy of one contributor
    if "roleRef" in kept:
        kept["roleRef"] = _shared(kept["roleRef"])
    for rule in (kept.get("spec") or {}).get("rules") or ():
        if isinstance(rule, dict) and rule.get("from"):
            rule["from"] = _shared(rule["from"])
    return kept


def _shared(value: Any) -> Any:
    """Return one object for all equal ones: thousands of bindings and policies have the same roles and principals."""
    return _POOL.setdefault(json.dumps(value, sort_keys=True), value)


def _small(value: Any) -> Any:
    if isinstance(value, dict):
        return {sys.intern(str(key)): _small(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_small(item) for item in value]
    return sys.intern(value) if isinstance(value, str) and len(value) < 100 else value


def notes(obj: Mapping[str, Any] | None) -> dict[str, str]:
    """Return the annotations of an object, {} where there are none."""
    return dict(((obj or {}).get("metadata") or {}).get("annotations") or {})


def labels(obj: Mapping[str, Any] | None) -> dict[str, str]:
    """Return the labels of an object, {} where there are none."""
    return dict(((obj or {}).get("metadata") or {}).get("labels") or {})


def deleting(obj: Mapping[str, Any] | None) -> bool:
    """Tell whether an object is being deleted."""
    return bool(((obj or {}).get("metadata") or {}).get("deletionTimestamp"))


def subject(raw: Mapping[str, Any]) -> Subject:
    """Return who an RBAC subject is."""
    return Subject(str(raw.get("kind") or ""), str(raw.get("name") or ""), str(raw.get("namespace") or ""))


def _belongs(obj: Mapping[str, Any] | None, uid: str) -> bool:
    return any(row.get("uid") == uid for row in ((obj or {}).get("metadata") or {}).get("ownerReferences") or ())


def is_contributor(binding: Mapping[str, Any]) -> bool:
    """Tell whether a RoleBinding stands for a contributor: by KFAM's annotations, or by our label for groups."""
    name = (binding.get("metadata") or {}).get("name")
    noted = notes(binding)
    return name != OWNER_BINDING and (("user" in noted and "role" in noted) or labels(binding).get(GROUP_LABEL) == "group")


def contributor(binding: Mapping[str, Any]) -> Contributor | None:
    """Return the contributor that a RoleBinding stands for; None where it cannot be told (several subjects, an unknown role)."""
    subjects = binding.get("subjects") or []
    role = binding.get("roleRef") or {}
    short = _SHORT.get(f"{role.get('kind')}/{role.get('name')}")
    if len(subjects) != 1 or short is None:
        return None
    return Contributor(subject(subjects[0]), short)
