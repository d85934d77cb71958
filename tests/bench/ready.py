# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""When does the platform stand? One answer for all ways to install it.

It does when (1) every object of the render exists, (2) every kind of its CRDs is served, (3) every Deployment, StatefulSet and DaemonSet
of the cluster runs all of its newest pods and every claim is bound, and (4) every webhook answers: a dry run that it must see gets through.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from tests.bench.cluster import Cluster, Object
from tests.bench.probes import Probes

POLL = 0.5


@dataclass
class Verdict:
    """What is still in the way; `unproven` are webhooks that no request of the judge reaches, whose server answers though."""

    missing: list[str] = field(default_factory=list)
    unready: list[str] = field(default_factory=list)
    silent: list[str] = field(default_factory=list)
    unproven: list[str] = field(default_factory=list)

    @property
    def ready(self) -> bool:
        """Whether the platform stands."""
        return not (self.missing or self.unready or self.silent)

    def text(self) -> str:
        """The first reasons, for a person who waits."""
        return "; ".join([*self.missing[:3], *self.unready[:3], *self.silent[:3]]) or "ready"


class Judge:
    """Judges one cluster by the objects that a render asks for."""

    def __init__(self, cluster: Cluster, wanted: Iterable[Object]) -> None:
        self.cluster = cluster
        self.wanted = list(wanted)

    def look(self) -> Verdict:
        """One look, cheap things first: the next is not asked before the last one holds."""
        verdict = Verdict(unready=_unready(self.cluster))
        if verdict.ready:
            self.cluster.discover()
            verdict.missing = _missing(self.cluster, self.wanted)
        if verdict.ready:
            verdict.silent, verdict.unproven = Probes(self.cluster).run()
        return verdict

    def wait(self, patience: float) -> tuple[float, Verdict]:
        """The seconds, from now, until the beginning of the first look that found the platform standing."""
        start = time.monotonic()
        while True:
            began = time.monotonic() - start
            verdict = self.look()
            if verdict.ready:
                return began, verdict
            if began > patience:
                raise TimeoutError(f"not ready after {patience:.0f} s: {verdict.text()}")
            time.sleep(POLL)


def _unready(cluster: Cluster) -> list[str]:
    found = []
    for plural in ("deployments", "statefulsets", "daemonsets"):
        for item in cluster.items(f"/apis/apps/v1/{plural}"):
            if not _runs(plural, item):
                found.append(f"{plural[:-1]} {item['metadata']['namespace']}/{item['metadata']['name']} is not ready")
    for item in cluster.items("/api/v1/persistentvolumeclaims"):
        if (item.get("status") or {}).get("phase") != "Bound":
            found.append(f"claim {item['metadata']['namespace']}/{item['metadata']['name']} is not bound")
    return found


def _runs(plural: str, item: Object) -> bool:
    status = item.get("status") or {}
    if status.get("observedGeneration", 0) < item["metadata"]["generation"]:
        return False
    if plural == "daemonsets":
        wanted = status.get("desiredNumberScheduled", 0)
        numbers = [status.get("updatedNumberScheduled", 0), status.get("numberAvailable", 0)]
    else:
        wanted = item["spec"].get("replicas", 1)
        numbers = [status.get(name, 0) for name in ("replicas", "updatedReplicas", "readyReplicas", "availableReplicas")]
    return all(number == wanted for number in numbers)


def _missing(cluster: Cluster, wanted: list[Object]) -> list[str]:
    groups: dict[tuple[str, str, str], list[Object]] = defaultdict(list)
    for thing in wanted:
        group, unused, version = thing["apiVersion"].rpartition("/")
        groups[group, version, thing["kind"]].append(thing)
        if thing["kind"] == "CustomResourceDefinition":
            spec = thing["spec"]
            served = [entry["name"] for entry in spec["versions"] if entry["served"]]
            for name in served:
                groups[spec["group"], name, spec["names"]["kind"]].extend(())
    found = []
    for (group, version, kind), things in groups.items():
        resource = cluster.resource(group, version, kind)
        if resource is None:
            found.append(f"kind {kind} of {group}/{version} is not served")
            continue
        listed = cluster.items(resource.path(), metadata=True) if things else []
        present = {(item["metadata"].get("namespace", ""), item["metadata"]["name"]) for item in listed}
        for thing in things:
            namespace = thing["metadata"].get("namespace", "") if resource.namespaced else ""
            if (namespace, thing["metadata"]["name"]) not in present:
                found.append(f"{kind} {namespace}/{thing['metadata']['name']} does not exist")
    return found
