# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which objects a run would create or change, component by component and in few lines. Pure."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ansible_collections.kubeflow.platform.plugins.plugin_utils.report.rows import Line, identity, worth_telling

# Objects named for each component; --diff shows every one anyway.
MOST = 15
_WIDTH = 120
_INDENT = " " * 15

Action = Mapping[str, Any]


def would(result: Mapping[str, Any], found: Sequence[Line], *, everything: bool) -> list[str]:
    """What would be done to which objects: first what happens to those that are there, then what is new, by kind."""
    shown: list[str] = []
    for line in found:
        mine = [action for action in result.get("actions", []) if (action.get("component") or "") == line.name]
        changed = worth_telling({"actions": mine})
        new = [action for action in mine if action["action"] == "create"]
        total = len(changed) + len(new)
        if not total:
            continue
        most = total if everything else MOST
        shown += [f"  {line.name_and_version}:", *(f"    {told(action)}" for action in changed[:most])]
        shown += _new(new[: max(0, most - len(changed))])
        if total > most:
            shown.append(f"    ... and {total - most} more (--diff shows all)")
    hint = "" if everything else " (--diff shows how)"
    return [f"What would be done{hint}:", *shown] if shown else []


def told(action: Action) -> str:
    """One line about one object: the action, which object, which fields, and why."""
    paths = list(action.get("paths") or [])
    text = ", ".join(paths[:3]) + (f" and {len(paths) - 3} more" if len(paths) > 3 else "")
    both = "; ".join(part for part in (text, str(action.get("reason") or "")) if part)
    return f"{action['action']:<10} {identity(action)}" + (f": {both}" if both else "")


def _new(actions: Iterable[Action]) -> list[str]:
    kinds: dict[str, list[str]] = {}
    for action in actions:
        kinds.setdefault(action["kind"], []).append(identity(action).removeprefix(f"{action['kind']} "))
    if not kinds:
        return []
    text = "; ".join(f"{kind} {', '.join(names)}" for kind, names in kinds.items())
    return textwrap.wrap(
        text,
        _WIDTH,
        initial_indent=f"    {'create':<10} ",
        subsequent_indent=_INDENT,
        break_long_words=False,
        break_on_hyphens=False,
    )
