# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""C(releases/<version>.yml) to a release."""

from __future__ import annotations

import re

from ansible_collections.kubeflow.platform.plugins.plugin_utils.records.model import (
    Difference,
    Fingerprint,
    Quirk,
    Release,
    RemoteBase,
    Source,
)
from ansible_collections.kubeflow.platform.plugins.plugin_utils.records.reading import Node
from ansible_collections.kubeflow.platform.plugins.plugin_utils.records.version import Window, numbers

_SHA256 = re.compile(r"[0-9a-f]{64}")
_KEYS = {
    "source",
    "fingerprint",
    "kustomize",
    "kubernetes",
    "selections",
    "versions",
    "remote_bases",
    "quirks",
    "differences",
}


def read_release(name: str, root: Node) -> Release:
    """The release of a record; mistakes go to the node's problems."""
    root.only(_KEYS)
    try:
        numbers(name)
    except ValueError:
        root.report("the file must be named by the release, such as 26.03.1.yml")
    return Release(
        name=name,
        source=_source(root.node("source")),
        fingerprint=_fingerprint(root.node("fingerprint")),
        kustomize=_window(root.node("kustomize")),
        kubernetes=_window(root.node("kubernetes")),
        selections=_selections(root.node("selections")),
        versions=_versions(root),
        remote_bases=tuple(_remote_base(node) for node in root.nodes("remote_bases")),
        quirks=tuple(_quirk(node) for node in root.nodes("quirks")),
        differences=tuple(_difference(node) for node in root.nodes("differences")),
    )


def _source(node: Node) -> Source:
    node.only({"repository", "ref", "commit"})
    return Source(repository=node.text("repository"), ref=node.text("ref"), commit=node.text("commit", default=""))


def _fingerprint(node: Node) -> Fingerprint:
    node.only({"present", "absent"})
    return Fingerprint(present=node.texts("present", required=True), absent=node.texts("absent"))


def _window(node: Node) -> Window:
    node.only({"min", "max"})
    ends = []
    for key in ("min", "max"):
        text = node.text(key)
        try:
            numbers(text)
        except ValueError:
            if text:
                node.report("must be a version", key)
            text = "0"
        ends.append(text)
    if numbers(ends[0]) > numbers(ends[1]) and not ends[0].startswith(ends[1]):
        node.report("min is newer than max")
    return Window(minimum=ends[0], maximum=ends[1])


def _selections(node: Node) -> dict[str, tuple[str, ...]]:
    if "default" not in node.names():
        node.report("is missing", "default")
    return {key: node.texts(key) for key in node.names()}


def _versions(root: Node) -> dict[str, str]:
    if not root.has("versions"):
        return {}
    node = root.node("versions")
    return {key: node.text(key) for key in node.names()}


def _remote_base(node: Node) -> RemoteBase:
    node.only({"url", "path", "components", "sha256"})
    checksum = node.optional_text("sha256")
    if checksum is not None and not _SHA256.fullmatch(checksum):
        node.report("must be 64 hexadecimal digits", "sha256")
    return RemoteBase(
        url=node.text("url"),
        path=node.text("path"),
        components=node.texts("components", required=True),
        sha256=checksum,
    )


def _quirk(node: Node) -> Quirk:
    node.only({"kind", "name", "drop", "omit", "because"})
    pointers, omit = node.texts("drop"), node.flag("omit")
    if omit == bool(pointers):
        node.report("must have either drop or omit: true")
    for index, pointer in enumerate(pointers):
        if not pointer.startswith("/"):
            node.report("must be a JSON pointer such as /metadata/annotations/a~1b", f"drop[{index}]")
    return Quirk(kind=node.text("kind"), name=node.text("name"), drop=pointers, omit=omit, because=node.text("because"))


def _difference(node: Node) -> Difference:
    node.only({"kind", "name", "because"})
    return Difference(kind=node.text("kind"), name=node.text("name"), because=node.text("because"))
