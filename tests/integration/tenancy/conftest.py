# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A bed with what tenants need of a platform: kinds, configuration, the profile controller and the pipelines' one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration.tenancy.driver import Platform
from tests.testbed.fixtures import Bed


@pytest.fixture(scope="session")
def prepared_bed(worker_bed: Bed, tmp_path_factory: pytest.TempPathFactory) -> Platform:
    """The platform, once for all tests of a worker: each test uses tenants of its own."""
    worker_bed.reset()
    platform = Platform(worker_bed, tmp_path_factory.mktemp("tenancy"))
    platform.install()
    return platform


@pytest.fixture
def platform(prepared_bed: Platform, tmp_path: Path) -> Iterator[Platform]:
    """The platform without faults."""
    prepared_bed.bed.clear_faults()
    yield Platform(prepared_bed.bed, tmp_path)
    prepared_bed.bed.clear_faults()
