# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""From what a user names to the components that belong together."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping

from ansible_collections.kubeflow.platform.plugins.plugin_utils.plan.model import Request, Selected, SelectionError
from ansible_collections.kubeflow.platform.plugins.plugin_utils.plan.names import unknown
from ansible_collections.kubeflow.platform.plugins.plugin_utils.records.model import Component, Library, Need, Release


def find_release(library: Library, name: str) -> Release:
    """The release of that name; SelectionError names the known ones otherwise."""
    release = library.releases.get(name)
    if release is None:
        raise SelectionError([f"kubeflow_release: this collection does not know release {name!r} (known: {', '.join(library.releases)})"])
    return release


def select(library: Library, release: Release, request: Request) -> tuple[Selected, ...]:
    """The selection closed over what it requires, in the order of the release's default selection.

    SelectionError with every finding: unknown names, components that the release lacks, removals of what others need.
    """
    findings = _unknown_names(library, release, request)
    if findings:
        raise SelectionError(findings)
    chosen: dict[str, str] = {}
    for name in release.selections[request.selection]:
        if name not in request.removed:
            chosen[name] = f"in the selection {request.selection}"
    for name in request.added:
        chosen.setdefault(name, "added")
    pending = deque(chosen)
    missed: dict[str, dict[str, str]] = {}
    while pending:
        name = pending.popleft()
        for need in component_needs(library.components[name], release.name):
            if need.component in request.removed:
                missed.setdefault(need.component, {})[name] = need.because
            elif need.component not in chosen:
                chosen[need.component] = _reason(name, need)
                pending.append(need.component)
    if missed:
        raise SelectionError([_needed(name, users) for name, users in missed.items()])
    findings = [
        f"kubeflow_only: {name} is not in the selection; add it to kubeflow_components_added" for name in request.only if name not in chosen
    ]
    if findings:
        raise SelectionError(findings)
    rank = ranks(library, release)
    return tuple(Selected(library.components[name], chosen[name]) for name in sorted(chosen, key=rank.__getitem__))


def component_needs(component: Component, release: str) -> tuple[Need, ...]:
    """What the parts of a component require of other components, each component once, with the first reason that is given."""
    found: dict[str, Need] = {}
    for part in component.parts_at(release):
        for need in part.needs(release):
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
        "kubeflow_only": request.only,
    }
    here = [name for name, component in library.components.items() if component.parts_at(release.name)]
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
