# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What differs between two states of an object. ``changed``, diff and action all come from one ``Difference``."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from ansible_collections.kubeflow.platform.plugins.module_utils.objects.redaction import Redactor

_MISSING: Any = object()
# What names an item in the lists of the built-in kinds; the first set of keys that is unique on both sides counts.
_KEYS: tuple[tuple[str, ...], ...] = (
    ("name",),
    ("containerPort", "protocol"),
    ("port", "protocol"),
    ("mountPath",),
    ("type",),
    ("key",),
    ("uid",),
)
_CUT = "... ({left} more lines are not shown)"


@dataclass(frozen=True, slots=True)
class Difference:
    """Two states of one object, both comparable forms; ``paths`` are the differing fields, sorted, as conflicts print paths."""

    paths: list[str]
    before: dict[str, Any]
    after: dict[str, Any]


def compare(before: dict[str, Any], after: dict[str, Any]) -> Difference | None:
    """Return what differs, or None where nothing does. An absent object is {}. Order matters in lists, as it does to the server."""
    paths = sorted(path for path, _old, _new in _changes(before, after, ""))
    return Difference(paths or ["."], before, after) if paths or before != after else None


def render(difference: Difference, redactor: Redactor, limit: int = 10_000) -> dict[str, str]:
    """Return Ansible's form of a diff: before, after and their headers, masked, each at most about ``limit`` characters.

    Whole objects where they fit; else only the differing fields, one a line; for CustomResourceDefinitions only their paths.
    """
    header = _header(difference)
    if header.startswith("CustomResourceDefinition"):
        texts = _as_paths(difference)
    else:
        before, after = redactor.pair(difference.before, difference.after)
        texts = _yaml(before), _yaml(after)
        if max(map(len, texts)) > limit:
            texts = _as_lines(before, after)
    return {
        "before": redactor.text(_cut(texts[0], limit)),
        "after": redactor.text(_cut(texts[1], limit)),
        "before_header": f"{header} (live)",
        "after_header": f"{header} (wanted)",
    }


def _header(difference: Difference) -> str:
    obj = difference.after or difference.before
    metadata = obj.get("metadata") or {}
    namespace = metadata.get("namespace")
    return f"{obj.get('kind', 'object')} {f'{namespace}/' if namespace else ''}{metadata.get('name', '')}"


def _changes(before: Any, after: Any, path: str) -> Iterator[tuple[str, Any, Any]]:
    """Yield (path, old, new) of the smallest differing fields; _MISSING where one side has none."""
    if _equal(before, after):
        return
    if isinstance(before, dict) and isinstance(after, dict):
        for key in sorted({*before, *after}, key=str):
            yield from _changes(before.get(key, _MISSING), after.get(key, _MISSING), f"{path}.{key}")
    elif isinstance(before, list) and isinstance(after, list):
        yield from _list_changes(before, after, path)
    else:
        yield path or ".", before, after


def _equal(before: Any, after: Any) -> bool:
    """Compare as JSON does: true is not 1, and an absent field equals nothing."""
    if before is _MISSING or after is _MISSING:
        return False
    if isinstance(before, bool) != isinstance(after, bool):
        return False
    if isinstance(before, dict) and isinstance(after, dict):
        return before.keys() == after.keys() and all(_equal(value, after[key]) for key, value in before.items())
    if isinstance(before, list) and isinstance(after, list):
        return len(before) == len(after) and all(map(_equal, before, after))
    return bool(before == after)


def _list_changes(before: list[Any], after: list[Any], path: str) -> Iterator[tuple[str, Any, Any]]:
    keys = next((keys for keys in _KEYS if _named(before, keys) is not None and _named(after, keys) is not None), None)
    if keys is None:
        for index in range(max(len(before), len(after))):
            old = before[index] if index < len(before) else _MISSING
            new = after[index] if index < len(after) else _MISSING
            yield from _changes(old, new, f"{path}[{index}]")
        return
    olds, news = _named(before, keys) or {}, _named(after, keys) or {}
    for name in sorted({*olds, *news}):
        yield from _changes(olds.get(name, _MISSING), news.get(name, _MISSING), f"{path}[{name}]")
    common = [[name for name in side if name in olds and name in news] for side in (olds, news)]
    if common[0] != common[1]:
        yield f"{path} (order)", common[0], common[1]


def _named(items: list[Any], keys: tuple[str, ...]) -> dict[str, Any] | None:
    """Return the items under their printed keys; None where they have none or share one."""
    named: dict[str, Any] = {}
    for item in items:
        if not isinstance(item, dict) or keys[0] not in item:
            return None
        name = ",".join(f"{key}={json.dumps(item[key], ensure_ascii=False)}" for key in keys if key in item)
        if name in named:
            return None
        named[name] = item
    return named


def _as_paths(difference: Difference) -> tuple[str, str]:
    """Return the differing paths of each side, the changed ones on both with a word that differs, so that a diff shows them."""
    old_lines, new_lines = [], []
    for path, old, new in _changes(difference.before, difference.after, ""):
        if old is not _MISSING:
            old_lines.append(f"{path}{': before' if new is not _MISSING else ''}")
        if new is not _MISSING:
            new_lines.append(f"{path}{': after' if old is not _MISSING else ''}")
    return _joined(old_lines), _joined(new_lines)


def _as_lines(before: Any, after: Any) -> tuple[str, str]:
    old_lines, new_lines = [], []
    for path, old, new in _changes(before, after, ""):
        if old is not _MISSING:
            old_lines.append(f"{path}: {json.dumps(old, sort_keys=True, ensure_ascii=False)}")
        if new is not _MISSING:
            new_lines.append(f"{path}: {json.dumps(new, sort_keys=True, ensure_ascii=False)}")
    return _joined(old_lines), _joined(new_lines)


def _joined(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def _cut(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    kept = text[:limit].rpartition("\n")[0] or text[:limit]
    return f"{kept}\n{_CUT.format(left=text[len(kept) :].count(chr(10)))}\n"


def _yaml(obj: Any) -> str:
    if not obj:
        return ""
    try:
        import yaml
    except ImportError:  # the kubernetes package brings it; JSON serves as well
        return json.dumps(obj, indent=2, sort_keys=True, ensure_ascii=False) + "\n"
    dumped: str = yaml.safe_dump(obj, default_flow_style=False, sort_keys=True, allow_unicode=True, width=200)
    return dumped
