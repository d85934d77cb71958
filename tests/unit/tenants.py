# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Live tenants in memory: what changes make of them, and what the profile controller makes (design: as it was seen to behave)."""

from __future__ import annotations

import copy
import itertools
from typing import Any

from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.discovery import Resource
from ansible_collections.kubeflow.platform.plugins.module_utils.tenancy import changes, decide, live
from ansible_collections.kubeflow.platform.plugins.module_utils.tenancy.changes import Change
from ansible_collections.kubeflow.platform.plugins.module_utils.tenancy.decision import Decision
from ansible_collections.kubeflow.platform.plugins.module_utils.tenancy.live import Live
from ansible_collections.kubeflow.platform.plugins.module_utils.tenancy.model import Tenant
from ansible_collections.kubeflow.platform.plugins.module_utils.tenancy.platform import Kinds, Platform
from ansible_collections.kubeflow.platform.plugins.module_utils.tenancy.validation import read

Object = dict[str, Any]
KINDS = Kinds(
    Resource("kubeflow.org", "v1", "Profile", "profiles", False),
    Resource("security.istio.io", "v1", "AuthorizationPolicy", "authorizationpolicies", True),
    Resource("kubeflow.org", "v1alpha1", "PodDefault", "poddefaults", True),
)
LABELS = {"app.kubernetes.io/part-of": "kubeflow-profile", "pipelines.kubeflow.org/enabled": "true"}
PLATFORM = Platform(namespace_labels=LABELS, pipelines=True)
_numbers = itertools.count(1)


def tenant(name: str = "team-a", owner: str | Object = "alice@example.com", **more: Any) -> Tenant:
    """A tenant from data that must be right."""
    (found,), findings = read([{"name": name, "owner": {"name": owner} if isinstance(owner, str) else owner, **more}])
    assert findings.errors == []
    return found


def decided(wanted: Tenant, state: Live, **options: Any) -> Decision:
    """What is decided about a tenant."""
    return decide.decide(wanted, state, KINDS, PLATFORM, **options)


def actions(decision: Decision) -> list[str]:
    """ "create Profile team-a" of each change."""
    return [f"{change.action} {change.identity}" for change in decision.changes]


def namespace(name: str = "team-a", **metadata: Any) -> Object:
    """A namespace that somebody made."""
    return stored({"metadata": {"name": name, **metadata}})


def stored(obj: Object) -> Object:
    """The object with a uid."""
    return {**obj, "metadata": {"uid": f"uid-{next(_numbers)}", **obj["metadata"]}}


def apply(state: Live, rows: list[Change]) -> Live:
    """The tenant after changes, as the API server stores them."""
    state = copy.deepcopy(state)
    for change in rows:
        before = find(state, change)
        after: Object | None = None
        if change.verb == "patch":
            assert before is not None, f"{change.identity} is patched but not there"
            after = changes.merged(before, change.body)
        elif change.verb in ("create", "recreate"):
            assert (before is None) == (change.verb == "create")
            after = stored(copy.deepcopy(live.compact(change.body)))  # tests edit what they get; equal parts are shared
        put(state, change, after)
    return state


_PLACES = {
    "Profile": "profile",
    "Namespace": "namespace",
    "RoleBinding": "bindings",
    "AuthorizationPolicy": "policies",
    "ServiceAccount": "accounts",
    "ResourceQuota": "quota",
    "LimitRange": "limits",
    "NetworkPolicy": "network_policy",
    "PodDefault": "pod_defaults",
    "ConfigMap": "authority",
}


def find(state: Live, change: Change) -> Object | None:
    """The live object that a change is about."""
    place = getattr(state, _PLACES[change.resource.kind])
    if change.resource.kind in ("RoleBinding", "AuthorizationPolicy", "ServiceAccount", "PodDefault"):
        place = place.get(change.name)
    return dict(place) if place is not None else None


def put(state: Live, change: Change, after: Object | None) -> None:
    """Store what a change made of an object."""
    attribute = _PLACES[change.resource.kind]
    if change.resource.kind not in ("RoleBinding", "AuthorizationPolicy", "ServiceAccount", "PodDefault"):
        setattr(state, attribute, after)
    elif after is None:
        del getattr(state, attribute)[change.name]
    else:
        getattr(state, attribute)[change.name] = after


def controlled(state: Live, platform: Platform = PLATFORM) -> Live:
    """The tenant after the profile controller and the pipelines' one looked at it."""
    state = copy.deepcopy(state)
    profile, owner = state.profile, state.owner
    assert profile is not None and owner is not None
    reference = {"kind": "Profile", "name": state.name, "uid": profile["metadata"]["uid"], "controller": True}
    if state.namespace is None:
        labels = {**platform.namespace_labels, "istio-injection": "enabled"}
        state.namespace = namespace(state.name, labels=labels, annotations={"owner": owner.name}, ownerReferences=[reference])
    elif state.owner_annotation != owner.name:
        return state
    labels = state.namespace["metadata"].setdefault("labels", {})
    for key, value in platform.namespace_labels.items():
        labels.setdefault(key, value)
    _controlled_objects(state, reference)
    quota = (profile["spec"].get("resourceQuotaSpec") or {}).get("hard")
    state.quota = stored({"metadata": {"name": live.QUOTA}, "spec": {"hard": dict(quota)}}) if quota else None
    profile["metadata"]["finalizers"] = ["profile-finalizer"]
    if labels.get("pipelines.kubeflow.org/enabled") == "true":
        state.artifacts = {f"Secret {live.SECRET}", *(f"ConfigMap {name}" for name in live.PIPELINE_MAPS)}
    return state


def _controlled_objects(state: Live, reference: Object) -> None:
    assert state.owner is not None
    metadata = {"namespace": state.name, "ownerReferences": [reference]}
    notes = {"user": state.owner.name, "role": "admin"}
    rules = [{"when": [{"key": "request.headers[kubeflow-userid]", "values": [state.owner.name]}]}]
    # Content is corrected, annotations of what exists stay as they are.
    fresh = {"metadata": {**metadata, "name": live.OWNER_POLICY, "annotations": notes}}
    state.policies[live.OWNER_POLICY] = {**stored(state.policies.get(live.OWNER_POLICY) or fresh), "spec": {"rules": rules}}
    fresh = {"metadata": {**metadata, "name": live.OWNER_BINDING, "annotations": notes}}
    grant = {"roleRef": {"kind": "ClusterRole", "name": "kubeflow-admin"}, "subjects": [state.owner.as_rbac()]}
    state.bindings[live.OWNER_BINDING] = {**stored(state.bindings.get(live.OWNER_BINDING) or fresh), **grant}
    for name in (live.EDITOR, live.VIEWER):
        state.accounts.setdefault(name, stored({"metadata": {**metadata, "name": name}}))
        state.bindings.setdefault(name, stored({"metadata": {**metadata, "name": name}, "roleRef": {"name": "kubeflow-edit"}}))


def settled(wanted: Tenant, state: Live | None = None, **options: Any) -> Live:
    """The tenant after a whole run: first what the controller needs, then its work, then the rest."""
    state = state or Live(wanted.name)
    first = [change for change in decided(wanted, state, **options).changes if change.stage != changes.INSIDE]
    state = controlled(apply(state, first))
    return apply(state, decided(wanted, state, **options).changes)
