# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A distribution on the controller's disk, from whichever source, with its remote references vendored."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from ansible_collections.kubeflow.platform.plugins.plugin_utils.distribution.access import Access
from ansible_collections.kubeflow.platform.plugins.plugin_utils.distribution.archive import file_digest, top_folder, unpack_once
from ansible_collections.kubeflow.platform.plugins.plugin_utils.distribution.git import checkout
from ansible_collections.kubeflow.platform.plugins.plugin_utils.distribution.source import Archive, Folder, Repository, Source
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize import vendor
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.cache import Cache
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.errors import RenderError
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.fileindex import FileIndex, tree_digest


@dataclass(frozen=True, slots=True)
class Distribution:
    """A tree on disk. ``unresolved`` are remote references that the remote bases do not hold; a part that reaches one
    cannot be rendered without the network."""

    path: str
    changed: bool
    fingerprint: str
    origin: str
    commit: str | None = None
    unresolved: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


def fetch(cache: Cache, source: Source, access: Access, remote_bases: str | None) -> Distribution:
    """Bring the distribution to the disk. ``changed`` says whether anything new was written to the cache. Raises RenderError."""
    path, changed, origin, commit, note = _fetch(cache, source, access)
    if not any(path.iterdir()):
        raise RenderError(f"Failed to use the distribution from {origin}: it is empty.")
    index = FileIndex(cache, path)
    unresolved: tuple[str, ...] = ()
    if remote_bases:
        copy = vendor.vendored(cache, index, str(path), vendor.bases_folder(cache, remote_bases))
        path, changed = Path(copy.root), changed or copy.is_new
        unresolved = tuple(f"{found.file}:{found.line}: {found.text}" for found in copy.unresolved)
        index = FileIndex(cache, path)
    fingerprint = tree_digest(index, path)
    index.save()
    return Distribution(str(path), changed, fingerprint, origin, commit, unresolved, (note,) if note else ())


def _fetch(cache: Cache, source: Source, access: Access) -> tuple[Path, bool, str, str | None, str]:
    if isinstance(source, Folder):
        path = Path(source.path)
        if not path.is_dir():
            raise RenderError(f"Failed to find the distribution: there is no folder {path}. Correct `folder`.")
        return path, False, source.path, None, ""
    if isinstance(source, Repository):
        found = checkout(cache, source, access)
        return found.path, found.is_new, f"{source.url} at {source.ref}", found.commit, found.note
    path, is_new = _unpacked(cache, source, access)
    return top_folder(path), is_new, source.place, None, ""


def _unpacked(cache: Cache, source: Archive, access: Access) -> tuple[Path, bool]:
    if source.sha256:
        known = cache.path("sources", source.sha256[:32])
        if known.is_dir():
            cache.touch(known)
            return known, False
    if not source.is_url:
        if not Path(source.place).is_file():
            raise RenderError(f"Failed to find the distribution: there is no archive {source.place}. Correct `archive`.")
        return _checked(cache, source, Path(source.place))
    name = hashlib.sha256(source.place.encode()).hexdigest()[:24]
    file, note = cache.path("downloads", f"{name}-{Path(source.place.split('?')[0]).name}"), cache.path("downloads", f"{name}.json")
    with cache.lock("downloads"), cache.staging("downloads") as folder:
        known_version = (cache.read_json(note) or {}) if file.is_file() else {}
        version = access.download(source.place, folder / "file", known_version)
        if version is not None:
            (folder / "file").replace(file)
            cache.write_json(note, version)
    return _checked(cache, source, file)


def _checked(cache: Cache, source: Archive, file: Path) -> tuple[Path, bool]:
    digest = file_digest(file)
    if source.sha256 and digest != source.sha256:
        raise RenderError(
            f"Failed to use {source.place}: its sha256 is {digest}, but {source.sha256} was asked for. "
            "The file was changed or damaged, or `sha256` is that of another one."
        )
    return unpack_once(cache, file, digest)
