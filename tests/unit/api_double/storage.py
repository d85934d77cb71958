# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is stored in the double, by whom it was written, and who is told of it."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.discovery import Resource
from ansible_collections.kubeflow.platform.plugins.module_utils.objects.ownership import MANAGER
from ansible_collections.kubeflow.platform.tests.unit.api_double import fields
from ansible_collections.kubeflow.platform.tests.unit.api_double.kinds import EXTENSIONS, WITHOUT_GENERATION, Key

HOME = "kubeflow-platform"
Obj = dict[str, Any]


@dataclass(frozen=True)
class Write:
    """One persisted write: at which request, by whom ("engine" or a controller), what, and to which object."""

    request: int
    by: str
    verb: str
    key: Key

    @property
    def counts(self) -> bool:
        """Whether it is a change of the set: by the engine, and neither ledger, Lease nor their namespace."""
        return self.by == "engine" and HOME not in (self.key.namespace, self.key.name)


@dataclass(frozen=True)
class Request:
    """One request as it came, and the code of its answer."""

    number: int
    moment: float
    method: str
    path: str
    dry: bool
    status: int


class Storage:
    """Objects by their place. ``now()`` is the clock; ``delay`` seconds pass until a CRD's kind is served."""

    def __init__(self, now: Callable[[], float], delay: float = 0.0) -> None:
        self.objects: dict[Key, Obj] = {}
        self.writes: list[Write] = []
        self.requests: list[Request] = []
        self.on_write: list[Callable[[str, Key, Obj | None], None]] = []
        self.delay = delay
        self.now = now
        self._numbers = itertools.count(1)
        self._custom: dict[str, tuple[float, list[Resource]]] = {}
        for name in ("default", "kube-system", HOME):
            self.write("cluster", Key("", "namespaces", "", name), {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})

    def write(self, by: str, key: Key, obj: Obj) -> Obj:
        """Persist an object and tell the controllers."""
        obj = self.stored(key, obj)
        verb = "update" if key in self.objects else "create"
        self.objects[key] = obj
        self.writes.append(Write(len(self.requests), by, verb, key))
        if key.group == EXTENSIONS and key.name not in self._custom:
            self._custom[key.name] = (self.now() + self.delay, list(_defined(obj)))
        for tell in self.on_write:
            tell(by, key, obj)
        return obj

    def update(self, by: str, key: Key, after: Obj, subresource: str = "") -> None:
        """Persist what a controller made of an object, unless it is as before."""
        live = self.objects[key]
        if after == live:
            return
        owners = fields.updated(live, after, by, subresource)
        version = live["apiVersion"]
        after = copy.deepcopy(after)
        after["metadata"]["managedFields"] = fields.managed(owners, live["metadata"], version, self._stamp())
        self.write(by, key, after)

    def remove(self, by: str, key: Key) -> None:
        """Delete an object; one with finalizers is only marked."""
        live = self.objects[key]
        self.writes.append(Write(len(self.requests), by, "delete", key))
        if live["metadata"].get("finalizers"):
            live["metadata"]["deletionTimestamp"] = self._stamp()
            return
        del self.objects[key]
        for tell in self.on_write:
            tell(by, key, None)

    def stored(self, key: Key, obj: Obj) -> Obj:
        """The object as it would be stored now: with uid, resourceVersion and generation."""
        live = self.objects.get(key)
        obj = copy.deepcopy(obj)
        number = next(self._numbers)
        metadata = obj["metadata"]
        old = (live or {}).get("metadata") or {}
        metadata["uid"] = old.get("uid") or f"uid-{number}"
        metadata["creationTimestamp"] = old.get("creationTimestamp") or self._stamp()
        metadata["resourceVersion"] = str(number)
        if obj["kind"] not in WITHOUT_GENERATION:
            moved = live is None or _spec(live) != _spec(obj)
            metadata["generation"] = int(old.get("generation") or 0) + moved
        if obj["kind"] == "NetworkPolicy" and obj.get("spec", {}).get("ingress") == []:
            del obj["spec"]["ingress"]  # is lost on storage, so that an identical apply looks like a change for ever
        return obj

    def _stamp(self) -> str:
        seconds = int(self.now())
        return f"2026-01-01T{seconds // 3600 % 24:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}Z"


def _spec(obj: Obj) -> Obj:
    return {key: value for key, value in obj.items() if key not in ("metadata", "status")}


def _defined(crd: Obj) -> Iterator[Resource]:
    spec = crd["spec"]
    for version in spec["versions"]:
        yield Resource(spec["group"], version["name"], spec["names"]["kind"], spec["names"]["plural"], spec["scope"] == "Namespaced")


def ours(obj: Mapping[str, Any]) -> bool:
    """Whether the engine applied an object."""
    return any(row["manager"] == MANAGER for row in obj["metadata"].get("managedFields") or [])
