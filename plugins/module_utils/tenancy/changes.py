# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""One change of one object: what it does, the request that does it, and both states for the diff."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.discovery import Resource
from ansible_collections.kubeflow.platform.plugins.module_utils.objects import difference
from ansible_collections.kubeflow.platform.plugins.module_utils.objects.identity import Identity

Object = dict[str, Any]
Verb = Literal["create", "patch", "delete", "recreate"]
# The order in which a tenant's changes are sent: the controller acts on the Profile and believes the namespace's annotation.
NAMESPACE, PROFILE, INSIDE = 0, 1, 2
_GONE: Object = {}


@dataclass(frozen=True, slots=True)
class Change:
    """``action``: create, configure, adopt, hand over, recreate or delete. ``body``: the object, or a merge patch. ``stage``: its turn."""

    tenant: str
    action: str
    verb: Verb
    resource: Resource
    name: str
    body: Object = field(default_factory=dict)
    before: Object = field(default_factory=dict)
    after: Object = field(default_factory=dict)
    stage: int = INSIDE
    uid: str = ""
    why: str = ""
    paths: tuple[str, ...] = ()  # the fields that differ, once the states are gone (``slim``)

    @property
    def identity(self) -> Identity:
        """What the changed object is called."""
        return Identity(self.resource.group, self.resource.kind, self.tenant if self.resource.namespaced else "", self.name)

    def differing(self) -> tuple[str, ...]:
        """Return the fields that a patch changes."""
        found = difference.compare(self.before, self.after) if self.verb == "patch" and not self.paths else None
        return tuple(found.paths) if found is not None else self.paths

    def slim(self) -> Change:
        """Return the change without its states and request: of ten thousand that were sent, only the names are still of use."""
        return replace(self, body=_GONE, before=_GONE, after=_GONE, paths=self.differing())

    @property
    def path(self) -> str:
        """Where the changed object is."""
        return self.resource.path(self.tenant, self.name)

    @property
    def collection(self) -> str:
        """Where an object like it is created."""
        return self.resource.collection(self.tenant)


def create(tenant: str, resource: Resource, body: Object, *, stage: int = INSIDE, why: str = "") -> Change:
    """Return the creation of an object."""
    return Change(tenant, "create", "create", resource, body["metadata"]["name"], body, {}, body, stage, why=why)


def delete(tenant: str, resource: Resource, live: Mapping[str, Any], *, stage: int = INSIDE, why: str = "") -> Change:
    """Return the deletion of exactly this object."""
    metadata = live["metadata"]
    return Change(
        tenant, "delete", "delete", resource, metadata["name"], before=shown(resource, live), stage=stage, uid=metadata["uid"], why=why
    )


def patch(
    tenant: str,
    resource: Resource,
    live: Mapping[str, Any] | None,
    body: Object,
    *,
    name: str = "",
    action: str = "configure",
    stage: int = INSIDE,
    why: str = "",
) -> Change:
    """Return a merge patch (RFC 7386); only what ``body`` names is touched. ``live`` may be None where it is still to come."""
    before = shown(resource, live or {"metadata": {"name": name}})
    after = merged(before, body)
    picked = [_picked(side, body, resource) for side in (before, after)]
    return Change(tenant, action, "patch", resource, before["metadata"]["name"], body, picked[0], picked[1], stage, why=why)


def recreate(tenant: str, resource: Resource, live: Mapping[str, Any], body: Object, why: str) -> Change:
    """Return the replacement of an object that cannot become the wanted one."""
    metadata = live["metadata"]
    return Change(
        tenant, "recreate", "recreate", resource, metadata["name"], body, shown(resource, live), body, uid=metadata["uid"], why=why
    )


def shown(resource: Resource, live: Mapping[str, Any]) -> Object:
    """Return an object as diffs show it: with kind, without what the server counts."""
    metadata = {key: value for key, value in live["metadata"].items() if key in ("name", "namespace", "labels", "annotations")}
    rest = {key: value for key, value in live.items() if key not in ("metadata", "apiVersion", "kind")}
    return {"apiVersion": resource.api_version, "kind": resource.kind, "metadata": metadata, **rest}


def merged(target: Any, body: Any) -> Any:
    """Return ``target`` after a merge patch."""
    if not isinstance(body, dict):
        return deepcopy(body)
    result = dict(target) if isinstance(target, dict) else {}
    for key, value in body.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = merged(result.get(key), value)
    return result


def _picked(side: Object, body: Object, resource: Resource) -> Object:
    """Return the fields that a patch is about, so that a diff of a namespace does not show all its labels."""
    metadata = {key: value for key, value in side["metadata"].items() if key in ("name", "namespace")}
    picked = {key: _only(side.get(key), value) for key, value in body.items() if key != "metadata" and key in side}
    for key, value in (body.get("metadata") or {}).items():
        if key in side["metadata"]:
            metadata[key] = _only(side["metadata"][key], value)
    return {"apiVersion": resource.api_version, "kind": resource.kind, "metadata": metadata, **picked}


def _only(side: Any, body: Any) -> Any:
    if isinstance(side, dict) and isinstance(body, dict):
        return {key: _only(side[key], value) for key, value in body.items() if key in side}
    return side


def to_become(live: Any, wanted: Any) -> Any:
    """Return the merge patch that makes ``live`` ``wanted``, {} where nothing is to do: keys that are too many become null."""
    if not (isinstance(live, dict) and isinstance(wanted, dict)):
        return wanted
    result: Object = {key: None for key, value in live.items() if key not in wanted and not _added(value)}
    for key, value in wanted.items():
        if key not in live:
            result[key] = value
        elif not equal(live[key], value):
            result[key] = to_become(live[key], value)
    return result


def equal(live: Any, wanted: Any) -> bool:
    """Compare without the values that the server adds by itself ("" and "TCP")."""
    if isinstance(live, dict) and isinstance(wanted, dict):
        extra = [value for key, value in live.items() if key not in wanted]
        return all(map(_added, extra)) and all(key in live and equal(live[key], value) for key, value in wanted.items())
    if isinstance(live, list) and isinstance(wanted, list):
        return len(live) == len(wanted) and all(map(equal, live, wanted))
    if isinstance(live, bool) or isinstance(wanted, bool):
        return live is wanted
    return bool(live == wanted)


def _added(value: Any) -> bool:
    return value in ("", "TCP")
