# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A run that is killed anywhere, followed by another, ends as one that was left alone; and only one run writes at a time."""

from __future__ import annotations

import base64
import gzip
import json
import os
import random
import signal
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from . import objects
from .conftest import Place
from .driver import Engine, eventually, persisted

LEASE_DURATION = 30
# What may differ between two clusters that are as desired.
VOLATILE = frozenset(
    {"uid", "resourceVersion", "creationTimestamp", "generation", "time", "clusterIP", "clusterIPs", "caBundle", "selfLink"}
)
KINDS = "configmaps,secrets,serviceaccounts,services,deployments,roles,rolebindings,persistentvolumeclaims"


def plain(value: Any, place: Place) -> Any:
    """A value without what may differ, and with the test's own names replaced."""
    if isinstance(value, dict):
        return {plain(key, place): plain(item, place) for key, item in value.items() if key not in VOLATILE and key != "status"}
    if isinstance(value, list):
        return [plain(item, place) for item in value]
    return value.replace(place.name, "PLACE") if isinstance(value, str) else value


def cluster(place: Place, kinds: str = "") -> dict[str, Any]:
    """All live objects of the place, comparable; of managedFields only the engine's own."""
    found = {}
    queries = [
        (KINDS, "-n", place.name),
        (f"widgets.{place.group},gadgets.{place.group}", "-n", place.name),
        (f"crd/widgets.{place.group}",),
        (f"crd/gadgets.{place.group}",),
        (f"validatingwebhookconfiguration/{place.name}",),
        (f"namespace/{place.name}",),
    ]
    for query in [(kinds, "-n", place.name)] if kinds else queries:
        answer = json.loads(place.bed.kubectl("get", *query, "--show-managed-fields", "-o", "json").stdout)
        for row in answer.get("items") or [answer]:
            metadata = row["metadata"]
            if metadata["name"] in ("kube-root-ca.crt", "default"):
                continue
            metadata["managedFields"] = [entry for entry in metadata.get("managedFields") or [] if entry["manager"] == "kubeflow.platform"]
            metadata.get("annotations", {}).pop("deployment.kubernetes.io/revision", None)
            for noise in ("volume.beta.kubernetes.io/storage-provisioner", "volume.kubernetes.io/storage-provisioner"):
                metadata.get("annotations", {}).pop(noise, None)
            metadata["finalizers"] = []
            found[plain(f"{row['kind']} {metadata['name']}", place)] = plain(row, place)
    return found


def ledger(place: Place) -> dict[str, Any]:
    """The ledger, but for uids, run ids and keys that hold times."""
    secret = place.bed.get("secret", f"ledger-{place.name}", "-n", "kubeflow-platform")
    document = json.loads(gzip.decompress(base64.b64decode(secret["data"]["ledger"])))
    rows = [[*entry[:5], bool(entry[6]), bool(entry[7]), *entry[9:]] for entry in document.pop("entries")]
    document.pop("run")
    return {**plain(document, place), "entries": sorted(plain(row, place) for row in rows)}


def digests(entries: list[list[Any]]) -> list[list[Any]]:
    """Without the hashes of desired objects, which hold the place's name."""
    return [row[:5] + row[6:] for row in entries]


def alike(first: Place, second: Place, kinds: str = "") -> None:
    """Fails unless both places ended in the same state."""
    one, other = cluster(first, kinds), cluster(second, kinds)
    assert one.keys() == other.keys()
    for key in one:
        assert one[key] == other[key], key
    left, right = ledger(first), ledger(second)
    assert digests(left.pop("entries")) == digests(right.pop("entries"))
    assert left == right


@pytest.fixture
def twin(place: Place) -> Iterator[Place]:
    """A second place, for the run that is left alone."""
    name = f"{place.name}u"
    engine = Engine(place.bed, place.engine.folder, name, place.bed.kubeconfig)
    yield Place(place.bed, name, engine, engine)
    place.bed.kubectl("delete", "validatingwebhookconfigurations", name, "--ignore-not-found", "--wait=false")


def requests(place: Place) -> int:
    """How many requests the proxy has seen since its log began."""
    path = place.bed.folder / "proxy.log"
    return len(path.read_bytes().splitlines()) if path.exists() else 0


def kill(place: Place, rows: list[objects.Object], at: int, **options: Any) -> bool:
    """A run that is killed at its ``at``th request; False when it had ended before."""
    place.bed.proxy({"log": True, "latency_ms": 5})
    begun = requests(place)
    run = place.proxied.start(rows, **options)
    while run.alive and requests(place) - begun < at:
        time.sleep(0.001)
    alive = run.alive
    run.kill()
    place.bed.proxy({})
    return alive


