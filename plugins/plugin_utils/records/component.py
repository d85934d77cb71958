# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""C(roles/<component>/meta/component.yml) to a component."""

from __future__ import annotations

import re

from ansible_collections.kubeflow.platform.plugins.plugin_utils.records.model import (
    LAYERS,
    Address,
    Component,
    Credential,
    Need,
    Part,
    Place,
)
from ansible_collections.kubeflow.platform.plugins.plugin_utils.records.reading import Node
from ansible_collections.kubeflow.platform.plugins.plugin_utils.records.version import numbers

_NAME = re.compile(r"[a-z][a-z0-9_]*")


def read_component(name: str, root: Node) -> Component:
    """The component of a record; mistakes go to the node's problems."""
    root.only({"title", "layer", "parts", "credentials", "addresses"})
    layer = root.text("layer")
    if layer and layer not in LAYERS:
        root.report(f"must be one of {', '.join(LAYERS)}", "layer")
    nodes = root.nodes("parts", required=True)
    if root.value.get("parts") == []:
        root.report("a component has at least one part", "parts")
    parts = tuple(_part(name, node) for node in nodes)
    for node, part in zip(nodes, parts, strict=True):
        if [other.name for other in parts].count(part.name) > 1:
            node.report(f"two parts are called {part.name}", "name")
    return Component(
        name=name,
        title=root.text("title"),
        layer=layer,
        parts=parts,
        credentials=tuple(_credential(node) for node in root.nodes("credentials")),
        addresses=tuple(_address(node) for node in root.nodes("addresses")),
    )


def _part(component: str, node: Node) -> Part:
    node.only({"name", "requires", "paths"})
    name = node.text("name")
    if name and not _NAME.fullmatch(name):
        node.report("must be lower-case letters, digits and underscores", "name")
    places = tuple(_place(item) for item in node.nodes("paths", required=True))
    since = [numbers(place.since) for place in places]
    if since != sorted(set(since)):
        node.report("must go from the oldest release to the newest, each once", "paths")
    return Part(component=component, name=name, requires=_needs(node), places=places)


def _place(node: Node) -> Place:
    node.only({"since", "path", "requires"})
    since = node.text("since")
    try:
        numbers(since)
    except ValueError:
        if since:
            node.report("must be a release, such as 26.03", "since")
        since = "0"
    path = node.optional_text("path")
    if not node.has("path"):
        node.report("is missing (null says that the release no longer has the part)", "path")
    if path is not None and (path.startswith("/") or ".." in path.split("/")):
        node.report("must lie below the root of the distribution", "path")
    return Place(since=since, path=path, requires=_needs(node) if node.has("requires") else None)


def _needs(node: Node) -> tuple[Need, ...]:
    """C(component), C(component/part), or C({needs, because}) when the reason is not plain from the objects."""
    found = []
    items = node.value.get("requires", [])
    if not isinstance(items, list):
        node.report("must be a list", "requires")
        items = []
    for index, item in enumerate(items):
        entry = node.child(f"requires[{index}]", item)
        if isinstance(item, str):
            found.append(_need(entry, item, ""))
        elif isinstance(item, dict):
            entry.only({"needs", "because"})
            found.append(_need(entry, entry.text("needs"), entry.text("because")))
        else:
            entry.report("must be component, component/part, or {needs, because}")
    return tuple(need for need in found if need is not None)


def _need(node: Node, text: str, because: str) -> Need | None:
    component, _slash, part = text.partition("/")
    if not _NAME.fullmatch(component) or (part and not _NAME.fullmatch(part)):
        node.report("must be component or component/part")
        return None
    return Need(component=component, part=part or None, because=because)


def _credential(node: Node) -> Credential:
    node.only({"namespace", "name", "keys", "purpose"})
    return Credential(
        namespace=node.text("namespace"),
        name=node.text("name"),
        keys=node.texts("keys", required=True),
        purpose=node.text("purpose"),
    )


def _address(node: Node) -> Address:
    node.only({"title", "namespace", "service", "port"})
    return Address(
        title=node.text("title"),
        namespace=node.text("namespace"),
        service=node.text("service"),
        port=node.number("port"),
    )
