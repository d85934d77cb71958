# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is odd about a request but harmless, and what a user should know about what was asked for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ansible_collections.kubeflow.platform.plugins.plugin_utils.plan.model import Request, Requirement, Selected
from ansible_collections.kubeflow.platform.plugins.plugin_utils.plan.selection import spared
from ansible_collections.kubeflow.platform.plugins.plugin_utils.records.condition import Values
from ansible_collections.kubeflow.platform.plugins.plugin_utils.records.model import Library, Release


def notes(library: Library, release: Release, selected: Sequence[Selected], request: Request, values: Values) -> Iterator[str]:
    """One sentence each."""
    names = {item.component.name for item in selected}
    for name in request.removed:
        if name not in release.selections[request.selection] and name not in names:
            without = f"{name} is not in the selection {request.selection} anyway"
            yield f"kubeflow_components_removed: {without}; where a platform has it, it goes"
    for name in request.added:
        if name in release.selections[request.selection]:
            yield f"kubeflow_components_added: {name} is in the selection {request.selection} anyway"
    for name, why in spared(library, release, selected, request, values).items():
        yield f"{name} is left out of the selection {request.selection}: {why}; kubeflow_components_added brings it back"
    yield from _idle_options(library, names, request)
    for item in selected:
        for remark in item.component.experimental:
            if remark.condition.holds(release.name, values):
                set_to = ", ".join(f"{name}: {values.get(name)}" for name, _allowed in remark.condition.when)
                yield f"experimental: {item.component.name}{f' with {set_to}' if set_to else ''}: {remark.because}"


def outside(requirements: Iterable[Requirement]) -> Iterator[str]:
    """What people have to bring before a run: it is looked for before anything is written."""
    for found in requirements:
        if found.outside:
            name = found.part.partition("/")[2]
            yield f"{found.needed_by} requires {name}, which no release holds: install it before ({found.because})"


def _idle_options(library: Library, names: set[str], request: Request) -> Iterator[str]:
    """Options of components that are not selected: they do nothing, which a user may not expect."""
    for name in sorted(request.values):
        option = library.options.get(name)
        if option is None or option.role not in library.components or option.role in names:
            continue
        if request.values[name] != option.default:
            yield f"{name} is set, but {option.role} is not selected; add it to kubeflow_components_added or leave the variable out"
