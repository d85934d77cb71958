# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Running a program: an argument list, never a shell; output apart; nothing of it survives a timeout or an interrupt."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

_running: set[subprocess.Popen[bytes]] = set()


@dataclass(frozen=True, slots=True)
class Finished:
    """What a program left behind. ``code`` is None when it was ended because it took longer than allowed."""

    code: int | None
    out: bytes
    err: str


def run(command: Sequence[str], *, timeout: float, environment: Mapping[str, str], cwd: str | None = None) -> Finished:
    """Run ``command`` in a process group of its own for at most ``timeout`` seconds. Raises OSError if it cannot start."""
    with subprocess.Popen(
        list(command),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=dict(environment),
        cwd=cwd,
        start_new_session=True,
    ) as process:
        _running.add(process)
        try:
            out, err = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            _end(process)
            out, err = process.communicate()
            return Finished(None, out, err.decode("utf-8", "replace"))
        except BaseException:
            # Also for Ctrl-C: the group is not the terminal's, so nobody else ends it.
            _end(process)
            raise
        finally:
            _running.discard(process)
    return Finished(process.returncode, out, err.decode("utf-8", "replace"))


def end_all() -> None:
    """End every program that runs in any thread: for an interrupt, which only the main thread hears of."""
    for process in list(_running):
        _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
