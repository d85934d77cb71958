# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is broken at the moment: `faults.json`, read again when it changes."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

MODES = ("ok", "late", "down", "hang", "deny", "error", "wrong-ca")
NEVER = float("inf")


@dataclass(frozen=True, slots=True)
class State:
    """How a duty behaves now, and in how many seconds that changes by itself."""

    mode: str
    seconds: float = 0.0
    changes_in: float = NEVER

    @property
    def acts(self) -> bool:
        """Whether the duty does its work at all, rightly or wrongly."""
        return self.mode not in ("down", "hang")


class Faults:
    """The faults by name; the first name of a list that has an entry wins."""

    def __init__(self, path: Path, clock: Callable[[], float] = time.monotonic) -> None:
        self._path, self._clock = path, clock
        self._stamp: tuple[int, int] | None = None
        self._entries: dict[str, Any] = {}
        self._listeners: list[Callable[[], None]] = []
        self._first: dict[str, float] = {}
        self.reload()

    def listen(self, listener: Callable[[], None]) -> None:
        """Adds a listener for changes of the file."""
        self._listeners.append(listener)

    def state(self, names: Sequence[str], thing: str, ready: bool) -> State:
        """The state of `thing`, called by any of `names`; `late` counts from when it was `ready` for the first time."""
        if ready:
            self._first.setdefault(thing, self._clock())
        entry = next((self._entries[name] for name in names if name in self._entries), None)
        if not ready:
            return State("down")
        mode = "ok" if entry is None else str(entry.get("mode", "ok"))
        seconds = 0.0 if entry is None else float(entry.get("seconds") or 0)
        if mode != "late":
            return State(mode if mode in MODES else "down", seconds)
        left = self._first[thing] + seconds - self._clock()
        return State("down", changes_in=left) if left > 0 else State("ok")

    def reload(self) -> bool:
        """Reads the file if it changed; a file that is half written counts as unchanged."""
        try:
            status = self._path.stat()
            stamp = (status.st_mtime_ns, status.st_ino)
            if stamp == self._stamp:
                return False
            entries = json.loads(self._path.read_text(encoding="utf-8") or "{}")
        except FileNotFoundError:
            stamp, entries = (0, 0), {}
        except (OSError, ValueError):
            return False
        changed: bool = entries != self._entries
        self._stamp, self._entries = stamp, entries
        return changed

    def follow(self) -> None:
        """Starts the thread that looks at the file five times a second, and notes beside it which one is in effect."""
        seen = self._path.with_suffix(".seen")

        def loop() -> None:
            noted: tuple[int, int] | None = None
            while True:
                if self.reload():
                    for listener in self._listeners:
                        listener()
                if self._stamp is not None and self._stamp != noted:
                    noted = self._stamp
                    seen.write_text(str(noted[0]), encoding="utf-8")
                time.sleep(0.2)

        threading.Thread(target=loop, daemon=True, name="faults").start()
