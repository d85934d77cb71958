# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""From what a user names to the components that belong together."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence

from ansible_collections.kubeflow.platform.plugins.plugin_utils.plan.model import Request, Selected, SelectionError
from ansible_collections.kubeflow.platform.plugins.plugin_utils.plan.names import unknown
from ansible_collections.kubeflow.platform.plugins.plugin_utils.plan.offers import not_offered, shown
from ansible_collections.kubeflow.platform.plugins.plugin_utils.records.condition import Values
from ansible_collections.kubeflow.platform.plugins.plugin_utils.records.model import LAYERS, Component, Library, Release
from ansible_collections.kubeflow.platform.plugins.plugin_utils.records.part import Need, Part


def find_release(library: Library, name: str) -> Release:
    """The release of that name; SelectionError names the known ones otherwise."""
    release = library.releases.get(name)
    if release is None:
        raise SelectionError([f"kubeflow_release: this collection does not know release {name!r} (known: {', '.join(library.releases)})"])
    return release


def select(library: Library, release: Release, request: Request, values: Values) -> tuple[Selected, ...]:
    """The selection closed over what it requires, in the order of the release's default selection.

    SelectionError with every finding: unknown names, values that the release does not offer, components that it lacks, removals of
    what others need, components that exclude each other, conditions that were not accepted.
    """
    findings = [*_unknown_names(library, release, request), *not_offered(library, release, values)]
    if findings:
        raise SelectionError(findings)
    chosen: dict[str, str] = {}
    for name in release.selections[request.selection]:
        if name not in request.removed and not library.components[name].why_spare(release.name, values):
            chosen[name] = f"in the selection {request.selection}"
    for name in request.added:
        chosen.setdefault(name, "added")
    findings.extend(_close(library, release, request.removed, values, chosen))
    findings.extend(_unmet(library, release, values, chosen))
    findings.extend(
        f"kubeflow_only: {name} is not in the selection; add it to kubeflow_components_added"
        for name in request.only
        if name not in chosen and name not in LAYERS
    )
    if findings:
        raise SelectionError(findings)
    rank = ranks(library, release)
    return tuple(Selected(library.components[name], chosen[name]) for name in sorted(chosen, key=rank.__getitem__))


def spared(library: Library, release: Release, selected: Iterable[Selected], request: Request, values: Values) -> dict[str, str]:
    """What these values leave out of the named selection, with the reason; not what is removed by name anyway."""
    names = {item.component.name for item in selected} | set(request.removed)
    reasons = {name: library.components[name].why_spare(release.name, values) for name in release.selections[request.selection]}
    return {name: because for name, because in reasons.items() if because and name not in names}


def _close(library: Library, release: Release, removed: Sequence[str], values: Values, chosen: dict[str, str]) -> list[str]:
    """Add to C(chosen) what it requires; findings for what was removed, or is left out with these values."""
    pending = deque(chosen)
    missed: dict[str, dict[str, str]] = {}
    off: dict[str, str] = {}
    while pending:
        name = pending.popleft()
        component = library.components[name]
        for need in component_needs(component, release.name, values):
            if need.component in removed:
                missed.setdefault(need.component, {})[name] = need.because
            elif need.component not in chosen:
                chosen[need.component] = _reason(name, need)
                pending.append(need.component)
        for part in component.parts_at(release.name, values):
            for need in part.needs(release.name, values):
                if not meant(library, release, need, values):
                    off.setdefault(str(need), _left_out(library, release, name, need))
    return [*(_needed(name, users) for name, users in missed.items()), *off.values()]


def meant(library: Library, release: Release, need: Need, values: Values) -> list[Part]:
    """The parts that a requirement stands for; a whole component stands for all of its parts."""
    parts = library.components[need.component].parts_at(release.name, values)
    return [part for part in parts if need.part in (None, part.name)]


def _left_out(library: Library, release: Release, name: str, need: Need) -> str:
    options: dict[str, None] = {}
    for part in library.components[need.component].parts:
        if need.part in (None, part.name):
            for condition in (part.condition, *(place.condition for place in part.places_at(release.name))):
                options.update(dict.fromkeys(option for option, _allowed in condition.when))
    why = f" ({need.because})" if need.because else ""
    return f"{name} requires {need}{why}, which is left out: set {' or '.join(options)} so that it is there, or take {name} out"


def _unmet(library: Library, release: Release, values: Values, chosen: Mapping[str, str]) -> Iterator[str]:
    """Conflicts between chosen components, each pair once, and values that a component wants accepted."""
    told: set[frozenset[str]] = set()
    for name in chosen:
        component = library.components[name]
        for conflict in component.conflicts:
            pair = frozenset({name, conflict.component})
            if conflict.component in chosen and pair not in told and conflict.condition.holds(release.name, values):
                told.add(pair)
                both = " and ".join(f"{one} ({chosen[one]})" for one in (name, conflict.component))
                yield f"{both} cannot be selected together: {conflict.because}; put one of them into kubeflow_components_removed"
        for entry in component.accept:
            if entry.condition.holds(release.name, values) and not entry.is_met(values):
                wanted = f"{entry.option} given" if entry.required else f"{entry.option}: {shown(entry.value)}"
                yield f"{name} ({chosen[name]}) is only planned with {wanted}: {entry.because}"


def component_needs(component: Component, release: str, values: Values) -> tuple[Need, ...]:
    """What the parts of a component require of other components, each component once, with the first reason that is given."""
    found: dict[str, Need] = {}
    for part in component.parts_at(release, values):
        for need in part.needs(release, values):
            if need.component != component.name and (need.component not in found or (need.because and not found[need.component].because)):
                found[need.component] = need
    return tuple(found.values())


def ranks(library: Library, release: Release) -> Mapping[str, int]:
    """A place for every component: as in the default selection, the others behind it by name."""
    default = list(release.selections["default"])
    rest = sorted(name for name in library.components if name not in default)
    return {name: index for index, name in enumerate([*default, *rest])}


def _unknown_names(library: Library, release: Release, request: Request) -> list[str]:
    findings = []
    if request.selection not in release.selections:
        findings.append(unknown("selection", request.selection, release.selections, "kubeflow_selection"))
    given = {
        "kubeflow_components_added": request.added,
        "kubeflow_components_removed": request.removed,
        "kubeflow_only": tuple(name for name in request.only if name not in LAYERS),  # a layer stands for its components
    }
    here = [name for name, component in library.components.items() if component.exists(release.name)]
    for option, names in given.items():
        for name in names:
            if name not in library.components:
                findings.append(unknown("component", name, here, option))
            elif name not in here and option != "kubeflow_components_removed":
                findings.append(f"{option}: release {release.name} has no {name}, or this collection does not know where")
    both = sorted(set(request.added) & set(request.removed))
    findings.extend(f"{name} is in kubeflow_components_added and in kubeflow_components_removed: take it out of one" for name in both)
    return findings


def _reason(by: str, need: Need) -> str:
    return f"required by {by}: {need.because}" if need.because else f"required by {by}"


def _needed(name: str, users: Mapping[str, str]) -> str:
    who = ", ".join(f"{user} ({because})" if because else user for user, because in users.items())
    it = "them" if len(users) > 1 else "it"
    return f"kubeflow_components_removed: {name} is required by {who}; remove {it} too, or keep {name}"
