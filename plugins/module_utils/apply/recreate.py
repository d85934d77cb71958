# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Delete an object whose change the server refuses, and create it anew: allowed by kind, never for what holds data.

The live object is kept in memory, and in a file when a folder is given, until its successor exists; when that cannot be
created, the old one is put back.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

from ansible_collections.kubeflow.platform.plugins.module_utils.apply import backup
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.makers import another_set, applied_by_set
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.model import SET_LABEL, Decision, EngineError, Item, Outcome
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.protected import PROTECTED_KINDS, foreign_secret_writer
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.errors import Failure, classify, classify_transport
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.requests import Client, Response, Unreachable
from ansible_collections.kubeflow.platform.plugins.module_utils.objects.normalise import comparable

__all__ = ["PROTECTED_KINDS", "allowed", "propagation", "recreate", "refuses"]

# The object stays until its pods are gone: two generations of a database must not share a volume.
_FOREGROUND = frozenset({("apps", "Deployment"), ("apps", "ReplicaSet"), ("apps", "DaemonSet"), ("batch", "Job")})
_PASSING = frozenset({"transport", "throttled", "server_down", "webhook_down", "internal", "conflict_version", "terminating"})
GONE_TIMEOUT = 180.0
APPLY_TIMEOUT = 120.0
SHORTEST_TIMEOUT = 10.0


@dataclass(frozen=True, slots=True)
class _Bench:
    """What carrying out one recreation needs."""

    client: Client
    clock: Callable[[], float]
    sleep: Callable[[float], None]
    item: Item
    live: Mapping[str, Any]
    deadline: float

    def until(self, longest: float) -> float:
        """When to give up what may take ``longest`` seconds: with the run, but not before a fair try."""
        return max(self.clock() + SHORTEST_TIMEOUT, min(self.clock() + longest, self.deadline))

    @property
    def uid(self) -> str:
        """The identity of the live object that is replaced."""
        return str(self.live["metadata"]["uid"])


def allowed(item_identity: Any, kinds: Collection[str]) -> tuple[bool, str]:
    """Say whether an object may be recreated, and why not ("" when only the option is missing).

    ``kinds`` are those of the option ``recreate``: "Deployment", or "Deployment.apps" where a name is used twice.
    """
    group, kind = item_identity.group, item_identity.kind
    if (group, kind) in PROTECTED_KINDS:
        return False, f"A {kind} is never recreated, since deleting it would delete data; change it back, or replace it by hand."
    if kind in kinds or (group and f"{kind}.{group}" in kinds):
        return True, ""
    return False, ""


def propagation(live: Mapping[str, Any], desired: Mapping[str, Any] | None = None) -> str:
    """Return how dependents fare when an object is deleted: "Foreground", "Background" or "Orphan".

    Workloads go with their pods, and are gone only when these are. A StatefulSet whose successor selects the same pods
    leaves them running to be adopted and rolled (its claims stay in any case, see ``refuses``); with another selector the
    old pods would block the new ones' names for ever, so they go.
    """
    group_kind = (str(live.get("apiVersion") or "").rpartition("/")[0], str(live.get("kind") or ""))
    if group_kind == ("apps", "StatefulSet"):
        selectors = [(side.get("spec") or {}).get("selector") for side in (live, desired or {})]
        return "Orphan" if selectors[0] == selectors[1] else "Foreground"
    return "Foreground" if group_kind in _FOREGROUND else "Background"


def recreate(
    client: Client,
    clock: Callable[[], float],
    sleep: Callable[[float], None],
    item: Item,
    decision: Decision,
    backup_dir: str | None,
    deadline: float = math.inf,
) -> Outcome:
    """Replace ``decision.live`` by ``decision.body``; whatever happens, the outcome says it and nothing is raised.

    Steps: keep the live object, delete exactly it (uid), wait until it is gone, apply; on final failure put it back. A run
    that is killed in between leaves the object absent and the intent in the ledger: the next run creates it.
    ``clock`` is monotonic, in seconds; ``deadline`` is of it, and shortens the waiting (the new object is tried in any case).
    """
    live = decision.live or {}
    bench = _Bench(client, clock, sleep, item, live, deadline)
    failure = refuses(item, live)
    kept, deleted = "", False
    if failure is None:
        try:
            kept = backup.keep(backup_dir, item.identity, live) if backup_dir else ""
            deleted, failure = _delete(bench, propagation(live, decision.body))
        except EngineError as error:
            failure = Failure("invalid", str(error).rstrip("."), "Nothing was deleted.")
        except Unreachable as error:
            failure = classify_transport(error)
    failure = failure or _gone(bench)
    if failure is not None:
        return Outcome(failure=failure, decision=decision, written=deleted)
    answer, failure = _apply(bench, decision.body)
    if answer is not None and failure is None:
        warnings = tuple(answer.warnings)
        return Outcome("recreate", answer.body().get("metadata") or {}, decision=decision, warnings=warnings, written=True)
    restored, failure = _put_back(bench, failure, kept)
    return Outcome(failure=failure, decision=decision, written=deleted or restored)


