# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A metrics server: every container uses half of the CPU and memory that it asks for, so that autoscalers become active."""

from __future__ import annotations

import json
import threading
from typing import Any
from urllib.parse import parse_qs, urlsplit

from .api import Object, Watch
from .listener import Listener, Reply, Request
from .world import Duty, namespaced, now

MANAGER = "testbed-metrics"
NAMESPACE, NAME, PORT = "kube-system", "metrics-server", 443
VERSION = "metrics.k8s.io/v1beta1"
# never dialled: the aggregator calls the ClusterIP, but wants to see an endpoint
NOWHERE = "198.18.255.254"


class Metrics(Duty):
    """Serves metrics.k8s.io through the API server's aggregation layer."""

    duty = "metrics"

    def __init__(self, world: Any) -> None:
        super().__init__(world)
        self._listener: Listener | None = None

    def watches(self) -> list[Watch]:
        """Only its own Service matters."""
        return [self.world.services]

    def reconcile(self) -> None:
        """Makes Service and APIService once; the listener follows the faults."""
        state = self.state("metrics", True)
        service = self.world.services.find(NAMESPACE, NAME)
        if service is None:
            self._make_service()
            self.look_again(0.2)
            return
        if state.mode == "down" and self._listener is not None:
            self._listener.close()
            self._listener = None
        if state.mode != "down" and self._listener is None:
            address = (service["spec"]["clusterIP"], PORT)
            self._listener = Listener(address, self.world.authority.serving_file(NAME, NAMESPACE), self._answer)
            self._listener.open()
            self._make_apiservice()

    def _make_service(self) -> None:
        port = {"name": "https", "port": PORT, "protocol": "TCP"}
        body: Object = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": NAME}, "spec": {"ports": [port]}}
        self.api.create(namespaced("v1", "services", NAMESPACE), body, MANAGER)
        labels = {"kubernetes.io/service-name": NAME, "endpointslice.kubernetes.io/managed-by": "testbed"}
        body = {"apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice", "addressType": "IPv4", "ports": [port]}
        body |= {"metadata": {"name": NAME, "labels": labels}, "endpoints": [{"addresses": [NOWHERE], "conditions": {"ready": True}}]}
        self.api.create(namespaced("discovery.k8s.io/v1", "endpointslices", NAMESPACE), body, MANAGER)

    def _make_apiservice(self) -> None:
        body: Object = {"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService", "metadata": {"name": "v1beta1.metrics.k8s.io"}}
        body["spec"] = {
            "group": "metrics.k8s.io",
            "version": "v1beta1",
            "groupPriorityMinimum": 100,
            "versionPriority": 100,
            "service": {"namespace": NAMESPACE, "name": NAME, "port": PORT},
            "caBundle": self.world.authority.bundle,
        }
        self.api.create("/apis/apiregistration.k8s.io/v1/apiservices", body, MANAGER)

    def _answer(self, request: Request, closed: threading.Event) -> Reply | None:
        state = self.state("metrics", True)
        if state.mode == "hang":
            closed.wait(state.seconds or None)
        if state.mode == "error":
            return Reply(500, b"the test bed wants an error", "text/plain")
        url = urlsplit(request.target)
        parts = url.path.strip("/").split("/")
        if url.path == f"/apis/{VERSION}":
            return Reply(body=json.dumps(DISCOVERY).encode())
        if len(parts) == 6 and parts[3] == "namespaces" and parts[5] == "pods":
            selector = parse_qs(url.query).get("labelSelector", [""])[0]
            return Reply(body=json.dumps(self._pods(parts[4], selector)).encode())
        return Reply(404, b"404 page not found", "text/plain")

    def _pods(self, namespace: str, selector: str) -> Object:
        query = {"labelSelector": selector} if selector else {}
        pods = self.api.request("GET", namespaced("v1", "pods", namespace), **query)["items"] or []
        items = []
        for pod in pods:
            containers = [{"name": c["name"], "usage": _usage(c)} for c in pod["spec"]["containers"]]
            metadata = {key: pod["metadata"][key] for key in ("name", "namespace", "labels") if key in pod["metadata"]}
            # a sample counts only when its window began after the pod got ready
            items.append({"metadata": metadata, "timestamp": now(), "window": "1s", "containers": containers})
        return {"apiVersion": VERSION, "kind": "PodMetricsList", "metadata": {}, "items": items}


DISCOVERY = {
    "apiVersion": "v1",
    "kind": "APIResourceList",
    "groupVersion": VERSION,
    "resources": [
        {"name": "nodes", "singularName": "", "namespaced": False, "kind": "NodeMetrics", "verbs": ["get", "list"]},
        {"name": "pods", "singularName": "", "namespaced": True, "kind": "PodMetrics", "verbs": ["get", "list"]},
    ],
}


def _usage(container: Object) -> dict[str, str]:
    """Half of the requested CPU in millicores; memory does not matter to anybody."""
    text = str(((container.get("resources") or {}).get("requests") or {}).get("cpu", "100m"))
    millicores = float(text[:-1]) if text.endswith("m") else float(text) * 1000
    return {"cpu": f"{max(1, int(millicores / 2))}m", "memory": "64Mi"}
