# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a narrowed run needs and does not install: looked for in the cluster, whoever put it there."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from ansible_collections.kubeflow.platform.plugins.module_utils.apply.inputs import Document, Lookup
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.model import EngineError, Part
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.observe import live_metadata
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.discovery import Resource
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.requests import Client
from ansible_collections.kubeflow.platform.plugins.module_utils.objects.identity import Identity, bare_name, identify, split_api_version

_CONFIGURATION = frozenset({("", "ConfigMap"), ("", "Secret")})
_MOST_NAMED = 3


class RequirementsMissing(EngineError):
    """What the run needs is not in the cluster; ``findings`` has one sentence for each part."""

    def __init__(self, findings: Sequence[str], components: Sequence[str]) -> None:
        self.findings = list(findings)
        which = ", ".join(dict.fromkeys(components))
        # A component that lacks a part of its own lacks what no run installs.
        advice = f"Install {which} first, or run without `scope` (without `kubeflow_only`, or with the playbook site)." if which else ""
        super().__init__(
            f"Nothing was written, since what this run needs and does not install is not there: {'; '.join(findings)}. "
            f"{advice or 'The distribution does not hold it: install it first.'}"
        )


def split(documents: Iterable[Document]) -> tuple[list[Document], list[Document]]:
    """The objects to apply, and those that only have to be there."""
    rows = list(documents)
    return [row for row in rows if not row.part.needed_by], [row for row in rows if row.part.needed_by]


def assure(required: Sequence[Document], find: Lookup, client: Client, pool: ThreadPoolExecutor, sleep: Callable[[float], None]) -> None:
    """Raise RequirementsMissing with every part that is not whole. Raises what reading does."""
    places = [(row, _place(row.content, find)) for row in required if not _is_hashed(row.content)]
    live = live_metadata(client, {resource for _row, (resource, _identity) in places if resource is not None}, pool, sleep)
    missing: dict[str, list[Identity]] = {}
    parts: dict[str, Part] = {}
    for row, (_resource, identity) in places:
        if identity not in live:
            missing.setdefault(row.part.name, []).append(identity)
            parts[row.part.name] = row.part
    if missing:
        findings = [_told(parts[name], gone) for name, gone in missing.items()]
        raise RequirementsMissing(
            findings, [part.component for part in parts.values() if not part.needed_by.startswith(f"{part.component}/")]
        )


def _place(content: dict[str, Any], find: Lookup) -> tuple[Resource | None, Identity]:
    group, version = split_api_version(str(content.get("apiVersion") or ""))
    resource = find(group, version, str(content.get("kind") or ""))
    return resource, identify(content, resource.namespaced if resource else bool(content["metadata"].get("namespace")))


def _is_hashed(content: dict[str, Any]) -> bool:
    """Whether it is configuration under a name that changes with its content: another content is none of our business."""
    group, _version = split_api_version(str(content.get("apiVersion") or ""))
    name = str(content["metadata"].get("name"))
    return (group, content.get("kind")) in _CONFIGURATION and bare_name(name) != name


def _told(part: Part, gone: Sequence[Identity]) -> str:
    names = ", ".join(map(str, gone[:_MOST_NAMED]))
    more = f" and {len(gone) - _MOST_NAMED} more" if len(gone) > _MOST_NAMED else ""
    why = f" ({part.because})" if part.because else ""
    return f"{part.needed_by} requires {part.name}{why}, of which {names}{more} {'is' if len(gone) == 1 else 'are'} missing"
