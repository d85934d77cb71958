# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Test beds for tests, usable as a pytest plugin.

`Bed.up(folder)` makes one of your own. Fixtures: `bed` (an empty cluster of this worker's own), `worker_bed` (the same without the
reset before), `shared_bed` (one for all workers of pytest-xdist: use namespaces of your own in it).
"""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import pytest

from . import audit as audit_log
from .bed import faults, lifecycle, namespace, record
from .bed.build import binaries

_LAUNCHER = Path(__file__).resolve().parent / "testbed"
Completed = subprocess.CompletedProcess[str]


@dataclass(frozen=True, slots=True)
class Bed:
    """A running test bed. Usable as a context manager, which takes it down."""

    folder: Path

    @classmethod
    def up(
        cls,
        folder: Path,
        *,
        nodes: int = 3,
        isolated: bool = False,
        standins: bool = True,
        proxy: bool = False,
        fault: Mapping[str, str] | None = None,
    ) -> Bed:
        """Starts a bed, or what of it does not run. `fault`: {"webhooks": "late:10"}, set before the stand-ins start."""
        switches = {"--isolated": isolated, "--no-standins": not standins, "--proxy": proxy}
        options = [name for name, given in switches.items() if given]
        bed = cls(folder.resolve())
        bed._command("up", "--kubernetes-nodes", str(nodes), *options, *_fault_options(fault))
        return bed

    def __enter__(self) -> Bed:
        return self

    def __exit__(self, *_: object) -> None:
        self.down()

    @property
    def kubeconfig(self) -> Path:
        """The administrator's kubeconfig."""
        return self.folder / "kubeconfig"

    def kubeconfig_of(self, who: str) -> Path:
        """Another one: readonly, badtoken, wrongca, token, proxy."""
        return self.folder / f"kubeconfig.{who}"

    @property
    def prefix(self) -> list[str]:
        """What to put before a command that has to reach the bed: nsenter for an isolated one, else nothing."""
        return namespace.prefix(self._record)

    @property
    def environment(self) -> dict[str, str]:
        """Environment for commands that talk to the bed."""
        return {**os.environ, "KUBECONFIG": str(self.kubeconfig), "KUBECACHEDIR": str(self.folder / "kubectl-cache")}

    def run(self, *command: str | Path, check: bool = True, stdin: str | None = None, timeout: float = 120) -> Completed:
        """Runs a command with the bed's network and environment; its output is captured."""
        full = [*self.prefix, *map(str, command)]
        source: dict[str, Any] = {"stdin": subprocess.DEVNULL} if stdin is None else {"input": stdin}
        done = subprocess.run(full, env=self.environment, capture_output=True, text=True, check=False, timeout=timeout, **source)
        if check and done.returncode != 0:
            raise AssertionError(f"{' '.join(map(str, command))} failed ({done.returncode}):\n{done.stdout}{done.stderr}")
        return done

    def kubectl(self, *arguments: str | Path, check: bool = True, stdin: str | None = None, timeout: float = 120) -> Completed:
        """Runs kubectl 1.36."""
        return self.run(binaries(["kubectl"])["kubectl"], *arguments, check=check, stdin=stdin, timeout=timeout)

    def get(self, *arguments: str) -> dict[str, Any]:
        """`kubectl get ... -o json`, parsed."""
        return cast("dict[str, Any]", json.loads(self.kubectl("get", *arguments, "-o", "json").stdout))

    def reset(self, fault: Mapping[str, str] | None = None) -> None:
        """An empty cluster with the same addresses and kubeconfigs, no faults, an empty audit log."""
        self._command("reset", *_fault_options(fault))

    def kill(self, name: str) -> int:
        """kill -9 of one process (kube-apiserver, etcd, standins, ...), at once; returns the pid that it had."""
        return lifecycle.kill(self._record, name)

    def restart(self, name: str) -> None:
        """Starts a process on the same ports (stops it first if it runs) and waits until the bed serves."""
        self._command("restart", name)

    def fault(self, name: str, mode: str, *words: str | float) -> None:
        """Sets a fault of a stand-in while it runs: `fault("webhooks", "late", 10)`."""
        present = faults.read(self.folder)
        faults.write(self.folder, {**present, name: faults.entry([mode, *map(str, words)])})

    def clear_faults(self) -> None:
        """No stand-in has a fault, the fault proxy passes everything."""
        if faults.read(self.folder):
            faults.write(self.folder, {})
        self.proxy({})

    def proxy(self, rules: dict[str, Any]) -> None:
        """Sets what the fault proxy does (bed made with `proxy=True`, requests by `kubeconfig_of("proxy")`)."""
        faults.write(self.folder, rules, "proxy-faults.json")

    def kubelet(self, *documents: dict[str, Any]) -> None:
        """Sets KWOK's Logs, Exec and PortForward rules (and their Cluster... siblings): kind, metadata and spec."""
        texts = [json.dumps({"apiVersion": "kwok.x-k8s.io/v1alpha1", **document}) for document in documents]
        (self.folder / "kubelet.yaml").write_text("\n---\n".join(texts) + "\n", encoding="utf-8")
        self.restart("kwok")

    def audit(self, since: int = 0) -> audit_log.AuditLog:
        """The audit log from a point on (the `end` of an earlier reading)."""
        return audit_log.read(self.folder / "audit.log", since)

    def snapshot(self, name: str) -> None:
        """Keeps the cluster's state under a name."""
        self._command("snapshot", name)

    def restore(self, name: str) -> None:
        """Brings a kept state back."""
        self._command("restore", name)

    def status(self) -> dict[str, Any]:
        """What runs."""
        return cast("dict[str, Any]", json.loads(self._command("status", "--json", check=False).stdout))

    def down(self) -> None:
        """Stops the bed and deletes its files."""
        self._command("down")

    @property
    def _record(self) -> record.Bed:
        return record.load(self.folder)

    def _command(self, command: str, *arguments: str, check: bool = True) -> Completed:
        full = [str(_LAUNCHER), command, "--dir", str(self.folder), *arguments]
        environment = {**os.environ, "PYTHON": sys.executable}
        done = subprocess.run(full, env=environment, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
        if check and done.returncode != 0:
            raise AssertionError(f"testbed {command} failed:\n{done.stderr}")
        return done


@contextmanager
def shared(folder: Path, **options: Any) -> Iterator[Bed]:
    """One bed among processes: the first that comes starts it, the last that leaves takes it down. Options as for `Bed.up`."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    users = folder.with_suffix(".users")
    with _users(users) as pids:
        bed = Bed.up(folder, **options)
        pids.add(os.getpid())
    try:
        yield bed
    finally:
        with _users(users) as pids:
            pids.discard(os.getpid())
            if not pids:
                bed.down()


@contextmanager
def _users(path: Path) -> Iterator[set[int]]:
    """The processes that use a bed, as a file locked while it is open; those that died without leaving do not count."""
    with path.open("a+", encoding="utf-8") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        handle.seek(0)
        pids = {int(line) for line in handle.read().split() if Path(f"/proc/{line}").exists()}
        yield pids
        handle.seek(0)
        handle.truncate()
        handle.write("\n".join(map(str, sorted(pids))))


@pytest.fixture(scope="session")
def worker_bed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bed]:
    """A bed of this worker's own, as the test before left it."""
    with Bed.up(tmp_path_factory.mktemp("bed"), proxy=True) as bed:
        yield bed


@pytest.fixture
def bed(worker_bed: Bed) -> Bed:
    """An empty cluster of this worker's own."""
    worker_bed.reset()
    return worker_bed


@pytest.fixture(scope="session")
def shared_bed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bed]:
    """One bed for all workers."""
    root = tmp_path_factory.getbasetemp()
    with shared((root.parent if "PYTEST_XDIST_WORKER" in os.environ else root) / "shared-bed", proxy=True) as bed:
        yield bed


def _fault_options(fault: Mapping[str, str] | None) -> Sequence[str]:
    return [word for name, mode in (fault or {}).items() for word in ("--fault", f"{name}={mode}")]
