# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Records and a choice to ordered parts. Pure: no cluster, no tree, no clock."""

from __future__ import annotations

from collections.abc import Iterable

from ansible_collections.kubeflow.platform.plugins.plugin_utils.plan.model import (
    Plan,
    PlannedPart,
    Request,
    Requirement,
    Selected,
)
from ansible_collections.kubeflow.platform.plugins.plugin_utils.plan.selection import find_release, ranks, select
from ansible_collections.kubeflow.platform.plugins.plugin_utils.records.model import LAYERS, Library, Need, Part, Release
from ansible_collections.kubeflow.platform.plugins.plugin_utils.records.order import ordered


def plan(library: Library, request: Request) -> Plan:
    """The plan for a request; SelectionError with every finding when the request cannot be met."""
    release = find_release(library, request.release)
    selected = select(library, release, request)
    scope = tuple(item.component.name for item in selected if item.component.name in request.only)
    everything = _parts(library, release, (item for item in selected))
    within = [name for name in everything if not scope or everything[name].component in scope]
    return Plan(
        release=release,
        selected=selected,
        parts=tuple(_planned(library, release, everything[name], within) for name in within),
        scope=scope,
        removed=request.removed,
        requirements=tuple(_requirements(library, release, everything, within)),
        notes=tuple(_notes(release, selected, request)),
    )


def _parts(library: Library, release: Release, selected: Iterable[Selected]) -> dict[str, Part]:
    """All parts of a selection, in order: infrastructure first wherever the requirements allow it."""
    place = ranks(library, release)
    found: dict[str, Part] = {}
    rank: dict[str, tuple[int, ...]] = {}
    for item in selected:
        for index, part in enumerate(item.component.parts_at(release.name)):
            found[part.full_name] = part
            rank[part.full_name] = (LAYERS.index(item.component.layer), place[item.component.name], index)
    requires = {name: _required(library, release, part) for name, part in found.items()}
    return {name: found[name] for name in ordered(requires, rank)}


def _required(library: Library, release: Release, part: Part) -> list[str]:
    """Full names of the parts that a part requires; a whole component stands for all of its parts."""
    return [other.full_name for need in part.needs(release.name) for other in _meant(library, release, need) if other is not part]


def _meant(library: Library, release: Release, need: Need) -> list[Part]:
    parts = library.components[need.component].parts_at(release.name)
    return [part for part in parts if need.part in (None, part.name)]


def _planned(library: Library, release: Release, part: Part, within: list[str]) -> PlannedPart:
    required = {name: None for name in _required(library, release, part) if name in within}
    return PlannedPart(
        name=part.full_name,
        component=part.component,
        layer=library.components[part.component].layer,
        path=_path(part, release),
        requires=tuple(required),
    )


def _requirements(library: Library, release: Release, everything: dict[str, Part], within: list[str]) -> Iterable[Requirement]:
    """What lies outside the scope and is needed by something within, each part once."""
    told: set[str] = set()
    for name in within:
        for need in everything[name].needs(release.name):
            for other in _meant(library, release, need):
                if other.full_name not in within and other.full_name not in told:
                    told.add(other.full_name)
                    yield Requirement(
                        part=other.full_name,
                        component=other.component,
                        path=_path(other, release),
                        needed_by=name,
                        because=need.because,
                    )


def _path(part: Part, release: Release) -> str:
    place = part.place(release.name)
    return (place.path or "") if place else ""


def _notes(release: Release, selected: tuple[Selected, ...], request: Request) -> Iterable[str]:
    """What is odd about the request, but harmless."""
    names = {item.component.name for item in selected}
    for name in request.removed:
        if name not in release.selections[request.selection] and name not in names:
            yield f"kubeflow_components_removed: {name} is not in the selection {request.selection}, there is nothing to remove"
    for name in request.added:
        if name in release.selections[request.selection]:
            yield f"kubeflow_components_added: {name} is in the selection {request.selection} anyway"
