# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is asked of the planner, and what it answers. Plain data, so that a plan can be shown, stored and tested anywhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ansible_collections.kubeflow.platform.plugins.plugin_utils.records.model import Component, Release, Tree


@dataclass(frozen=True, slots=True)
class Request:
    """The choice that an inventory makes, by names only; C(values) are those of the options that it sets, typed as their specs say."""

    release: str
    selection: str = "default"
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    values: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Selected:
    """A component that belongs to the selection, and why."""

    component: Component
    because: str


@dataclass(frozen=True, slots=True)
class PlannedPart:
    """One kustomization to render. C(requires) names parts of the same plan only.

    C(source) is the tree that C(path) and relative C(extras) lie in, None for the distribution; an absolute path needs none.
    """

    name: str
    component: str
    layer: str
    path: str
    requires: tuple[str, ...]
    source: Tree | None = None
    namespace: str | None = None
    patches: tuple[Mapping[str, Any], ...] = ()
    images: tuple[Mapping[str, Any], ...] = ()
    extras: tuple[str, ...] = ()
    omit: tuple[Mapping[str, str], ...] = ()

    @property
    def is_in_distribution(self) -> bool:
        """Whether the part is rendered from the distribution's tree."""
        return self.source is None and not self.path.startswith("/")

    def as_dict(self) -> dict[str, Any]:
        """The shape that C(kustomize_apply) takes as one of its C(parts)."""
        return {
            "name": self.name,
            "component": self.component,
            "layer": self.layer,
            "path": self.path,
            "requires": list(self.requires),
            "source": self.source.as_dict() if self.source else None,
            "namespace": self.namespace,
            "patches": [dict(patch) for patch in self.patches],
            "images": [dict(image) for image in self.images],
            "components": list(self.extras),
            "omit": [dict(entry) for entry in self.omit],
        }


@dataclass(frozen=True, slots=True)
class Requirement:
    """A part outside the scope that a part within needs: it is checked on the cluster, not installed.

    C(outside): no run installs it, people have to bring it.
    """

    planned: PlannedPart
    needed_by: str
    because: str
    outside: bool = False

    @property
    def part(self) -> str:
        """Its full name."""
        return self.planned.name

    @property
    def component(self) -> str:
        """The component that it belongs to."""
        return self.planned.component

    def as_dict(self) -> dict[str, str]:
        """What people want to know of it."""
        return {
            "part": self.part,
            "component": self.component,
            "path": self.planned.path,
            "needed_by": self.needed_by,
            "because": self.because,
        }

    def as_part(self) -> dict[str, Any]:
        """The shape that C(kustomize_apply) takes as one of its C(parts). Patches do not change what has to be there."""
        return {**self.planned.as_dict(), "patches": [], "images": [], "needed_by": self.needed_by, "because": self.because}


@dataclass(frozen=True, slots=True)
class Plan:
    """The selection of a release as ordered parts. C(scope) is empty when the plan covers the whole selection."""

    release: Release
    selected: tuple[Selected, ...]
    parts: tuple[PlannedPart, ...]
    scope: tuple[str, ...]
    removed: tuple[str, ...]
    requirements: tuple[Requirement, ...]
    notes: tuple[str, ...]
    values: Mapping[str, Any]

    @property
    def in_scope(self) -> tuple[Selected, ...]:
        """The components that this plan touches."""
        return tuple(item for item in self.selected if not self.scope or item.component.name in self.scope)


class SelectionError(Exception):
    """The choice cannot be planned. C(findings) holds every reason; each says what to do."""

    def __init__(self, findings: Sequence[str]) -> None:
        self.findings = tuple(findings)
        if len(self.findings) == 1:
            super().__init__(self.findings[0])
        else:
            lines = "\n".join(f"  {finding}" for finding in self.findings)
            super().__init__(f"The selection has {len(self.findings)} mistakes:\n{lines}")
