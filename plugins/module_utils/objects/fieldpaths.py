# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Field paths of server-side apply: as conflicts print them, and as ``fieldsV1`` stores them.

Formats: ``String`` methods of fieldpath.Path and PathElement, and ``serialize-pe.go``, in sigs.k8s.io/structured-merge-diff.
A printed path is not quoted: ``.metadata.annotations.cert-manager.io/inject-ca-from`` has a dot in its last key. So it
is read against an object, longest key first.
"""

from __future__ import annotations

import json
from typing import Any

_MISSING: Any = object()
Step = tuple[str, Any]  # ("key", "name") of a map, or ("item", index) of a list


def locate(obj: Any, field_path: str) -> list[Step] | None:
    """Return the steps from ``obj`` to ``field_path``, or None where the object has no such field."""
    if not field_path:
        return []
    if field_path[0] == "." and isinstance(obj, dict):
        rest = field_path[1:]
        keys = [key for key in obj if isinstance(key, str) and rest.startswith(key) and rest[len(key) : len(key) + 1] in ("", ".", "[")]
        for key in sorted(keys, key=len, reverse=True):
            steps = locate(obj[key], rest[len(key) :])
            if steps is not None:
                return [("key", key), *steps]
    elif field_path[0] == "[" and isinstance(obj, list):
        end = _closing(field_path)
        if end is None:
            return None
        index = _find_item(obj, field_path[1:end])
        steps = None if index is None else locate(obj[index], field_path[end + 1 :])
        return None if steps is None else [("item", index), *steps]
    return None


def drop_path(obj: dict[str, Any], field_path: str) -> dict[str, Any]:
    """Return ``obj`` without the field at ``field_path``; ``obj`` itself where it has no such field. Parents stay, even if empty."""
    steps = locate(obj, field_path)
    if not steps:
        return obj
    result: dict[str, Any] = _without(obj, steps)
    return result


def _without(value: Any, steps: list[Step]) -> Any:
    (_sort, where), rest = steps[0], steps[1:]
    copied = dict(value) if isinstance(value, dict) else list(value)
    if rest:
        copied[where] = _without(value[where], rest)
    else:
        del copied[where]
    return copied


def _closing(text: str) -> int | None:
    """Return the index of the bracket that closes the one at index 0, minding quoted strings."""
    quoted, escaped, depth = False, False, 0
    for index, char in enumerate(text):
        if escaped:
            escaped = False
        elif quoted:
            escaped = char == "\\"
            quoted = char != '"'
        elif char == '"':
            quoted = True
        elif char == "[":
            depth += 1
        elif char == "]":
            depth -= 1
            if depth == 0:
                return index
    return None


def _find_item(items: list[Any], selector: str) -> int | None:
    """Find the item that ``selector`` names: ``name="x"``, ``port=80,protocol="TCP"``, ``="value"`` or ``3``."""
    if selector.isdigit():
        return int(selector) if int(selector) < len(items) else None
    if selector.startswith("="):
        wanted = _literal(selector[1:])
        return next((index for index, item in enumerate(items) if _same(item, wanted)), None)
    keys = _parse_keys(selector)
    if keys is None:
        return None
    for index, item in enumerate(items):
        if isinstance(item, dict) and all(_same(item.get(key, _default(key)), value) for key, value in keys.items()):
            return index
    return None


def _parse_keys(selector: str) -> dict[str, Any] | None:
    keys: dict[str, Any] = {}
    rest = selector
    while rest:
        name, equals, rest = rest.partition("=")
        if not equals:
            return None
        end = _value_end(rest)
        keys[name] = _literal(rest[:end])
        rest = rest[end + 1 :]
    return keys


def _value_end(text: str) -> int:
    if not text.startswith('"'):
        comma = text.find(",")
        return len(text) if comma < 0 else comma
    index = 1
    while index < len(text) and text[index] != '"':
        index += 2 if text[index] == "\\" else 1
    return index + 1


def _literal(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text.strip('"')


def _default(key: str) -> Any:
    """The one key of list maps that has a default in the built-in kinds."""
    return "TCP" if key == "protocol" else _MISSING


def _same(left: Any, right: Any) -> bool:
    return type(left) is type(right) and bool(left == right)


def absent_paths(obj: Any, fields: dict[str, Any], sent: Any = _MISSING, path: str = "") -> list[str]:
    """Return the paths of ``fields`` (fieldsV1) that ``obj`` lacks, as a conflict would print them.

    Where ``sent``, the object that was applied, is given, fields that were sent empty do not count: a server may store
    an empty map, list, string, zero or false as absence, and somebody who fills such a field takes it out of our entry.
    """
    missing: list[str] = []
    for name, below in fields.items():
        if name == ".":
            continue
        here = path + _printed(name)
        value = _step(obj, name)
        given = _MISSING if sent is _MISSING else _step(sent, name)
        if value is _MISSING:
            if given is _MISSING or given:
                missing.append(here)
        elif isinstance(below, dict) and below:
            missing.extend(absent_paths(value, below, given, here))
    return missing


def _step(value: Any, name: str) -> Any:
    sort, _colon, rest = name.partition(":")
    if sort == "f" and isinstance(value, dict):
        return value.get(rest, _MISSING)
    if not isinstance(value, list):
        return _MISSING
    if sort == "k":
        keys = json.loads(rest)
        matches = (item for item in value if isinstance(item, dict) and all(_same(item.get(k, _default(k)), v) for k, v in keys.items()))
        return next(matches, _MISSING)
    if sort == "v":
        wanted = json.loads(rest)
        return next((item for item in value if _same(item, wanted)), _MISSING)
    if sort == "i":
        return value[int(rest)] if int(rest) < len(value) else _MISSING
    return _MISSING


def _printed(name: str) -> str:
    sort, _colon, rest = name.partition(":")
    if sort == "f":
        return f".{rest}"
    if sort == "k":
        return "[" + ",".join(f"{key}={json.dumps(value, ensure_ascii=False)}" for key, value in json.loads(rest).items()) + "]"
    return f"[={rest}]" if sort == "v" else f"[{rest}]"


def merge_fields(left: dict[str, Any], right: dict[str, Any]) -> dict[str, Any]:
    """Return the union of two ``fieldsV1``. Below the root, {} is a field owned itself, "." marks one owned with fields below."""
    return {key: _union(left.get(key), right.get(key)) for key in sorted({*left, *right})}


def _union(left: dict[str, Any] | None, right: dict[str, Any] | None) -> dict[str, Any]:
    if left is None or right is None:
        return (right if left is None else left) or {}
    if not left or not right:
        return {".": {}, **left, **right} if left or right else {}
    return merge_fields(left, right)
