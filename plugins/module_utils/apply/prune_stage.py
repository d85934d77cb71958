# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The stage that removes what is recorded and no longer desired, or says what it would remove and why the rest stays."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
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
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.requests import Client, Unreachable
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

    def carry_out(self, rows: Sequence[Row], assure: Callable[[], None]) -> Iterator[Row]:
        """Delete what may go, in order, each with its uid as precondition; what cannot be deleted fails, and stays recorded.

        Each row is given once it is certain. ``assure`` is asked before each deletion and raises when this run may no longer write.
        """
        decisions = {decision.identity: decision for decision in self._decisions}
        for row in rows:
            if row.action == "prune":
                assure()
                yield from self._delete(row, decisions[row.identity])
            else:
                yield row

    def _delete(self, row: Row, decision: prune.Decision) -> Iterator[Row]:
        """Delete one object and wait until it is gone, through passing faults; nothing is told of one that was gone already.

        One that a finalizer holds fails, and stays recorded.
        """
        resource = self._tools.discovery.preferred(decision.identity.group, decision.identity.kind)
        if resource is None:  # its kind went, and every object of it
            self.gone.append(decision.identity)
            return
        deletion = _Deletion(self._tools.client, resource, decision)
        now = self._tools.clock.monotonic()
        until = max(now + SHORTEST_TIMEOUT, min(now + GONE_TIMEOUT, self._deadline))
        failure = deletion.attempt()
        while failure is not None and failure.error_class in PASSING and self._tools.clock.monotonic() < until:
            self._tools.clock.sleep(PAUSE)
            failure = deletion.attempt()
        if failure is None:
            self.gone.append(decision.identity)
        if failure is not None or deletion.accepted:
            yield replace(row, failure=failure, written=deletion.accepted)


@dataclass(slots=True)
class _Deletion:
    """The deletion of one object. ``sent``: it may have arrived, ``accepted``: it did."""

    client: Client
    resource: Resource
    decision: prune.Decision
    sent: bool = False
    accepted: bool = False

    def attempt(self) -> Failure | None:
        """Delete the object unless that was done already; None once it is gone."""
        identity, uid = self.decision.identity, self.decision.uid
        path = self.resource.path(identity.namespace, identity.name)
        try:
            answer = self.client.get(path)
            metadata = answer.body().get("metadata") or {}
            there = answer.ok and metadata.get("uid") == uid
            if self.sent and answer.status in (200, 404) and not (there and not metadata.get("deletionTimestamp")):
                self.accepted = True  # and only the answer was lost
            if there and not metadata.get("deletionTimestamp"):
                self.sent = True
                version = self.decision.resource_version or None
                answer = self.client.delete(path, uid, self.decision.propagation, resource_version=version)
                self.sent, self.accepted = False, self.accepted or answer.ok
                answer = self.client.get(path) if answer.ok else answer
        except Unreachable as error:
            return classify_transport(error, identity=identity, verb="delete")
        if answer.status == 404 or (answer.ok and (answer.body().get("metadata") or {}).get("uid") != uid):
            return None
        return classify(answer, resource=self.resource, identity=identity, verb="delete")