def neighbours(place: Place, count: int) -> list[Place]:
    """Further places, for runs side by side."""
    found = []
    for number in range(count):
        name = f"{place.name}n{number}"
        engine = Engine(place.bed, place.engine.folder, name, place.bed.kubeconfig)
        found.append(Place(place.bed, name, engine, engine.through(place.bed.kubeconfig_of("proxy"))))
    return found


def forget(place: Place) -> None:
    """Remove what would disturb others, or fill the cluster."""
    place.bed.kubectl("delete", "validatingwebhookconfigurations", place.name, "--ignore-not-found", "--wait=false")
    place.bed.kubectl("delete", "crd", f"widgets.{place.group}", f"gadgets.{place.group}", "--ignore-not-found", "--wait=false")
    place.bed.kubectl("delete", "namespace", place.name, "--ignore-not-found", "--wait=false")


def bury(place: Place) -> None:
    """Take the dead run's Lease from it, so that the next need not wait for its end."""
    lease = ("lease", f"apply-{place.name}", "-n", "kubeflow-platform")
    place.bed.kubectl("patch", *lease, "--type=merge", "-p", '{"spec": {"holderIdentity": ""}}', check=False)


def finish(places: list[Place], rows: Callable[[Place], list[objects.Object]], *, wait: bool = False, **options: Any) -> None:
    """Run all again side by side: each leaves nothing to do. With ``wait`` they wait for the dead runs' Leases, and no longer."""
    if not wait:
        for one in places:
            bury(one)
    runs = [one.engine.start(rows(one), **options) for one in places]
    for run in runs:
        result = run.finish()
        assert not result.failed, result.message
        assert result.json["timeline"]["compared"] < LEASE_DURATION + 15, "it waits for the dead run's Lease, and for nothing else"
    for one in places:
        assert not one.engine.succeeds(rows(one), **options).changed


def platform(place: Place) -> list[objects.Object]:
    return objects.platform(place.name, place.group)


def upgraded(place: Place) -> list[objects.Object]:
    """The platform's next version: one object changed, one recreated, one gone, one new."""
    rows = [row for row in objects.platform(place.name, place.group) if row["metadata"]["name"] != "plain-4"]
    for row in rows:
        if row["metadata"]["name"] == "settings":
            row["data"] = {"key": "new"}
        if row["kind"] == "Deployment" and row["metadata"]["name"] == "app":
            row["spec"]["selector"]["matchLabels"] = {"app": "app", "made": "anew"}
            row["spec"]["template"]["metadata"]["labels"]["made"] = "anew"
    return [*rows, objects.config_map(place.name, "brand-new")]


UPGRADE = {"recreate": ["Deployment"], "prune": "delete"}


@pytest.mark.soak
def test_run_that_slept_through_its_lease_writes_nothing_more(place: Place) -> None:
    """Frozen in the middle, overtaken by another run, then woken: what it had sent may arrive, nothing else follows."""
    rows = [objects.namespace(place.name), *objects.config_maps(place.name, 40)]
    place.bed.proxy({"latency_ms": 80})
    before = place.bed.audit().end
    first = place.proxied.start(rows, workers=2)
    assert eventually(lambda: len(persisted(place.bed.audit(before))) >= 5, 30, 0.02)
    os.kill(first.process.pid or 0, signal.SIGSTOP)
    place.bed.proxy({})
    second = place.engine.succeeds(rows, lease_timeout=60)
    assert second.changed
    between = place.bed.audit().end
    os.kill(first.process.pid or 0, signal.SIGCONT)
    result = first.finish()
    assert result.failed
    assert "another run" in result.message or "Lease" in result.message
    assert len(persisted(place.bed.audit(between))) <= 2
    assert not place.engine.succeeds(rows).changed


@pytest.fixture
def length(twin: Place) -> int:
    """How many requests an install that is left alone sends."""
    place = Place(twin.bed, twin.name, twin.engine, twin.engine.through(twin.bed.kubeconfig_of("proxy")))
    place.bed.proxy({"log": True})
    begun = requests(place)
    place.proxied.succeeds(platform(place))
    place.bed.proxy({})
    return requests(place) - begun


