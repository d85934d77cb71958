# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Programs that write their own value into a field soon after this run has applied it: each run would win it and lose it again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ansible_collections.kubeflow.platform.plugins.module_utils.apply.model import Decision
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.taking import owned_paths
from ansible_collections.kubeflow.platform.plugins.module_utils.objects.identity import Identity
from ansible_collections.kubeflow.platform.plugins.module_utils.objects.ownership import MANAGER

MOST_NAMED = 5


def taken_back(identity: Identity, decision: Decision) -> str:
    """One sentence about who changed what of an object that this run applied, "" when nothing of it would be changed back.

    ``decision`` is of a comparison at the end of the run.
    """
    paths = list(decision.difference.paths) if decision.difference is not None and decision.live is not None else []
    if not paths:
        return ""
    holders = sorted({name for name, path in _held((decision.live or {})["metadata"]) if any(_touches(path, other) for other in paths)})
    named = ", ".join(paths[:MOST_NAMED]) + (f" and {len(paths) - MOST_NAMED} more" if len(paths) > MOST_NAMED else "")
    return (
        f"{identity}: {', '.join(holders) or 'another program'} changed {named} after this run had applied it. If that goes on, each run "
        "changes it anew: stop that program from writing there, or drop what it writes from the manifests."
    )


def _held(metadata: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Other managers and the paths that they hold."""
    for entry in metadata.get("managedFields") or []:
        if entry.get("manager") != MANAGER and not entry.get("subresource"):
            for path in owned_paths(entry.get("fieldsV1") or {}):
                yield str(entry.get("manager")), path


def _touches(one: str, other: str) -> bool:
    """Whether a path is another, or lies in it."""
    return one == other or any(long.startswith((f"{short}.", f"{short}[")) for long, short in ((one, other), (other, one)))
