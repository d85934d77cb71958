# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What taking an object over from another tool removes from it: fields that only that tool holds and that the set does not have."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from functools import reduce
from typing import Any

from ansible_collections.kubeflow.platform.plugins.module_utils.objects.fieldpaths import absent_paths, drop_path, locate, merge_fields
from ansible_collections.kubeflow.platform.plugins.module_utils.objects.ownership import human_entries


def lost(live: dict[str, Any], desired: dict[str, Any], extra: Collection[str]) -> list[str]:
    """The paths that a takeover removes. ``desired`` is the set's object; as the server completes it, or defaults count as lost."""
    taken = human_entries(live["metadata"], extra)
    rest = [row for row in live["metadata"].get("managedFields") or [] if not row.get("subresource") and row not in taken]
    held = list(owned_paths(_merged(rest)))
    candidates = list(owned_paths(_merged(taken)))
    found: list[str] = []
    for path in candidates:
        # Of a map its fields count, of a list its items as wholes.
        is_map = not path.endswith("]") and any(_below(other, path) for other in candidates)
        if is_map or any(_below(path, item) for item in found) or locate(desired, path) is not None:
            continue
        if locate(live, path) and not any(other == path or _below(other, path) for other in held):
            found.append(path)
    return found


def _below(path: str, parent: str) -> bool:
    return path.startswith((f"{parent}.", f"{parent}["))


def owned_paths(fields: dict[str, Any]) -> Iterator[str]:
    """Every path of a fieldsV1 that is owned itself."""
    for name, below in fields.items():
        if name == ".":
            continue
        (here,) = absent_paths(None, {name: {}})
        deeper = {key: value for key, value in below.items() if key != "."}
        if not deeper or "." in below:
            yield here
        for path in owned_paths(deeper):
            yield here + path


def without(state: dict[str, Any], paths: Collection[str]) -> dict[str, Any]:
    """An object without the fields at ``paths``."""
    for path in paths:
        state = drop_path(state, path)
    return state


def _merged(entries: Collection[Mapping[str, Any]]) -> dict[str, Any]:
    empty: dict[str, Any] = {}
    return reduce(merge_fields, (entry.get("fieldsV1") or {} for entry in entries), empty)
