# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Looking whether a gate holds. A look never persists anything; its answer is a reason, and the empty reason means open."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ansible_collections.kubeflow.platform.plugins.module_utils.apply import probes
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.explain import missing
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.flow import Answer
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.gates import Gate, culprit
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.model import Item
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.readiness import ReadinessContext, state
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.discovery import Discovery
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.errors import classify
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.requests import Client, Response
from ansible_collections.kubeflow.platform.plugins.module_utils.objects.identity import Identity
from ansible_collections.kubeflow.platform.plugins.module_utils.objects.normalise import digest

WORKLOADS = {"Deployment": "deployments", "StatefulSet": "statefulsets", "DaemonSet": "daemonsets"}
# Seconds for which a look at the workloads counts for other gates too.
FRESH = 0.4
# Such an answer to a dry run tells nothing about webhooks, and passes. A refusal for lack of permission or by the schema comes before
# them too, but no waiting changes it: the object must go, to fail for that reason, and must not hold up what waits beside it.
BEFORE_WEBHOOKS = frozenset({"transport", "throttled", "server_down", "kind_missing", "ns_missing", "ns_terminating", "auth"})


@dataclass(frozen=True, slots=True)
class Look:
    """One look: reasons by gate key, and the labels of the namespaces seen (for a look at namespaces)."""

    reasons: Mapping[str, str]
    namespace_labels: Mapping[str, Mapping[str, str]]


class Looker:
    """Looks at gates through a client; ``clock`` gives wall-clock seconds, for the readiness rules. Thread-safe."""

    def __init__(self, client: Client, discovery: Discovery, clock: Callable[[], float]) -> None:
        self.client = client
        self.discovery = discovery
        self.clock = clock
        self._lock = threading.Lock()
        self._seen: dict[str, tuple[float, list[dict[str, Any]]]] = {}

    def kinds(self, gates: Sequence[Gate]) -> Look:
        """Which kinds discovery has by now."""
        self.discovery.refresh()
        reasons = {gate.key: "" if self.discovery.find(*gate.group_version_kind) else "not in discovery yet" for gate in gates}
        return Look(reasons, {})

    def namespaces(self, gates: Sequence[Gate]) -> Look:
        """Which namespaces exist, and what labels their maker gave them."""
        rows = {row["name"]: row for row in self.client.list_metadata("/api/v1/namespaces")}
        reasons = {}
        for gate in gates:
            row = rows.get(gate.namespace)
            if row is None:
                reasons[gate.key] = "it does not exist yet; the profile controller makes it"
            else:
                reasons[gate.key] = "it is being deleted" if row.get("deletionTimestamp") else ""
        return Look(reasons, {name: row.get("labels") or {} for name, row in rows.items()})

    def workloads(self, gates: Sequence[Gate]) -> Look:
        """Whether all workloads behind each gate are ready."""
        live = self.live_workloads({identity for gate in gates for identity in gate.backends})
        return Look({gate.key: self._not_ready(gate.backends, live) for gate in gates}, {})

    def live_workloads(self, wanted: Iterable[Identity]) -> dict[Identity, dict[str, Any]]:
        """The live Deployments, StatefulSets and DaemonSets, as far as their kinds are among the wanted ones."""
        found = {}
        for kind in sorted({identity.kind for identity in wanted}):
            for row in self._list(kind):
                metadata = row["metadata"]
                found[Identity("apps", kind, metadata["namespace"], metadata["name"])] = {"apiVersion": "apps/v1", "kind": kind, **row}
        return found

    def _list(self, kind: str) -> list[dict[str, Any]]:
        """All workloads of a kind; several looks at about the same time share one answer."""
        with self._lock:
            seen_at, rows = self._seen.get(kind, (0.0, []))
            if self.clock() - seen_at > FRESH:
                # Served from the watch cache: this look is repeated every second.
                answer = self.client.request("GET", f"/apis/apps/v1/{WORKLOADS[kind]}", query={"resourceVersion": "0"}, count_as="LIST")
                rows = (answer.body().get("items") or []) if answer.ok else []
                self._seen[kind] = (self.clock(), rows)
            return rows

    def _not_ready(self, wanted: Iterable[Identity], live: Mapping[Identity, dict[str, Any]]) -> str:
        reasons = []
        for identity in wanted:
            if identity not in live:
                reasons.append(f"{identity} does not exist yet")
                continue
            found = state(live[identity], now=self.clock(), since=self.clock(), context=ReadinessContext())
            if found.status != "ready":
                reasons.append(f"{identity}: {found.reason}")
        return "; ".join(reasons)

    def answer(self, gate: Gate, item: Item, hooks: Sequence[Gate], live: Mapping[Identity, dict[str, Any]] | None = None) -> Answer:
        """Ask a webhook as ``webhook`` does, and find out which of all ``hooks`` is to blame: the server asks them one after the other."""
        failing, reason = self.webhook(gate, item, live)
        return self.blamed(failing, reason, [gate, *hooks])

    def blamed(self, failing: str | None, reason: str, hooks: Sequence[Gate]) -> Answer:
        """The answer that an error text amounts to, once it is known whose the failing webhook is and whether it can come back."""
        guilty = culprit(hooks, failing, reason) if failing else None
        if guilty is None or guilty.webhook is None or guilty.owner is None:
            return Answer(failing, reason, guilty)
        return Answer(failing, reason, guilty, missing(self.client, guilty.webhook))

    def webhook(self, gate: Gate, item: Item, live: Mapping[Identity, dict[str, Any]] | None = None) -> tuple[str | None, str]:
        """Dry-run one object through a webhook: (None, "") when all its webhooks answered, else the failing one and why.

        ``live`` spares the look at workloads where the caller has them.

        The workloads behind the webhook are looked at first: right after a webhook configuration is written the API server may not
        yet call it, so that a dry run which succeeds proves nothing while nobody can answer.
        """
        if live is None:
            live = self.live_workloads(gate.backends)
        if gate.backends and not any(has_ready_pod(live.get(identity)) for identity in gate.backends):
            return gate.webhook.name if gate.webhook else "", self._not_ready(gate.backends, live) or f"{gate.backends[0]} has no ready pod"
        answer = self.dry_run(item)
        failure = None if answer.ok else classify(answer, resource=item.resource, identity=item.identity)
        if failure is None:
            return None, ""
        if failure.error_class == "webhook_down":
            return failure.webhook, failure.reason
        if failure.error_class in BEFORE_WEBHOOKS or "service account" in failure.message:
            return "", failure.reason
        return None, ""

    def dry_run(self, item: Item) -> Response:
        """Send an item, or for a workload one of its pods, as a dry run."""
        template = item.pod_template
        if template is None:
            return self.client.apply(item.path, item.desired, dry_run=True, force=True)
        metadata = template.get("metadata") or {}
        name = f"probe-{digest(metadata)[:12]}"
        pod = probes.probe_pod(item.identity.namespace, metadata.get("labels") or {}, metadata.get("annotations") or {}, name)
        return self.client.create(f"/api/v1/namespaces/{item.identity.namespace}/pods", pod, dry_run=True)


def has_ready_pod(workload: Mapping[str, Any] | None) -> bool:
    """Whether at least one pod of a workload can answer."""
    status = (workload or {}).get("status") or {}
    return any((status.get(field) or 0) > 0 for field in ("availableReplicas", "readyReplicas", "numberReady"))
