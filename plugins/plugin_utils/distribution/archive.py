# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Unpacking archives: only plain files, folders and links that stay inside; anything else is refused before it is written."""

from __future__ import annotations

import hashlib
import os
import posixpath
import shutil
import stat
import tarfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.cache import Cache
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.errors import RenderError

SUFFIXES = (".tar.xz", ".txz", ".tar.gz", ".tgz", ".tar.bz2", ".tar", ".zip")
# Far above any distribution (30 MB, 1100 files), far below what fills a disk.
MAX_BYTES = 2 * 1024**3
MAX_ENTRIES = 200_000


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of an archive: ``kind`` is "file", "folder" or "link" (then ``target`` says where to)."""

    name: str
    kind: str
    size: int
    target: str
    executable: bool
    key: object


def is_archive(name: str) -> bool:
    """Whether a file's name is that of an archive which can be unpacked."""
    return name.lower().endswith(SUFFIXES)


def file_digest(path: Path) -> str:
    """The sha256 of a file."""
    with open(path, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def unpacked(cache: Cache, archive: Path) -> Path:
    """The folder with the archive's content, unpacked into the cache if it is not there yet."""
    return unpack_once(cache, archive, file_digest(archive))[0]


def unpack_once(cache: Cache, archive: Path, digest: str) -> tuple[Path, bool]:
    """The folder with the content of the archive whose sha256 is ``digest``, and whether it was unpacked just now."""
    target = cache.path("sources", digest[:32])
    with cache.lock("sources"):
        if target.is_dir():
            cache.touch(target)
            return target, False
        with cache.staging("sources") as folder:
            unpack(archive, folder / "tree")
            os.replace(folder / "tree", target)
    return target, True


def top_folder(folder: Path) -> Path:
    """The one folder that an archive holds, or ``folder`` itself when it holds more."""
    entries = list(folder.iterdir())
    return entries[0] if len(entries) == 1 and entries[0].is_dir() and not entries[0].is_symlink() else folder


def unpack(archive: Path, target: Path) -> None:
    """Unpack into the new folder ``target``. Raises RenderError, with nothing written, when an entry would leave it."""
    try:
        with _opened(archive) as (entries, content):
            for entry in entries:
                _refuse(archive, entry)
            if sum(entry.size for entry in entries) > MAX_BYTES or len(entries) > MAX_ENTRIES:
                raise RenderError(f"Failed to unpack {archive}: it is larger than any distribution. Use the right archive.")
            target.mkdir(parents=True)
            _write(entries, content, target)
    except (tarfile.TarError, zipfile.BadZipFile, EOFError, OSError, ValueError) as error:
        raise RenderError(f"Failed to unpack {archive}: {error}. Use a complete tar.xz, tar.gz, tar.bz2, tar or zip archive.") from error


class _Content:
    """Opens an entry's bytes, whatever the archive's format."""

    def __init__(self, archive: tarfile.TarFile | zipfile.ZipFile) -> None:
        self._archive = archive

    def open(self, entry: Entry) -> IO[bytes]:
        if isinstance(self._archive, zipfile.ZipFile) and isinstance(entry.key, zipfile.ZipInfo):
            return self._archive.open(entry.key)
        if isinstance(self._archive, tarfile.TarFile) and isinstance(entry.key, tarfile.TarInfo):
            stream = self._archive.extractfile(entry.key)
            if stream is not None:
                return stream
        raise ValueError(f"{entry.name} has no content")


@contextmanager
def _opened(archive: Path) -> Iterator[tuple[list[Entry], _Content]]:
    if archive.name.lower().endswith(".zip"):
        with zipfile.ZipFile(archive) as packed:
            yield [_zip_entry(packed, info) for info in packed.infolist()], _Content(packed)
    else:
        with tarfile.open(archive) as packed_tar:
            yield [_tar_entry(info) for info in packed_tar.getmembers() if info.type != tarfile.XGLTYPE], _Content(packed_tar)


def _zip_entry(packed: zipfile.ZipFile, info: zipfile.ZipInfo) -> Entry:
    mode = info.external_attr >> 16
    if stat.S_ISLNK(mode):
        return Entry(info.filename, "link", 0, packed.read(info).decode("utf-8", "replace"), False, info)
    kind = "folder" if info.is_dir() else "file" if stat.S_IFMT(mode) in {0, stat.S_IFREG} else "other"
    return Entry(info.filename, kind, info.file_size, "", bool(mode & 0o100), info)


def _tar_entry(info: tarfile.TarInfo) -> Entry:
    kind = "folder" if info.isdir() else "file" if info.isreg() else "link" if info.issym() else "hard link" if info.islnk() else "other"
    return Entry(info.name, kind, info.size, info.linkname, bool(info.mode & 0o100), info)


def _refuse(archive: Path, entry: Entry) -> None:
    reason = ""
    if entry.kind in {"other", "hard link"}:
        reason = "is a device or a hard link" if entry.kind == "other" else "is a hard link"
    elif _leaves(entry.name):
        reason = "would be written outside"
    elif entry.kind == "link" and (posixpath.isabs(entry.target) or _leaves(posixpath.join(posixpath.dirname(entry.name), entry.target))):
        reason = f"is a link that leads outside ({entry.target})"
    if reason:
        raise RenderError(
            f"Failed to unpack {archive}: the entry {entry.name} {reason}. Use an archive that only holds files of its own folder."
        )


def _leaves(name: str) -> bool:
    path = posixpath.normpath(name.replace("\\", "/"))
    return posixpath.isabs(path) or path == ".." or path.startswith("../") or "\0" in path


def _write(entries: list[Entry], content: _Content, target: Path) -> None:
    links = []
    for entry in entries:
        path = target / posixpath.normpath(entry.name)
        if entry.kind == "folder":
            path.mkdir(parents=True, exist_ok=True)
        elif entry.kind == "link":
            links.append((path, entry.target))
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            with content.open(entry) as source, open(path, "wb") as sink:
                shutil.copyfileobj(source, sink)
            path.chmod(0o755 if entry.executable else 0o644)
    # Links last: no entry can then be written through one.
    for path, leads_to in links:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.symlink_to(leads_to)
    # A link over a link can lead further up than its text says; the caller removes the folder when this raises.
    inside = os.path.realpath(target) + os.sep
    for path, leads_to in links:
        if not (os.path.realpath(path) + os.sep).startswith(inside):
            raise ValueError(f"the link {path.relative_to(target)} leads outside ({leads_to})")
