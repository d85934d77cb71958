# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What would applying one object do? The server's own dry run answers; nothing here is guessed, nothing is written.

First a forced dry run: if its result equals the live object there is nothing to fight about, whoever owns the fields. Only when it
differs does an unforced one tell which managers hold other values; then human tools are overruled, controllers are yielded to on
named paths, and everybody else is reported.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ansible_collections.kubeflow.platform.plugins.module_utils.apply import recreate, taking
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.dying import dying
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.makers import another_set
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.model import SET_LABEL, Decision, Item
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.errors import Failure, classify
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.requests import Client, Response
from ansible_collections.kubeflow.platform.plugins.module_utils.objects import crd_safety, difference, ownership
from ansible_collections.kubeflow.platform.plugins.module_utils.objects.normalise import comparable, digest

MOST_ROUNDS = 4
# What adopting an object changes of it although its content stays; ".metadata.labels" where it had no labels.
LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
BOOKKEEPING = frozenset({f".metadata.labels.{SET_LABEL}", ".metadata.labels", f".metadata.annotations.{LAST_APPLIED}"})
CRD_ADVICE = (
    "Bring the stored objects to a version that stays: write each once in it, then set status.storedVersions of the live "
    "CustomResourceDefinition to that version alone."
)
# These say nothing about the object: its kind, namespace, webhook or server is not there yet.
NOT_YET = frozenset(
    {"transport", "throttled", "server_down", "webhook_down", "kind_missing", "ns_missing", "ns_terminating", "terminating", "internal"}
)


def nothing(_uid: str) -> str:
    """Nothing is deleted with an object."""
    return ""


@dataclass(frozen=True, slots=True)
class Comparer:
    """Compares items with the cluster that ``client`` reaches."""

    client: Client
    set_name: str
    takeover: tuple[str, ...] = ()
    recreate_kinds: tuple[str, ...] = ()
    # What holds data and would be deleted with the object of a uid, "" where nothing would.
    dependents: Callable[[str], str] = nothing

    def decide(self, item: Item) -> Decision:
        """One GET and one to a few dry runs for an object that may be live."""
        answer = self.client.get(item.path)
        if answer.status == 404:
            return Decision("create", item.desired)
        if not answer.ok:
            return refused(item, item.desired, None, classify(answer, resource=item.resource, identity=item.identity))
        live = answer.json()
        end = dying(item, live)
        if end is not None:
            return refused(item, item.desired, live, end)
        foreign = another_set(item.identity, live.get("metadata") or {}, self.set_name)
        if foreign is not None:
            return Decision("conflict", item.desired, live, failure=foreign)
        return self._against(item, live)

    def _against(self, item: Item, live: dict[str, Any]) -> Decision:
        body = item.desired
        yielded: list[str] = []
        for _round in range(MOST_ROUNDS):
            dry = self.client.apply(item.path, body, dry_run=True, force=True)
            if not dry.ok:
                return self._refused(item, body, live, dry)
            after = dry.json()
            change = difference.compare(comparable(live), comparable(after))
            if change is None:
                return self._settled(item, body, live, after, tuple(yielded))
            if adopts_only(live, change):
                return self._configure(item, body, live, after, tuple(yielded))
            soft = self.client.apply(item.path, body, dry_run=True, force=False)
            conflicts = ownership.parse_conflicts(soft.body()) if soft.status == 409 else []
            if not soft.ok and not conflicts:
                return self._refused(item, body, live, soft)
            paths, unknown = sort_conflicts(item, conflicts, self.takeover)
            if unknown:
                return conflicting(item, live, change, unknown)
            if not paths:
                return self._configure(item, body, live, after, tuple(yielded))
            for path in paths:
                body = ownership.drop_path(body, path)
            yielded += paths
        return refused(item, body, live, Failure("conflict_version", f"Failed to compare {item.identity}: it keeps changing", "Run again."))

    def _settled(self, item: Item, body: dict[str, Any], live: dict[str, Any], after: dict[str, Any], yielded: tuple[str, ...]) -> Decision:
        """The content is as desired; is it also recorded as ours?"""
        rename = self._rename(live)
        lost = self._lost(item, body, live) if rename else []
        change = difference.compare(comparable(live), taking.without(comparable(after), lost)) if lost else None
        additions = tuple(ownership.foreign_additions(taking.without(after, lost), body))
        if change is not None and not adopts_only(live, change):
            return Decision("configure", body, live, change, yielded, rename, additions=additions)
        same = ownership.own_fields(live["metadata"]) == ownership.own_fields(after["metadata"])
        action = "unchanged" if same and not rename else "adopt"
        return Decision(action, body, live, None, yielded, rename, additions=additions)

    def _configure(
        self, item: Item, body: dict[str, Any], live: dict[str, Any], after: dict[str, Any], yielded: tuple[str, ...]
    ) -> Decision:
        rename = self._rename(live)
        lost = self._lost(item, body, live) if rename else []
        change = difference.compare(comparable(live), taking.without(comparable(after), lost))
        unsafe = self._unsafe(item, body, live)
        if unsafe is not None:
            return Decision("invalid", body, live, change, failure=unsafe)
        action = "adopt" if change is None or adopts_only(live, change) else "configure"
        additions = tuple(ownership.foreign_additions(taking.without(after, lost), body))
        return Decision(action, body, live, change, yielded, rename, additions=additions)

    def _lost(self, item: Item, body: dict[str, Any], live: dict[str, Any]) -> list[str]:
        """The paths that an object loses once the tools that made it hold nothing of it any more.

        No dry run shows it, since our applying leaves their fields alone as long as they are theirs. The tools also hold what the
        server filled in by default, and would again: a dry run of the object under a fresh name tells these fields.
        """
        if not taking.lost(live, body, self.takeover):
            return []
        probe = transition_probe(body)
        answer = self.client.apply(item.resource.path(item.identity.namespace, probe["metadata"]["name"]), probe, dry_run=True, force=True)
        return taking.lost(live, answer.body(), self.takeover) if answer.ok else []

    def _unsafe(self, item: Item, body: dict[str, Any], live: dict[str, Any]) -> Failure | None:
        """Why a live CRD must not become the desired one, None for safe changes and other kinds."""
        breaches = crd_safety.breaches(live, body, self._versions_in_use(live)) if item.is_crd else []
        return Failure("crd_unsafe", f"Failed to apply {item.identity}: {'; '.join(breaches)}", CRD_ADVICE) if breaches else None

    def _versions_in_use(self, crd: dict[str, Any]) -> list[str]:
        """The versions that objects of a live CRD were stored in; none when it has no objects."""
        spec = crd.get("spec") or {}
        served = [row["name"] for row in spec.get("versions") or [] if row.get("served")]
        collection = f"/apis/{spec.get('group')}/{served[0] if served else 'v1'}/{(spec.get('names') or {}).get('plural')}"
        answer = self.client.request("GET", collection, query={"limit": 1}, count_as="LIST")
        return list((crd.get("status") or {}).get("storedVersions") or []) if answer.body().get("items") else []

    def _rename(self, live: dict[str, Any]) -> tuple[dict[str, Any], ...]:
        """Only an object that was never ours is taken over whole; later additions by hand stay their maker's."""
        if ownership.own_entry(live["metadata"]) is not None:
            return ()
        return tuple(ownership.rename_patch(live["metadata"], self.takeover) or ())

    def _refused(self, item: Item, body: dict[str, Any], live: dict[str, Any], answer: Response) -> Decision:
        failure = classify(answer, resource=item.resource, identity=item.identity)
        if failure.error_class != "invalid" or answer.status != 422 or item.is_crd:
            return refused(item, body, live, self._unsafe(item, body, live) or failure)
        probe = transition_probe(body)
        path = item.resource.path(item.identity.namespace, probe["metadata"]["name"])
        if not self.client.apply(path, probe, dry_run=True, force=True).ok:
            return refused(item, body, live, failure)
        return transition(item, body, live, failure, self.recreate_kinds, self.dependents)


