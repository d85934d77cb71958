# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which kinds the server serves, from aggregated discovery: two requests, and 304 for nothing new."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.errors import ClusterError, Refused
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.requests import Client

_ACCEPT = ",".join(f"application/json;g=apidiscovery.k8s.io;v={version};as=APIGroupDiscoveryList" for version in ("v2", "v2beta1"))
_VERBS = ("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch")


@dataclass(frozen=True, slots=True)
class Resource:
    """A kind as served: where its objects live. ``group`` is "" for the core group."""

    group: str
    version: str
    kind: str
    plural: str
    namespaced: bool
    verbs: tuple[str, ...] = _VERBS

    @property
    def api_version(self) -> str:
        """As objects state it: "apps/v1", "v1"."""
        return f"{self.group}/{self.version}" if self.group else self.version

    def collection(self, namespace: str | None = None) -> str:
        """Return the path of the collection, of all namespaces where none is given."""
        root = f"/apis/{self.group}/{self.version}" if self.group else f"/api/{self.version}"
        inside = f"/namespaces/{quote(namespace, safe=':')}" if self.namespaced and namespace else ""
        return f"{root}{inside}/{self.plural}"

    def path(self, namespace: str, name: str) -> str:
        """Return the path of one object; ``namespace`` is ignored for cluster-scoped kinds."""
        return f"{self.collection(namespace)}/{quote(name, safe=':')}"


@dataclass(frozen=True, slots=True)
class _Group:
    """What one endpoint (/api or /apis) said about a group. Versions are in the server's order of preference."""

    resources: dict[tuple[str, str], Resource]  # (version, kind)
    stale: bool


class Discovery:
    """The served kinds, as of the last ``refresh``. Reading from other threads is safe: a refresh swaps the whole."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._etags: dict[str, str] = {}
        self._groups: dict[str, dict[str, _Group]] = {"/api": {}, "/apis": {}}
        self._version: dict[str, Any] = {}

    def refresh(self) -> bool:
        """Ask the server; True where something changed. Raise Unreachable, or Refused where it answers anything else."""
        changes = [self._refresh_one(path) for path in ("/api", "/apis")]
        return any(changes)

    def find(self, group: str, version: str, kind: str) -> Resource | None:
        """Return the kind as served in exactly this version."""
        known = self._group(group)
        return known.resources.get((version, kind)) if known else None

    def preferred(self, group: str, kind: str) -> Resource | None:
        """Return the kind in the version that the server prefers among those that serve it."""
        known = self._group(group)
        found = (resource for (_version, served), resource in known.resources.items() if served == kind) if known else iter(())
        return next(found, None)

    def group_is_stale(self, group: str) -> bool:
        """Tell whether a version's server (an APIService) did not answer: its kinds are then unknown, not absent."""
        known = self._group(group)
        return known.stale if known else False

    def resources(self) -> Iterator[Resource]:
        """Yield every kind in every served version."""
        for groups in list(self._groups.values()):
            for group in groups.values():
                yield from group.resources.values()

    @property
    def server_version(self) -> str:
        """The server's ``gitVersion``, such as "v1.36.1"."""
        if not self._version:
            response = self._client.request("GET", "/version", count_as="DISCOVERY")
            if not response.ok:
                raise Refused("GET /version", response)
            self._version = response.body()
        return str(self._version.get("gitVersion") or "")

    def _group(self, group: str) -> _Group | None:
        return self._groups["/apis" if group else "/api"].get(group)

    def _refresh_one(self, path: str) -> bool:
        headers = {"Accept-Encoding": "gzip"}
        if path in self._etags:
            headers["If-None-Match"] = self._etags[path]
        response = self._client.request("GET", path, accept=_ACCEPT, headers=headers, count_as="DISCOVERY")
        if response.status == 304:
            return False
        if not response.ok:
            raise Refused(f"GET {path}", response)
        document = response.body()
        if document.get("kind") != "APIGroupDiscoveryList":
            raise ClusterError(
                f"{path} answers without aggregated discovery, so this is no Kubernetes 1.27 or newer, or a proxy changes its answers. "
                "Use a supported version of Kubernetes, and connect to it directly."
            )
        groups = {_name(item): _read_group(item) for item in document.get("items") or []}
        changed = groups != self._groups[path]
        self._groups = {**self._groups, path: groups}
        self._etags[path] = response.headers.get("etag", "")
        if not self._etags[path]:
            del self._etags[path]
        return changed


def _name(item: dict[str, Any]) -> str:
    return str((item.get("metadata") or {}).get("name") or "")


def _read_group(item: dict[str, Any]) -> _Group:
    resources: dict[tuple[str, str], Resource] = {}
    stale = False
    for version in item.get("versions") or []:
        stale = stale or version.get("freshness") == "Stale"
        name = str(version.get("version"))
        for entry in version.get("resources") or []:
            kind = str((entry.get("responseKind") or {}).get("kind") or "")
            resource = Resource(
                _name(item),
                name,
                kind,
                str(entry.get("resource")),
                entry.get("scope") == "Namespaced",
                tuple(sorted(entry.get("verbs") or ())),
            )
            resources.setdefault((name, kind), resource)
    return _Group(resources, stale)


def resource_from_crd(crd: dict[str, Any], version: str) -> Resource:
    """Return the kind that ``crd`` will serve, before the server knows it."""
    spec = crd.get("spec") or {}
    names = spec.get("names") or {}
    return Resource(str(spec.get("group")), version, str(names.get("kind")), str(names.get("plural")), spec.get("scope") == "Namespaced")
