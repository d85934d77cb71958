# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""An object and its surroundings, as the predicates of readiness see them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class ReadinessContext:
    """What of the cluster the predicates depend on, beside the object itself. None: not known, and not asked for.

    ``binding_modes``: volumeBindingMode by StorageClass; ``default_class``: the default one's name, "" if there is none.
    ``claims_in_use``: (namespace, name) of claims that a pod mounts. ``served``: (group, version, kind) from discovery.
    ``namespaces``: names of active namespaces; ``owner_bindings``: namespaces that hold the RoleBinding ``namespaceAdmin``.
    ``pods``: pods by namespace. ``ready_services``: (namespace, name) of Services with a ready endpoint.
    """

    binding_modes: Mapping[str, str] | None = None
    default_class: str = ""
    claims_in_use: AbstractSet[tuple[str, str]] = frozenset()
    served: AbstractSet[tuple[str, str, str]] | None = None
    namespaces: AbstractSet[str] | None = None
    owner_bindings: AbstractSet[str] | None = None
    pods: Mapping[str, Sequence[Mapping[str, Any]]] = field(default_factory=dict)
    ready_services: AbstractSet[tuple[str, str]] | None = None
    load_balancers: bool = False


@dataclass(frozen=True, slots=True)
class Case:
    """One object under judgement; ``now`` and ``since`` (when the engine wrote it) are seconds since 1970."""

    obj: Mapping[str, Any]
    now: float
    since: float
    context: ReadinessContext

    @property
    def metadata(self) -> Mapping[str, Any]:
        """Return that part of the object, or {}."""
        return self.obj.get("metadata") or {}

    @property
    def spec(self) -> Mapping[str, Any]:
        """Return that part of the object, or {}."""
        return self.obj.get("spec") or {}

    @property
    def status(self) -> Mapping[str, Any]:
        """Return that part of the object, or {}."""
        return self.obj.get("status") or {}

    @property
    def unobserved(self) -> bool:
        """Say whether a controller has yet to see the last change of the spec."""
        generation, observed = self.metadata.get("generation"), self.status.get("observedGeneration")
        return isinstance(generation, int) and (not isinstance(observed, int) or observed < generation)

    def condition(self, kind: str) -> Mapping[str, Any]:
        """Return a condition of the status, or {}."""
        return next((entry for entry in self.status.get("conditions") or [] if entry.get("type") == kind), {})

    def holds(self, kind: str) -> bool:
        """Say whether a condition is True."""
        return self.condition(kind).get("status") == "True"


def count(fields: Mapping[str, Any], key: str, absent: int = 0) -> int:
    """Return a number of a status or spec, ``absent`` where there is none."""
    value = fields.get(key)
    return value if isinstance(value, int) else absent
