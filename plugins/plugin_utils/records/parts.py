# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""An entry of C(parts) in a component's record to a part."""

from __future__ import annotations

from collections.abc import Collection

from ansible_collections.kubeflow.platform.plugins.plugin_utils.records.condition import Condition
from ansible_collections.kubeflow.platform.plugins.plugin_utils.records.entries import (
    NAME,
    WITH_SELECTION,
    Options,
    inside,
    read_condition,
    read_needs,
    read_text,
    read_value,
    read_when,
    release,
)
from ansible_collections.kubeflow.platform.plugins.plugin_utils.records.part import TARGET, Extra, Omission, Part, Patch, Place
from ansible_collections.kubeflow.platform.plugins.plugin_utils.records.reading import Node
from ansible_collections.kubeflow.platform.plugins.plugin_utils.records.version import numbers

# The tree that is the collection itself, for objects of ours that upstream lacks.
OWN_TREE = "collection"
_KEYS = {"name", "requires", "paths", "when", "namespace", "components", "patches", "omit", "outside"}


def read_part(component: str, node: Node, options: Options, sources: Collection[str]) -> Part:
    """The part of a record's entry; C(sources) are the names of the component's own trees."""
    node.only(_KEYS)
    name = node.text("name")
    if name and not NAME.fullmatch(name):
        node.report("must be lower-case letters, digits and underscores", "name")
    places = tuple(_place(item, options, sources) for item in node.nodes("paths", required=True))
    since = [numbers(place.since) for place in places]
    if since != sorted(since) or len({(numbers(place.since), place.condition) for place in places}) < len(places):
        node.report("must go from the oldest release to the newest, each once for one `when`", "paths")
    return Part(
        component=component,
        name=name,
        requires=read_needs(node, options),
        places=places,
        condition=Condition(when=read_when(node, options)),
        namespace=read_text(node, "namespace", options) if node.has("namespace") else None,
        extras=tuple(_extra(item, options) for item in node.nodes("components")),
        patches=tuple(_patch(item, options) for item in node.nodes("patches")),
        omit=tuple(_omission(item, options) for item in node.nodes("omit")),
        outside=node.flag("outside"),
    )


def _place(node: Node, options: Options, sources: Collection[str]) -> Place:
    node.only({"since", "path", "requires", "when", "source"})
    if not node.has("since"):
        node.report("is missing", "since")
    since = release(node, "since") or "0"
    path = inside(node, node.optional_text("path"))
    if not node.has("path"):
        node.report("is missing (null says that the release no longer has the part)", "path")
    source = node.optional_text("source")
    if source is not None and source != OWN_TREE and source not in sources:
        node.report(f"there is no {source} under sources", "source")
    return Place(
        since=since,
        path=path,
        requires=read_needs(node, options) if node.has("requires") else None,
        condition=Condition(when=read_when(node, options)),
        source=source,
    )


def _extra(node: Node, options: Options) -> Extra:
    node.only({"path", *WITH_SELECTION})
    return Extra(path=inside(node, node.text("path")) or "", condition=read_condition(node, options))


def _patch(node: Node, options: Options) -> Patch:
    node.only({"because", "target", "patch", *WITH_SELECTION})
    condition = read_condition(node, options)
    target = node.node("target")
    target.only(TARGET)
    if not isinstance(node.value.get("patch"), (list, dict)) or not node.value["patch"]:
        node.report("must be a JSON patch (a list) or a strategic merge patch (a mapping)", "patch")
    return Patch(
        because=node.text("because"),
        condition=condition,
        target=read_value(node, "target", options, condition) or {},
        patch=read_value(node, "patch", options, condition),
    )


def _omission(node: Node, options: Options) -> Omission:
    node.only({"kind", "name", "namespace", *WITH_SELECTION})
    return Omission(
        kind=node.text("kind"),
        name=node.text("name"),
        namespace=read_text(node, "namespace", options) if node.has("namespace") else None,
        condition=read_condition(node, options),
    )
