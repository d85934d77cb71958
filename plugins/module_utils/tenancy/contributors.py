# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Contributors: what gives them their rights, who else has some, and one contributor alone. In exactly the form of KFAM."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.discovery import Resource
from ansible_collections.kubeflow.platform.plugins.module_utils.tenancy import changes, desired
from ansible_collections.kubeflow.platform.plugins.module_utils.tenancy import live as lives
from ansible_collections.kubeflow.platform.plugins.module_utils.tenancy import platform as platforms
from ansible_collections.kubeflow.platform.plugins.module_utils.tenancy.changes import Change
from ansible_collections.kubeflow.platform.plugins.module_utils.tenancy.decision import Decision
from ansible_collections.kubeflow.platform.plugins.module_utils.tenancy.live import Live
from ansible_collections.kubeflow.platform.plugins.module_utils.tenancy.model import CONTRIBUTOR_KINDS, Contributor, Subject, Tenant

UNNAMED = "the data does not name this contributor"


def wanted(
    decision: Decision, live: Live, kinds: platforms.Kinds, platform: platforms.Platform, *, authoritative: bool
) -> Iterator[Change]:
    """Yield what gives the data's contributors their rights."""
    tenant = decision.tenant.name
    for row in decision.tenant.contributors or ():
        present = live.bindings.get(row.binding)
        noted = lives.notes(present).get("user", row.subject.name)
        if noted != row.subject.name and not authoritative:
            decision.error(
                f"{row.subject} and {noted}, who is a contributor already, both are {row.role}, and KFAM gives both the name "
                f"{row.binding}. Remove {noted} first (or set authoritative), or give {row.subject} another role."
            )
            continue
        yield from _binding(tenant, present, desired.binding(tenant, row))
        if row.subject.kind == "User":
            policy = desired.policy(tenant, row, platform, kinds.policies.api_version)
            yield from _like(tenant, kinds.policies, live.policies.get(row.binding), policy, "spec")


def _binding(tenant: str, present: Mapping[str, Any] | None, wanted: dict[str, Any]) -> Iterator[Change]:
    if present is not None and present.get("roleRef") != wanted["roleRef"]:
        yield changes.recreate(tenant, platforms.BINDINGS, present, wanted, "its role cannot be changed")
    else:
        if present is not None and lives.is_contributor(present) and "labels" in wanted["metadata"]:
            # A group that KFAM made a contributor is told by KFAM's annotations.
            wanted = {**wanted, "metadata": {key: value for key, value in wanted["metadata"].items() if key != "labels"}}
        yield from _like(tenant, platforms.BINDINGS, present, wanted, "subjects")


def _like(tenant: str, resource: Resource, present: Mapping[str, Any] | None, wanted: dict[str, Any], key: str) -> Iterator[Change]:
    """Create an object, or mend its ``key`` and the labels and annotations that it must have; others on it stay."""
    if present is None:
        yield changes.create(tenant, resource, wanted)
        return
    body: dict[str, Any] = {}
    if present.get(key) != wanted[key]:
        body[key] = wanted[key]
    for notes in ("labels", "annotations"):
        live_notes = present["metadata"].get(notes) or {}
        missing = {name: value for name, value in (wanted["metadata"].get(notes) or {}).items() if live_notes.get(name) != value}
        if missing:
            body.setdefault("metadata", {})[notes] = missing
    if body:
        yield changes.patch(tenant, resource, present, body)