def test_runs_that_are_killed_anywhere_are_finished_by_the_next(place: Place, twin: Place, length: int) -> None:
    chance = random.Random(place.name)
    places = neighbours(place, 5)
    for number, one in enumerate(places):
        # One in each fifth of the run: from the Lease over the first write to the wait.
        at = int(length * (number + chance.random()) / 5) + 1
        assert kill(one, platform(one), at) or number == 4, at
    finish(places, platform, wait=True)
    for one in places:
        alike(one, twin)
        forget(one)


def test_upgrades_that_are_killed_anywhere_are_finished_by_the_next(place: Place, twin: Place) -> None:
    places = neighbours(place, 3)
    for one in (*places, twin):
        one.engine.succeeds(platform(one))
    result = twin.engine.succeeds(upgraded(twin), **UPGRADE)
    assert result.counts == {"configure": 1, "create": 1, "prune": 1, "recreate": 1, "unchanged": len(platform(twin)) - 3}
    length = sum(result.json["requests"].values())
    for number, one in enumerate(places):
        kill(one, upgraded(one), int(length * (number + 2) / 5), **UPGRADE)
    finish(places, upgraded, **UPGRADE)
    for one in places:
        alike(one, twin)
        forget(one)


def test_adoptions_that_are_killed_anywhere_are_finished_by_the_next(place: Place, twin: Place) -> None:
    """A run that dies between taking over an object's fields and applying it must not lose either."""
    places = neighbours(place, 3)
    for one in (*places, twin):
        rows = [objects.namespace(one.name), *objects.config_maps(one.name, 8), objects.deployment(one.name, "app")]
        rows[1]["data"]["stale"] = "of an older release"
        one.bed.kubectl("apply", "--server-side", "-f", "-", stdin="\n---\n".join(map(json.dumps, rows)))

    def rows(one: Place) -> list[objects.Object]:
        return [objects.namespace(one.name), *objects.config_maps(one.name, 8), objects.deployment(one.name, "app")]

    result = twin.engine.succeeds(rows(twin), adopt="allow")
    assert result.counts == {"adopt": 9, "configure": 1}
    length = sum(result.json["requests"].values())
    for number, one in enumerate(places):
        kill(one, rows(one), int(length * (number + 2.5) / 6), adopt="allow")
    finish(places, rows, adopt="allow")
    for one in places:
        alike(one, twin, kinds=KINDS)
        forget(one)


@pytest.mark.soak
def test_runs_that_are_killed_at_a_hundred_requests_are_finished_by_the_next(place: Place, twin: Place, length: int) -> None:
    chance = random.Random(20261130)
    for turn in range(10):
        rows = neighbours(Place(place.bed, f"{place.name}x{turn}", place.engine, place.proxied), 10)
        for one in rows:
            kill(one, platform(one), chance.randrange(1, length))
        finish(rows, platform)
        for one in rows:
            alike(one, twin)
            forget(one)


def test_second_run_waits_for_the_first_then_fails_naming_its_holder(place: Place) -> None:
    rows = [objects.namespace(place.name), objects.deployment(place.name, "app")]
    rows[1]["spec"]["template"]["metadata"]["annotations"]["testbed.kubeflow.platform/ready-after"] = "9s"
    first = place.engine.start(rows)
    assert eventually(lambda: "to be ready" in first.progress, 30, 0.1)
    before = place.bed.audit().end
    second = place.engine.fails([*rows, objects.config_map(place.name, "more")], lease_timeout=2)
    holder = place.bed.get("lease", f"apply-{place.name}", "-n", "kubeflow-platform")["spec"]["holderIdentity"]
    assert holder
    assert holder in second.message
    assert "lease_timeout" in second.message
    assert not any("more" in row for row in persisted(place.bed.audit(before)))
    third = place.engine.succeeds(rows, lease_timeout=30)
    assert not third.changed, "it waited for the first to end"
    assert not first.finish().failed


def test_runs_of_two_sets_do_not_wait_for_each_other(place: Place, twin: Place) -> None:
    runs = [one.engine.start(objects.platform(one.name, one.group)) for one in (place, twin)]
    assert [run.finish().message for run in runs] == ["", ""]


def test_object_of_another_set_is_refused_before_any_write(place: Place, twin: Place) -> None:
    rows = [objects.namespace(place.name), objects.config_map(place.name, "shared")]
    place.engine.succeeds(rows)
    before = place.bed.audit().end
    result = twin.engine.fails([objects.config_map(place.name, "shared", key="other")], adopt="allow")
    assert f"belongs to the set {place.name}" in result.message
    assert persisted(place.bed.audit(before), ledger=True) == []
