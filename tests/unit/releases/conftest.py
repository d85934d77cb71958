# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Workshops of the releases: the newest one for every run, the others for a search of hours."""

from __future__ import annotations

import pytest

from tests.conftest import Distributions
from tests.unit.releases.variants import Workshop

NEWEST = "26.03.1"
OLDER = [pytest.param(release, marks=pytest.mark.soak) for release in ("1.8.1", "1.10.2", "1.11.0", "26.03")]


@pytest.fixture(scope="session")
def newest(distributions: Distributions) -> Workshop:
    """The newest release."""
    return Workshop.of(NEWEST, distributions)


@pytest.fixture(scope="module", params=[NEWEST, *OLDER])
def shop(request: pytest.FixtureRequest, distributions: Distributions) -> Workshop:
    """Every release that the collection knows; the newest one only in a short run."""
    if request.param == NEWEST:
        return request.getfixturevalue("newest")
    return Workshop.of(request.param, distributions)
