# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""From parts to a parts file: what is known is taken from the cache, the rest is built.

A warm run reads no manifest: it asks for the stat data of every file that the parts reach, and finds the parts file by the
hash of all that went into it.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ansible_collections.kubeflow.platform.plugins.plugin_utils import partsfile
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize import binary, checks, graph, messages, vendor, yamlstream
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.build import Built, Job, build_all
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.cache import Cache
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.errors import RenderError, listing
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.fileindex import FileIndex
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.parse import Rendered
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.parts import Part, plain
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.remote import is_pinned
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.wrapper import Wrapper

# Part of every key: a change of what is stored, or of how it is made, makes all that was stored before unreachable.
_FORMAT = "1"
_AREAS = ("renders", "parts", "trees", "wrappers", "sources", "downloads", "progress")


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
class Rendering:
    """A rendered plan: the parts file, its digest (None where it depends on the network), and figures. ``warnings`` are
    kustomize's own, which are worth showing when something was built."""

    path: Path
    digest: str | None
    count: int
    warnings: tuple[str, ...]
    built: tuple[str, ...]
    cached: tuple[str, ...]
    kustomize: str
    seconds: float

    def figures(self) -> dict[str, Any]:
        """What a task's result says about the render."""
        return {
            "seconds": round(self.seconds, 3),
            "objects": self.count,
            "built": list(self.built),
            "cached": len(self.cached),
            "kustomize": self.kustomize,
            "digest": self.digest,
            "warnings": list(self.warnings),
        }


@dataclass(frozen=True, slots=True)
class _Planned:
    """A part, its build, and the key under which its objects are kept (None: never kept)."""

    part: Part
    job: Job
    key: str | None


def render(request: Request, cache: Cache) -> Rendering:
    """Render, or find what was rendered before. Raises RenderError with one message for the user."""
    started = time.monotonic()
    kustomize = binary.find(cache, request.kustomize_path, binary.Window.of_release(request.release))
    planned = _plan(request, cache, kustomize.version)
    digest = _digest(request, planned)
    entry, is_new = _find(cache, digest), False
    rows: list[tuple[_Planned, Built]] = []
    built: list[str] = []
    if entry is None:
        with cache.lock("render", lambda: request.tell("waiting for another run that renders")):
            entry = _find(cache, digest)
            if entry is None:
                rows, built = _build_missing(planned, kustomize, cache, request.tell)
                entry, is_new = _compose(request, rows, cache, digest), True
                cache.sweep(_AREAS)
    path, note = entry
    if not is_new:
        cache.touch(path)
        cache.touch(_note(cache, digest or ""))
    return Rendering(
        path=path,
        digest=digest,
        count=note["count"],
        warnings=tuple(note["warnings"]),
        built=tuple(built),
        cached=tuple(plan.part.name for plan in planned if plan.part.name not in built),
        kustomize=kustomize.version,
        seconds=time.monotonic() - started,
    )


def _plan(request: Request, cache: Cache, version: str) -> list[_Planned]:
    """Walk every part. Raises RenderError for what a build would only find later, or fetch."""
    root, parts = request.root, list(request.parts)
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
    graph.refuse(_union(reaches), request.allow_remote)
    faults = sorted({fault for reach in reaches for fault in reach.missing})
    if faults:
        raise RenderError(f"Failed to render: references lead nowhere:{listing(faults)}\nCorrect the path of the part or the file.")
    return [_planned(request, index, part, reach, root, version) for part, reach in zip(parts, reaches, strict=True)]


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

    return Part(
        part.name,
        part.component,
        move(part.folder),
        part.layer,
        part.requires,
        part.namespace,
        part.patches,
        part.images,
        tuple(move(folder) for folder in part.components),
        part.omit,
    )


def _planned(request: Request, index: FileIndex, part: Part, reach: graph.Reach, root: str, version: str) -> _Planned:
    wrapper = Wrapper.of(part, request.patch_folder) if part.is_wrapped else None
    files = tuple(sorted(reach.files))
    job = Job(part, wrapper, files, sum(index.size(path) for path in files), bool(reach.remote))
    if not all(is_pinned(found.text) for found in reach.remote):
        return _Planned(part, job, None)
    total = hashlib.sha256(f"{_FORMAT}\n{version}\n{_relative(part.folder, root)}\n{wrapper.fingerprint() if wrapper else ''}\n".encode())
    for folder in part.components:
        total.update(f"component {_relative(folder, root)}\n".encode())
    for path in files:
        total.update(f"{_relative(path, root)}\0{index.digest(path)}\n".encode())
    return _Planned(part, job, total.hexdigest()[:40])


