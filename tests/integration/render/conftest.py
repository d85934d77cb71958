# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The real kustomize."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.testbed.bed.build import binaries


@pytest.fixture(scope="session")
def kustomize() -> str:
    """kustomize 5.8.1: the one that KUBEFLOW_KUSTOMIZE names, else the test bed's, which is built at first use."""
    given = os.environ.get("KUBEFLOW_KUSTOMIZE")
    return given or str(binaries(["kustomize-5.8.1"])["kustomize-5.8.1"])


@pytest.fixture
def work_dir(tmp_path: Path) -> Path:
    """A cache of the test's own."""
    return tmp_path / "work"
