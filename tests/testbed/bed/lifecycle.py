# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The life of a bed: up, down, reset, and its single processes. Runs inside the bed's namespace if it has one."""

from __future__ import annotations

import shutil
import socket
import time
from collections.abc import Callable
from pathlib import Path

from . import faults, namespace, ports
from .api import Api
from .cluster import furnish, furnished
from .processes import Process
from .programs import CONTROL_PLANE, processes, write_kubelet_defaults
from .record import Bed
from .report import BedError

_PATIENCE = 90.0
_OWN = ("bed.json", "pki", "etcd", "run", "logs", "podlogs", "kubectl-cache", "snapshots", "audit.log", "audit-policy.json", "tokens.csv")
_OWN_PATTERNS = ("kubeconfig*", "kubelet.yaml", "faults.*", "proxy*", "standins*")
_EMPTIED = ("faults.json", "faults.seen", "proxy-faults.json", "proxy.log", "audit*.log", "logs/*.log")


def start(bed: Bed) -> None:
    """Starts what does not run and waits until pods could start."""
    write_kubelet_defaults(bed)
    (bed.folder / "kubelet.yaml").touch()
    programs = processes(bed)
    api = Api(bed)
    for name in ("etcd", "kube-apiserver"):
        programs[name].start()
    _await("the API server", [programs["etcd"], programs["kube-apiserver"]], api.ready)
    for program in programs.values():
        program.start()
    furnish(bed, api)
    _await("nodes and ServiceAccounts", list(programs.values()), lambda: furnished(bed, api))
    _await("the kubelet's services", [programs["kwok"]], lambda: _listens(bed.kubelet_port))


def stop(bed: Bed, patience: float = 5.0) -> None:
    """Stops all processes, stand-ins first, etcd last."""
    for program in reversed(processes(bed).values()):
        program.stop(patience)


def reset(bed: Bed) -> None:
    """An empty cluster: same addresses, keys and kubeconfigs, no objects, no faults, empty logs."""
    stop(bed, patience=0)
    shutil.rmtree(bed.folder / "etcd", ignore_errors=True)
    shutil.rmtree(bed.folder / "kubectl-cache", ignore_errors=True)
    for path in (found for pattern in _EMPTIED for found in bed.folder.glob(pattern)):
        path.unlink(missing_ok=True)


def remove(bed: Bed) -> None:
    """Stops the bed, gives its place back and deletes its files, nothing else in the folder."""
    stop(bed)
    namespace.destroy(bed)
    ports.release(bed)
    for path in [*(bed.folder / name for name in _OWN), *(found for pattern in _OWN_PATTERNS for found in bed.folder.glob(pattern))]:
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
    if not any(bed.folder.iterdir()):
        bed.folder.rmdir()


def kill(bed: Bed, name: str) -> int:
    """kill -9; returns the pid."""
    program = _program(bed, name)
    pid = program.pid()
    program.stop(patience=0)
    return pid


def restart(bed: Bed, name: str) -> None:
    """Stops one process if it runs, starts it on the same ports and waits until the whole bed serves again."""
    _program(bed, name).stop()
    start(bed)


def snapshot(bed: Bed, name: str) -> Path:
    """Keeps the cluster's state (etcd's folder) under a name; the bed goes on."""
    target = bed.folder / "snapshots" / name
    stop(bed)
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(bed.folder / "etcd", target)
    return target


def restore(bed: Bed, name: str) -> None:
    """Puts the kept state in place of the present one; the bed is stopped afterwards."""
    source = bed.folder / "snapshots" / name
    if not source.is_dir():
        known = ", ".join(sorted(path.name for path in source.parent.glob("*"))) or "none"
        raise BedError(f"no snapshot {name} of the bed in {bed.folder} (there are: {known})")
    reset(bed)
    shutil.copytree(source, bed.folder / "etcd")


def set_faults(bed: Bed, texts: list[str]) -> None:
    """Writes faults given as NAME=MODE[:SECONDS]."""
    wanted = faults.read(bed.folder)
    for text in texts:
        wanted.update(faults.parse(text))
    faults.write(bed.folder, wanted)


def _program(bed: Bed, name: str) -> Process:
    programs = processes(bed)
    if name not in programs:
        raise BedError(f"no process {name} in this bed; it has {', '.join(programs)}")
    return programs[name]


def _listens(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
    except OSError:
        return False
    return True


def _await(what: str, needed: list[Process], condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + _PATIENCE
    while not condition():
        dead = [program for program in needed if not program.pid()]
        late = time.monotonic() > deadline
        if dead or late:
            guilty = (dead or needed)[0]
            state = "ended" if dead else f"is not ready after {_PATIENCE:.0f} s"
            raise BedError(f"waiting for {what}: {guilty.name} {state}; the end of {guilty.log}:\n{guilty.tail()}")
        time.sleep(0.05)


def status(bed: Bed) -> dict[str, object]:
    """What runs, for people and programs."""
    programs = processes(bed)
    return {
        "folder": str(bed.folder),
        "kubeconfig": str(bed.kubeconfig),
        "api": f"https://127.0.0.1:{bed.api_port}",
        "service_cidr": bed.service_cidr,
        "isolated": bed.isolated,
        "ready": all(programs[name].pid() for name in CONTROL_PLANE) and Api(bed).ready(),
        "processes": {name: {"pid": program.pid(), "memory_mib": program.memory()} for name, program in programs.items()},
        "faults": faults.read(bed.folder),
    }
