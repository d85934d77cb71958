# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs the engine as Ansible does: the module in a process of its own, fed with a file of rendered parts."""

from __future__ import annotations

import gzip
import hashlib
import json
import multiprocessing
import time
import uuid
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from multiprocessing.context import ForkProcess
from pathlib import Path
from typing import Any

import kubernetes.client  # noqa: F401  # pylint: disable=unused-import  # the client imports it at first use; see _FORK
import kubernetes.config  # noqa: F401  # pylint: disable=unused-import
from ansible_collections.kubeflow.platform.plugins.modules import kustomize_apply

from tests.integration.module_process import become_module
from tests.testbed.audit import AuditLog
from tests.testbed.fixtures import Bed

Object = dict[str, Any]
# Imports are most of a small run's CPU time, so they are done once: a run is a fork of the process that tests.
_FORK = multiprocessing.get_context("fork")
AGENT = "kubeflow.platform"
# What a run keeps for itself: no object of any set.
HOUSEKEEPING = frozenset({"leases"})


@dataclass(frozen=True, slots=True)
class Result:
    """How a run ended: the module's JSON, everything that it printed, and how long it took."""

    json: dict[str, Any]
    output: str
    progress: str
    seconds: float

    @property
    def failed(self) -> bool:
        return bool(self.json.get("failed"))

    @property
    def changed(self) -> bool:
        return bool(self.json.get("changed"))

    @property
    def message(self) -> str:
        return str(self.json.get("msg") or "")

    @property
    def counts(self) -> dict[str, int]:
        return dict(self.json.get("counts") or {})

    def actions(self) -> dict[str, str]:
        """Action by "Kind name"."""
        return {f"{row['kind']} {row['name']}": row["action"] for row in self.json["actions"]}

    def action(self, kind: str, name: str) -> Object:
        """The row of one object, {} when it is unchanged."""
        rows = [row for row in self.json["actions"] if (row["kind"], row["name"]) == (kind, name)]
        return rows[0] if rows else {}

    def failures(self) -> dict[str, Object]:
        """Rows of failed objects by "Kind name"."""
        return {f"{row['kind']} {row['name']}": row for row in self.json.get("failed_objects") or []}

    def all_text(self) -> str:
        """Whatever an operator could see."""
        return f"{json.dumps(self.json, ensure_ascii=False)}\n{self.output}\n{self.progress}"


@dataclass(slots=True)
class Running:
    """A run under way."""

    process: ForkProcess
    stem: Path
    begun: float

    @property
    def progress(self) -> str:
        """What the run has told so far."""
        return self.stem.with_suffix(".progress").read_text(encoding="utf-8")

    @property
    def alive(self) -> bool:
        return self.process.is_alive()

    def kill(self) -> None:
        """kill -9."""
        self.process.kill()
        self.process.join()

    def finish(self, timeout: float = 180) -> Result:
        """Waits for the end."""
        self.process.join(timeout)
        seconds = time.monotonic() - self.begun
        if self.alive:
            self.kill()
            raise AssertionError(f"the run did not end within {timeout:.0f} s:\n{self.progress}")
        output = self.stem.with_suffix(".output").read_text(encoding="utf-8")
        lines = [line for line in output.splitlines() if line.startswith("{")]
        if not lines:
            raise AssertionError(f"the module printed no JSON (exit code {self.process.exitcode}):\n{output}")
        found = json.loads(lines[-1])
        found.pop("invocation", None)
        return Result(found, output, self.progress, seconds)


def _child(arguments: Path, output: Path) -> None:
    """Be the module's process: Ansible starts it with the name of a file of arguments, and reads what it prints."""
    become_module("kustomize_apply", arguments, output)
    kustomize_apply.main()


@dataclass(slots=True)
class Part:
    """Objects of one component."""

    objects: Sequence[Object]
    name: str = "default"
    component: str = ""
    layer: str | None = None
    requires: Sequence[str] = ()


