# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The draft of a release's record, as YAML."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import yaml
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.fileindex import FileIndex
from ansible_collections.kubeflow.platform.plugins.plugin_utils.records.model import Release

from tests.tools.release import compare
from tests.tools.release.tree import Tree, vendored_at


class _Dumper(yaml.SafeDumper):
    """Lists are indented below their key, as everywhere in the collection."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        super().increase_indent(flow, False)


def draft(tree: Tree, known: Sequence[compare.Spot], previous: Release, name: str, index: FileIndex) -> str:
    """The record of a release: what the tree says, and for the rest what the newest known release has."""
    spots = list(known)
    default = compare.selection(tree, spots)
    mark = compare.fingerprint(tree, spots, previous)
    record: dict[str, Any] = {
        "source": {"repository": previous.source.repository, "ref": name},
        "fingerprint": {"present": list(mark.present), "absent": list(mark.absent)},
        "kustomize": previous.kustomize.as_dict(),
        "kubernetes": previous.kubernetes.as_dict(),
        "selections": {key: default if key == "default" else list(names) for key, names in previous.selections.items()},
        "versions": _versions(tree, spots, previous, default),
        "remote_bases": remote_bases(tree, spots, index),
        "quirks": [_without_empty(quirk.as_dict() | {"because": quirk.because}) for quirk in previous.quirks],
        "differences": [{"kind": entry.kind, "name": entry.name, "because": entry.because} for entry in previous.differences],
    }
    kept = {key: value for key, value in record.items() if value not in ([], {})}
    return yaml.dump(kept, Dumper=_Dumper, sort_keys=False, explicit_start=True, width=130, allow_unicode=True)


def remote_bases(tree: Tree, known: Sequence[compare.Spot], index: FileIndex) -> list[dict[str, Any]]:
    """What the parts fetch while they build: URL, place among vendored bases, the components that need it."""
    users: dict[str, list[str]] = {}
    for spot in known:
        for url in tree.remote(index, spot.path) if tree.has(spot.path) else ():
            if spot.component not in users.setdefault(url, []):
                users[url].append(spot.component)
    return [{"url": url, "path": vendored_at(url) or "", "components": users[url]} for url in sorted(users)]


def _versions(tree: Tree, known: list[compare.Spot], previous: Release, default: Sequence[str]) -> dict[str, str]:
    found: Mapping[str, str] = {**previous.versions, **compare.versions(tree, known)}
    first = [name for name in default if name in found]
    return {name: found[name] for name in (*first, *(name for name in previous.versions if name not in first))}


def _without_empty(entry: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in entry.items() if value not in ([], False)}
