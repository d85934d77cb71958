# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What one kustomization refers to, read from its YAML with the place of each reference."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import yaml

KUSTOMIZATION_NAMES = ("kustomization.yaml", "kustomization.yml", "Kustomization")

# Fields that list files or folders of resources, plain files, and entries that may also be inline YAML.
_TREES = frozenset({"resources", "bases", "components"})
_FILES = frozenset({"crds", "configurations"})
_PLUGINS = frozenset({"generators", "transformers", "validators"})
_PATHS = frozenset({"patches", "patchesJson6902", "replacements"})
_GENERATORS = frozenset({"configMapGenerator", "secretGenerator"})
_HELM = frozenset({"helmCharts", "helmChartInflationGenerator"})


@dataclass(frozen=True, slots=True)
class Reference:
    """One reference: ``kind`` is "tree" (file or folder of resources), "file", "plugin" (file or folder of plugin
    configuration) or "helm"; the text stands at ``line`` (from 1) between the columns ``start`` and ``end`` (from 0)."""

    kind: str
    text: str
    line: int
    start: int = 0
    end: int = 0


class BrokenYaml(Exception):
    """The file is not YAML; the message says where."""


def references(text: str) -> list[Reference]:
    """The references of a kustomization. Raises BrokenYaml."""
    return [reference for document in _documents(text) for reference in _of_mapping(document, 0)]


def plugin_references(text: str) -> list[Reference]:
    """The references in the configuration of a generator, transformer or validator, which have a kustomization's names."""
    found = []
    for document in _documents(text):
        found += [reference for reference in _of_mapping(document, 0) if reference.kind == "file"]
        for key, value in _items(document):
            if key in {"path", "paths", "files", "env", "envs"}:
                found += list(_texts(value, "file", 0))
    return found


def _documents(text: str) -> list[yaml.Node]:
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        return [node for node in yaml.compose_all(text, Loader=loader) if node is not None]
    except yaml.MarkedYAMLError as error:
        place = f"line {error.problem_mark.line + 1}: " if error.problem_mark else ""
        raise BrokenYaml(f"{place}{error.problem or error}") from error
    except yaml.YAMLError as error:
        raise BrokenYaml(str(error)) from error


def _items(node: yaml.Node) -> Iterator[tuple[str, yaml.Node]]:
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if isinstance(key, yaml.ScalarNode):
                yield key.value, value


def _of_mapping(node: yaml.Node, offset: int) -> Iterator[Reference]:
    for key, value in _items(node):
        if key in _TREES:
            yield from _texts(value, "tree", offset)
        elif key in _FILES:
            yield from _texts(value, "file", offset)
        elif key == "patchesStrategicMerge":
            yield from (found for found in _texts(value, "file", offset) if not _is_inline(found.text))
        elif key in _PLUGINS:
            yield from _plugins(value, offset)
        elif key in _PATHS:
            for entry in _entries(value):
                yield from _path(entry, offset)
        elif key in _GENERATORS:
            yield from (found for entry in _entries(value) for found in _generator(entry, offset))
        elif key == "openapi":
            yield from _path(value, offset)
        elif key in _HELM and _entries(value):
            yield Reference("helm", key, value.start_mark.line + 1 + offset)


def _path(node: yaml.Node, offset: int) -> Iterator[Reference]:
    for name, value in _items(node):
        if name == "path":
            yield from _texts(value, "file", offset)


def _entries(node: yaml.Node) -> list[yaml.Node]:
    return list(node.value) if isinstance(node, yaml.SequenceNode) else []


def _texts(node: yaml.Node, kind: str, offset: int) -> Iterator[Reference]:
    for entry in _entries(node) or [node]:
        if isinstance(entry, yaml.ScalarNode) and entry.value:
            mark, end = entry.start_mark, entry.end_mark
            yield Reference(kind, entry.value, mark.line + 1 + offset, mark.column, end.column if end.line == mark.line else mark.column)


def _generator(entry: yaml.Node, offset: int) -> Iterator[Reference]:
    for name, value in _items(entry):
        if name in {"envs", "env"}:
            yield from _texts(value, "file", offset)
        elif name == "files":
            for found in _texts(value, "file", offset):
                # "key=file" names the key; a file name holds no "=" (kustomize refuses more than one).
                yield Reference(found.kind, found.text.partition("=")[2] or found.text, found.line)


def _plugins(value: yaml.Node, offset: int) -> Iterator[Reference]:
    for found in _texts(value, "plugin", offset):
        if not _is_inline(found.text):
            yield found
            continue
        for inner in plugin_references(found.text):
            yield Reference(inner.kind, inner.text, inner.line + found.line)


def _is_inline(text: str) -> bool:
    return "\n" in text.strip() or text.lstrip().startswith("{") or ": " in text