@dataclass(slots=True)
class Engine:
    """Runs of one set against one bed, seen through ``kubeconfig``."""

    bed: Bed
    folder: Path
    set_name: str
    kubeconfig: Path
    options: dict[str, Any] = field(default_factory=dict)

    def start(self, objects: Sequence[Object] | Sequence[Part], *, check: bool = False, diff: bool = False, **options: Any) -> Running:
        """Starts a run."""
        self.folder.mkdir(parents=True, exist_ok=True)
        stem = self.folder / uuid.uuid4().hex[:8]
        progress = stem.with_suffix(".progress")
        progress.touch(mode=0o600)
        parameters: dict[str, Any] = {
            "kubeconfig": str(self.kubeconfig),
            "parts_file": str(write_parts(stem.with_suffix(".parts"), objects)),
            "progress_file": str(progress),
            "set": self.set_name,
            "_ansible_check_mode": check,
            "_ansible_diff": diff,
            "_ansible_remote_tmp": str(self.folder),
            **self.options,
            **options,
        }
        arguments = stem.with_suffix(".json")
        arguments.write_text(json.dumps({"ANSIBLE_MODULE_ARGS": parameters}), encoding="utf-8")
        process = _FORK.Process(target=_child, args=(arguments, stem.with_suffix(".output")))
        process.start()
        return Running(process, stem, time.monotonic())

    def __call__(self, objects: Sequence[Object] | Sequence[Part], **options: Any) -> Result:
        """One run, from begin to end."""
        return self.start(objects, **options).finish()

    def succeeds(self, objects: Sequence[Object] | Sequence[Part], **options: Any) -> Result:
        """One run that must succeed."""
        result = self(objects, **options)
        assert not result.failed, f"{result.message}\n{json.dumps(result.json.get('failed_objects'), indent=1)}\n{result.output[-2000:]}"
        return result

    def fails(self, objects: Sequence[Object] | Sequence[Part], **options: Any) -> Result:
        """One run that must fail."""
        result = self(objects, **options)
        assert result.failed, f"the run succeeded: {result.counts}"
        return result

    def through(self, kubeconfig: Path) -> Engine:
        """The same set, by other credentials or another way."""
        return Engine(self.bed, self.folder, self.set_name, kubeconfig, self.options)


def write_parts(path: Path, objects: Sequence[Object] | Sequence[Part]) -> Path:
    """Write what the action plugin would have rendered."""
    parts = [part for part in objects if isinstance(part, Part)] or [Part([row for row in objects if isinstance(row, dict)])]
    document = {
        "format": 1,
        "parts": [
            {
                "name": part.name,
                "component": part.component or part.name,
                "layer": part.layer,
                "requires": list(part.requires),
                "objects": [{"object": row, "sha256": digest(row)} for row in part.objects],
            }
            for part in parts
        ],
        "warnings": [],
    }
    path.write_bytes(gzip.compress(json.dumps(document).encode(), compresslevel=1))
    return path


def digest(content: Object) -> str:
    """The hash that the parts file carries for an object."""
    return hashlib.sha256(json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()).hexdigest()


def persisted(log: AuditLog, *, ledger: bool = False) -> list[str]:
    """Accepted writes of the engine to objects of the set (with ``ledger``: to ledgers too)."""
    rows = log.by(agent=AGENT).writes(ignore=HOUSEKEEPING)
    return [
        str(row)
        for row in rows
        if row.namespace != "kubeflow-platform" and row.name != "kubeflow-platform" or (ledger and row.resource == "secrets")
    ]


def attempts(log: AuditLog, resource: str, name: str, *, dry_run: bool = False) -> int:
    """How often the engine sent one object for good (or as dry runs), whatever the answer."""
    return sum(
        row.resource == resource and row.name == name and row.verb == "patch" and row.dry_run == dry_run
        for row in log.by(agent=AGENT).requests
    )


def eventually(condition: Callable[[], Any], seconds: float = 30, pause: float = 0.2) -> Any:
    """The first true value of the condition, or its last value."""
    deadline = time.monotonic() + seconds
    while True:
        value = condition()
        if value or time.monotonic() > deadline:
            return value
        time.sleep(pause)


def named(objects: Iterable[Object], kind: str, name: str = "") -> Object:
    """One of the objects, to be changed by a test."""
    return next(row for row in objects if row["kind"] == kind and (not name or row["metadata"]["name"] == name))
