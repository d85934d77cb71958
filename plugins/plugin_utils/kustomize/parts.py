# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is to be rendered: the parts, as options give them."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.errors import RenderError, listing

_KNOWN = frozenset({"name", "component", "layer", "path", "requires", "namespace", "patches", "images", "components", "omit"})


@dataclass(frozen=True, slots=True)
class Part:
    """One kustomization and what is laid over it. ``folder`` is absolute; ``components`` are absolute folders."""

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

    @property
    def is_wrapped(self) -> bool:
        """Whether the part needs a kustomization of our own around it."""
        return bool(self.namespace or self.patches or self.images or self.components)

    def heading(self) -> dict[str, Any]:
        """What the parts file says of the part, but for its objects."""
        return {"name": self.name, "component": self.component, "layer": self.layer, "requires": list(self.requires)}


def from_options(given: Iterable[Mapping[str, Any]], root: str | None) -> list[Part]:
    """Read the option ``parts``; relative paths start at ``root``. Raises RenderError with every mistake at once."""
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
        if root is None and row.get("path") and not os.path.isabs(str(row["path"])):
            faults.append(f"{label}: its path {row['path']} is relative and `distribution` is not set")
        if not faults:
            parts.append(_part(row, root or "/"))
    names = [str(row.get("name")) for row in given]
    faults += [f"part {name} is listed twice" for name in sorted({name for name in names if names.count(name) > 1})]
    if faults:
        raise RenderError(f"Failed to read `parts`:{listing(faults)}")
    return parts


def of_path(path: str, *, name: str = "default") -> Part:
    """The one part of a plain ``path``."""
    return Part(name, name, os.path.normpath(path))


def _part(row: Mapping[str, Any], root: str) -> Part:
    return Part(
        name=str(row["name"]),
        component=str(row.get("component") or row["name"]),
        folder=os.path.normpath(os.path.join(root, str(row["path"]))),
        layer=row.get("layer"),
        requires=tuple(row.get("requires") or ()),
        namespace=row.get("namespace") or None,
        patches=tuple(row.get("patches") or ()),
        images=tuple(row.get("images") or ()),
        components=tuple(os.path.normpath(os.path.join(root, str(entry))) for entry in row.get("components") or ()),
        omit=tuple({key: str(value) for key, value in entry.items() if value} for entry in row.get("omit") or ()),
    )


def plain(value: Any) -> Any:
    """A copy in JSON's own types, without the markers that Ansible lays around values."""
    return json.loads(json.dumps(value, default=str))
