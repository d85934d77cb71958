# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The judge's own way to the API server: a few plain requests, so that it shares no code with what it judges."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kubernetes.config import new_client_from_config

Object = dict[str, Any]
USER_AGENT = "bench-judge"
_DISCOVERY = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
_METADATA = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"


@dataclass(frozen=True)
class Resource:
    """A served resource."""

    group: str
    version: str
    kind: str
    plural: str
    namespaced: bool

    def path(self, namespace: str = "", name: str = "") -> str:
        """The collection of a namespace (of all without one), or one object."""
        root = f"/apis/{self.group}/{self.version}" if self.group else f"/api/{self.version}"
        middle = f"/namespaces/{namespace}" if self.namespaced and namespace else ""
        return f"{root}{middle}/{self.plural}" + (f"/{name}" if name else "")


@dataclass
class Cluster:
    """A cluster as its kubeconfig gives it."""

    kubeconfig: Path
    resources: list[Resource] = field(default_factory=list)
    schemas: dict[str, dict[str, Object]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        client = new_client_from_config(config_file=str(self.kubeconfig))  # type: ignore[no-untyped-call]
        self._host = client.configuration.host
        self._pool = client.rest_client.pool_manager

    def request(
        self, method: str, path: str, body: Any = None, *, accept: str = "application/json", sent: str = "application/json"
    ) -> tuple[int, Any]:
        """Status and parsed answer."""
        headers = {"User-Agent": USER_AGENT, "Accept": accept}
        if body is not None:
            headers["Content-Type"] = sent
        data = None if body is None else json.dumps(body).encode()
        answer = self._pool.request(method, self._host + path, body=data, headers=headers, timeout=60.0, retries=False)
        try:
            return answer.status, json.loads(answer.data)
        except ValueError:
            return answer.status, {"message": answer.data.decode(errors="replace")}

    def items(self, path: str, *, metadata: bool = False) -> list[Object]:
        """All objects of a collection; none where it is not served."""
        status, answer = self.request("GET", path, accept=_METADATA if metadata else "application/json")
        return (answer.get("items") or []) if status == 200 else []

    def discover(self) -> None:
        """Reads what is served."""
        found = []
        for root in ("/api", "/apis"):
            unused, answer = self.request("GET", root, accept=_DISCOVERY)
            for group in answer.get("items") or []:
                for version in group.get("versions") or []:
                    for entry in version.get("resources") or []:
                        kind = (entry.get("responseKind") or {}).get("kind", "")
                        name = group["metadata"].get("name", "")
                        found.append(Resource(name, version["version"], kind, entry["resource"], entry["scope"] == "Namespaced"))
        self.resources = found

    def resource(self, group: str, version: str, kind: str) -> Resource | None:
        """The resource of a kind, if it is served."""
        return next((r for r in self.resources if (r.group, r.version, r.kind) == (group, version, kind)), None)
