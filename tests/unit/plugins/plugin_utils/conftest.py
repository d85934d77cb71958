# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.unit.small_records import write_records


@pytest.fixture
def records(tmp_path: Path) -> Callable[..., Path]:
    """Writes records of a small collection; gives its root."""

    def write(*releases: dict[str, str], options: dict[str, dict[str, object]] | None = None, **components: str) -> Path:
        return write_records(tmp_path, *releases, options=options, **components)

    return write
