# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A bed with stand-ins for the tests of this folder, and small things to put on it."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from .api import Api, ApiError, Object


@dataclass(frozen=True)
class Cluster:
    """A running bed."""

    directory: Path
    api: Api
    bed: Any

    def fault(self, **faults: Any) -> None:
        """Replaces all faults; two underscores stand for a slash: `kubeflow__webhook="down"`, `ca=("late", 2)`."""
        entries = {}
        for name, value in faults.items():
            mode, seconds = value if isinstance(value, tuple) else (value, 0)
            entries[name.replace("__", "/").replace("_", "-")] = {"mode": mode, "seconds": seconds}
        self._write(entries)

    def faults(self, entries: dict[str, Any]) -> None:
        """Replaces all faults as they stand in the file."""
        self._write(entries)

    def _write(self, entries: dict[str, Any]) -> None:
        path = self.directory / "faults.json"
        path.with_suffix(".new").write_text(json.dumps(entries), encoding="utf-8")
        path.with_suffix(".new").replace(path)
        # the stand-ins look five times a second
        time.sleep(0.35)

    def create(self, path: str, body: Object) -> None:
        """Creates, and accepts what exists already."""
        self.api.create(path, body, "test")

    def delete(self, path: str) -> None:
        """Deletes, and accepts what does not exist."""
        with suppress(ApiError):
            self.api.request("DELETE", path)

    def namespace(self, name: str, **metadata: Any) -> None:
        """A Namespace in which pods can be made at once."""
        self.create("/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, **metadata}})
        eventually(lambda: self.api.get(f"/api/v1/namespaces/{name}/serviceaccounts/default") is not None)

    def deployment(self, namespace: str, name: str, *, wait: bool = True, **pod: Any) -> str:
        """A Deployment whose pods get ready; returns its path."""
        labels = {"app": name}
        spec: Object = {
            "containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "100m"}}} | pod.pop("container", {})]
        } | pod
        body = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name}}
        body["spec"] = {"selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels}, "spec": spec}}
        path = f"/apis/apps/v1/namespaces/{namespace}/deployments"
        self.create(path, body)
        if wait:
            eventually(lambda: (self.api.get(f"{path}/{name}") or {})["status"].get("availableReplicas"))
        return f"{path}/{name}"

    def service(self, namespace: str, name: str, port: int = 443) -> None:
        """The Service of the Deployment of that name."""
        spec = {"selector": {"app": name}, "ports": [{"port": port, "targetPort": 9443}]}
        body = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": name}, "spec": spec}
        self.create(f"/api/v1/namespaces/{namespace}/services", body)

    def crd(self, group: str, kind: str, plural: str, *, namespaced: bool = True) -> None:
        """A CRD that accepts anything, served once this returns."""
        schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
        version: Object = {"name": "v1", "served": True, "storage": True, "schema": schema, "subresources": {"status": {}}}
        spec: Object = {"group": group, "scope": "Namespaced" if namespaced else "Cluster", "versions": [version]}
        spec["names"] = {"kind": kind, "listKind": kind + "List", "plural": plural, "singular": kind.lower()}
        body = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": f"{plural}.{group}"}}
        self.create("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", body | {"spec": spec})
        eventually(lambda: self.api.get(f"/apis/{group}/v1/{plural}"))


def eventually(check: Callable[[], Any], seconds: float = 15) -> Any:
    """Waits until `check` gives something true, and returns that; a new kind answers 404, then 429, before it is there."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            found = check()
        except ApiError as error:
            if error.status not in (404, 429):
                raise
            found = None
        if found or time.monotonic() > deadline:
            assert found, f"not within {seconds} s"
            return found
        time.sleep(0.1)


@pytest.fixture
def cluster(worker_bed: Any) -> Iterator[Cluster]:
    """This worker's bed without faults, as the test before left it; a test makes what it needs, where that is missing."""
    found = Cluster(worker_bed.folder, Api(worker_bed.kubeconfig, worker_bed.folder / "test", "test"), worker_bed)
    found.faults({})
    yield found
    found.faults({})
