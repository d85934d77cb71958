# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Faults of stand-ins and fault proxy: DIR/faults.json, which they read again whenever it changes."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .report import BedError

Faults = dict[str, dict[str, Any]]
# Where running stand-ins note which faults.json they have read, as its mtime in nanoseconds; and seconds to wait for that.
SEEN = "faults.seen"
_PATIENCE = 3.0


def read(folder: Path) -> Faults:
    """All faults set now."""
    try:
        content: Faults = json.loads((folder / "faults.json").read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    return content


def write(folder: Path, faults: Faults, name: str = "faults.json") -> None:
    """Replaces them in one step, so a reader never sees half a file, and returns once running stand-ins behave so."""
    temporary = folder / f".{name}"
    temporary.write_text(json.dumps(faults, indent=1) + "\n", encoding="utf-8")
    stamp = str(temporary.stat().st_mtime_ns)
    temporary.replace(folder / name)
    seen, deadline = folder / SEEN, time.monotonic() + _PATIENCE
    while name == "faults.json" and seen.is_file() and seen.read_text(encoding="utf-8") != stamp and time.monotonic() < deadline:
        time.sleep(0.02)


def parse(text: str) -> Faults:
    """`webhooks=late:10` as given to `up --fault`."""
    name, equals, rest = text.partition("=")
    if not (name and equals and rest):
        raise BedError(f"--fault {text}: expected NAME=MODE[:SECONDS], for example webhooks=late:10")
    return {name: entry(rest.split(":"))}


def entry(words: Sequence[str]) -> dict[str, Any]:
    """MODE [SECONDS] [KEY=VALUE ...] as one entry of the file."""
    fault: dict[str, Any] = {"mode": words[0]}
    for word in words[1:]:
        key, equals, value = word.partition("=")
        fault.update({key: _value(value)} if equals else {"seconds": _seconds(word)})
    return fault


def _seconds(word: str) -> float:
    try:
        return float(word)
    except ValueError:
        raise BedError(f"{word} is neither a number of seconds nor KEY=VALUE") from None


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text
