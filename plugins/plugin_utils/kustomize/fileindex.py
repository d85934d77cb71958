# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Content hashes and references of files, remembered by the file's stat data, so that a warm run reads nothing."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Iterator
from dataclasses import astuple
from pathlib import Path
from typing import Any

from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.cache import Cache
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.errors import RenderError
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.references import (
    BrokenYaml,
    Reference,
    plugin_references,
    references,
)

_FORMAT = 1
# A file that changed this short a time ago may change again without its time stamp moving; it is not remembered.
_RACY_NS = 2_000_000_000


class FileIndex:
    """Facts about files below one root. An entry holds as long as size, mtime, ctime and inode stay the same."""

    def __init__(self, cache: Cache, root: Path) -> None:
        self._cache = cache
        self._store = cache.path("index", hashlib.sha256(str(root).encode()).hexdigest()[:24] + ".json")
        data = cache.read_json(self._store)
        self._entries: dict[str, dict[str, Any]] = {}
        if isinstance(data, dict) and data.get("format") == _FORMAT:
            self._entries = data["files"]
        self._fresh: dict[str, dict[str, Any] | None] = {}
        self._dirty = False

    def digest(self, path: str) -> str | None:
        """The sha256 of a file, or None when there is no such file."""
        entry = self._entry(path)
        return None if entry is None else str(entry["sha256"])

    def size(self, path: str) -> int:
        """The size of a file in bytes, 0 when there is none."""
        entry = self._entry(path)
        return 0 if entry is None else int(entry["stat"][0])

    def references(self, path: str, *, plugin: bool = False) -> list[Reference]:
        """The references of the kustomization (or, with ``plugin``, of the plugin configuration) at ``path``."""
        entry = self._entry(path)
        if entry is None:
            return []
        field = "plugin" if plugin else "refs"
        if field not in entry:
            text = self._read(path).decode("utf-8", "replace")
            try:
                found = plugin_references(text) if plugin else references(text)
            except BrokenYaml as error:
                raise RenderError(f"Failed to read {path}: it is not valid YAML: {error}. Correct the file.") from error
            entry[field] = [list(astuple(reference)) for reference in found]
            self._dirty = True
        return [Reference(*row) for row in entry[field]]

    def save(self) -> None:
        """Remember what was learned; entries that were not looked at are kept as they are."""
        if not self._dirty:
            return
        horizon = time.time_ns() - _RACY_NS
        for path, entry in self._fresh.items():
            if entry is None or max(entry["stat"][1:3]) > horizon:
                self._entries.pop(path, None)
            else:
                self._entries[path] = entry
        self._cache.write_json(self._store, {"format": _FORMAT, "files": self._entries})
        self._dirty = False

    def _entry(self, path: str) -> dict[str, Any] | None:
        if path in self._fresh:
            return self._fresh[path]
        try:
            stat = os.stat(path)
        except OSError:
            self._fresh[path] = None
            return None
        key = [stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_ino]
        entry = self._entries.get(path)
        if entry is None or entry["stat"] != key:
            entry = {"stat": key, "sha256": hashlib.sha256(self._read(path)).hexdigest()}
            self._dirty = True
        self._fresh[path] = entry
        return entry

    @staticmethod
    def _read(path: str) -> bytes:
        try:
            with open(path, "rb") as stream:
                return stream.read()
        except OSError as error:
            raise RenderError(f"Failed to read {path}: {error.strerror}.") from error


def files_below(root: Path) -> Iterator[str]:
    """Every file below ``root`` but those of version control, sorted by path."""
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if name != ".git")
        yield from (os.path.join(folder, name) for name in sorted(names))


def tree_digest(index: FileIndex, root: Path) -> str:
    """A hash over the paths and contents of all files below ``root``; links count as what they lead to."""
    total = hashlib.sha256()
    for path in files_below(root):
        total.update(f"{os.path.relpath(path, root)}\0{index.digest(path) or 'absent'}\n".encode())
    return total.hexdigest()
