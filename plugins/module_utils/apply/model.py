# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The records that the stages of a run hand to each other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ansible_collections.kubeflow.platform.plugins.module_utils.apply.probes import pod_template
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.discovery import Resource
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.errors import Failure
from ansible_collections.kubeflow.platform.plugins.module_utils.objects.difference import Difference
from ansible_collections.kubeflow.platform.plugins.module_utils.objects.identity import Identity

SET_LABEL = "kubeflow.platform/set"
WORKLOAD_KINDS = frozenset({("apps", "Deployment"), ("apps", "StatefulSet"), ("apps", "DaemonSet")})
POD_MAKERS = WORKLOAD_KINDS | {("batch", "Job"), ("batch", "CronJob"), ("apps", "ReplicaSet"), ("", "ReplicationController")}
WEBHOOK_KINDS = frozenset(
    {
        ("admissionregistration.k8s.io", "MutatingWebhookConfiguration"),
        ("admissionregistration.k8s.io", "ValidatingWebhookConfiguration"),
    }
)
CRD_KIND = ("apiextensions.k8s.io", "CustomResourceDefinition")
WRITES = frozenset({"create", "configure", "adopt", "recreate", "prune"})


class EngineError(Exception):
    """A run that cannot begin or go on as a whole; the text says what to do."""


@dataclass(frozen=True, slots=True)
class Part:
    """One kustomization of the call: where its objects come from and what it requires.

    ``needed_by``: the part that needs this one, which is then not applied: its objects must be there. ``because``: why.
    """

    name: str
    component: str
    layer: str | None
    requires: tuple[str, ...]
    needed_by: str = ""
    because: str = ""


@dataclass(frozen=True, slots=True)
class Item:
    """One desired object, resolved to the place where the API serves it."""

    index: int
    identity: Identity
    version: str
    desired: dict[str, Any]
    digest: str
    part: Part
    resource: Resource

    @property
    def group_kind(self) -> tuple[str, str]:
        """Its kind, whatever the version."""
        return (self.identity.group, self.identity.kind)

    @property
    def is_crd(self) -> bool:
        """Whether it defines a kind."""
        return self.group_kind == CRD_KIND

    @property
    def path(self) -> str:
        """Where the API serves it."""
        return self.resource.path(self.identity.namespace, self.identity.name)

    @property
    def pod_template(self) -> dict[str, Any] | None:
        """The pod template of a workload, else None."""
        return dict(pod_template(self.desired)) if self.group_kind in POD_MAKERS else None


@dataclass(frozen=True, slots=True)
class Decision:
    """What comparing one object with the cluster led to.

    ``action`` is a word of the house: create, configure, adopt, unchanged, recreate, conflict, blocked, invalid.
    ``body`` is what to send (the desired object less the paths yielded to controllers).
    """

    action: str
    body: dict[str, Any]
    live: dict[str, Any] | None = None
    difference: Difference | None = None
    yielded: tuple[str, ...] = ()
    rename: tuple[dict[str, Any], ...] = ()
    failure: Failure | None = None
    reason: str = ""
    predicted: bool = False
    additions: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Outcome:
    """The end of one attempt at one object: an action with the live metadata, or a failure.

    ``written``: the server accepted a write, whatever came of it.
    """

    action: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    failure: Failure | None = None
    decision: Decision | None = None
    warnings: tuple[str, ...] = ()
    written: bool = False
