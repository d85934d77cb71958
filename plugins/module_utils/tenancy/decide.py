# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What is to be done about one tenant: the Profile, its namespace and who owns both. Pure: data and live state in, changes out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ansible_collections.kubeflow.platform.plugins.module_utils.tenancy import changes, desired, inside
from ansible_collections.kubeflow.platform.plugins.module_utils.tenancy import live as lives
from ansible_collections.kubeflow.platform.plugins.module_utils.tenancy import platform as platforms
from ansible_collections.kubeflow.platform.plugins.module_utils.tenancy.changes import Change
from ansible_collections.kubeflow.platform.plugins.module_utils.tenancy.decision import Decision
from ansible_collections.kubeflow.platform.plugins.module_utils.tenancy.live import Live
from ansible_collections.kubeflow.platform.plugins.module_utils.tenancy.model import Subject, Tenant
from ansible_collections.kubeflow.platform.plugins.module_utils.tenancy.quantities import same_amounts

SET_LABEL = "kubeflow.platform/set"
# The controller looks at a Profile only when it changes; counting here makes it look.
TOUCH = "kubeflow.platform/looks"


def decide(tenant: Tenant, live: Live, kinds: platforms.Kinds, platform: platforms.Platform, *, authoritative: bool = False) -> Decision:
    """Return what makes ``live`` the wanted ``tenant``; nothing but findings where that is refused."""
    decision = Decision(tenant)
    _refuse_dying(decision, live)
    ownership = Ownership(tenant, live)
    if not decision.findings.errors:
        decision.findings.errors.extend(f"Profile {tenant.name}: {text}" for text in ownership.refusals())
    if decision.findings.errors:
        return decision
    decision.changes += _namespace(tenant, live, ownership, platform)
    decision.changes += _profile(tenant, live, ownership, kinds)
    decision.changes += _owner_notes(tenant, live, kinds)
    inside.decide(decision, live, kinds, platform, authoritative=authoritative)
    return decision


def _refuse_dying(decision: Decision, live: Live) -> None:
    for what, obj in (("it", live.profile), ("its namespace", live.namespace)):
        if lives.deleting(obj):
            held = ", ".join((obj or {})["metadata"].get("finalizers") or []) or "the namespace controller"
            decision.error(f"{what} is being deleted (waiting for {held}). Wait until that is done, then run again.")


@dataclass(frozen=True, slots=True)
class Ownership:
    """Who owns a namespace, who is to own it, and whether that may change."""

    tenant: Tenant
    live: Live

    @property
    def wanted(self) -> str:
        """Name of the owner to be."""
        return self.tenant.owner.name if self.tenant.owner else ""

    @property
    def adopting(self) -> bool:
        """Whether somebody else made the namespace, and it is to become this tenant's."""
        return self.live.namespace is not None and not self.live.owned and not self._agreed

    @property
    def _agreed(self) -> bool:
        """Whether Profile and namespace name one owner already, or an interrupted hand-over left the new one in the namespace."""
        owner = self.live.owner
        noted = self.live.owner_annotation
        return owner is not None and noted is not None and noted in (owner.name, self.wanted)

    def refusals(self) -> Iterable[str]:
        """Yield why the namespace cannot become this tenant's, each with what to do."""
        if not self.adopting:
            return
        metadata = (self.live.namespace or {})["metadata"]
        noted = self.live.owner_annotation
        others = [row for row in metadata.get("ownerReferences") or () if row.get("controller")]
        belongs = lives.labels(self.live.namespace).get(SET_LABEL)
        if belongs:
            yield f"the namespace belongs to the platform (set {belongs}), which no tenant may own. Choose another name."
        elif noted not in (None, self.wanted):
            yield (
                f"the namespace exists and its annotation owner names {noted}, not {self.wanted}: it belongs to another owner and is not "
                f"taken over. Make {noted} the owner here, or correct the annotation after asking them."
            )
        elif others:
            yield f"the namespace is controlled by {others[0].get('kind')} {others[0].get('name')} and is not taken over."
        elif not self.tenant.adopt:
            said = "names the same owner" if noted else "names no owner"
            yield (
                f"a namespace of this name exists already and {said}. Set adopt: true to make it the tenant's, with everything in it, "
                "or choose another name."
            )


def _namespace(tenant: Tenant, live: Live, ownership: Ownership, platform: platforms.Platform) -> list[Change]:
    """Single labels and annotations only: whoever applied the namespace as a whole and left a field out later would delete it."""
    wanted_labels = desired.namespace_labels(tenant)
    wanted_notes: dict[str, str | None] = dict(tenant.annotations)
    if live.namespace is None:
        wishes = {"labels": wanted_labels, "annotations": wanted_notes}
        body = {key: value for key, value in wishes.items() if any(item is not None for item in value.values())}
        if not body:
            return []
        return [changes.patch(tenant.name, platforms.NAMESPACES, None, {"metadata": body}, name=tenant.name, stage=changes.INSIDE)]
    action = "configure"
    if live.owner_annotation != ownership.wanted:
        action = "adopt" if ownership.adopting else "hand over"
        wanted_notes["owner"] = ownership.wanted
    wanted_labels = {**_mesh(live, platform, wanted_labels), **wanted_labels}
    body = {}
    for key, wanted, present in (
        ("labels", wanted_labels, lives.labels(live.namespace)),
        ("annotations", wanted_notes, lives.notes(live.namespace)),
    ):
        different = {name: value for name, value in wanted.items() if present.get(name) != value}
        if different:
            body[key] = different
    if not body:
        return []
    patch = changes.patch(tenant.name, platforms.NAMESPACES, live.namespace, {"metadata": body}, action=action, stage=changes.NAMESPACE)
    return [patch]


