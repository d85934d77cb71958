# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Plain YAML, read strictly: every value is asked for by its key and type, and every mistake is collected."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

import yaml
from ansible_collections.kubeflow.platform.plugins.plugin_utils.records.problems import Problem

_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_ABSENT = object()


def parse(file: str, text: str, problems: list[Problem]) -> Node | None:
    """The document as a node. Broken YAML, anchors, Jinja and doubled keys become problems; None when nothing can be read."""
    loader = _Loader(text)
    try:
        tree = loader.get_single_node()
        for line, what in _not_plain(tree, text):
            problems.append(Problem(file, f"line {line}", what))
        value = loader.construct_document(tree) if tree is not None else None
    except yaml.YAMLError as error:
        problems.append(Problem(file, "", f"not valid YAML: {' '.join(str(error).split())}"))
        return None
    finally:
        loader.dispose()
    if not isinstance(value, dict):
        problems.append(Problem(file, "", "must be a mapping"))
        return None
    return Node(file, "", value, problems)


def _not_plain(tree: Any, text: str) -> Iterator[tuple[int, str]]:
    """Records hold no logic: what would make them more than data, with its line."""
    seen: set[int] = set()
    pending = [tree] if tree is not None else []
    while pending:
        node = pending.pop(0)
        line = node.start_mark.line + 1
        if id(node) in seen:  # an alias gives the very same node again
            yield line, "anchors and aliases are not allowed in records"
            continue
        seen.add(id(node))
        if isinstance(node, yaml.MappingNode):
            names: set[str] = set()
            for key, value in node.value:
                if str(key.value) in names:
                    yield key.start_mark.line + 1, f"the key {key.value} is given twice"
                names.add(str(key.value))
                # {text: ...} is text for manifests, where Argo's own templates may stand.
                if not (key.value == "text" and isinstance(value, yaml.ScalarNode)):
                    pending.append(value)
        elif isinstance(node, yaml.SequenceNode):
            pending.extend(node.value)
        elif "{{" in node.value or "{%" in node.value:
            yield line, "Jinja is not allowed in records"


class Node:
    """A value of a record with the place where it stands.

    Asking for a value of the wrong type, or for a required one that is absent, notes a problem and gives an empty value,
    so that reading goes on and finds the rest.
    """

    def __init__(self, file: str, key: str, value: Any, problems: list[Problem]) -> None:
        self.file = file
        self.key = key
        self.value = value
        self._problems = problems

    def report(self, text: str, key: str = "") -> None:
        """Note a mistake at this node, or at one of its keys."""
        self._problems.append(Problem(self.file, self._below(key), text))

    def only(self, known: Collection[str]) -> None:
        """Every key but the known ones is a mistake."""
        for key in self._mapping():
            if key not in known:
                self.report(f"unknown key (known: {', '.join(sorted(known))})", str(key))

    def child(self, key: str, value: Any) -> Node:
        """A value of this node as a node of its own, for what no other question fits."""
        return Node(self.file, self._below(key), value, self._problems)

    def names(self) -> list[str]:
        """The keys of a mapping, each a text."""
        return [str(key) for key in self._mapping()]

    def node(self, key: str) -> Node:
        """The mapping under a required key."""
        return Node(self.file, self._below(key), self._take(key, dict, {}, required=True), self._problems)

    def text(self, key: str, default: str | None = None) -> str:
        """A text that is not empty; required when there is no default."""
        value = self._take(key, str, default or "", required=default is None)
        if value == "" and default is None and self._mapping().get(key) == "":
            self.report("must not be empty", key)
        return str(value)

    def optional_text(self, key: str) -> str | None:
        """A text, or None when the key is absent or null."""
        return None if self._mapping().get(key) is None else self.text(key)

    def number(self, key: str, default: int | None = None) -> int:
        """A whole number; required when there is no default."""
        return int(self._take(key, int, default or 0, required=default is None))

    def flag(self, key: str, *, default: bool = False) -> bool:
        """True or false."""
        value = self._mapping().get(key, default)
        if not isinstance(value, bool):
            self.report("must be true or false", key)
        return value is True

    def texts(self, key: str, *, required: bool = False) -> tuple[str, ...]:
        """A list of texts."""
        found: list[str] = []
        for index, item in enumerate(self._take(key, list, [], required=required)):
            if isinstance(item, str) and item:
                found.append(item)
            else:
                self.report("must be a text", f"{key}[{index}]")
        return tuple(found)

    def nodes(self, key: str, *, required: bool = False) -> list[Node]:
        """A list of mappings; items of another type are problems."""
        found = []
        for index, item in enumerate(self._take(key, list, [], required=required)):
            if isinstance(item, dict):
                found.append(Node(self.file, self._below(f"{key}[{index}]"), item, self._problems))
            else:
                self.report("must be a mapping", f"{key}[{index}]")
        return found

    def has(self, key: str) -> bool:
        """Whether the key is there at all, be it null."""
        return key in self._mapping()

    def _take(self, key: str, kind: type, default: Any, *, required: bool) -> Any:
        value = self._mapping().get(key, _ABSENT)
        if value is _ABSENT:
            if required:
                self.report("is missing", key)
            return default
        if not isinstance(value, kind) or isinstance(value, bool):
            names = {str: "a text (quote it if it looks like a number)", list: "a list", dict: "a mapping", int: "a whole number"}
            self.report(f"must be {names[kind]}", key)
            return default
        return value

    def _mapping(self) -> dict[str, Any]:
        return self.value if isinstance(self.value, dict) else {}

    def _below(self, key: str) -> str:
        return f"{self.key}.{key}" if self.key and key else self.key or key