def _relative(path: str, root: str) -> str:
    """A path as it counts for keys: the same in every copy of the tree."""
    return path[len(root) + 1 :] if path.startswith(root + "/") else path


def _digest(request: Request, planned: Sequence[_Planned]) -> str | None:
    """The hash of all that makes up the parts file; None when a part is fetched and so may differ each time."""
    if any(plan.key is None for plan in planned):
        return None
    release = request.release or {}
    content = {
        "format": [_FORMAT, partsfile.FORMAT],
        "release": release.get("name"),
        "quirks": plain(release.get("quirks") or []),
        "parts": [[plan.key, plan.part.heading(), [dict(entry) for entry in plan.part.omit]] for plan in planned],
    }
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:40]


def _note(cache: Cache, name: str) -> Path:
    return cache.path("parts", f"{name}.note.json")


def _find(cache: Cache, digest: str | None) -> tuple[Path, dict[str, Any]] | None:
    if digest is None:
        return None
    path = cache.path("parts", f"{digest}.json.gz")
    note = cache.read_json(_note(cache, digest))
    return (path, note) if note is not None and path.is_file() else None


def _build_missing(
    planned: Sequence[_Planned], kustomize: binary.Kustomize, cache: Cache, tell: Callable[[str], None]
) -> tuple[list[tuple[_Planned, Built]], list[str]]:
    """The objects of every part, and the names of the parts that had to be built."""
    known = {plan.part.name: _load(cache, plan.key) for plan in planned}
    missing = [plan for plan in planned if known[plan.part.name] is None]
    if missing:
        tell(f"rendering {len(missing)} of {len(planned)} parts with kustomize {kustomize.version}")

    def keep(number: int, built: Built) -> None:
        key = missing[number].key
        if key is not None:
            _store(cache, key, built)

    built_now = build_all([plan.job for plan in missing], kustomize, cache, keep)
    results = {plan.part.name: built for plan, built in zip(missing, built_now, strict=True)}
    rows = [(plan, results.get(plan.part.name) or known[plan.part.name]) for plan in planned]
    return [(plan, built) for plan, built in rows if built is not None], [plan.part.name for plan in missing]


def _load(cache: Cache, key: str | None) -> Built | None:
    if key is None:
        return None
    path = cache.path("renders", f"{key}.json.gz")
    data = cache.read_json(path)
    if data is None:
        return None
    cache.touch(path)
    return Built(tuple(Rendered.from_row(row) for row in data["objects"]), data["messages"], data["seconds"])


def _store(cache: Cache, key: str, built: Built) -> None:
    data = {"objects": [found.row() for found in built.objects], "messages": built.messages, "seconds": built.seconds}
    cache.write_json(cache.path("renders", f"{key}.json.gz"), data, compress=True)


def _compose(request: Request, rows: Sequence[tuple[_Planned, Built]], cache: Cache, digest: str | None) -> tuple[Path, dict[str, Any]]:
    """Transform and check all parts together, then write the parts file."""
    release = request.release or {}
    quirks = release.get("quirks") or []
    parts = [(plan.part, checks.mend(checks.omit(plan.part, built.objects), quirks)) for plan, built in rows]
    checks.refuse_variables(parts)
    checks.refuse_duplicates(parts)
    warnings = messages.warnings(built.messages for _plan, built in rows)
    if not yamlstream.has_libyaml():
        warnings.append("PyYAML lacks libyaml here, so reading the render takes half a minute; install PyYAML's binary package")
    # kustomize's messages are about files that the user did not write: they are told when they are new, not on every run.
    data = partsfile.compose(release.get("name"), [(part.heading(), found) for part, found in parts], [])
    name = digest or f"once-{hashlib.sha256(data).hexdigest()[:32]}"
    path = cache.path("parts", f"{name}.json.gz")
    cache.write(path, data)
    note = {"count": sum(len(found) for _part, found in parts), "warnings": warnings}
    cache.write_json(_note(cache, name), note)
    return path, note
