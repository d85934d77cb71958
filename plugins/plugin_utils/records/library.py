# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""All records of the collection, loaded once and validated whole."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from ansible_collections.kubeflow.platform.plugins.plugin_utils.records.component import read_component
from ansible_collections.kubeflow.platform.plugins.plugin_utils.records.model import Component, Library, Release
from ansible_collections.kubeflow.platform.plugins.plugin_utils.records.option import Spec, options_of, parse_spec
from ansible_collections.kubeflow.platform.plugins.plugin_utils.records.order import ordered
from ansible_collections.kubeflow.platform.plugins.plugin_utils.records.part import Need
from ansible_collections.kubeflow.platform.plugins.plugin_utils.records.problems import Problem, RecordError
from ansible_collections.kubeflow.platform.plugins.plugin_utils.records.reading import parse
from ansible_collections.kubeflow.platform.plugins.plugin_utils.records.release import read_release
from ansible_collections.kubeflow.platform.plugins.plugin_utils.records.version import numbers


def collection_root() -> Path:
    """The folder of the collection that this file belongs to."""
    return Path(__file__).resolve().parents[3]


def load(root: Path) -> Library:
    """The records below a collection's root. RecordError with every mistake when there is one."""
    problems: list[Problem] = []
    specs = _specs(root, problems)
    options = {name: option for role, spec in specs.items() for name, option in options_of(role, spec).items()}
    components: dict[str, Component] = {}
    releases: dict[str, Release] = {}
    for path in sorted(root.glob("roles/*/meta/component.yml")):
        node = parse(str(path.relative_to(root)), path.read_text(encoding="utf-8"), problems)
        if node is not None:
            name = path.parents[1].name
            components[name] = read_component(name, node, options)
    for path in sorted(root.glob("releases/*.yml")):
        node = parse(str(path.relative_to(root)), path.read_text(encoding="utf-8"), problems)
        if node is not None:
            releases[path.stem] = read_release(path.stem, node)
    if not releases:
        problems.append(Problem("releases", "", "there is no release"))
    if not problems:  # names are compared only when everything could be read: one mistake should not cause ten
        problems.extend(_unknown_needs(components, releases))
        problems.extend(_unknown_in_releases(components, releases))
        problems.extend(_unknown_components(components))
    if not problems:
        problems.extend(_circles(components, releases))
    if problems:
        raise RecordError(problems)
    names = sorted(releases, key=numbers)
    releases = {name: releases[name] for name in names}
    return Library(root=str(root), components=components, releases=releases, options=options, specs=specs)


def _specs(root: Path, problems: list[Problem]) -> dict[str, Spec]:
    return {
        path.parents[1].name: parse_spec(str(path.relative_to(root)), path.read_text(encoding="utf-8"), problems)
        for path in sorted(root.glob("roles/*/meta/argument_specs.yml"))
    }


def _unknown_needs(components: Mapping[str, Component], releases: Mapping[str, Release]) -> Iterator[Problem]:
    for component in components.values():
        file = f"roles/{component.name}/meta/component.yml"
        for index, part in enumerate(component.parts):
            key = f"parts[{index}].requires"
            named = {*part.requires, *(need for place in part.places for need in place.requires or ())}
            unknown = {str(need) for need in named if not _known(need, components)}
            for name in sorted(unknown):
                yield Problem(file, key, f"there is no {name}")
            for release in releases:
                for need in part.all_needs(release):
                    if str(need) not in unknown and not _in_release(need, components, release):
                        yield Problem(file, key, f"release {release} has no {need}")


def _known(need: Need, components: Mapping[str, Component]) -> bool:
    component = components.get(need.component)
    return component is not None and (need.part is None or component.part(need.part) is not None)


def _in_release(need: Need, components: Mapping[str, Component], release: str) -> bool:
    component = components[need.component]
    if need.part is None:
        return component.exists(release)
    part = component.part(need.part)
    return part is not None and part.exists(release)


def _unknown_components(components: Mapping[str, Component]) -> Iterator[Problem]:
    """Components that are named anywhere but in requirements."""
    for component in components.values():
        file = f"roles/{component.name}/meta/component.yml"
        for index, conflict in enumerate(component.conflicts):
            if conflict.component not in components or conflict.component == component.name:
                yield Problem(file, f"conflicts[{index}].component", f"there is no other component {conflict.component}")
        for number, part in enumerate(component.parts):
            conditions = {
                "components": [entry.condition for entry in part.extras],
                "patches": [entry.condition for entry in part.patches],
                "omit": [entry.condition for entry in part.omit],
            }
            for key, index, name in ((key, i, name) for key, all_ in conditions.items() for i, c in enumerate(all_) for name in c.selected):
                if name not in components:
                    yield Problem(file, f"parts[{number}].{key}[{index}].selected", f"there is no component {name}")


def _circles(components: Mapping[str, Component], releases: Mapping[str, Release]) -> Iterator[Problem]:
    """Whatever the options: what could require each other under no values at once is a mistake all the same."""
    for release in releases:
        parts = {component.name: [part for part in component.parts if part.exists(release)] for component in components.values()}
        requires = {
            part.full_name: [
                other.full_name
                for need in part.all_needs(release)
                for other in parts[need.component]
                if need.part in (None, other.name) and other is not part
            ]
            for known in parts.values()
            for part in known
        }
        try:
            ordered(requires, {name: (index,) for index, name in enumerate(requires)})
        except ValueError as error:
            yield Problem(f"releases/{release}.yml", "", f"no order fits its parts: {error}")


def _unknown_in_releases(components: Mapping[str, Component], releases: Mapping[str, Release]) -> Iterator[Problem]:
    for release in releases.values():
        file = f"releases/{release.name}.yml"
        named = {
            **{f"selections.{key}": names for key, names in release.selections.items()},
            "versions": tuple(release.versions),
            **{f"remote_bases[{i}].components": base.components for i, base in enumerate(release.remote_bases)},
        }
        for key, names in named.items():
            for name in names:
                if name not in components:
                    yield Problem(file, key, f"there is no component {name}")
                elif not components[name].exists(release.name):
                    yield Problem(file, key, f"{name} has no part at this release")
