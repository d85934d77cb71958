# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A bed with Dex in the namespace auth: a process that answers as Dex was seen to, behind the bed's port-forward."""

from __future__ import annotations

import base64
import copy
import json
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.connection import from_params
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.portforward import PodWeb
from ansible_collections.kubeflow.platform.plugins.module_utils.identity import passwords
from ansible_collections.kubeflow.platform.plugins.module_utils.identity.login import Pages, Proof, prove_password

from tests.integration.identity.node import Node
from tests.integration.tenancy.driver import Platform
from tests.testbed.fixtures import Bed
from tests.unit.dex_objects import CONFIGURATION, deployment

Object = dict[str, Any]
OLD = "the old password"
STORED = passwords.make(OLD, 10).text
CLIENT = {"OIDC_CLIENT_ID": "kubeflow-oidc-authservice", "OIDC_CLIENT_SECRET": "secret+of/the client"}
FORWARD: Object = {
    "kind": "ClusterPortForward",
    "metadata": {"name": "dex"},
    "spec": {"selector": {"matchNamespaces": ["auth"]}, "forwards": [{"ports": [5556]}]},
}


@dataclass(frozen=True)
class Site:
    """Dex in a cluster, and what a test does with it."""

    platform: Platform
    node: Node

    @property
    def bed(self) -> Bed:
        return self.platform.bed

    def pods(self) -> list[str]:
        """The names of the pods of Dex that are to stay."""
        rows = self.bed.get("pods", "-n", "auth", "-l", "app=dex")["items"]
        return [row["metadata"]["name"] for row in rows if not row["metadata"].get("deletionTimestamp")]

    def web(self, who: str = "") -> PodWeb:
        """A way to one of them."""
        kubeconfig = self.bed.kubeconfig_of(who) if who else self.bed.kubeconfig
        return PodWeb(from_params({"kubeconfig": str(kubeconfig)}), "auth", self.pods()[0], 5556)

    def login(self, password: str, email: str = "user@example.com") -> Proof:
        """A login with a password."""
        return prove_password(self.web(), Pages("/dex", CLIENT["OIDC_CLIENT_ID"], "/oauth2/callback"), email, password)

    def stored(self) -> str:
        """The hash in the Secret."""
        return base64.b64decode(self.platform.get("secret", "auth", "dex-passwords")["data"]["DEX_USER_PASSWORD"]).decode()

    def install(self, configuration: str) -> None:
        """Dex with a configuration and the old password, running."""
        self.bed.kubectl("delete", "deployment,secret,configmap", "-n", "auth", "--all", "--ignore-not-found", "--wait")
        self.bed.kubectl("wait", "-n", "auth", "--for=delete", "pod", "-l", "app=dex", "--timeout=60s", check=False)
        self.node.spoil = lambda environment: environment
        obj = copy.deepcopy(deployment())
        obj["spec"]["template"]["metadata"]["annotations"] = {"testbed.kubeflow.platform/pod": "stuck"}  # the node decides
        self.platform.apply(
            _object("Secret", "dex-oidc-client", stringData=CLIENT),
            _object("Secret", "dex-passwords", stringData={"DEX_USER_PASSWORD": STORED}),
            _object("ConfigMap", "dex", data={"config.yaml": configuration}),
            obj,
        )
        self.bed.kubectl("rollout", "status", "-n", "auth", "deployment/dex", "--timeout=60s")


def _object(kind: str, name: str, **more: Any) -> Object:
    return {"apiVersion": "v1", "kind": kind, "metadata": {"name": name, "namespace": "auth"}, **more}


@pytest.fixture(scope="session")
def node(worker_bed: Bed, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Node]:
    """A cluster with the namespace, and the node that Dex runs on."""
    worker_bed.reset()
    folder = tmp_path_factory.mktemp("dex")
    with Node(worker_bed, folder) as found:
        rule = copy.deepcopy(FORWARD)
        rule["spec"]["forwards"][0]["target"] = {"address": "127.0.0.1", "port": found.port}
        kept = (worker_bed.folder / "kubelet.yaml").read_text(encoding="utf-8")
        text = json.dumps({"apiVersion": "kwok.x-k8s.io/v1alpha1", **rule})
        (worker_bed.folder / "kubelet.yaml").write_text(f"{kept}\n---\n{text}\n", encoding="utf-8")
        worker_bed.restart("kwok")
        worker_bed.kubectl("create", "namespace", "auth")
        yield found
    (worker_bed.folder / "kubelet.yaml").write_text(kept, encoding="utf-8")
    worker_bed.restart("kwok")
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def site(worker_bed: Bed, node: Node, tmp_path: Path) -> Site:
    """Dex as the distribution sets it up, with the old password."""
    found = Site(Platform(worker_bed, tmp_path), node)
    found.install(CONFIGURATION)
    return found
