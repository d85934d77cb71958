# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The stage that removes what is recorded and no longer desired, or says what it would remove and why the rest stays."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ansible_collections.kubeflow.platform.plugins.module_utils.apply import prune
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.dependents import Dependents
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.ledger import Ledger
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.model import Item
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.replacing import replaced_by
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.result import Row
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.settings import Settings
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.discovery import Resource
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.errors import Failure, classify, classify_transport
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.requests import Unreachable
from ansible_collections.kubeflow.platform.plugins.module_utils.objects.identity import Identity

if TYPE_CHECKING:
    from ansible_collections.kubeflow.platform.plugins.module_utils.apply.run import Tools

GONE_TIMEOUT = 60.0
# However late it is, a deletion gets this long.
SHORTEST_TIMEOUT = 3.0
PAUSE = 0.5
PASSING = frozenset({"transport", "throttled", "server_down", "internal", "terminating", "webhook_down"})


class PruneStage:
    """Decides about the recorded objects of a ledger, and deletes those that may go."""

    def __init__(
        self,
        settings: Settings,
        tools: Tools,
        ledger: Ledger,
        recorded_release: str,
        written: Collection[Identity] = (),
        deadline: float = math.inf,
    ) -> None:
        """``recorded_release`` is that of the ledger as this run found it; ``written`` are the objects that this run wrote."""
        self._deadline = deadline
        self._settings = settings
        self._tools = tools
        self._ledger = ledger
        self._recorded_release = recorded_release
        self._written = frozenset(written)
        self._decisions: list[prune.Decision] = []
        self.gone: list[Identity] = []

    def plan(self, items: Sequence[Item], live: Mapping[Identity, dict[str, Any]], *, failed: bool) -> list[Row]:
        """A row for each recorded object that is no longer desired."""
        desired = {item.identity for item in items}
        release = self._settings.release or self._recorded_release
        circumstances = prune.Circumstances(
            scope=frozenset(self._settings.scope),
            removed=frozenset(self._settings.removed),
            components=frozenset(item.part.component for item in items),
            failed=failed,
            release_changed=self._recorded_release not in ("", release),
            unreadable=self._unreadable(),
            replacements=self._replacements(
                items, [identity for identity in self._ledger.entries if identity in live and identity not in desired]
            ),
            # A run that waited knows that all works, else it failed; one that did not wait knows nothing of what it wrote.
            unready=frozenset() if self._settings.wait else self._written,
        )
        dependents = Dependents(self._tools.client, self._tools.discovery, self._tools.clock.sleep)
        self._decisions = [self._sparing_data(row, dependents) for row in prune.decide(self._ledger, desired, live, circumstances)]
        self.gone = [row.identity for row in self._decisions if row.action == "gone"]
        return [self._row(row) for row in self._decisions if row.action != "gone"]

    def _sparing_data(self, decision: prune.Decision, dependents: Dependents) -> prune.Decision:
        """Keep what would take claims or other holders of data with it: a StatefulSet by its policy, anything by owning them."""
        if decision.action != "prune":
            return decision
        reason = self._by_policy(decision.identity) or dependents.of(decision.uid)
        return decision._replace(action="keep", reason=f"protected: {reason}") if reason else decision

    def _by_policy(self, identity: Identity) -> str:
        """Why a StatefulSet is to stay; only the whole object says so."""
        resource = self._tools.discovery.preferred(identity.group, identity.kind) if identity.kind == "StatefulSet" else None
        answer = self._tools.client.get(resource.path(identity.namespace, identity.name)) if resource else None
        spec = (answer.body().get("spec") or {}) if answer is not None else {}
        if (spec.get("persistentVolumeClaimRetentionPolicy") or {}).get("whenDeleted") != "Delete":
            return ""
        return "deleting it would delete its volumes; set spec.persistentVolumeClaimRetentionPolicy.whenDeleted to Retain first"

    def _unreadable(self) -> frozenset[tuple[str, str]]:
        """Kinds of recorded objects whose API server does not answer: they are unknown, not gone."""
        kinds = {(identity.group, identity.kind) for identity in self._ledger.entries}
        return frozenset(kind for kind in kinds if self._tools.discovery.group_is_stale(kind[0]))

    def _replacements(self, items: Sequence[Item], candidates: Sequence[Identity]) -> dict[Identity, list[Identity]]:
        """What takes the place of each candidate; only needed where something may be unready."""
        if self._settings.wait:
            return {}
        rows = [(item.identity, item.desired) for item in items]
        found = {}
        for identity in candidates:
            resource = self._tools.discovery.preferred(identity.group, identity.kind)
            answer = self._tools.client.get(resource.path(identity.namespace, identity.name)) if resource else None
            if answer is not None and answer.ok:
                found[identity] = replaced_by(answer.json(), rows)
        return found

    def _row(self, decision: prune.Decision) -> Row:
        component = self._ledger.entries[decision.identity].component
        if decision.action == "prune" and self._settings.prune != "delete":
            return Row(decision.identity, component, "keep", f"{decision.reason}; set `prune: delete` to delete it")
        return Row(decision.identity, component, "keep" if decision.action == "foreign" else decision.action, decision.reason)

    def carry_out(self, rows: Sequence[Row], assure: Callable[[], None]) -> list[Row]:
        """Delete what may go, in order, each with its uid as precondition; what cannot be deleted fails, and stays recorded.

        ``assure`` is asked before each and raises when this run may no longer write.
        """
        if self._settings.prune != "delete":
            return list(rows)
        failures = {}
        for decision in self._decisions:
            if decision.action == "prune":
                assure()
                failure = self._delete(decision)
                if failure is None:
                    self.gone.append(decision.identity)
                else:
                    failures[decision.identity] = failure
        return [replace(row, failure=failures.get(row.identity)) for row in rows]

    def _delete(self, decision: prune.Decision) -> Failure | None:
        """Delete one object and wait until it is gone, through passing faults; one that a finalizer holds fails, and stays recorded."""
        resource = self._tools.discovery.preferred(decision.identity.group, decision.identity.kind)
        if resource is None:
            return None
        path = resource.path(decision.identity.namespace, decision.identity.name)
        now = self._tools.clock.monotonic()
        until = max(now + SHORTEST_TIMEOUT, min(now + GONE_TIMEOUT, self._deadline))
        while True:
            failure = self._attempt(path, resource, decision)
            if failure is None or failure.error_class not in PASSING or self._tools.clock.monotonic() >= until:
                return failure
            self._tools.clock.sleep(PAUSE)

    def _attempt(self, path: str, resource: Resource, decision: prune.Decision) -> Failure | None:
        """Delete the object unless that was done already; None once it is gone."""
        client = self._tools.client
        try:
            answer = client.get(path)
            metadata = answer.body().get("metadata") or {}
            if answer.ok and metadata.get("uid") == decision.uid and not metadata.get("deletionTimestamp"):
                answer = client.delete(path, decision.uid, decision.propagation, resource_version=decision.resource_version or None)
                answer = client.get(path) if answer.ok else answer
        except Unreachable as error:
            return classify_transport(error, identity=decision.identity, verb="delete")
        if answer.status == 404 or (answer.ok and (answer.body().get("metadata") or {}).get("uid") != decision.uid):
            return None
        return classify(answer, resource=resource, identity=decision.identity, verb="delete")
