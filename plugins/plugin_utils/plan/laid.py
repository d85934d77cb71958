# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is laid over a part's kustomization for a release and the values of options."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from ansible_collections.kubeflow.platform.plugins.plugin_utils.records.condition import Values, substitute
from ansible_collections.kubeflow.platform.plugins.plugin_utils.records.part import Part


@dataclass(frozen=True, slots=True)
class Laid:
    """Patches as kustomize takes them, paths of kustomize components, and objects that are left out."""

    namespace: str | None
    patches: tuple[Mapping[str, Any], ...]
    extras: tuple[str, ...]
    omit: tuple[Mapping[str, str], ...]


def laid_over(part: Part, release: str, values: Values, selected: Collection[str]) -> Laid:
    """The record's entries that count, with the values of options put in."""
    namespace = substitute(part.namespace, values)
    return Laid(
        namespace=str(namespace) if namespace else None,
        patches=tuple(
            {"target": substitute(entry.target, values), "patch": substitute(entry.patch, values), **_options(entry.patch)}
            for entry in part.patches
            if entry.condition.holds(release, values, selected)
        ),
        extras=tuple(entry.path for entry in part.extras if entry.condition.holds(release, values, selected)),
        omit=tuple(
            {key: str(value) for key, value in _omission(entry.kind, entry.name, substitute(entry.namespace, values)).items() if value}
            for entry in part.omit
            if entry.condition.holds(release, values, selected)
        ),
    )


def _omission(kind: str, name: str, namespace: Any) -> dict[str, Any]:
    return {"kind": kind, "name": name, "namespace": namespace}


def _options(patch: Any) -> dict[str, Any]:
    """kustomize leaves a name as it is unless it is told that the change is meant."""
    renames = isinstance(patch, list) and any(entry.get("path") == "/metadata/name" for entry in patch if isinstance(entry, Mapping))
    return {"options": {"allowNameChange": True}} if renames else {}
