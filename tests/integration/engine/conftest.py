# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One bed for all tests of the engine; each test has a place of its own in it: a namespace, an API group and a set."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.testbed.fixtures import Bed

from .driver import Engine


@dataclass(frozen=True, slots=True)
class Place:
    """What a test may use: ``name`` is that of its namespace, its set and its cluster-scoped objects."""

    bed: Bed
    name: str
    engine: Engine
    proxied: Engine

    @property
    def group(self) -> str:
        """An API group of the test's own."""
        return f"{self.name}.example.org"


@pytest.fixture
def place(worker_bed: Bed, tmp_path: Path) -> Iterator[Place]:
    """A place for one test; afterwards nothing of it disturbs other tests."""
    worker_bed.clear_faults()
    name = f"t{uuid.uuid4().hex[:7]}"
    engine = Engine(worker_bed, tmp_path / "runs", name, worker_bed.kubeconfig)
    yield Place(worker_bed, name, engine, engine.through(worker_bed.kubeconfig_of("proxy")))
    worker_bed.clear_faults()
    for kind in ("validatingwebhookconfigurations", "mutatingwebhookconfigurations"):
        worker_bed.kubectl("delete", kind, name, "--ignore-not-found", "--wait=false")
