# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Processes that outlive the command that starts them, found again by pid and start time."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from .report import BedError


@dataclass(frozen=True, slots=True)
class Process:
    """One long-running program of a bed."""

    name: str
    command: Sequence[str]
    folder: Path
    environment: Mapping[str, str] = field(default_factory=dict)

    @property
    def log(self) -> Path:
        """Where its output goes."""
        return self.folder / "logs" / f"{self.name}.log"

    @property
    def _note(self) -> Path:
        return self.folder / "run" / f"{self.name}.pid"

    def start(self) -> None:
        """Starts it, unless it runs."""
        if self.pid():
            return
        with self.log.open("ab") as log:
            child = subprocess.Popen(
                self.command,
                cwd=self.folder,
                env={**os.environ, **self.environment},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self._note.write_text(f"{child.pid} {_start_time(child.pid)}\n", encoding="utf-8")

    def pid(self) -> int:
        """Its pid, 0 if it does not run. A pid that another program got since does not count."""
        try:
            pid, started = self._note.read_text(encoding="utf-8").split()
        except (FileNotFoundError, ValueError):
            return 0
        return int(pid) if _start_time(int(pid)) == started else 0

    def signal(self, number: signal.Signals) -> int:
        """Sends a signal; returns the pid it went to (0: it does not run)."""
        if pid := self.pid():
            try:
                os.kill(pid, number)
            except ProcessLookupError:
                return 0
        return pid

    def stop(self, patience: float = 5.0) -> None:
        """Asks it to end, kills it after `patience` seconds (at once if 0), returns when it is gone."""
        if patience and self.signal(signal.SIGTERM) and self._gone_within(patience):
            return
        if self.signal(signal.SIGKILL) and not self._gone_within(10):
            raise BedError(f"{self.name} survives SIGKILL")

    def tail(self, lines: int = 15) -> str:
        """The end of its log, for error messages."""
        try:
            return "\n".join(self.log.read_text(encoding="utf-8", errors="replace").splitlines()[-lines:])
        except FileNotFoundError:
            return "(no log)"

    def memory(self) -> int:
        """Resident memory in MiB."""
        try:
            pages = int(Path(f"/proc/{self.pid()}/statm").read_text(encoding="ascii").split()[1])
        except (FileNotFoundError, ProcessLookupError, IndexError):
            return 0
        return pages * os.sysconf("SC_PAGE_SIZE") // 2**20

    def _gone_within(self, seconds: float) -> bool:
        deadline = time.monotonic() + seconds
        while self.pid():
            if time.monotonic() > deadline:
                return False
            time.sleep(0.02)
        return True


def _start_time(pid: int) -> str:
    """When the kernel started that process; empty when it is gone or a zombie (who reaps them depends on the machine)."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        return ""
    # The second field is the name in parentheses and may hold spaces.
    fields = stat.rpartition(")")[2].split()
    return "" if fields[0] == "Z" and not _threads_left(pid) else fields[19]


def _threads_left(pid: int) -> bool:
    """Whether other threads of a zombie still run: until they have ended too, it holds its ports."""
    try:
        return len(os.listdir(f"/proc/{pid}/task")) > 1
    except (FileNotFoundError, ProcessLookupError):
        return False
