# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Server-side apply in few lines: maps are merged, some lists by name, all else is one value (KEP 555, structured-merge-diff).

A path is a tuple of ``f:key`` and ``k:{"name":"x"}`` as fieldsV1 writes them; "." as last element stands for a list item itself.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping
from typing import Any

Path = tuple[str, ...]
Owned = dict[tuple[str, str, str], set[Path]]  # (manager, operation, subresource) -> paths
# Lists that the server merges by the name of their items; all others are atomic here.
BY_NAME = frozenset({"containers", "env", "webhooks"})
UNOWNED = frozenset({("f:apiVersion",), ("f:kind",)})
BOOKKEEPING = frozenset(
    {"name", "namespace", "uid", "resourceVersion", "generation", "creationTimestamp", "managedFields", "deletionTimestamp"}
)


def leaves(obj: Mapping[str, Any]) -> dict[Path, Any]:
    """Every field that applying ``obj`` would own, with its value."""
    found: dict[Path, Any] = {}
    _walk(obj, (), found)
    metadata = {("f:metadata", f"f:{key}") for key in BOOKKEEPING}
    return {path: value for path, value in found.items() if path not in UNOWNED and path[:2] not in metadata and path != ("f:metadata",)}


def _walk(value: Any, path: Path, found: dict[Path, Any]) -> None:
    if isinstance(value, dict) and value:
        for key, below in value.items():
            _walk(below, (*path, f"f:{key}"), found)
    elif isinstance(value, list) and value and path[-1][2:] in BY_NAME:
        for item in value:
            here = (*path, _key(item["name"]))
            found[(*here, ".")] = {}
            _walk(item, here, found)
    else:
        found[path] = value


def _key(name: str) -> str:
    return "k:" + json.dumps({"name": name}, separators=(",", ":"))


def pack(paths: set[Path]) -> dict[str, Any]:
    """The paths as fieldsV1."""
    packed: dict[str, Any] = {}
    for path in sorted(paths):
        node = packed
        for step in path:
            node = node.setdefault(step, {})
    return packed


def unpack(packed: Mapping[str, Any], path: Path = ()) -> set[Path]:
    """The paths of a fieldsV1."""
    found: set[Path] = set()
    for step, below in packed.items():
        found |= unpack(below, (*path, step)) if below else {(*path, step)}
    return found


def owned(metadata: Mapping[str, Any]) -> Owned:
    """Who owns what, from managedFields."""
    return {
        (row["manager"], row["operation"], row.get("subresource", "")): unpack(row["fieldsV1"])
        for row in metadata.get("managedFields") or []
    }


def managed(owners: Owned, before: Mapping[str, Any], api_version: str, now: str) -> list[dict[str, Any]]:
    """The managedFields for ``owners``; an entry whose paths are as before keeps its time."""
    old = {(row["manager"], row["operation"], row.get("subresource", "")): row for row in before.get("managedFields") or []}
    rows = []
    for who, paths in sorted(owners.items()):
        packed = pack(paths)
        if not paths:
            continue
        if who in old and old[who]["fieldsV1"] == packed:
            rows.append(old[who])
            continue
        row = {"manager": who[0], "operation": who[1], "apiVersion": api_version, "time": now, "fieldsType": "FieldsV1", "fieldsV1": packed}
        rows.append({**row, "subresource": who[2]} if who[2] else row)
    return rows


class Conflicts(Exception):
    """Other managers hold other values: (manager, path) each."""

    def __init__(self, found: list[tuple[str, Path]]) -> None:
        super().__init__(str(found))
        self.found = found


def apply(live: Mapping[str, Any], body: Mapping[str, Any], manager: str, force: bool) -> tuple[dict[str, Any], Owned]:
    """The object and its owners after an apply; ``live`` is {} for a new one. Raises Conflicts."""
    sent = leaves(body)
    owners = owned(live.get("metadata") or {})
    me = (manager, "Apply", "")
    fought = [
        (who, path)
        for who, paths in owners.items()
        if who != me
        for path in sorted(paths & set(sent))
        if not same(get(live, path), sent[path])
    ]
    if fought and not force:
        raise Conflicts([(who[0], path) for who, path in fought])
    for who, path in fought:
        owners[who] = owners[who] - {path}
    result = copy.deepcopy(dict(live))
    dropped = owners.get(me, set()) - set(sent)
    others = set().union(*(paths for who, paths in owners.items() if who != me))
    for path in sorted(dropped - others, key=lambda path: (len(path), path[-1] != "."), reverse=True):
        remove(result, path)
    for path, value in sorted(sent.items(), key=lambda row: len(row[0])):
        put(result, path, copy.deepcopy(value))
    owners[me] = set(sent)
    return result, owners


def updated(live: Mapping[str, Any], after: Mapping[str, Any], manager: str, subresource: str = "") -> Owned:
    """The owners after a controller replaced ``live`` by ``after``: it owns what it changed, nobody what is gone."""
    owners = owned(live.get("metadata") or {})
    now, before = leaves(after), leaves(live)
    changed = {path for path, value in now.items() if path not in before or before[path] != value}
    gone = set(before) - set(now)
    me = (manager, "Update", subresource)
    for who in list(owners):
        owners[who] = owners[who] - gone - (changed if who != me else set())
    owners[me] = owners.get(me, set()) | changed
    return owners


def same(value: Any, sent: Any) -> bool:
    """Whether a live value is the sent one; an empty map says only that there is a map."""
    return isinstance(value, dict) if sent == {} and isinstance(sent, dict) else bool(value == sent)


def get(obj: Any, path: Path) -> Any:
    """The value at a path, None where there is none."""
    for step in path:
        if step == ".":
            return obj
        obj = _below(obj, step)
        if obj is None:
            return None
    return obj


def _below(obj: Any, step: str) -> Any:
    if step.startswith("f:"):
        return obj.get(step[2:]) if isinstance(obj, dict) else None
    name = json.loads(step[2:])["name"]
    return next((item for item in obj if item.get("name") == name), None) if isinstance(obj, list) else None


def put(obj: dict[str, Any], path: Path, value: Any) -> None:
    """Set a field, making what lies above it; a map stays as it is where an empty one is put."""
    node: Any = obj
    for step, following in zip(path, path[1:]):
        below = _below(node, step)
        if below is None:
            below = [] if following.startswith("k:") else {}
            if step.startswith("k:"):
                below = {"name": json.loads(step[2:])["name"]}
                node.append(below)
            else:
                node[step[2:]] = below
        node = below
    last = path[-1]
    if last != "." and not (value == {} and isinstance(node.get(last[2:]), dict)):
        node[last[2:]] = value


def remove(obj: dict[str, Any], path: Path) -> None:
    """Remove a field, and the maps and lists above it that are empty then."""
    above = get(obj, path[:-1])
    if path[-1] == "f:name" and path[-2].startswith("k:"):
        return  # goes with its item
    if path[-1] == ".":
        parent = get(obj, path[:-2])
        if isinstance(parent, list) and above is not None and set(above) <= {"name"}:
            parent.remove(above)
    elif isinstance(above, dict):
        value = above.get(path[-1][2:])
        if not (isinstance(value, dict) and value):
            above.pop(path[-1][2:], None)
    for end in range(len(path) - 1, 0, -1):
        node, holder = get(obj, path[:end]), get(obj, path[: end - 1])
        if node in ({}, []) and isinstance(holder, dict):
            holder.pop(path[end - 1][2:], None)
