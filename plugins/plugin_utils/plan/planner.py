# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Records and a choice to ordered parts. Pure: no cluster, no tree, no clock."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ansible_collections.kubeflow.platform.plugins.plugin_utils.plan.custom import custom, mistakes
from ansible_collections.kubeflow.platform.plugins.plugin_utils.plan.laid import laid_over
from ansible_collections.kubeflow.platform.plugins.plugin_utils.plan.model import (
    Plan,
    PlannedPart,
    Request,
    Requirement,
    Selected,
    SelectionError,
)
from ansible_collections.kubeflow.platform.plugins.plugin_utils.plan.notes import notes, outside
from ansible_collections.kubeflow.platform.plugins.plugin_utils.plan.selection import find_release, meant, ranks, select, spared
from ansible_collections.kubeflow.platform.plugins.plugin_utils.records.condition import Values
from ansible_collections.kubeflow.platform.plugins.plugin_utils.records.model import LAYERS, Library, Release
from ansible_collections.kubeflow.platform.plugins.plugin_utils.records.order import ordered
from ansible_collections.kubeflow.platform.plugins.plugin_utils.records.part import Part
from ansible_collections.kubeflow.platform.plugins.plugin_utils.records.parts import OWN_TREE


@dataclass(frozen=True, slots=True)
class _Choice:
    """What the answers depend on: the records, the release, and the value of every option."""

    library: Library
    release: Release
    values: Values
    selected: tuple[Selected, ...]

    def required(self, part: Part) -> list[str]:
        """Full names of the parts that a part requires."""
        needs = part.needs(self.release.name, self.values)
        return [other.full_name for need in needs for other in meant(self.library, self.release, need, self.values) if other is not part]


def plan(library: Library, request: Request) -> Plan:
    """The plan for a request; SelectionError with every finding when the request cannot be met."""
    release = find_release(library, request.release)
    values = library.values(release.name, request.values)
    selected = select(library, release, request, values)
    wrong = [text for item in selected for text in mistakes(item.component.name, _names(item, release, values), values)]
    if wrong:
        raise SelectionError(wrong)
    choice = _Choice(library, release, values, selected)
    scope = tuple(item.component.name for item in selected if {item.component.name, item.component.layer} & set(request.only))
    everything = _parts(choice)
    within = [name for name, part in everything.items() if not part.outside and (not scope or part.component in scope)]
    required = tuple(_requirements(choice, everything, within))
    return Plan(
        release=release,
        selected=selected,
        parts=tuple(_planned(choice, everything[name], within) for name in within),
        scope=scope,
        # On a platform that has it, what a value takes out of the named selection goes as what is removed by name does.
        removed=(*request.removed, *([] if scope else spared(library, release, selected, request, values))),
        requirements=required,
        notes=(*notes(library, release, selected, request, values), *outside(required)),
        values=values,
    )


def _names(item: Selected, release: Release, values: Values) -> list[str]:
    return [part.full_name for part in item.component.parts_at(release.name, values)]


def _parts(choice: _Choice) -> dict[str, Part]:
    """All parts of a selection, in order: infrastructure first wherever the requirements allow it."""
    place = ranks(choice.library, choice.release)
    found: dict[str, Part] = {}
    rank: dict[str, tuple[int, ...]] = {}
    for item in choice.selected:
        for index, part in enumerate(item.component.parts_at(choice.release.name, choice.values)):
            found[part.full_name] = part
            rank[part.full_name] = (LAYERS.index(item.component.layer), place[item.component.name], index)
    requires = {name: choice.required(part) for name, part in found.items()}
    return {name: found[name] for name in ordered(requires, rank)}


def _planned(choice: _Choice, part: Part, within: list[str]) -> PlannedPart:
    component = choice.library.components[part.component]
    place = part.place(choice.release.name, choice.values)
    source = place.source if place else None
    laid = laid_over(part, choice.release.name, choice.values, [item.component.name for item in choice.selected])
    parts = [other.full_name for other in component.parts_at(choice.release.name, choice.values)]
    own = custom(part.component, parts, choice.values)
    return PlannedPart(
        name=part.full_name,
        component=part.component,
        layer=component.layer,
        path=_path(choice, part),
        requires=tuple({name: None for name in choice.required(part) if name in within}),
        source=component.sources.get(source) if source else None,
        namespace=laid.namespace,
        patches=(*laid.patches, *own.patches),
        images=own.images,
        extras=(*laid.extras, *own.extras_of(part.full_name)),
        omit=laid.omit,
    )


def _requirements(choice: _Choice, everything: dict[str, Part], within: list[str]) -> Iterable[Requirement]:
    """What lies outside the scope and is needed by something within, each part once."""
    told: set[str] = set()
    for name in within:
        for need in everything[name].needs(choice.release.name, choice.values):
            for other in meant(choice.library, choice.release, need, choice.values):
                if other.full_name not in within and other.full_name not in told:
                    told.add(other.full_name)
                    yield Requirement(_planned(choice, other, []), needed_by=name, because=need.because, outside=other.outside)


def _path(choice: _Choice, part: Part) -> str:
    """Relative to the part's tree; absolute for objects of the collection's own."""
    place = part.place(choice.release.name, choice.values)
    if place is None or place.path is None:
        return ""
    return f"{choice.library.root}/{place.path}" if place.source == OWN_TREE else place.path
