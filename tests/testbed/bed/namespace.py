# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A network namespace with nothing but `lo`, held open by a sleeping process and entered with nsenter."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

from .processes import Process
from .record import Bed
from .report import BedError

# Brings lo up (SIOCSIFFLAGS with IFF_UP), says so by a file, then holds the namespace. The image may lack the tool `ip`.
_HOLDER = """
import fcntl, pathlib, signal, socket, struct, sys
with socket.socket() as probe:
    fcntl.ioctl(probe, 0x8914, struct.pack("16sh14x", b"lo", 1))
pathlib.Path(sys.argv[1]).touch()
signal.pause()
"""


def create(bed: Bed) -> Bed:
    """The bed with its namespace, made anew unless its holder lives."""
    holder = _holder(bed)
    if not holder.pid():
        _ready(bed).unlink(missing_ok=True)
        if shutil.which("unshare") is None or shutil.which("nsenter") is None:
            raise BedError("an isolated bed needs unshare and nsenter (Debian package util-linux)")
        holder.start()
        _await(bed, holder)
    made = bed.with_namespace(holder.pid())
    made.save()
    return made


def alive(bed: Bed) -> bool:
    """Whether the namespace exists."""
    return bool(_holder(bed).pid())


def destroy(bed: Bed) -> None:
    """Lets the namespace go; it ends with the last process in it."""
    _holder(bed).stop(patience=0)


def prefix(bed: Bed) -> list[str]:
    """What to put before a command so that it runs inside; empty when it does already."""
    if not bed.isolated or not bed.namespace_pid or _inside(bed):
        return []
    if not _holder(bed).pid():
        raise BedError(f"the network namespace of the bed in {bed.folder} is gone; run: testbed up --dir {bed.folder}")
    user = [] if os.geteuid() == 0 else ["--user", "--preserve-credentials"]
    return ["nsenter", "--target", str(bed.namespace_pid), "--net", *user, "--"]


def _inside(bed: Bed) -> bool:
    try:
        return os.readlink("/proc/self/ns/net") == os.readlink(f"/proc/{bed.namespace_pid}/ns/net")
    except OSError:
        return False


def _holder(bed: Bed) -> Process:
    user = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
    return Process("namespace", ["unshare", "--net", *user, "--", sys.executable, "-c", _HOLDER, str(_ready(bed))], bed.folder)


def _ready(bed: Bed) -> Path:
    return bed.folder / "run" / "namespace.ready"


def _await(bed: Bed, holder: Process) -> None:
    deadline = time.monotonic() + 10
    while not _ready(bed).exists():
        if not holder.pid() or time.monotonic() > deadline:
            reason = subprocess.run(["tail", "-n", "3", str(holder.log)], capture_output=True, text=True, check=False).stdout.strip()
            raise BedError(f"cannot make a network namespace (root or unprivileged user namespaces needed): {reason}")
        time.sleep(0.02)
