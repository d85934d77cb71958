# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is to be rendered: the parts, as options give them."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.errors import RenderError, listing

_KNOWN = frozenset(
    {"name", "component", "layer", "path", "requires", "namespace", "patches", "images", "components", "omit", "source"}
    | {"needed_by", "because"}
)


@dataclass(frozen=True, slots=True)
class Part:
    """One kustomization and what is laid over it. ``folder`` is absolute; ``components`` are absolute folders.

    ``root`` is the tree that the folder lies in, None where that is the distribution. ``needed_by`` names the part that needs this
    one, which is then looked for and not applied; ``because`` says why.
    """

    name: str
    component: str
    folder: str
    layer: str | None = None
    requires: tuple[str, ...] = ()
    namespace: str | None = None
    patches: tuple[Mapping[str, Any], ...] = ()
    images: tuple[Mapping[str, Any], ...] = ()
    components: tuple[str, ...] = ()
    omit: tuple[Mapping[str, str], ...] = field(default=())
    root: str | None = None
    needed_by: str = ""
    because: str = ""

    @property
    def is_wrapped(self) -> bool:
        """Whether the part needs a kustomization of our own around it."""
        return bool(self.namespace or self.patches or self.images or self.components)

    def heading(self) -> dict[str, Any]:
        """What the parts file says of the part, but for its objects."""
        told = {"name": self.name, "component": self.component, "layer": self.layer, "requires": list(self.requires)}
        return {**told, "needed_by": self.needed_by, "because": self.because} if self.needed_by else told


# Where the tree of a part's own ``source`` is on the disk.
Locate = Callable[[Mapping[str, Any]], str]


def from_options(given: Iterable[Mapping[str, Any]], root: str | None, locate: Locate | None = None) -> list[Part]:
    """Read the option ``parts``; relative paths start at ``root``, or at what ``locate`` gives for a part's ``source``.

    Raises RenderError with every mistake at once.
    """
    faults: list[str] = []
    parts: list[Part] = []
    for number, row in enumerate(given, 1):
        name = str(row.get("name") or "")
        label = f"part {name}" if name else f"part number {number}"
        faults += [f"{label}: unknown key {key!r}" for key in sorted(set(row) - _KNOWN)]
        faults += [f"{label} needs {key!r}" for key in ("name", "path") if not row.get(key)]
        for entry in row.get("omit") or []:
            if not isinstance(entry, Mapping) or not entry.get("kind") or not entry.get("name"):
                faults.append(f"{label}: an entry of omit needs 'kind' and 'name'")
        if root is None and not row.get("source") and row.get("path") and not os.path.isabs(str(row["path"])):
            faults.append(f"{label}: its path {row['path']} is relative and `distribution` is not set")
        faults += _source_faults(label, row.get("source"), locate)
        if not faults:
            parts.append(_part(row, root or "/", locate))
    names = [str(row.get("name")) for row in given]
    faults += [f"part {name} is listed twice" for name in sorted({name for name in names if names.count(name) > 1})]
    if faults:
        raise RenderError(f"Failed to read `parts`:{listing(faults)}")
    return parts


def of_path(path: str, *, name: str = "default") -> Part:
    """The one part of a plain ``path``."""
    return Part(name, name, os.path.normpath(path))


def _source_faults(label: str, source: Any, locate: Locate | None) -> list[str]:
    if not source:
        return []
    if not isinstance(source, Mapping) or not all(source.get(key) for key in ("repository", "ref", "path")):
        return [f"{label}: its source needs 'repository', 'ref' and 'path'"]
    return [] if locate else [f"{label}: a source of its own cannot be used here"]


def _part(row: Mapping[str, Any], distribution: str, locate: Locate | None) -> Part:
    own = locate(row["source"]) if locate and row.get("source") else None
    root = own or distribution
    folder = os.path.normpath(os.path.join(root, str(row["path"])))
    if own is None and os.path.isabs(str(row["path"])) and not folder.startswith(distribution.rstrip("/") + "/"):
        own = folder
    return Part(
        name=str(row["name"]),
        component=str(row.get("component") or row["name"]),
        folder=folder,
        layer=row.get("layer"),
        requires=tuple(row.get("requires") or ()),
        namespace=row.get("namespace") or None,
        patches=tuple(row.get("patches") or ()),
        images=tuple(row.get("images") or ()),
        components=tuple(os.path.normpath(os.path.join(root, str(entry))) for entry in row.get("components") or ()),
        omit=tuple({key: str(value) for key, value in entry.items() if value} for entry in row.get("omit") or ()),
        root=own,
        needed_by=row.get("needed_by") or "",
        because=row.get("because") or "",
    )


def plain(value: Any) -> Any:
    """A copy in JSON's own types, without the markers that Ansible lays around values."""
    return json.loads(json.dumps(value, default=str))
