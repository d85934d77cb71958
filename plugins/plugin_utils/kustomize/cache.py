# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The folder where results of rendering are kept between runs, shared by all clusters and safe for parallel runs."""

from __future__ import annotations

import contextlib
import fcntl
import gzip
import json
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.errors import RenderError

# Entries that no run has used for this long are dropped by the next cold run.
KEEP_SECONDS = 30 * 24 * 3600


def default_folder() -> Path:
    """The cache's place when the user names none: below KUBEFLOW_PLATFORM_CACHE, else below the user's cache folder."""
    named = os.environ.get("KUBEFLOW_PLATFORM_CACHE")
    if named:
        return Path(named).expanduser() / "work"
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return Path(base) / "kubeflow-platform" / "work"


class Cache:
    """Files of the cache. Everything in it is named by its content, so a reader needs no lock.

    The folder is for the user alone (0700): rendered manifests hold the Secrets that upstream ships.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder or default_folder()
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise RenderError(
                f"Failed to make the work folder {self.folder}: {error.strerror}. Set `work_dir` to a folder that can be written."
            ) from error

    def path(self, area: str, name: str) -> Path:
        """Where the entry ``name`` of ``area`` is, or would be; the area's folder exists afterwards."""
        place = self.folder / area
        place.mkdir(mode=0o700, exist_ok=True)
        return place / name

    def write(self, target: Path, data: bytes) -> None:
        """Write ``target`` at once or not at all, readable by the user only."""
        descriptor, name = tempfile.mkstemp(dir=target.parent, prefix=".new-")
        try:
            with os.fdopen(descriptor, "wb") as stream:
                stream.write(data)
            os.replace(name, target)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(name)
            raise

    def write_json(self, target: Path, data: Any, *, compress: bool = False) -> None:
        """Write ``data`` as JSON, with gzip's fastest level when ``compress`` is set."""
        raw = json.dumps(data, separators=(",", ":"), ensure_ascii=False).encode()
        self.write(target, gzip.compress(raw, 1, mtime=0) if compress else raw)

    def read_json(self, source: Path) -> Any | None:
        """Read what write_json wrote; None when it is absent or damaged (then it is made again)."""
        try:
            raw = source.read_bytes()
            return json.loads(gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw)
        except (OSError, EOFError, ValueError):
            return None

    def touch(self, entry: Path) -> None:
        """Note that the entry is in use, which keeps it from being swept."""
        with contextlib.suppress(OSError):
            os.utime(entry)

    @contextlib.contextmanager
    def lock(self, name: str, waiting: Callable[[], None] | None = None) -> Iterator[None]:
        """Hold the lock ``name``: of several runs that need the same result, one makes it and the others wait.

        ``waiting`` is called when there is somebody to wait for.
        """
        descriptor = os.open(self.path("locks", name), os.O_RDWR | os.O_CREAT, 0o600)
        try:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if waiting is not None:
                    waiting()
                fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)

    @contextlib.contextmanager
    def staging(self, area: str) -> Iterator[Path]:
        """A new folder inside ``area``, to be filled and then renamed; removed if it is still there at the end."""
        folder = Path(tempfile.mkdtemp(dir=self.path(area, "x").parent, prefix=".new-"))
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def sweep(self, areas: tuple[str, ...], now: float | None = None) -> None:
        """Drop the entries of ``areas`` that were not touched for KEEP_SECONDS."""
        limit = (time.time() if now is None else now) - KEEP_SECONDS
        for area in areas:
            for entry in self.path(area, "x").parent.iterdir():
                with contextlib.suppress(OSError):
                    if entry.lstat().st_mtime >= limit:
                        continue
                    if entry.is_dir() and not entry.is_symlink():
                        shutil.rmtree(entry, ignore_errors=True)
                    else:
                        entry.unlink()
