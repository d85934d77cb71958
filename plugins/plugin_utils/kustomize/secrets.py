# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the sources of a build keep secret, so that an error which quotes them does not tell it.

kustomize quotes patches, literals and whole configurations. Read only when a build failed: Secrets, patches of Secrets, and what
secret generators take their values from. A source that is not YAML is read line by line: it may be the broken one.
"""

from __future__ import annotations

import base64
import binascii
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any

from ansible_collections.kubeflow.platform.plugins.module_utils.objects.redaction import Redactor
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.yamlstream import StreamError, load_all

# A Secret is at most 1 MiB; what is larger is a CRD.
_LARGEST = 2 * 1024 * 1024
_OF_SECRETS = re.compile(r"\bSecret\b|secretGenerator|stringData|SecretGenerator|[\"']?path[\"']?\s*:\s*[\"']?/data\b")
_LINE = re.compile(r"""^[ \t]*(?:-[ \t]+)*["']?(?P<name>[\w./-]+)["']?[ \t]*(?:=|:(?=\s|$))[ \t]*(?P<value>.*)$""")
_PUBLIC = frozenset({"apiVersion", "kind", "name", "namespace", "path", "type", "group", "version", "op"})


def redactor(files: Iterable[str], texts: Iterable[str] = ()) -> Redactor:
    """Return what masks the secrets in ``files`` and in ``texts`` (inline patches). Unreadable files teach nothing."""
    found = Redactor()
    for path in files:
        text = _read(path)
        if text and _OF_SECRETS.search(text):
            found.learn_values(_decoded(_values(text, os.path.dirname(path))))
    for text in texts:
        found.learn_values(_decoded(_values(text, "")))
    return found


def _decoded(values: Iterable[str]) -> Iterator[str]:
    """Yield each value and, where it is base64, what it stands for."""
    for value in values:
        yield value
        with suppress(binascii.Error, ValueError):
            yield base64.b64decode(value, validate=True).decode()


def _read(path: str) -> str:
    try:
        if os.path.getsize(path) > _LARGEST:
            return ""
        with open(path, "rb") as stream:
            return stream.read().decode("utf-8", "replace")
    except OSError:
        return ""


def _values(text: str, folder: str, *, secret: bool = False) -> Iterator[str]:
    try:
        documents = load_all(text)
    except StreamError:
        yield from _of_lines(text)
        return
    for document in documents:
        yield from _of_node(document, folder, secret=secret)


def _of_lines(text: str) -> Iterator[str]:
    for line in text.splitlines():
        match = _LINE.match(line)
        if match is None:
            yield line.strip()
        elif match["name"] not in _PUBLIC:
            value = match["value"].strip()
            yield value
            yield value.strip("\"'")
            yield value.partition("=")[2]


def _of_node(node: Any, folder: str, *, secret: bool) -> Iterator[str]:
    """Yield the secret values below ``node``; ``secret``: it is a Secret's, or something that is laid over one."""
    if isinstance(node, list):
        for item in node:
            yield from _of_node(item, folder, secret=secret)
    elif isinstance(node, str):
        if secret or (":" in node and _OF_SECRETS.search(node)):
            yield from _values(node, folder, secret=secret)
    elif isinstance(node, dict):
        yield from _of_mapping(node, folder, secret)


def _of_mapping(node: Mapping[str, Any], folder: str, secret: bool) -> Iterator[str]:
    target = node.get("target")
    secret = secret or (isinstance(target, dict) and target.get("kind") == "Secret")
    if "Secret" in str(node.get("kind") or ""):
        for field in ("data", "stringData"):
            yield from _scalars(node.get(field))
        yield from _generated(node, folder)
    path = node.get("path")
    if isinstance(path, str) and path.startswith(("/data", "/stringData")) or (secret and "op" in node):
        yield from _scalars(node.get("value"))
    for key, value in node.items():
        if key == "secretGenerator":
            for entry in value if isinstance(value, list) else [value]:
                yield from _generated(entry, folder)
        else:
            yield from _of_node(value, folder, secret=secret and key == "patch")


def _generated(entry: Any, folder: str) -> Iterator[str]:
    """Yield what one secret generator takes: literals, lines of env files, whole files."""
    if not isinstance(entry, dict):
        return
    for literal in _scalars(entry.get("literals")):
        value = literal.partition("=")[2] or literal
        yield value
        yield value.strip("\"'")
    for name in _scalars([entry.get("envs"), entry.get("env")]):
        yield from (line.partition("=")[2].strip() or line.strip() for line in _read(os.path.join(folder, name)).splitlines())
    for name in _scalars(entry.get("files")):
        text = _read(os.path.join(folder, name.partition("=")[2] or name))
        yield text
        yield from (line.strip() for line in text.splitlines())


def _scalars(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for item in value.values():
            yield from _scalars(item)
    elif isinstance(value, list):
        for item in value:
            yield from _scalars(item)
    elif value is not None and not isinstance(value, bool):
        yield str(value)
