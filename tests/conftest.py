"""Fixtures that every test may use: real distributions, and the test bed once it is asked for.

Tests that need a real distribution take it from the folder that `KUBEFLOW_DISTRIBUTIONS` names. Without the variable
they are left out, and the closing summary says how many; with it a missing file is a failure, never a skip.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import tarfile
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import settings

VARIABLE = "KUBEFLOW_DISTRIBUTIONS"
LEFT_OUT = f"{VARIABLE} is not set"

# A change must not fail for what chance found elsewhere, nor for a busy machine; `make soak` searches on.
settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.register_profile("searching", deadline=None, max_examples=1000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE") or "repeatable")

pytest_plugins = ["tests.testbed.fixtures"] if (Path(__file__).parent / "testbed" / "fixtures.py").exists() else []


def cache_root() -> Path:
    """Where things that are expensive to make are kept; `tests/tools/run` sets the variable."""
    chosen = os.environ.get("KUBEFLOW_PLATFORM_CACHE")
    return Path(chosen) if chosen else Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "kubeflow-platform"


def unpack(archive: Path) -> Path:
    """The folder with the content of `archive`, unpacked once per content and shared: read it, never write to it."""
    target = cache_root() / "distributions" / hashlib.sha256(archive.read_bytes()).hexdigest()[:16]
    target.parent.mkdir(parents=True, exist_ok=True)
    with open(target.with_name(target.name + ".lock"), "w", encoding="utf-8") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        if not target.exists():
            part = target.with_name(target.name + ".part")
            shutil.rmtree(part, ignore_errors=True)
            with tarfile.open(archive) as opened:
                # Python 3.11.2 (Debian 12) has no filters yet.
                opened.extractall(part, **({"filter": "data"} if hasattr(tarfile, "data_filter") else {}))  # type: ignore[arg-type]
            part.rename(target)
    return target


@dataclass(frozen=True)
class Distributions:
    """Real distributions on disk: `community-distribution-<release>.tar.xz` each, and `remote-bases.tar.xz`."""

    folder: Path | None

    def archive(self, release: str) -> Path:
        """The archive of a release: "26.03.1", "1.10.2"."""
        names = [f"community-distribution-{prefix}{release}.tar.xz" for prefix in ("", "v")]
        return self._file(*names)

    def tree(self, release: str) -> Path:
        """The unpacked tree of a release, as upstream ships it (with its remote references). Never write to it."""
        (inside,) = (path for path in unpack(self.archive(release)).iterdir() if path.is_dir())
        return inside

    def remote_bases_archive(self) -> Path:
        """The archive of what the trees fetch from the network."""
        return self._file("remote-bases.tar.xz")

    def remote_bases(self) -> Path:
        """The unpacked folder of what the trees fetch from the network: `git/…` and `github.com/…` in it."""
        return unpack(self.remote_bases_archive()) / "remote"

    def _file(self, *names: str) -> Path:
        if self.folder is None:
            pytest.skip(LEFT_OUT)
        for name in names:
            if (self.folder / name).is_file():
                return self.folder / name
        pytest.fail(f"{VARIABLE} is set to {self.folder}, but there is no {names[0]}")


@pytest.fixture(scope="session")
def distributions() -> Distributions:
    """Real distributions; a test that asks for one that cannot be had is left out or fails, as the module says."""
    named = os.environ.get(VARIABLE)
    return Distributions(Path(named).expanduser().resolve() if named else None)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say how many tests were left out for want of real distributions."""
    skipped = [report for report in terminalreporter.stats.get("skipped", []) if LEFT_OUT in str(report.longrepr)]
    if skipped:
        terminalreporter.write_line(
            f"{len(skipped)} tests need real distributions and were left out: {VARIABLE} names no folder with them.", yellow=True, bold=True
        )


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what needs a test bed or a real distribution by the fixtures that it asks for."""
    needs = {"bed": {"bed", "worker_bed", "shared_bed"}, "distribution": {"distributions"}}
    for item in items:
        for marker, fixtures in needs.items():
            if fixtures & set(getattr(item, "fixturenames", ())):
                item.add_marker(marker)