def adopts_only(live: dict[str, Any], change: difference.Difference) -> bool:
    """Whether taking an object over changes nothing of it but our own label."""
    return ownership.own_entry(live["metadata"]) is None and BOOKKEEPING.issuperset(change.paths)


def transition_probe(body: Mapping[str, Any]) -> dict[str, Any]:
    """The same object under a name that nobody has: refused too, it is invalid; accepted, only the change is refused."""
    metadata = {**body["metadata"], "name": f"probe-{digest(dict(body))[:12]}"}
    return {**body, "metadata": metadata}


def transition(
    item: Item,
    body: dict[str, Any],
    live: dict[str, Any],
    failure: Failure,
    kinds: tuple[str, ...],
    dependents: Callable[[str], str] = nothing,
) -> Decision:
    """A valid object that the live one cannot become: recreate it where that is allowed, else say how to allow it."""
    allowed, reason = recreate.allowed(item.identity, kinds)
    change = difference.compare(comparable(live), body)
    if allowed:
        told = recreate.refuses(item, live) or _with_it(item, body, live, dependents)
    else:
        advice = reason or f"Add {item.identity.kind} to `recreate` to delete the live object and create it anew."
        told = replace(failure, error_class="transition", advice=advice)
    return Decision("recreate", body, live, change, failure=told, reason=failure.message)


def _with_it(item: Item, body: dict[str, Any], live: dict[str, Any], dependents: Callable[[str], str]) -> Failure | None:
    """Why deleting an object would delete data; where its dependents are left as orphans nothing goes with it."""
    reason = dependents(str(live["metadata"]["uid"])) if recreate.propagation(live, body) != "Orphan" else ""
    if not reason:
        return None
    advice = "Remove the owner reference to it from what is to stay, or replace the object by hand."
    return Failure("transition", f"Failed to recreate {item.identity}: {reason}", advice)


def refused(item: Item, body: dict[str, Any], live: dict[str, Any] | None, failure: Failure) -> Decision:
    """A decision that could not be made (blocked), or that the server made (invalid)."""
    return Decision("blocked" if failure.error_class in NOT_YET else "invalid", body, live, failure=failure)


def sort_conflicts(
    item: Item, conflicts: list[ownership.Conflict], takeover: tuple[str, ...]
) -> tuple[list[str], list[ownership.Conflict]]:
    """The paths to yield, and the conflicts that nobody has decided about."""
    paths, unknown = [], []
    for conflict in conflicts:
        kind = ownership.manager_class(conflict.manager, takeover)
        if kind in ("human", "own"):
            continue
        if kind == "controller" and ownership.yields(item.identity, conflict.field_path):
            paths.append(conflict.field_path)
        else:
            unknown.append(conflict)
    return paths, unknown


def conflicting(item: Item, live: dict[str, Any], change: difference.Difference, conflicts: list[ownership.Conflict]) -> Decision:
    """Fields that a manager nobody knows holds with other values."""
    held = ", ".join(sorted({f"{row.field_path} by {row.manager}" for row in conflicts}))
    names = ", ".join(sorted({row.manager for row in conflicts}))
    failure = Failure(
        "conflict_owner",
        f"Failed to apply {item.identity}: other managers hold different values ({held})",
        f"Stop that program from writing these fields, or add {names} to `takeover` to overrule it.",
        conflicts=tuple(conflicts),
    )
    return Decision("conflict", item.desired, live, change, failure=failure)
