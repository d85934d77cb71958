# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a tree of the distribution says about itself: the entries of its example, the versions in its README, what it fetches."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize import graph
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.fileindex import FileIndex
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.remote import locations

_COMMENTED = re.compile(r"^\s*#[\s#]*-\s+(\.\./\S+)", re.MULTILINE)
_REVISION = re.compile(r"\[v?(\d+(?:\.\d+)+)\]")


@dataclass(frozen=True, slots=True)
class Example:
    """Upstream's C(example/kustomization.yaml), each path below the root of the tree, in its order."""

    on: tuple[str, ...]
    off: tuple[str, ...]
    components: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Tree:
    """A tree on disk, read."""

    root: Path
    example: Example
    versions: Mapping[str, str]

    def has(self, path: str) -> bool:
        """Whether a kustomization lies there."""
        return graph.kustomization_in(str(self.root / path)) is not None

    def exists(self, path: str) -> bool:
        """Whether there is such a path."""
        return (self.root / path).exists()

    def remote(self, index: FileIndex, path: str) -> list[str]:
        """The URLs that the kustomization there fetches while it builds."""
        return sorted({found.text for found in graph.walk(index, [str(self.root / path)]).remote})


def read(root: Path) -> Tree:
    """The tree below a folder. ValueError when it has no example."""
    file = root / "example" / "kustomization.yaml"
    if not file.is_file():
        raise ValueError(f"{root} is no tree of the distribution: it has no example/kustomization.yaml. Give the folder that holds it.")
    readme = root / "README.md"
    text = readme.read_text(encoding="utf-8") if readme.is_file() else ""
    return Tree(root, _example(file.read_text(encoding="utf-8")), dict(_versions(text)))


def vendored_at(url: str) -> str | None:
    """The place of a URL in a folder of vendored bases; None when its form is unknown."""
    found = locations(url)
    return posixpath.normpath(posixpath.join(found[0].root, found[0].path)) if found else None


def _example(text: str) -> Example:
    document: dict[str, Any] = yaml.safe_load(text) or {}
    on, components = _paths(document.get("resources")), _paths(document.get("components"))
    off = tuple(path for path in _paths(_COMMENTED.findall(text)) if path not in on)
    return Example(on=on, off=off, components=components)


def _paths(entries: Iterable[str] | None) -> tuple[str, ...]:
    return tuple(dict.fromkeys(posixpath.normpath(posixpath.join("example", entry)) for entry in entries or ()))


def _versions(readme: str) -> Iterator[tuple[str, str]]:
    """Path and version of each row of the README's table of components; a row can name several paths."""
    for line in readme.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if len(cells) < 3 or not line.startswith("|"):
            continue
        paths = [path.strip(" /") for path in cells[1].split("<br />")]
        for path, revision in zip(paths, cells[2].split("<br />"), strict=False):
            found = _REVISION.search(revision)
            if found and "/" in path:
                yield path, found.group(1)
