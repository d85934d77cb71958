# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A tree compared with the records of the newest known release: what can be taken over, and what a person has to decide. Pure but for
looking whether paths exist."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher

from ansible_collections.kubeflow.platform.plugins.plugin_utils.records.model import Fingerprint, Library, Release

from tests.tools.release.tree import Tree

# Two paths that are less alike than this are not offered as old and new place of one part.
_ALIKE = 0.65
# Folders below which come forms of one thing, not things.
_FORMS = {"upstream", "overlays", "base", "env", "installs"}


@dataclass(frozen=True, slots=True)
class Spot:
    """A path of the newest known release: whose it is, and whether its default selection renders it."""

    path: str
    component: str
    part: str
    is_default: bool

    @property
    def full_name(self) -> str:
        """C(component/part)."""
        return f"{self.component}/{self.part}"


def spots(library: Library, release: Release) -> list[Spot]:
    """Every path of a release that a part can have, whatever the options, and the kustomize components that are laid over parts."""
    found = []
    for component in library.components.values():
        for part in component.parts:
            usual = part.place(release.name, library.defaults)
            for place in part.places_at(release.name):
                if place.path is not None and place.source is None:
                    is_default = place is usual and component.name in release.selections["default"]
                    found.append(Spot(place.path, component.name, part.name, is_default))
            laid_over = [extra.path for extra in part.extras if extra.condition.covers(release.name)]
            found += [Spot(path, component.name, part.name, False) for path in laid_over]
    return found


def selection(tree: Tree, known: list[Spot]) -> list[str]:
    """The components whose parts are on in the example, where they were or where they seem to be now, in its order."""
    owners = {guess: spot.component for spot, guess in moves(tree, known).items() if guess is not None}
    owners |= {spot.path: spot.component for spot in known}
    return list(dict.fromkeys(owners[path] for path in tree.example.on if path in owners))


def fingerprint(tree: Tree, known: list[Spot], previous: Release) -> Fingerprint:
    """The newest known release's, turned to what the tree has, and whatever came or went among the paths of the example."""
    present = [path for path in previous.fingerprint.present if tree.exists(path)]
    present += [path for path in previous.fingerprint.absent if tree.exists(path)]
    present += [path for path in new_entries(tree, known) if path in tree.example.on][:1]
    absent = [path for path in (*previous.fingerprint.present, *previous.fingerprint.absent) if not tree.exists(path)]
    absent += [spot.path for spot in gone(tree, known) if not tree.exists(spot.path)][:1]
    return Fingerprint(present=tuple(dict.fromkeys(present)), absent=tuple(dict.fromkeys(absent)))


def new_entries(tree: Tree, known: list[Spot]) -> list[str]:
    """Entries of the example, on or off, that no part lies at."""
    paths = {spot.path for spot in known}
    return [path for path in (*tree.example.on, *tree.example.off) if path not in paths]


def gone(tree: Tree, known: list[Spot]) -> list[Spot]:
    """Paths of the newest known release that hold no kustomization any more."""
    return [spot for spot in known if not tree.has(spot.path)]


def moves(tree: Tree, known: list[Spot]) -> dict[Spot, str | None]:
    """Each path that is gone, with the new entry of the example that looks like it, if there is one."""
    candidates = [path for path in new_entries(tree, known) if path in tree.example.on]
    return {spot: _nearest(spot.path, candidates) for spot in gone(tree, known)}


def versions(tree: Tree, known: list[Spot]) -> dict[str, str]:
    """The README's version of each component: its table names a folder in which one of the component's parts lies."""
    found: dict[str, str] = {}
    for spot in known:
        for path, version in tree.versions.items():
            if tree.has(spot.path) and _is_within(spot.path, path):
                found.setdefault(spot.component, version)
    return found


def _is_within(path: str, folder: str) -> bool:
    subject = _subject(folder)
    return path.split("/")[0] == folder.split("/")[0] and _subject(path)[: len(subject)] == subject


