# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""C(roles/<component>/meta/component.yml) to a component."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.kubeflow.platform.plugins.plugin_utils.records.credential import read_credential
from ansible_collections.kubeflow.platform.plugins.plugin_utils.records.entries import (
    CONDITION,
    NAME,
    Options,
    doubled,
    inside,
    read_condition,
)
from ansible_collections.kubeflow.platform.plugins.plugin_utils.records.model import (
    LAYERS,
    Acceptance,
    Address,
    Check,
    Component,
    Conflict,
    Following,
    Offer,
    Remark,
    Tree,
)
from ansible_collections.kubeflow.platform.plugins.plugin_utils.records.parts import OWN_TREE, read_part
from ansible_collections.kubeflow.platform.plugins.plugin_utils.records.reading import Node

_KEYS = {
    "title",
    "layer",
    "parts",
    "credentials",
    "addresses",
    "conflicts",
    "accept",
    "experimental",
    "spare",
    "options",
    "sources",
    "ready",
    "checks",
}


def read_component(name: str, root: Node, options: Options) -> Component:
    """The component of a record; mistakes go to the node's problems. C(options) are those of all roles."""
    root.only(_KEYS)
    layer = root.text("layer")
    if layer and layer not in LAYERS:
        root.report(f"must be one of {', '.join(LAYERS)}", "layer")
    nodes = root.nodes("parts", required=True)
    if root.value.get("parts") == []:
        root.report("a component has at least one part", "parts")
    sources = _sources(root)
    parts = tuple(read_part(name, node, options, sources) for node in nodes)
    twice = doubled(part.name for part in parts)
    for node, part in zip(nodes, parts, strict=True):
        if part.name in twice:
            node.report(f"two parts are called {part.name}", "name")
    return Component(
        name=name,
        title=root.text("title"),
        layer=layer,
        parts=parts,
        credentials=tuple(read_credential(node, options) for node in root.nodes("credentials")),
        addresses=tuple(_address(node) for node in root.nodes("addresses")),
        conflicts=tuple(_conflict(node, options) for node in root.nodes("conflicts")),
        accept=tuple(_acceptance(node, options) for node in root.nodes("accept")),
        experimental=tuple(_remark(node, options) for node in root.nodes("experimental")),
        spare=tuple(_remark(node, options) for node in root.nodes("spare")),
        offers=tuple(_offer(node, options) for node in root.nodes("options") if not node.has("follows")),
        following=tuple(_following(node, options) for node in root.nodes("options") if node.has("follows")),
        sources=sources,
        ready=tuple(_check(node, options, {"alone": node.flag("alone", default=True)}) for node in root.nodes("ready")),
        checks=tuple(_check(node, options, {"at_least": node.number("at_least", default=1)}) for node in root.nodes("checks")),
    )


def _sources(root: Node) -> dict[str, Tree]:
    if not root.has("sources"):
        return {}
    node = root.node("sources")
    found = {}
    for name in node.names():
        entry = node.node(name)
        entry.only({"repository", "ref", "path"})
        if name == OWN_TREE or not NAME.fullmatch(name):
            entry.report(f"must be lower-case letters, digits and underscores, and not {OWN_TREE}")
        path = inside(entry, entry.text("path")) or ""
        found[name] = Tree(repository=entry.text("repository"), ref=entry.text("ref"), path=path)
    return found


def _address(node: Node) -> Address:
    node.only({"title", "namespace", "service", "port"})
    return Address(
        title=node.text("title"),
        namespace=node.text("namespace"),
        service=node.text("service"),
        port=node.number("port"),
    )


def _conflict(node: Node, options: Options) -> Conflict:
    node.only({"component", "because", *CONDITION})
    return Conflict(component=node.text("component"), because=node.text("because"), condition=read_condition(node, options))


def _acceptance(node: Node, options: Options) -> Acceptance:
    node.only({"option", "value", "required", "because", *CONDITION})
    required = node.flag("required")
    if required == node.has("value"):
        node.report("must have either value or required: true")
    return Acceptance(
        option=node.text("option"),
        value=_option_value(node, "option", options, wants_value=node.has("value")),
        required=required,
        because=node.text("because"),
        condition=read_condition(node, options),
    )


def _remark(node: Node, options: Options) -> Remark:
    node.only({"because", *CONDITION})
    return Remark(condition=read_condition(node, options), because=node.text("because"))


def _offer(node: Node, options: Options) -> Offer:
    node.only({"name", "value", "because", "since", "until"})
    has_value = node.has("value")
    return Offer(
        option=node.text("name"),
        has_value=has_value,
        value=_option_value(node, "name", options, wants_value=has_value),
        condition=read_condition(node, options),
        because=node.text("because"),
    )


def _following(node: Node, options: Options) -> Following:
    node.only({"name", "follows", "because", "since", "until"})
    condition = read_condition(node, options)
    found = Following(option=node.text("name"), follows=node.text("follows"), because=node.text("because"), condition=condition)
    for key, name in (("name", found.option), ("follows", found.follows)):
        if name and name not in options:
            node.report("no role declares this option", key)
    if found.option in options and options[found.option].default is not None:
        node.report("has a default, so it never follows another option", "name")
    return found


def _option_value(node: Node, key: str, options: Options, *, wants_value: bool) -> Any:
    """The value next to the name of an option, if it is one that the option can have."""
    option = options.get(str(node.value.get(key)))
    if option is None:
        if node.value.get(key):
            node.report("no role declares this option", key)
        return None
    if not wants_value:
        return None
    wrong = option.refusal(node.value["value"])
    if wrong:
        node.report(wrong, "value")
    return node.value["value"]


def _check(node: Node, options: Options, more: Mapping[str, Any]) -> Check:
    node.only({"kind", "group", "namespace", "name", "selector", "expression", "message", *more, *CONDITION})
    return Check(
        kind=node.text("kind"),
        group=node.text("group", default=""),
        namespace=node.text("namespace", default=""),
        name=node.text("name", default=""),
        selector=node.text("selector", default=""),
        expression=node.text("expression"),
        message=node.text("message"),
        condition=read_condition(node, options),
        more=more,
    )
