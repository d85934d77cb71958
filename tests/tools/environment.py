"""Make the development environment where it is missing, then run a command in it.

Everything lives outside the checkout, under one folder (`KUBEFLOW_PLATFORM_CACHE`, by default
`~/.cache/kubeflow-platform`), keyed by content, so a second checkout or a second run finds it ready:

    venvs/<key>             a virtual environment; the key covers the lock file and the interpreter
    collections/<key>       kubernetes.core, taken from the wheel of the `ansible` package
    trees/<checkout>        ansible_collections/kubeflow/platform -> the checkout, kubernetes/core beside it

Only the standard library is used: this runs before anything is installed.
"""

from __future__ import annotations

import argparse
import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

TOOLS = Path(__file__).resolve().parent
CHECKOUT = TOOLS.parent.parent
CORE_VERSIONS = ("2.18", "2.19", "2.20")


def cache_root() -> Path:
    """The folder that holds everything expensive; shared by all checkouts of one user."""
    chosen = os.environ.get("KUBEFLOW_PLATFORM_CACHE")
    if chosen:
        return Path(chosen).expanduser().resolve()
    base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(base).expanduser() / "kubeflow-platform"


def key_of(*parts: bytes) -> str:
    """A short name for content."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(len(part).to_bytes(8, "big") + part)
    return digest.hexdigest()[:16]


def say(text: str) -> None:
    """Tell the person who waits; never on stdout, which belongs to the command."""
    sys.stderr.write(text + "\n")
    sys.stderr.flush()


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Let one process at a time make what `path` names."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path.with_name(path.name + ".lock"), "w", encoding="utf-8") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def pip(python: Path | str, *arguments: str) -> None:
    """Run pip quietly; show what it said only when it failed."""
    command = [str(python), "-m", "pip", "--disable-pip-version-check", *arguments]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode:
        sys.exit(f"{done.stdout}\nFailed to run {' '.join(command)}: exit code {done.returncode}")


def virtual_environment(locks: list[Path]) -> Path:
    """The folder of a complete virtual environment with these lock files installed, in this order."""
    interpreter = os.path.realpath(sys.executable)
    key = key_of(*(lock.read_bytes() for lock in locks), interpreter.encode(), sys.version.encode())
    folder = cache_root() / "venvs" / key
    complete = folder / "complete"
    if complete.exists():
        complete.touch()
        return folder
    with locked(folder):
        if complete.exists():
            return folder
        started = time.monotonic()
        names = " + ".join(lock.name for lock in locks)
        say(f"Installing {names} for Python {sys.version.split()[0]} (about a minute, once)")
        shutil.rmtree(folder, ignore_errors=True)
        subprocess.run([interpreter, "-m", "venv", str(folder)], check=True)
        for position, lock in enumerate(locks):
            # A later lock replaces packages of an earlier one, whose pins it would contradict.
            extra = ["--no-deps", "--force-reinstall"] if position else []
            pip(folder / "bin" / "python", "install", "--quiet", "--require-hashes", *extra, "-r", str(lock))
        complete.touch()
        forget_unused(folder.parent)
        say(f"Installed in {time.monotonic() - started:.0f} s")
    return folder


def forget_unused(environments: Path) -> None:
    """Remove environments that nobody asked for in a month: older locks and interpreters leave them behind."""
    for complete in environments.glob("*/complete"):
        if time.time() - complete.stat().st_mtime > 30 * 24 * 3600:
            shutil.rmtree(complete.parent, ignore_errors=True)


def kubernetes_core() -> Path:
    """The folder of kubernetes.core, extracted from a wheel whose hash is checked."""
    lock = TOOLS / "kubernetes-core.txt"
    folder = cache_root() / "collections" / key_of(lock.read_bytes())
    core = folder / "ansible_collections" / "kubernetes" / "core"
    if core.exists():
        return core
    with locked(folder), tempfile.TemporaryDirectory() as download:
        if core.exists():
            return core
        say("Fetching kubernetes.core")
        # The wheel asks for a newer Python than the one that may run this; only its data is wanted.
        python = ["--only-binary=:all:", "--python-version", "3.13"]
        pip(sys.executable, "download", "--quiet", "--no-deps", "--require-hashes", *python, "-d", download, "-r", str(lock))
        part = folder.with_name(folder.name + ".part")
        shutil.rmtree(part, ignore_errors=True)
        (wheel,) = Path(download).glob("*.whl")
        with zipfile.ZipFile(wheel) as archive:
            wanted = [name for name in archive.namelist() if name.startswith("ansible_collections/kubernetes/core/")]
            archive.extractall(part, wanted)
        shutil.rmtree(folder, ignore_errors=True)
        part.rename(folder)
    return core


def link(path: Path, target: Path) -> None:
    """Make `path` a symbolic link to `target`."""
    if path.is_symlink() and os.readlink(path) == str(target):
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(f"{path.name}.{os.getpid()}")
    fresh.symlink_to(target)
    fresh.replace(path)


def tree() -> Path:
    """A folder that Ansible can search: `ansible_collections` with this checkout and what it depends on."""
    folder = cache_root() / "trees" / key_of(str(CHECKOUT).encode())
    link(folder / "ansible_collections" / "kubeflow" / "platform", CHECKOUT)
    link(folder / "ansible_collections" / "kubernetes" / "core", kubernetes_core())
    return folder


def variables(venv: Path, collections: Path) -> dict[str, str]:
    """The environment of a command: this virtual environment, this tree, and nothing of the user's own Ansible."""
    inherited = {name: value for name, value in os.environ.items() if name not in ("PYTHONHOME", "ANSIBLE_COLLECTIONS_PATHS")}
    return {
        **inherited,
        "PATH": f"{venv / 'bin'}{os.pathsep}{os.environ.get('PATH', os.defpath)}",
        "VIRTUAL_ENV": str(venv),
        "PYTHONPATH": str(collections),
        "ANSIBLE_COLLECTIONS_PATH": str(collections),
        "ANSIBLE_HOME": str(cache_root() / "ansible"),
        "KUBEFLOW_PLATFORM_CACHE": str(cache_root()),
        # So that commands which are suggested can be typed in the checkout as they stand.
        "KUBEFLOW_PLATFORM_LAUNCHER": str(TOOLS / "run"),
    }


def arguments() -> argparse.Namespace:
    """What the command line asks for."""
    parser = argparse.ArgumentParser(prog="tests/tools/run", description="Run a command in the development environment.")
    parser.add_argument("--python", metavar="X.Y", help="use this minor version of Python (--python=3.11)")
    parser.add_argument("--core", choices=CORE_VERSIONS, help="use this ansible-core instead of the locked one")
    parser.add_argument("--importer", action="store_true", help="use the environment of galaxy-importer")
    parser.add_argument("command", nargs=argparse.REMAINDER, help="without a command the environment is only made, and its path printed")
    return parser.parse_args()


def main() -> None:
    """Make the environment and become the command."""
    options = arguments()
    locks = [CHECKOUT / ("requirements-importer.txt" if options.importer else "requirements-dev.txt")]
    if options.core:
        locks.append(TOOLS / f"ansible-core-{options.core}.txt")
    venv = virtual_environment(locks)
    environment = variables(venv, tree())
    if not options.command:
        sys.stdout.write(f"{venv}\n")
        return
    program = shutil.which(options.command[0], path=environment["PATH"])
    if program is None:
        sys.exit(f"Failed to run {options.command[0]}: no such program")
    os.execve(program, options.command, environment)


if __name__ == "__main__":
    main()
