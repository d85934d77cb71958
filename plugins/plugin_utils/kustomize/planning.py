# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""From parts to builds and the keys of their results. Walks every tree; starts no process."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize import graph, vendor
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.build import Job
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.cache import Cache
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.errors import RenderError, listing
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.fileindex import FileIndex
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.parts import Part
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.remote import is_pinned
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.wrapper import Wrapper

# Part of every key: a change of what is stored, or of how it is made, makes all that was stored before unreachable.
FORMAT = "3"


def _keep_quiet(_text: str) -> None:
    """Tell nobody."""


@dataclass(frozen=True, slots=True)
class Request:
    """What to render. ``root`` is the distribution's folder, from which the parts' folders were made absolute; patches with a
    relative ``path`` start at ``patch_folder``; ``tell`` hears of work that takes seconds."""

    parts: Sequence[Part]
    root: str
    release: Mapping[str, Any] | None = None
    remote_bases: str | None = None
    kustomize_path: str | None = None
    allow_remote: tuple[str, ...] = ()
    patch_folder: str = "."
    tell: Callable[[str], None] = _keep_quiet


@dataclass(frozen=True, slots=True)
class Planned:
    """A part, its build, and the key under which its objects are kept (None: never kept)."""

    part: Part
    job: Job
    key: str | None


@dataclass(frozen=True, slots=True)
class _Tree:
    """Parts of one tree, in a copy with local references where remote ones were, and what each of them reaches."""

    root: str
    index: FileIndex
    parts: Sequence[Part]
    reaches: Sequence[graph.Reach]


def plan_builds(request: Request, cache: Cache, version: str) -> list[Planned]:
    """Walk every part. Raises RenderError for what a build would only find later, or fetch."""
    roots = dict.fromkeys(part.root or request.root for part in request.parts)
    trees = [_tree(request, cache, root, [part for part in request.parts if (part.root or request.root) == root]) for root in roots]
    reaches = [reach for tree in trees for reach in tree.reaches]
    graph.refuse(_union(reaches), request.allow_remote)
    faults = sorted({fault for reach in reaches for fault in reach.missing})
    if faults:
        raise RenderError(f"Failed to render: references lead nowhere:{listing(faults)}\nCorrect the path of the part or the file.")
    planned = {
        part.name: _planned(request, tree, part, reach, version)
        for tree in trees
        for part, reach in zip(tree.parts, tree.reaches, strict=True)
    }
    return [planned[part.name] for part in request.parts]


def _tree(request: Request, cache: Cache, root: str, parts: Sequence[Part]) -> _Tree:
    index = FileIndex(cache, Path(root))
    reaches = _walk(index, parts)
    wanted = {found for reach in reaches for found in reach.remote if not graph.is_allowed(found.text, request.allow_remote)}
    if request.remote_bases and vendor.needs_vendoring(wanted):
        root = _common_root(root, reaches)
        copy = vendor.vendored(cache, index, root, vendor.bases_folder(cache, request.remote_bases))
        index.save()
        parts = [_moved(part, root, copy.root) for part in parts]
        root, index = copy.root, FileIndex(cache, Path(copy.root))
        reaches = _walk(index, parts)
    index.save()
    return _Tree(root, index, parts, reaches)


def _walk(index: FileIndex, parts: Sequence[Part]) -> list[graph.Reach]:
    return [graph.walk(index, [part.folder, *part.components]) for part in parts]


def _union(reaches: Sequence[graph.Reach]) -> graph.Reach:
    total = graph.Reach()
    for reach in reaches:
        total.remote |= reach.remote
        total.helm += reach.helm
    total.helm = sorted(set(total.helm))
    return total


def _common_root(root: str, reaches: Sequence[graph.Reach]) -> str:
    """The folder that has to be copied so that every local reference still leads somewhere."""
    common = os.path.commonpath([root, *(os.path.dirname(path) for reach in reaches for path in reach.files)])
    if common.count(os.sep) < 2:
        raise RenderError(
            f"Failed to vendor: the kustomizations reach from {root} up to {common}, which is too much to copy. "
            "Keep them below one folder and set `distribution` to it."
        )
    return common


def _moved(part: Part, old: str, new: str) -> Part:
    """The part in another copy of the tree."""

    def move(folder: str) -> str:
        inside = Path(folder).is_relative_to(old)
        return str(Path(new) / Path(folder).relative_to(old)) if inside else folder

    return replace(part, folder=move(part.folder), components=tuple(move(folder) for folder in part.components))


def _planned(request: Request, tree: _Tree, part: Part, reach: graph.Reach, version: str) -> Planned:
    wrapper = Wrapper.of(part, request.patch_folder) if part.is_wrapped else None
    files = tuple(sorted(reach.files))
    root, index = tree.root, tree.index
    job = Job(part, wrapper, files, sum(index.size(path) for path in files), bool(reach.remote))
    if not all(is_pinned(found.text) for found in reach.remote):
        return Planned(part, job, None)
    total = hashlib.sha256(f"{FORMAT}\n{version}\n{_relative(part.folder, root)}\n{wrapper.fingerprint() if wrapper else ''}\n".encode())
    for folder in part.components:
        total.update(f"component {_relative(folder, root)}\n".encode())
    for path in files:
        total.update(f"{_relative(path, root)}\0{index.digest(path)}\n".encode())
    return Planned(part, job, total.hexdigest()[:40])


def _relative(path: str, root: str) -> str:
    """A path as it counts for keys: the same in every copy of the tree."""
    return path[len(root) + 1 :] if path.startswith(root + "/") else path
