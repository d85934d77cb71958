# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which recorded objects that are no longer desired may be deleted, and why the others stay. Decides; deletes nothing.

Two kinds of doubt: a doubt about the whole run (it failed, it is much smaller than before, a component is missing without
having been removed) keeps everything, a doubt about one object keeps that object.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from ansible_collections.kubeflow.platform.plugins.module_utils.apply.credentials import MARK
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.ledger import Entry, Ledger
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.makers import cluster_made
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.model import SET_LABEL
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.protected import (
    PROTECTED_KINDS,
    foreign_secret_writer,
    is_custom,
)
from ansible_collections.kubeflow.platform.plugins.module_utils.objects.identity import Identity, bare_name
from ansible_collections.kubeflow.platform.plugins.module_utils.objects.ownership import manager_class, managers, own_entry

Action = Literal["prune", "keep", "foreign", "gone"]
# Deleted only when the caller has proved that nothing uses them (`unused`).
_CONTAINERS = {
    ("", "Namespace"): "other objects live in it",
    ("apiextensions.k8s.io", "CustomResourceDefinition"): "objects of its kind exist",
    ("", "PersistentVolumeClaim"): "a pod mounts it",
}
# Pods must be gone before what they use is deleted.
_FOREGROUND = frozenset({"Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "Job", "CronJob"})
# Kinds that only people and appliers write: a moved resourceVersion means that somebody is at work on the object.
_QUIET = frozenset({"ConfigMap", "Secret", "ServiceAccount", "Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding", "NetworkPolicy"})


class Decision(NamedTuple):
    """What is to be done with one recorded object that is not desired, and why.

    "prune": delete it, with ``uid`` and, if not "", ``resource_version`` as preconditions and with ``propagation``;
    "keep": leave it and its entry; "foreign": it is not, or no longer, ours: leave it; "gone": drop its entry.
    """

    identity: Identity
    action: Action
    reason: str
    uid: str = ""
    resource_version: str = ""
    propagation: str = "Background"


@dataclass(frozen=True, slots=True)
class Circumstances:
    """What of the run and of the cluster the decisions depend on.

    ``scope``: components that this run is about, empty for all; ``removed``: components that were deselected by name;
    ``components``: those that were rendered. ``failed``: anything in the run went wrong. ``release_changed``: the last run
    was of another release. ``named``: (kind, name) of protected objects that the user gave up.
    ``credentials``: Secrets with generated values. ``unreadable``: (group, kind) that could not be listed. ``unused``:
    namespaces, CRDs and claims that are proved to be empty. ``replacements``: what takes an object's place (see
    ``replacing.replaced_by``) and ``unready``: which desired objects do not work yet.
    """

    scope: AbstractSet[str] = frozenset()
    removed: AbstractSet[str] = frozenset()
    components: AbstractSet[str] = frozenset()
    failed: bool = False
    release_changed: bool = False
    named: AbstractSet[tuple[str, str]] = frozenset()
    credentials: AbstractSet[Identity] = frozenset()
    unreadable: AbstractSet[tuple[str, str]] = frozenset()
    unused: AbstractSet[Identity] = frozenset()
    replacements: Mapping[Identity, Collection[Identity]] = field(default_factory=dict)
    unready: AbstractSet[Identity] = frozenset()

    def covers(self, component: str) -> bool:
        """Say whether objects of a component are this run's business."""
        return not self.scope or component in self.scope or component in self.removed


def decide(
    ledger: Ledger,
    desired: AbstractSet[Identity],
    live: Mapping[Identity, Mapping[str, Any]],
    circumstances: Circumstances,
    *,
    shrink_limit: float = 0.2,
    shrink_floor: int = 3,
) -> list[Decision]:
    """Return a decision for every recorded object in scope that is not desired, in the order in which to delete.

    ``live``: metadata by identity of the kinds in the ledger. An object that another component now wants is desired, so it
    is handed over. When more than ``shrink_limit`` of the recorded objects (and more than ``shrink_floor``: a small set says
    nothing) would go without their component being removed by name, the render is doubted and nothing goes.
    """
    candidates = {
        identity: entry for identity, entry in ledger.entries.items() if identity not in desired and circumstances.covers(entry.component)
    }
    doubt = _doubt(ledger, desired, circumstances, shrink_limit, shrink_floor)
    wanted_uids = {str(live[identity].get("uid")) for identity in desired if identity in live}
    found = {}
    for identity, entry in candidates.items():
        found[identity] = _decide_one(identity, entry, live.get(identity), ledger.set_name, wanted_uids, circumstances, doubt)
    return [found[identity] for identity in order(found)]


def order(identities: Iterable[Identity]) -> list[Identity]:
    """Return identities in the order of deletion: what guards first, then what uses others, namespaces last.

    Webhook configurations go before the workloads behind them, so that nothing is left fail-closed without a backend;
    custom resources go while their controllers still run and can finish them.
    """
    return sorted(identities, key=lambda identity: (_rank(identity), identity))


def _doubt(ledger: Ledger, desired: AbstractSet[Identity], given: Circumstances, limit: float, floor: int) -> str:
    """Return why nothing at all may be pruned in this run, "" when something may."""
    if given.failed:
        return "the run had failures"
    if not desired:
        return "nothing at all is desired"
    if given.scope and given.release_changed:
        return "the release changed, and an object may have moved to a component that was not rendered: run the whole selection first"
    missing = sorted(name for name in ledger.components if given.covers(name) and name not in given.components | given.removed)
    if missing:
        return f"component {', '.join(missing)} is recorded, but neither selected nor named in `removed`"
    recorded = [
        identity for identity, entry in ledger.entries.items() if given.covers(entry.component) and entry.component not in given.removed
    ]
    lost = sum(identity not in desired for identity in recorded)
    if lost > max(floor, limit * len(recorded)):
        return f"{lost} of {len(recorded)} recorded objects are no longer rendered, which is more than {limit:.0%}; check the render"
    return ""


def _decide_one(
    identity: Identity,
    entry: Entry,
    metadata: Mapping[str, Any] | None,
    set_name: str,
    wanted_uids: AbstractSet[str],
    given: Circumstances,
    doubt: str,
) -> Decision:
    if (identity.group, identity.kind) in given.unreadable:
        return Decision(identity, "keep", "its kind could not be read")
    if metadata is None:
        return Decision(identity, "gone", "it does not exist any more")
    alien = _foreign(entry, metadata, set_name)
    if alien:
        return Decision(identity, "foreign", alien)
    if str(metadata.get("uid")) in wanted_uids:
        return Decision(identity, "keep", "it is the same object as a desired one under another API group")
    reason = _protected(identity, entry, metadata, given) or doubt or _in_the_way(identity, given)
    if reason:
        return Decision(identity, "keep", reason)
    version = str(metadata.get("resourceVersion") or "") if identity.kind in _QUIET else ""
    how = "Foreground" if identity.group in ("apps", "batch") and identity.kind in _FOREGROUND else "Background"
    return Decision(identity, "prune", f"no longer part of {entry.component}", entry.uid, version, how)


def _foreign(entry: Entry, metadata: Mapping[str, Any], set_name: str) -> str:
    """Return why a live object is not the recorded one or not ours, "" when it is."""
    if not entry.uid:
        return "it was never confirmed that this set wrote it"
    if metadata.get("uid") != entry.uid:
        return "somebody deleted the recorded object and made another"
    if (metadata.get("labels") or {}).get(SET_LABEL) != set_name:
        return f"it does not carry the label {SET_LABEL}={set_name}"
    if own_entry(dict(metadata)) is None:
        return "this collection manages none of its fields any more"
    return ""


def _protected(identity: Identity, entry: Entry, metadata: Mapping[str, Any], given: Circumstances) -> str:
    """Return why an object is never pruned unless kind and name were given, "" when it may be."""
    if (identity.kind, identity.name) in given.named:
        return ""
    if (identity.group, identity.kind) in PROTECTED_KINDS:
        return f"protected: a {identity.kind} may hold data; delete it by hand if it does not"
    if is_custom(identity.group) and not entry.created:
        return "protected: this set adopted the custom resource and did not make it; delete it by hand if nobody uses it"
    others = _made_by_others(identity, entry, metadata)
    if others:
        return others
    if (identity.group, identity.kind) == ("", "Secret"):
        if MARK in entry.hash or any(_same_but_hash(identity, secret) for secret in given.credentials):
            return "protected: the Secret holds credentials"
        writer = foreign_secret_writer(metadata)
        if writer:
            return f"protected: {writer} wrote data into the Secret, perhaps a key; delete it by hand if nobody uses it"
    return ""


def _made_by_others(identity: Identity, entry: Entry, metadata: Mapping[str, Any]) -> str:
    """Return why an object is not ours to delete although we applied to it, "" when it is."""
    if cluster_made(identity, metadata):
        return "protected: the cluster made it and needs it"
    if entry.created:
        return ""
    other = next((name for name in managers(metadata) if manager_class(name) in ("human", "unknown")), "")
    return f"protected: it was there before this set, and {other} holds fields of it; delete it by hand if nobody uses it" if other else ""


def _in_the_way(identity: Identity, given: Circumstances) -> str:
    """Return what must happen before an object can go, "" when nothing must."""
    if use := _CONTAINERS.get((identity.group, identity.kind)):
        return "" if identity in given.unused else use
    waiting = sorted(str(other) for other in given.replacements.get(identity, ()) if other in given.unready)
    return f"its replacement is not ready yet: {', '.join(waiting)}" if waiting else ""


def _same_but_hash(one: Identity, other: Identity) -> bool:
    return one[:3] == other[:3] and bare_name(one.name) == bare_name(other.name)


def _rank(identity: Identity) -> int:
    group, kind = identity.group, identity.kind
    if group == "admissionregistration.k8s.io":
        return 0
    if is_custom(group):
        return 1
    if group in ("autoscaling", "policy"):
        return 2
    if group in ("apps", "batch") or (group, kind) in (("", "Pod"), ("", "ReplicationController")):
        return 3
    if (group, kind) == ("apiregistration.k8s.io", "APIService"):
        return 4
    if group == "rbac.authorization.k8s.io" or (group, kind) == ("", "ServiceAccount"):
        return 6
    if (group, kind) == ("", "PersistentVolumeClaim"):
        return 7
    if kind in ("PersistentVolume", "StorageClass", "PriorityClass"):
        return 8
    if kind == "CustomResourceDefinition":
        return 9
    return 10 if (group, kind) == ("", "Namespace") else 5
