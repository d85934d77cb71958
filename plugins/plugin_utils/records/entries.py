# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What many entries of a component's record have in common: conditions, requirements, releases and references to options."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from ansible_collections.kubeflow.platform.plugins.plugin_utils.records.condition import (
    Condition,
    is_option,
    is_text,
    may_be_absent,
    referenced,
)
from ansible_collections.kubeflow.platform.plugins.plugin_utils.records.option import Option
from ansible_collections.kubeflow.platform.plugins.plugin_utils.records.part import Need
from ansible_collections.kubeflow.platform.plugins.plugin_utils.records.reading import Node
from ansible_collections.kubeflow.platform.plugins.plugin_utils.records.version import numbers

NAME = re.compile(r"[a-z][a-z0-9_]*")
CONDITION = frozenset({"when", "given", "absent", "same", "since", "until"})
# Where the selection is known already: for what is laid over a part.
WITH_SELECTION = CONDITION | {"selected"}
Options = Mapping[str, Option]


def read_condition(node: Node, options: Options) -> Condition:
    """The keys C(when), C(given), C(absent), C(since), C(until) and C(selected) of an entry."""
    return Condition(
        when=read_when(node, options),
        given=_names(node, "given", options),
        absent=_names(node, "absent", options),
        since=release(node, "since"),
        until=release(node, "until"),
        selected=node.texts("selected"),
        same=_names(node, "same", options),
    )


def read_when(node: Node, options: Options) -> tuple[tuple[str, tuple[Any, ...]], ...]:
    """Options with the values that they may have. Unknown ones are problems."""
    if not node.has("when"):
        return ()
    inner = node.node("when")
    if not inner.value:
        inner.report("names no option; leave it out")
    found = []
    for name in inner.names():
        value = inner.value[name]
        allowed = tuple(value) if isinstance(value, list) else (value,)
        option = options.get(name)
        if option is None:
            inner.report("no role declares this option", name)
            continue
        if not allowed:
            inner.report("must be a value or a list of values", name)
        for wrong in (option.refusal(item) for item in allowed):
            if wrong:
                inner.report(wrong, name)
        found.append((name, allowed))
    return tuple(sorted(found, key=lambda entry: entry[0]))


def release(node: Node, key: str) -> str | None:
    """A release; None when the key is absent, or, with a problem, when it holds something else."""
    text = node.optional_text(key)
    if text is None:
        return None
    try:
        numbers(text)
    except ValueError:
        if text:
            node.report("must be a release, such as 26.03", key)
        return None
    return text


def inside(node: Node, path: str | None, key: str = "path") -> str | None:
    """A path that must stay below its root."""
    if path is not None and (path.startswith("/") or ".." in path.split("/")):
        node.report("must lie below the root of the distribution", key)
    return path


def read_value(node: Node, key: str, options: Options, condition: Condition | None = None) -> Any:
    """Any value, in which references to options may stand; None when the key is absent.

    Where C(condition) is given, an option without a default must be one that the condition makes sure of.
    """
    value = node.value.get(key)
    for name in dict.fromkeys(referenced(value)):
        option = options.get(name)
        if option is None:
            node.report(f"refers to {name}, which no role declares", key)
        elif option.is_secret:
            node.report(f"refers to {name}, which is secret: manifests and plans are not", key)
        elif condition is not None and option.default is None and not _is_sure(name, condition) and not may_be_absent(value, name):
            node.report(f"refers to {name}, which has no default: list it under given, or say a default", key)
    return value


def read_text(node: Node, key: str, options: Options) -> Any:
    """A required text, or a reference to an option."""
    value = node.value.get(key)
    return read_value(node, key, options) if is_option(value) or is_text(value) else node.text(key)


def read_needs(node: Node, options: Options) -> tuple[Need, ...]:
    """C(component), C(component/part), or C({needs, because, when}) when the reason is not plain from the objects."""
    items = node.value.get("requires", [])
    if not isinstance(items, list):
        node.report("must be a list", "requires")
        items = []
    found = []
    for index, item in enumerate(items):
        entry = node.child(f"requires[{index}]", item)
        if isinstance(item, str):
            found.append(_need(entry, item, "", Condition()))
        elif isinstance(item, dict):
            entry.only({"needs", "because", *CONDITION})
            found.append(_need(entry, entry.text("needs"), entry.text("because"), read_condition(entry, options)))
        else:
            entry.report("must be component, component/part, or {needs, because}")
    return tuple(need for need in found if need is not None)


def _need(node: Node, text: str, because: str, condition: Condition) -> Need | None:
    component, _slash, part = text.partition("/")
    if not NAME.fullmatch(component) or (part and not NAME.fullmatch(part)):
        node.report("must be component or component/part")
        return None
    return Need(component=component, part=part or None, because=because, condition=condition)


def _names(node: Node, key: str, options: Options) -> tuple[str, ...]:
    names = node.texts(key)
    for index, name in enumerate(names):
        if name not in options:
            node.report(f"no role declares the option {name}", f"{key}[{index}]")
    return names


def _is_sure(name: str, condition: Condition) -> bool:
    return name in condition.given or any(option == name and None not in allowed for option, allowed in condition.when)


def doubled(names: Iterable[str]) -> set[str]:
    """The names that occur more than once."""
    return {name for name, count in Counter(names).items() if count > 1}