def others(decision: Decision, live: Live, kinds: platforms.Kinds, *, authoritative: bool) -> Iterator[Change]:
    """A person that the data names has exactly the roles it gives; others are reported, or removed where the data is authoritative."""
    named = decision.tenant.contributors
    kept = {row.binding for row in named or ()}
    known = {(row.subject.kind, row.subject.name) for row in named or ()}
    orphans = [name for name in live.policies if name not in live.bindings and name not in kept and name != lives.OWNER_POLICY]
    more = [name for name, obj in live.bindings.items() if lives.is_contributor(obj) and name not in kept]
    for name in sorted({*more, *orphans}):
        who, label = _who(live, name)
        if who in known or (authoritative and named is not None):
            why = "the data gives another role" if who in known else UNNAMED
            decision.removes = decision.removes or why == UNNAMED
            for resource, obj in ((platforms.BINDINGS, live.bindings.get(name)), (kinds.policies, live.policies.get(name))):
                if obj is not None:
                    yield changes.delete(decision.tenant.name, resource, obj, why=why)
        else:
            decision.unnamed.append(label)


def _who(live: Live, name: str) -> tuple[tuple[str, str], str]:
    """Return the kind and name of a live contributor, and words for messages."""
    binding = live.bindings.get(name)
    found = lives.contributor(binding) if binding is not None else None
    noted = lives.notes(binding or live.policies.get(name)).get("user", "")
    if found is None:
        broken = "an AuthorizationPolicy without RoleBinding" if binding is None else "a RoleBinding that KFAM cannot read"
        return ("User", noted), f"{noted} ({name}: {broken})"
    return (found.subject.kind, noted or found.subject.name), str(found)


def told(live: Live) -> tuple[list[Contributor], list[str]]:
    """Return the live contributors that data can express, sorted, and words for the rest."""
    good: list[Contributor] = []
    bad: list[str] = []
    for name, binding in sorted(live.bindings.items()):
        if not lives.is_contributor(binding):
            continue
        found = lives.contributor(binding)
        noted = lives.notes(binding).get("user")
        expressible = found is not None and found.subject.kind in CONTRIBUTOR_KINDS
        if found is not None and expressible and found.binding == name and noted in (None, found.subject.name):
            good.append(found)
        else:
            why = "a name that KFAM does not find" if expressible else "neither a user nor a group"
            bad.append(_who(live, name)[1] if found is None else f"{noted or found.subject} ({name}: {why})")
    orphans = [name for name in live.policies if name not in live.bindings and name != lives.OWNER_POLICY]
    return sorted(good), bad + [_who(live, name)[1] for name in sorted(orphans)]


def one(live: Live, subject: Subject, role: str, kinds: platforms.Kinds, platform: platforms.Platform, *, absent: bool) -> Decision:
    """Return what gives one contributor exactly ``role``, or takes it ("" for every one) away."""
    row = Contributor(subject, role)
    decision = Decision(Tenant(live.name, owner=live.owner, contributors=() if absent else (row,)))
    if absent:
        decision.changes += _without(live, subject, role, kinds)
    elif live.profile is None or live.namespace is None or lives.deleting(live.profile):
        decision.error("it does not exist, is being deleted, or has no namespace yet. Make it with the module profile first.")
    elif live.owner == subject:
        decision.error(f"{subject} is its owner, who has every right already.")
    else:
        decision.changes += wanted(decision, live, kinds, platform, authoritative=False)
        decision.changes += others(decision, live, kinds, authoritative=False)
    return decision


def _without(live: Live, subject: Subject, role: str, kinds: platforms.Kinds) -> Iterator[Change]:
    for resource, objects in ((platforms.BINDINGS, live.bindings), (kinds.policies, live.policies)):
        for name, obj in sorted(objects.items()):
            named = name not in (lives.OWNER_BINDING, lives.OWNER_POLICY) and _who(live, name)[0] == (subject.kind, subject.name)
            if named and role in ("", _role(live, name)):
                yield changes.delete(live.name, resource, obj)


def _role(live: Live, name: str) -> str:
    return lives.notes(live.bindings.get(name) or live.policies.get(name)).get("role") or _granted(live.bindings.get(name))


def _granted(binding: Mapping[str, Any] | None) -> str:
    found = lives.contributor(binding) if binding is not None else None
    return found.role if found is not None else ""