def refuses(item: Item, live: Mapping[str, Any]) -> Failure | None:
    """Return why this very object must not be deleted, although its kind may be."""
    metadata = live.get("metadata") or {}
    if item.group_kind in PROTECTED_KINDS or not metadata.get("uid"):
        return Failure("transition", f"Failed to recreate {item.identity}: its kind is protected", allowed(item.identity, ())[1])
    retention = (live.get("spec") or {}).get("persistentVolumeClaimRetentionPolicy") or {}
    if item.group_kind == ("apps", "StatefulSet") and retention.get("whenDeleted") == "Delete":
        return Failure(
            "transition",
            f"Failed to recreate {item.identity}: deleting it would delete its volumes",
            "Set spec.persistentVolumeClaimRetentionPolicy.whenDeleted of the live object to Retain first.",
        )
    writer = foreign_secret_writer(metadata) if item.group_kind == ("", "Secret") else ""
    if writer:
        return Failure(
            "transition",
            f"Failed to recreate {item.identity}: {writer} wrote data into the Secret, perhaps a key, which would be lost",
            "Save what it holds and delete it by hand if nobody needs that.",
        )
    return None


def _delete(bench: _Bench, how: str) -> tuple[bool, Failure | None]:
    """Send the deletion: whether it was accepted, and the failure when the object may still be there for good."""
    answer = bench.client.delete(bench.item.path, bench.uid, how)
    if answer.status == 409:
        return False, Failure(
            "conflict_version", f"Failed to recreate {bench.item.identity}: another object has taken its place meanwhile", "Run again."
        )
    if not answer.ok and answer.status != 404:
        return False, classify(answer, resource=bench.item.resource, identity=bench.item.identity, verb="delete")
    return answer.ok, None


def _gone(bench: _Bench) -> Failure | None:
    """Wait until the object is gone; None when it is."""
    begun, give_up, pause = bench.clock(), bench.until(GONE_TIMEOUT), 0.1
    last: Mapping[str, Any] = {}
    while bench.clock() < give_up:
        try:
            answer = bench.client.get(bench.item.path)
        except Unreachable:
            answer = Response(503)
        last = answer.body().get("metadata") or last if answer.ok else last
        if answer.status == 404 or (answer.ok and last.get("uid") not in (None, bench.uid)):
            return None
        bench.sleep(pause)
        pause = min(pause * 2, 2.0)
    finalizers = ", ".join(last.get("finalizers") or []) or "none"
    return Failure(
        "terminating",
        f"Failed to recreate {bench.item.identity}: it was deleted but is still there after {bench.clock() - begun:.0f} s "
        f"(finalizers: {finalizers})",
        "Check the controller that owns the finalizers; the next run creates the object once the old one is gone.",
    )


def _apply(bench: _Bench, body: dict[str, Any]) -> tuple[Response | None, Failure | None]:
    """Send the new object until it is taken or refused for good."""
    give_up, pause = bench.until(APPLY_TIMEOUT), 0.5
    while True:
        answer: Response | None = None
        try:
            answer, failure = _send(bench, body)
        except Unreachable as error:
            failure = classify_transport(error)
        if failure is None:
            return answer, None
        wait = max(pause, failure.retry_after or 0.0)
        if failure.error_class not in _PASSING or bench.clock() + wait > give_up:
            return answer, failure
        bench.sleep(wait)
        pause = min(pause * 2, 5.0)


def _send(bench: _Bench, body: dict[str, Any]) -> tuple[Response, Failure | None]:
    """One attempt at the new object. What took its place meanwhile is overruled, unless another set applied it."""
    answer = bench.client.apply(bench.item.path, body, dry_run=False, force=True, absent=True)
    if answer.status == 409:
        answer = bench.client.get(bench.item.path)
        found = answer.body().get("metadata") or {}
        wanted = str((body["metadata"].get("labels") or {}).get(SET_LABEL) or "")
        taken = another_set(bench.item.identity, found, wanted) if answer.ok else None
        if taken is not None:
            return answer, taken
        if not answer.ok or not applied_by_set(found, wanted):  # else an earlier attempt arrived, and only its answer was lost
            answer = bench.client.apply(bench.item.path, body, dry_run=False, force=True, absent=not answer.ok)
    metadata = answer.body().get("metadata") or {}
    if answer.ok and metadata.get("uid") and not metadata.get("deletionTimestamp"):
        return answer, None
    return answer, classify(answer, resource=bench.item.resource, identity=bench.item.identity, verb="recreate")


def _put_back(bench: _Bench, failure: Failure | None, kept: str) -> tuple[bool, Failure]:
    """Create the old object again: whether that worked, and the failure that says so."""
    old = comparable(dict(bench.live))
    collection = bench.item.resource.collection(bench.item.identity.namespace or None)
    reason = failure.reason or failure.message if failure else "the answer was not understood"
    where = f" A copy of the old object is in {kept}." if kept else ""
    try:
        answer = bench.client.create(collection, old)
        restored = answer.ok
        told = "" if restored else classify(answer, resource=bench.item.resource, identity=bench.item.identity, verb="restore").reason
    except Unreachable as error:
        restored, told = False, error.reason
    state = "the old object was put back" if restored else f"and the old object could not be put back ({told})"
    return restored, Failure(
        failure.error_class if failure and failure.error_class not in _PASSING else "invalid",
        f"Failed to recreate {bench.item.identity}: {reason}; {state}",
        (failure.advice if failure else "Run again.") + where,
        field=failure.field if failure else "",
        reason=reason,
    )
