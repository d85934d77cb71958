# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""metacontroller with the pipelines' sync hook: the four objects of each namespace that asks for pipelines."""

from __future__ import annotations

import base64
from typing import Any

from .api import Object, Watch
from .world import Duty, namespaced

MANAGER = "metacontroller"
HOOK = "kubeflow-pipelines-profile-controller"
SECRET = "mlpipeline-minio-artifact"


class Pipelines(Duty):
    """Works while metacontroller and the hook's Deployment are available."""

    duty = "pipelines"

    def __init__(self, world: Any) -> None:
        super().__init__(world)
        self._done: set[str] = set()

    def watches(self) -> list[Watch]:
        """Namespaces, and the two programs."""
        return [self.world.namespaces, self.world.deployments, self.world.statefulsets]

    def reconcile(self) -> None:
        """Fills each labelled namespace once, as updates are left to the next resync of an hour."""
        hook = self.world.deployed(HOOK)
        ready = hook is not None and self.world.deployed("metacontroller") is not None
        state = self.state("pipelines", ready)
        if hook is None or not state.acts or state.mode in ("deny", "error"):
            return
        for item in self.world.namespaces.all():
            metadata = item["metadata"]
            asks = (metadata.get("labels") or {}).get("pipelines.kubeflow.org/enabled") == "true"
            if asks and "deletionTimestamp" not in metadata and metadata["uid"] not in self._done:
                for body in self._objects(hook["metadata"]["namespace"], metadata["name"]):
                    self._create(metadata, body)
                self._done.add(metadata["uid"])

    def _create(self, owner: Object, body: Object) -> None:
        reference = {"apiVersion": "v1", "kind": "Namespace", "name": owner["name"], "uid": owner["uid"]}
        body["metadata"]["ownerReferences"] = [reference | {"controller": True, "blockOwnerDeletion": True}]
        body["metadata"]["annotations"] = {"metacontroller.k8s.io/decorator-controller": HOOK}
        self.api.create(namespaced("v1", body["kind"].lower() + "s", owner["name"]), body, MANAGER)

    def _objects(self, home: str, namespace: str) -> list[Object]:
        source = (self.api.get(namespaced("v1", "secrets", home, SECRET)) or {}).get("data") or {}
        empty = base64.b64encode(b"").decode()
        keys = {key: source.get(key, empty) for key in ("accesskey", "secretkey")}
        store = f"""archiveLogs: true
s3:
  endpoint: "minio-service.{home}:9000"
  bucket: "mlpipeline"
  keyFormat: "private-artifacts/{namespace}/{{{{workflow.name}}}}/{{{{pod.name}}}}"
  insecure: true
"""
        return [
            {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": SECRET}, "data": keys},
            _config("kfp-launcher", {"defaultPipelineRoot": f"minio://mlpipeline/private-artifacts/{namespace}/v2/artifacts"}),
            _config(
                "metadata-grpc-configmap",
                {"METADATA_GRPC_SERVICE_HOST": f"metadata-grpc-service.{home}", "METADATA_GRPC_SERVICE_PORT": "8080"},
            ),
            _config("artifact-repositories", {"default-namespaced": store}),
        ]


def _config(name: str, data: dict[str, str]) -> Object:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data}
