# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What an object is called, independent of the version it is written in."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

# kustomize's name suffix: ten characters of this alphabet (api/internal/hasher: digits and vowels that form words are left out).
_HASH = re.compile(r"-[2456789bcdfghkmt]{10}\Z")


class Identity(NamedTuple):
    """Name of an object in a cluster: one object has one identity whatever apiVersion it is sent in.

    ``group`` is "" for the core group; ``namespace`` is "" for cluster-scoped objects.
    """

    group: str
    kind: str
    namespace: str
    name: str

    def __str__(self) -> str:
        """Return the words used in messages: "Deployment kubeflow/ml-pipeline", "ClusterRole admin"."""
        return f"{self.kind} {self.namespace}/{self.name}" if self.namespace else f"{self.kind} {self.name}"


# Kinds that the API server serves in a second group too, and stores once (kubernetes pkg/apis/events, and what extensions/v1beta1 was).
_SECOND_GROUPS = {
    ("events.k8s.io", "Event"): "",
    ("extensions", "DaemonSet"): "apps",
    ("extensions", "Deployment"): "apps",
    ("extensions", "Ingress"): "networking.k8s.io",
    ("extensions", "NetworkPolicy"): "networking.k8s.io",
    ("extensions", "ReplicaSet"): "apps",
}


def stored(identity: Identity) -> Identity:
    """Return the identity under which an object is stored: two that share it are one object, whatever groups they are written in."""
    return identity._replace(group=_SECOND_GROUPS.get((identity.group, identity.kind), identity.group))


def bare_name(name: str) -> str:
    """Return a name without the hash of its content that kustomize puts behind the names of what it generates."""
    return _HASH.sub("", name)


def split_api_version(api_version: str) -> tuple[str, str]:
    """Split "apps/v1" into ("apps", "v1") and "v1" into ("", "v1")."""
    group, slash, version = api_version.partition("/")
    return (group, version) if slash else ("", group)


def identify(obj: dict[str, Any], namespaced: bool) -> Identity:
    """Return the identity of ``obj``.

    ``namespaced`` is the true scope of its kind, from discovery or from its CRD. The rendered manifests cannot be
    asked: 14 cluster-scoped objects of Kubeflow 26.03.1 carry a ``metadata.namespace`` that the server drops.
    """
    metadata = obj.get("metadata") or {}
    namespace = str(metadata.get("namespace") or "") if namespaced else ""
    group, _version = split_api_version(str(obj.get("apiVersion") or ""))
    return Identity(group, str(obj.get("kind") or ""), namespace, str(metadata.get("name") or ""))
