# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A bed with stand-ins for the tests of this folder, and small things to put on it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from .api import Api, ApiError, Object

PROGRAM = Path(__file__).resolve().parent.parent / "testbed"


@dataclass(frozen=True)
class Cluster:
    """A running bed."""

    directory: Path
    api: Api

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
        eventually(lambda: self._served(f"/apis/{group}/v1/{plural}"))

    def _served(self, path: str) -> bool:
        """A new kind first answers 404, then 429 while its storage starts."""
        try:
            return self.api.get(path) is not None
        except ApiError:
            return False


def eventually(check: Callable[[], Any], seconds: float = 15) -> Any:
    """Waits until `check` gives something true, and returns that."""
    deadline = time.monotonic() + seconds
    while True:
        found = check()
        if found or time.monotonic() > deadline:
            assert found, f"not within {seconds} s"
            return found
        time.sleep(0.1)


def testbed(*arguments: str) -> str:
    """Runs a command of the test bed and returns the last line of its output."""
    environment = os.environ | {"PYTHON": sys.executable}
    done = subprocess.run([PROGRAM, *arguments], check=True, capture_output=True, text=True, env=environment)
    return (done.stdout.strip().splitlines() or [""])[-1]


@pytest.fixture(scope="session")
def shared_cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """One bed for all tests here; each uses names of its own."""
    directory = tmp_path_factory.mktemp("bed") / "bed"
    kubeconfig = testbed("up", "--dir", str(directory))
    try:
        yield Cluster(directory, Api(Path(kubeconfig), directory / "test", "test"))
    finally:
        testbed("down", "--dir", str(directory))


@pytest.fixture
def cluster(shared_cluster: Cluster) -> Iterator[Cluster]:
    """The bed without faults."""
    shared_cluster.faults({})
    yield shared_cluster
    shared_cluster.faults({})