def _mesh(live: Live, platform: platforms.Platform, wanted: Mapping[str, str | None]) -> dict[str, str | None]:
    """The controller labels only namespaces that it makes itself, and never again."""
    key, value = platform.mesh_label
    present = lives.labels(live.namespace)
    decided = any(name in present or name in wanted for name in ("istio-injection", "istio.io/rev", "istio.io/dataplane-mode"))
    left_out = platform.namespace_labels.get(key) == ""
    return {} if decided or left_out else {key: value}


def _profile(tenant: Tenant, live: Live, ownership: Ownership, kinds: platforms.Kinds) -> list[Change]:
    if live.profile is None:
        body = desired.profile(tenant, kinds.profiles.api_version)
        return [changes.create(tenant.name, kinds.profiles, body, stage=changes.PROFILE)]
    spec: dict[str, Any] = {}
    action, owner = "configure", live.owner
    if tenant.owner is not None and owner != tenant.owner:
        action = "hand over" if owner is not None and owner.name != tenant.owner.name else action
        spec["owner"] = {**dict.fromkeys((live.profile.get("spec") or {}).get("owner") or {}), **tenant.owner.as_rbac()}
    quota = _quota(tenant, live)
    if quota is not None:
        spec["resourceQuotaSpec"] = {"hard": quota}
    body = {"spec": spec} if spec else {}
    if not spec and (live.owner_annotation != ownership.wanted and live.namespace is not None or _quota_drifted(tenant, live)):
        looks = lives.notes(live.profile).get(TOUCH, "0")
        body = {"metadata": {"annotations": {TOUCH: str(int(looks) + 1 if looks.isdecimal() else 1)}}}
        action = "configure"
    if not body:
        return []
    return [changes.patch(tenant.name, kinds.profiles, live.profile, body, action=action, stage=changes.PROFILE)]


def hard(live: Live) -> dict[str, Any]:
    """Return the quota that the live Profile asks for."""
    spec = (live.profile or {}).get("spec") or {}
    return dict((spec.get("resourceQuotaSpec") or {}).get("hard") or {})


def _quota(tenant: Tenant, live: Live) -> dict[str, Any] | None:
    """Return the patch of the quota; None where nothing is to do. A removed name must become null, or it stays."""
    present = hard(live)
    if tenant.quota is None or same_amounts(present, tenant.quota):
        return None
    return {**dict.fromkeys(present), **tenant.quota}


def _quota_drifted(tenant: Tenant, live: Live) -> bool:
    """Somebody edited the ResourceQuota itself; the controller does not mend that before its next event."""
    if tenant.quota is None or live.namespace is None or live.owner_annotation != (live.owner.name if live.owner else ""):
        return False
    return not same_amounts(((live.quota or {}).get("spec") or {}).get("hard") or {}, tenant.quota)


def _owner_notes(tenant: Tenant, live: Live, kinds: platforms.Kinds) -> list[Change]:
    """KFAM lists owners by annotations that the controller writes once and never changes: a new owner must be written here."""
    if tenant.owner is None:
        return []
    found = []
    pairs = (
        (platforms.BINDINGS, live.bindings.get(lives.OWNER_BINDING)),
        (kinds.policies, live.policies.get(lives.OWNER_POLICY)),
    )
    wanted = {"role": "admin", "user": tenant.owner.name}
    for resource, obj in pairs:
        noted = lives.notes(obj)
        body = {key: value for key, value in wanted.items() if noted.get(key) != value}
        if obj is not None and body:
            found.append(changes.patch(tenant.name, resource, obj, {"metadata": {"annotations": body}}, action="hand over"))
    return found


def still_named(live: Live, owner: Subject) -> list[str]:
    """Return what still gives the namespace to somebody else than ``owner``, for the proof of a hand-over."""
    found = []
    holder = live.bindings.get(lives.OWNER_BINDING)
    if holder is not None and [lives.subject(row) for row in holder.get("subjects") or []] != [owner]:
        found.append(f"RoleBinding {lives.OWNER_BINDING} names another subject than {owner}")
    for what, obj in (("RoleBinding", holder), ("AuthorizationPolicy", live.policies.get(lives.OWNER_POLICY))):
        noted = lives.notes(obj).get("user", "nobody")
        if obj is not None and noted != owner.name:
            found.append(f"the annotation user of {what} {obj['metadata']['name']} names {noted}")
    return found
