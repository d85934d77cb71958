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
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ansible_collections.kubeflow.platform.plugins.plugin_utils import partsfile
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize import binary, checks, messages, yamlstream
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.build import Built, build_all, refuse_idle_patches
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.cache import Cache
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.parse import Rendered
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.parts import plain
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.planning import FORMAT, Planned, Request, plan_builds

_AREAS = ("renders", "parts", "trees", "wrappers", "sources", "downloads", "progress")


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


def render(request: Request, cache: Cache) -> Rendering:
    """Render, or find what was rendered before. Raises RenderError with one message for the user."""
    started = time.monotonic()
    kustomize = binary.find(cache, request.kustomize_path, binary.Window.of_release(request.release))
    planned = plan_builds(request, cache, kustomize.version)
    digest = _digest(request, planned)
    entry, is_new = _find(cache, digest), False
    rows: list[tuple[Planned, Built]] = []
    built: list[str] = []
    if entry is None:
        with cache.lock("render", lambda: request.tell("waiting for another run that renders")):
            entry = _find(cache, digest)
            if entry is None:
                rows, built = _build_missing(planned, kustomize, cache, request.tell)
                refuse_idle_patches([(plan.job, made) for plan, made in rows], kustomize, cache)
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


def _digest(request: Request, planned: Sequence[Planned]) -> str | None:
    """The hash of all that makes up the parts file; None when a part is fetched and so may differ each time."""
    if any(plan.key is None for plan in planned):
        return None
    release = request.release or {}
    content = {
        "format": [FORMAT, partsfile.FORMAT],
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
    planned: Sequence[Planned], kustomize: binary.Kustomize, cache: Cache, tell: Callable[[str], None]
) -> tuple[list[tuple[Planned, Built]], list[str]]:
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
    return Built(tuple(Rendered.from_row(row) for row in data["objects"]), data["messages"], data["seconds"], tuple(data["idle"]))


def _store(cache: Cache, key: str, built: Built) -> None:
    rows = [found.row() for found in built.objects]
    data = {"objects": rows, "messages": built.messages, "seconds": built.seconds, "idle": built.idle}
    cache.write_json(cache.path("renders", f"{key}.json.gz"), data, compress=True)


def _compose(request: Request, rows: Sequence[tuple[Planned, Built]], cache: Cache, digest: str | None) -> tuple[Path, dict[str, Any]]:
    """Transform and check all parts together, then write the parts file."""
    release = request.release or {}
    quirks = release.get("quirks") or []
    parts = [(plan.part, checks.mend(checks.omit(plan.part, built.objects), quirks)) for plan, built in rows]
    checks.refuse_variables(parts)
    checks.refuse_duplicates(parts)
    checks.refuse_oversize(parts)
    checks.refuse_idle_images(parts)
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
