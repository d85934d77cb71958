# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Many tenants: what a run costs grows with what differs, not with what there is."""

from __future__ import annotations

import math
from typing import Any

import pytest

from tests.integration.tenancy.driver import Platform, Result

pytestmark = pytest.mark.bed
PAGE = 500


def people(count: int, start: int = 0) -> list[dict[str, Any]]:
    """Profiles with five contributors each."""
    return [
        {
            "name": f"many-{number:04d}",
            "owner": {"name": f"owner{number}@example.com"},
            "contributors": [{"name": f"person{number}x{which}@example.com", "role": "edit"} for which in range(5)],
        }
        for number in range(start, start + count)
    ]


def pages(platform: Platform) -> int:
    """How many more pages than lists one look at all tenants takes."""
    kinds = ("profiles", "namespaces", "rolebindings", "authorizationpolicies")
    return sum(math.ceil(len(platform.bed.get(kind, "-A")["items"]) / PAGE) for kind in kinds) + 8 * 2


def requests(result: Result) -> int:
    """All requests of a run."""
    return sum(result.json["requests"].values())


def test_an_unchanged_run_takes_one_list_of_each_kind_however_many_tenants_there_are(platform: Platform) -> None:
    data = people(12)
    platform.succeeds("profiles", profiles=data)
    start = platform.now
    again = platform.succeeds("profiles", profiles=data)
    assert not again.changed
    assert requests(again) <= 20
    assert platform.audit(start).writes() == []
    more = platform.succeeds("profiles", profiles=[*data, *people(1, 12)])
    assert more.json["counts"] == {"create": 11}


@pytest.mark.soak
def test_a_thousand_tenants_with_five_contributors_stay_within_their_bounds(platform: Platform) -> None:
    small = platform.succeeds("profiles", profiles=people(1))
    data = people(1000)
    figures = []
    first = platform.succeeds("profiles", profiles=data, wait_timeout=1200, limit=1300)
    figures.append(("first run", first))
    again = platform.succeeds("profiles", profiles=data)
    figures.append(("unchanged run", again))
    for name, result in figures:
        kept = (result.memory - small.memory) / 1000
        print(f"{name}: {result.seconds:.1f} s, {result.cpu:.1f} s of CPU, {requests(result)} requests, {kept:.0f} kB a tenant")
    assert first.changed
    assert first.cpu < 0.3 * first.seconds, f"{first.cpu:.1f} s of CPU in {first.seconds:.1f} s"
    assert (first.memory - small.memory) / 1000 < 50, f"{first.memory - small.memory} kB more for 999 tenants more"
    assert not again.changed
    assert again.seconds <= 3, f"{again.seconds:.1f} s"
    assert requests(again) < 20 + pages(platform), again.json["requests"]
    assert (again.memory - small.memory) / 1000 < 50, f"{again.memory - small.memory} kB more for 999 tenants more"
