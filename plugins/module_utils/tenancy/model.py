# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What is known of a tenant: who owns a Profile, who else works in it, and what its namespace is to have."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ansible_collections.kubeflow.platform.plugins.module_utils.tenancy.names import binding_name

RBAC = "rbac.authorization.k8s.io"
ROLES = ("edit", "view", "admin")
SUBJECT_KINDS = ("User", "Group", "ServiceAccount")
CONTRIBUTOR_KINDS = ("User", "Group")
POD_SECURITY_LEVELS = ("privileged", "baseline", "restricted")
POD_SECURITY_LABEL = "pod-security.kubernetes.io/enforce"


class TenancyError(Exception):
    """A run over tenants that cannot begin or go on. The text says what happened and what to do."""


@dataclass(frozen=True, slots=True, order=True)
class Subject:
    """Who may do something; ``kind`` is "User", "Group" or "ServiceAccount" (which alone has a ``namespace``)."""

    kind: str
    name: str
    namespace: str = ""

    def __str__(self) -> str:
        """Return the words used in messages: "alice@example.com", "Group science", "ServiceAccount ci/builder"."""
        if self.kind == "User":
            return self.name
        return f"{self.kind} {self.namespace}/{self.name}" if self.namespace else f"{self.kind} {self.name}"

    def as_rbac(self) -> dict[str, str]:
        """Return the subject as the API server stores it in a RoleBinding, with its defaults."""
        if self.kind == "ServiceAccount":
            return {"kind": self.kind, "name": self.name, "namespace": self.namespace}
        return {"apiGroup": RBAC, "kind": self.kind, "name": self.name}


@dataclass(frozen=True, slots=True, order=True)
class Contributor:
    """A person or group that works in somebody else's Profile; ``role`` is KFAM's short word."""

    subject: Subject
    role: str

    def __str__(self) -> str:
        """Return the words used in messages: "bob@example.com (edit)"."""
        return f"{self.subject} ({self.role})"

    @property
    def binding(self) -> str:
        """Name of its RoleBinding, and for a user of the AuthorizationPolicy too, as KFAM computes it."""
        return binding_name(self.subject.kind, self.subject.name, self.role)


@dataclass(frozen=True, slots=True)
class Tenant:
    """A Profile as it is wanted. None means "not managed": whatever is live stays; an empty value removes."""

    name: str
    owner: Subject | None = None
    contributors: tuple[Contributor, ...] | None = None
    quota: Mapping[str, str] | None = None
    labels: Mapping[str, str | None] = field(default_factory=dict)
    annotations: Mapping[str, str | None] = field(default_factory=dict)
    pod_security: str | None = None
    image_pull_secrets: tuple[str, ...] | None = None
    pod_defaults: Mapping[str, Any] | None = None
    network_policy: Mapping[str, Any] | None = None
    limits: Mapping[str, Any] | None = None
    adopt: bool = False
    state: str = "present"
    deletion_confirmed: bool = False

    @property
    def absent(self) -> bool:
        """Whether the Profile is not to be there."""
        return self.state == "absent"


@dataclass(slots=True)
class Findings:
    """What is wrong (nothing is written then), and what is worth knowing."""

    errors: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    def extend(self, other: Findings) -> None:
        """Add what another look found."""
        self.errors.extend(other.errors)
        self.warnings.extend(other.warnings)
