# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A copy of a tree in which remote references lead to local folders.

Of the ways to build without a network this is the one that needs no git, no flag and no particular kustomize, and whose
output is byte for byte that of a build through the network: kustomize lets a *folder* with a kustomization of its own lie
anywhere. Copies are kept by content, so a second run makes none.
"""

from __future__ import annotations

import hashlib
import os
import posixpath
import shutil
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from ansible_collections.kubeflow.platform.plugins.plugin_utils.distribution.archive import is_archive, unpacked
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.cache import Cache
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.errors import RenderError
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.fileindex import FileIndex, files_below, tree_digest
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.graph import RemoteReference
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.references import KUSTOMIZATION_NAMES, references
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.remote import Location, is_remote, locations

FOLDER = "_remote"
_FORMAT = "1"


@dataclass(frozen=True, slots=True)
class Vendored:
    """A tree whose remote references lead to local folders, but for ``unresolved`` (their files lie in the new tree)."""

    root: str
    is_new: bool
    unresolved: tuple[RemoteReference, ...]


def bases_folder(cache: Cache, given: str) -> Path:
    """The folder that holds ``git/`` and the hosts: ``given`` itself, its folder ``remote``, or the same in an archive."""
    path = Path(os.path.expanduser(given))
    if path.is_file() and is_archive(path.name):
        path = unpacked(cache, path)
    for folder in (path / "remote", path):
        if (folder / "git").is_dir() or (folder / "github.com").is_dir():
            return folder
    problem = "it does not exist" if not path.exists() else "it holds neither `git` nor `github.com`"
    raise RenderError(
        f"Failed to use the remote bases {given}: {problem}. Set `remote_bases` to a folder or archive with "
        "git/<owner>/<repository>/<ref>/... and <host>/<path of the URL>."
    )


def vendored(cache: Cache, index: FileIndex, root: str, bases: Path) -> Vendored:
    """The copy of the tree ``root`` with its remote references resolved from ``bases``; made if there is none yet."""
    bases_index = FileIndex(cache, bases)
    parts = (_FORMAT, tree_digest(index, Path(root)), tree_digest(bases_index, bases))
    index.save()
    bases_index.save()
    name = hashlib.sha256("\n".join(parts).encode()).hexdigest()[:32]
    target = cache.path("trees", name)
    note = cache.path("trees", f"{name}.json")
    is_new = False
    if cache.read_json(note) is None or not target.is_dir():
        with cache.lock("trees"):
            if cache.read_json(note) is None or not target.is_dir():
                _make(cache, root, bases, target, note)
                is_new = True
    cache.touch(target)
    cache.touch(note)
    rows = cache.read_json(note) or []
    return Vendored(str(target), is_new, tuple(RemoteReference(os.path.join(target, file), line, text) for file, line, text in rows))


def _make(cache: Cache, root: str, bases: Path, target: Path, note: Path) -> None:
    with cache.staging("trees") as folder:
        tree = folder / "tree"
        shutil.copytree(root, tree, symlinks=True, ignore=shutil.ignore_patterns(".git"))
        unresolved = _resolve(tree, bases)
        shutil.rmtree(target, ignore_errors=True)
        os.replace(tree, target)
    cache.write_json(note, unresolved)


def _resolve(tree: Path, bases: Path) -> list[tuple[str, int, str]]:
    """Rewrite the tree's kustomizations, those of the bases copied into it included."""
    unresolved: list[tuple[str, int, str]] = []
    waiting = list(_kustomizations(tree))
    done: set[str] = set()
    while waiting:
        file = waiting.pop()
        if file in done:
            continue
        done.add(file)
        copied = _rewrite(tree, bases, Path(file), unresolved)
        waiting += [path for folder in copied for path in _kustomizations(folder)]
    return sorted(unresolved)


def _kustomizations(folder: Path) -> Iterator[str]:
    """The kustomizations below a folder; a link by that name that leads nowhere is none."""
    return (path for path in files_below(folder) if os.path.basename(path) in KUSTOMIZATION_NAMES and os.path.isfile(path))


def _rewrite(tree: Path, bases: Path, file: Path, unresolved: list[tuple[str, int, str]]) -> list[Path]:
    """Replace the remote references of one kustomization; gives the folders that were copied for it."""
    # Line ends and a byte order mark are kept as they are: only the references change.
    text = file.read_bytes().decode("utf-8", "surrogateescape")
    lines = text.split("\n")
    copied: list[Path] = []
    is_changed = False
    found = [reference for reference in references(text) if is_remote(reference.text)] if _may_be_remote(text) else []
    for reference in reversed(found):
        folder = _provide(tree, bases, reference.text, copied) if reference.kind == "tree" else None
        line = lines[reference.line - 1]
        if folder is None or reference.text not in line[reference.start :]:
            unresolved.append((os.path.relpath(file, tree), reference.line, reference.text))
            continue
        start = line.index(reference.text, reference.start)
        relative = os.path.relpath(folder, file.parent)
        lines[reference.line - 1] = line[:start] + relative + line[start + len(reference.text) :]
        is_changed = True
    if is_changed:
        mode = file.stat().st_mode
        file.unlink()
        file.write_bytes("\n".join(lines).encode("utf-8", "surrogateescape"))
        file.chmod(mode)
    return copied


def _may_be_remote(text: str) -> bool:
    return "://" in text or "@" in text or "github.com" in text.lower()


def _provide(tree: Path, bases: Path, reference: str, copied: list[Path]) -> Path | None:
    """Copy what ``reference`` names into the tree (once) and give the folder that stands for it; None if it is not there."""
    for location in locations(reference):
        source = bases / location.root / location.path
        if location.is_file and source.is_file():
            return _provide_file(tree, source, location, copied)
        if not location.is_file and any((source / name).is_file() for name in KUSTOMIZATION_NAMES):
            place = tree / FOLDER / location.root
            if not place.exists():
                shutil.copytree(bases / location.root, place, symlinks=True)
                copied.append(place)
            return place / location.path
    return None


def _provide_file(tree: Path, source: Path, location: Location, copied: list[Path]) -> Path:
    place = tree / FOLDER / "http" / posixpath.join(location.root, location.path)
    if not place.exists():
        place.mkdir(parents=True)
        shutil.copyfile(source, place / location.path)
        (place / KUSTOMIZATION_NAMES[0]).write_text(f"resources:\n- {location.path}\n", encoding="utf-8")
        copied.append(place)
    return place


def needs_vendoring(remote: Iterable[RemoteReference]) -> bool:
    """Whether any of the references could be resolved from remote bases at all."""
    return any(locations(found.text) for found in remote)
