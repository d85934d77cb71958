# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a command costs: time, processor, memory, with everything that it starts."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

_TICK = os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")
_SAMPLE = 0.2


@dataclass(frozen=True)
class Cost:
    """Wall and processor time in seconds; memory in MiB: of the largest process, of all at once, and the peak of each program (sampled)."""

    code: int
    wall: float
    cpu: float
    largest: float
    together: float
    programs: dict[str, int]


def measure(command: list[str], environment: Mapping[str, str], log: Path, folder: Path) -> Cost:
    """Runs a command to its end."""
    with log.open("wb") as output:
        start = time.monotonic()
        process = subprocess.Popen(
            command, env=dict(environment), cwd=folder, stdout=output, stderr=subprocess.STDOUT, start_new_session=True
        )
        sampler = _Sampler(process.pid)
        sampler.start()
        try:
            unused, status, usage = os.wait4(process.pid, 0)
        except BaseException:
            os.killpg(process.pid, signal.SIGKILL)
            raise
        wall = time.monotonic() - start
        sampler.stop()
    process.returncode = os.waitstatus_to_exitcode(status)
    return Cost(process.returncode, wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, sampler.peak / 2**20, sampler.programs)


def processor_seconds(pid: int) -> float:
    """Processor time of a running process so far."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICK


class _Sampler(threading.Thread):
    """Looks at the memory of a process and its descendants, a few times a second."""

    def __init__(self, root: int) -> None:
        super().__init__(daemon=True)
        self.root, self.peak = root, 0
        self.programs: dict[str, int] = {}
        self._ended = threading.Event()

    def run(self) -> None:
        """Samples until it is stopped."""
        while not self._ended.wait(_SAMPLE):
            family = list(_family(self.root))
            self.peak = max(self.peak, sum(memory for unused, memory in family))
            for pid, memory in family:
                name = _program(pid)
                self.programs[name] = max(self.programs.get(name, 0), round(memory / 2**20))

    def stop(self) -> None:
        """Ends the sampling."""
        self._ended.set()
        self.join()


def _family(root: int) -> Iterator[tuple[int, int]]:
    """Process and resident memory of the root and of all that it started."""
    found: dict[int, tuple[int, int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and (fields := _stat(entry)):
            found[int(entry.name)] = int(fields[1]), int(fields[21]) * _PAGE
    family = {root}
    # A child has a higher number than its parent, but for the rare wrap-around of numbers.
    for pid in sorted(found):
        if pid == root or found[pid][0] in family:
            family.add(pid)
            yield pid, found[pid][1]


def _stat(entry: Path) -> list[str]:
    try:
        return (entry / "stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    except OSError:
        return []


def _program(pid: int) -> str:
    """What a person calls the process: the program, the script of an interpreter, "module" for a module of Ansible."""
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace").split("\0")
    except OSError:
        return "other"
    if any("AnsiballZ_" in word for word in words):
        return "module"
    names = [Path(word).name for word in words[:2] if word]
    return next((name for name in names if not name.startswith("python")), "other")