def decisions(library: Library, previous: Release, tree: Tree, known: list[Spot], name: str) -> Iterator[str]:
    """What a person has to decide, most important first."""
    new, lost = new_entries(tree, known), gone(tree, known)
    guesses = moves(tree, known)
    for spot, guess in guesses.items():
        yield _move(spot, guess, name)
    for path in new:
        if path not in guesses.values():
            yield _entry(path, path in tree.example.on, known, name)
    owners = {spot.path: spot for spot in known}
    for path in tree.example.off:
        if path in owners and owners[path].is_default:
            yield f"{path} is commented out in example, and {owners[path].full_name} was on in {previous.name}: leave it on or take it out?"
    for path in tree.example.on:
        if path in owners and not owners[path].is_default:
            yield f"{path} is on in example, and {owners[path].full_name} was not in the default selection of {previous.name}: is it now?"
    listed = {*tree.example.on, *tree.example.off}
    for spot in known:
        if spot.is_default and spot.path not in listed and spot not in lost:
            yield f"{spot.path} ({spot.full_name}) is still there, but example no longer names it: does another part hold it now?"
    for path in tree.example.components:
        if path in owners:
            continue
        yield f"example adds the kustomize component {path}: does it change anything, and to which part does it belong?"
    yield from _told(tree, previous, known)
    yield from _mistaken(library, tree, name)


def _move(spot: Spot, guess: str | None, name: str) -> str:
    file = f"roles/{spot.component}/meta/component.yml"
    line = f'{{since: "{name}", path: {guess or "null"}}}'
    reason = f"{guess} may be its new place" if guess else "nothing in example looks like its new place"
    return f"{spot.full_name}: {spot.path} is gone, {reason}. Add to {file}: {line}"


def _entry(path: str, is_on: bool, known: list[Spot], name: str) -> str:
    near = _nearest(path, [spot.path for spot in known])
    owner = next((spot.component for spot in known if spot.path == near), None)
    whose = f"a part of {owner}" if owner else "a component that has no role yet"
    state = "on" if is_on else "commented out"
    return f'{path} is new in example ({state}), perhaps {whose}. Its line in component.yml: {{since: "{name}", path: {path}}}'


def _told(tree: Tree, previous: Release, known: list[Spot]) -> Iterator[str]:
    found = versions(tree, known)
    for component, version in previous.versions.items():
        if component not in found:
            yield f"the README names no version of {component}; the draft keeps {version}: look at its images"
    yield f"the window of Kubernetes is that of {previous.name} ({previous.kubernetes}): what do upstream's release notes and CI say?"
    yield f"the window of kustomize is that of {previous.name} ({previous.kustomize}): do both ends render the same?"
    if previous.quirks or previous.differences:
        yield f"quirks and differences are those of {previous.name}; tests/unit/releases says which no longer occur, and which are new"


def _mistaken(library: Library, tree: Tree, name: str) -> Iterator[str]:
    for release in library.releases.values():
        wanted = release.fingerprint
        if all(tree.exists(path) for path in wanted.present) and not any(tree.exists(path) for path in wanted.absent):
            yield (
                f"the fingerprint of {release.name} fits this tree too: add to `absent` of releases/{release.name}.yml a path that "
                f"only {name} has"
            )


def _nearest(path: str, candidates: list[str]) -> str | None:
    best = max(candidates, key=lambda candidate: _alike(candidate, path), default=None)
    return best if best is not None and _alike(best, path) >= _ALIKE else None


def _alike(one: str, other: str) -> float:
    """How much two paths have in common, by the names of the folders that say what they are about; from 0 to 1."""
    few, many = sorted((_subject(one), _subject(other)), key=len)
    best = [max(SequenceMatcher(None, name, candidate).ratio() for candidate in many) for name in few]
    return sum(best) / len(best) if best else 0.0


def _subject(path: str) -> list[str]:
    """C(applications/jupyter/jupyter-web-app/upstream/overlays/istio) is about jupyter and jupyter-web-app."""
    folders = path.split("/")[1:]
    end = next((number for number, name in enumerate(folders) if name in _FORMS), len(folders))
    return folders[:end]
