# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Live progress of a module that runs for minutes: it appends JSON lines to a file, which is read and shown while it runs."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Callable
from types import TracebackType
from typing import Self

# A line is read in passing; the result says all.
LONGEST = 280


def fitting(text: str) -> str:
    """The text as one line that is not too long; what is left out is in the middle, since the end says why and how long."""
    line = " ".join(text.split())
    return line if len(line) <= LONGEST else f"{line[: LONGEST // 2 - 3]} ... {line[-(LONGEST // 2 - 2) :]}"


class Follower:
    """Shows the lines of ``path`` (``{"t": seconds, "text": "..."}``) as they come, until it is left; then the rest."""

    def __init__(self, path: str, show: Callable[[float, str], None], interval: float = 1.0) -> None:
        self._path = path
        self._show = show
        self._interval = interval
        self._position = 0
        self._ended = threading.Event()
        # A daemon: an interrupted task must not wait for it.
        self._thread = threading.Thread(target=self._follow, name="progress", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._ended.set()
        self._thread.join(timeout=5.0)
        self._read()

    def _follow(self) -> None:
        while not self._ended.wait(self._interval):
            self._read()

    def _read(self) -> None:
        try:
            with open(self._path, "rb") as stream:
                stream.seek(self._position)
                data = stream.read()
        except OSError:
            return
        # The last line may be half written; it is read again next time.
        whole = data[: data.rfind(b"\n") + 1]
        self._position += len(whole)
        for line in whole.splitlines():
            with contextlib.suppress(ValueError, TypeError, KeyError):
                row = json.loads(line)
                self._show(float(row["t"]), str(row["text"]))
