# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""All faults at once, by chance but repeatably: whatever happens, runs tell the truth, and once faults end all is as desired."""

from __future__ import annotations

import random
import time
from typing import Any

import pytest

from . import objects
from .conftest import Place
from .driver import Running, persisted


def rules(chance: random.Random) -> list[dict[str, Any]]:
    """A few faults of the way between, each hitting now and then."""
    kinds: list[dict[str, Any]] = [
        {"status": 429, "retry_after": 1},
        {"status": 503},
        {"status": 409, "message": "the object has been modified"},
        {"action": "reset"},
        {"action": "lose-answer"},
        {"action": "cut-body"},
        {"action": "latency", "ms": 400},
    ]
    chosen = chance.sample(kinds, 3)
    return [{"agent": "kubeflow.platform", "every": chance.randrange(5, 12), "times": 6, **rule} for rule in chosen]


def disturb(place: Place, run: Running, chance: random.Random) -> None:
    """One of: nothing, a kill of the run, a kill of the API server."""
    what = chance.choice(["nothing", "kill", "server"])
    until = time.monotonic() + chance.uniform(0.2, 2.5)
    while run.alive and time.monotonic() < until:
        time.sleep(0.01)
    if what == "kill":
        run.kill()
    elif what == "server":
        place.bed.kill("kube-apiserver")
        place.bed.restart("kube-apiserver")


def storm(place: Place, seed: int) -> None:
    chance = random.Random(seed)
    rows = objects.platform(place.name, place.group)
    place.bed.fault(f"{place.name}/judge", "late", chance.randrange(0, 5))
    place.bed.fault(f"ca:{place.name}/judge", "late", chance.randrange(0, 4))
    place.bed.proxy({"rules": rules(chance), "late_discovery": {"seconds": chance.randrange(0, 4), "groups": [place.group]}})
    before = place.bed.audit().end
    run = place.proxied.start(rows, workers=chance.choice([1, 4, 16]), run_timeout=90)
    disturb(place, run, chance)
    first = run.finish() if run.process.exitcode is None or run.process.exitcode >= 0 else None
    if first is not None and not first.failed:
        assert first.changed == bool(persisted(place.bed.audit(before)))
    place.bed.clear_faults()
    result = place.engine.succeeds(rows)
    assert set(result.counts) <= {"create", "configure", "adopt", "unchanged"}
    before = place.bed.audit().end
    again = place.engine.succeeds(rows)
    assert not again.changed
    assert persisted(place.bed.audit(before)) == []


def test_storm_is_weathered(place: Place) -> None:
    storm(place, 7)


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(20))
def test_storms_of_every_kind_are_weathered(place: Place, seed: int) -> None:
    storm(place, seed)
