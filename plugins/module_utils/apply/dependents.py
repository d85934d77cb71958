# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the garbage collector would delete together with an object: dependents of kinds that hold data, however many owners up."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

from ansible_collections.kubeflow.platform.plugins.module_utils.apply.model import EngineError
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.observe import reading
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.protected import PROTECTED_KINDS
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.discovery import Discovery, Resource
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.requests import Client
from ansible_collections.kubeflow.platform.plugins.module_utils.objects.identity import Identity, split_api_version

# A claim of a pod's own (an ephemeral volume) is meant to end with the pod, and every deletion of pods ends it.
_SHORT_LIVED = ("", "Pod")


class Dependents:
    """Objects of protected kinds by those that own them. Read once, when first asked; may be asked by several threads."""

    def __init__(self, client: Client, discovery: Discovery, sleep: Callable[[float], None]) -> None:
        """Remember whom to ask; nothing is sent."""
        self._client = client
        self._discovery = discovery
        self._sleep = sleep
        self._lock = threading.Lock()
        self._held: dict[str, Identity] | None = None
        self._owners: dict[str, list[Mapping[str, Any]]] = {}

    def of(self, uid: str) -> str:
        """Return why the object with ``uid`` must not be deleted, "" where nothing that holds data would go with it."""
        with self._lock:
            try:
                if self._held is None:
                    self._held = dict(self._look())
            except EngineError as error:
                return f"what would be deleted with it is not known ({str(error).rstrip('.')})"
            found = self._held.get(uid)
        return f"{found} belongs to it and would be deleted with it" if found else ""

    def _look(self) -> Iterator[tuple[str, Identity]]:
        for kind in sorted(PROTECTED_KINDS):
            resource = self._discovery.preferred(*kind)
            if resource is None:
                continue
            rows = reading(partial(self._client.list_metadata, resource.collection(None)), f"the {resource.kind} objects", self._sleep)
            for row in rows:
                identity = Identity(*kind, row.get("namespace", "") if resource.namespaced else "", row["name"])
                for uid in self._above(row):
                    yield uid, identity

    def _above(self, metadata: Mapping[str, Any]) -> Iterator[str]:
        """The uids of all owners of an object, of their owners, and so on."""
        todo = [(owner, str(metadata.get("namespace") or "")) for owner in metadata.get("ownerReferences") or []]
        seen = set()
        while todo:
            owner, namespace = todo.pop()
            uid = str(owner.get("uid"))
            group, _version = split_api_version(str(owner.get("apiVersion") or ""))
            if uid in seen or (group, owner.get("kind")) == _SHORT_LIVED:
                continue
            seen.add(uid)
            yield uid
            resource = self._discovery.preferred(group, str(owner.get("kind") or ""))
            if resource is not None:
                todo += [(above, namespace) for above in self._owners_of(uid, resource, namespace, str(owner.get("name") or ""))]

    def _owners_of(self, uid: str, resource: Resource, namespace: str, name: str) -> list[Mapping[str, Any]]:
        if uid not in self._owners:
            path = resource.path(namespace if resource.namespaced else "", name)
            answer = reading(partial(self._client.get, path), f"{resource.kind} {name}", self._sleep)
            metadata = answer.body().get("metadata") or {}
            self._owners[uid] = list(metadata.get("ownerReferences") or []) if metadata.get("uid") == uid else []
        return self._owners[uid]
