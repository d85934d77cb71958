# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Volumes and metrics: what a cluster's nodes and add-ons give."""

from __future__ import annotations

import pytest

from .conftest import Cluster, eventually

pytestmark = pytest.mark.bed

CLAIM = "/api/v1/namespaces/stored/persistentvolumeclaims/data"


def test_claim_is_bound_when_a_pod_uses_it_and_its_volume_goes_with_it(cluster: Cluster) -> None:
    cluster.namespace("stored")
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    body = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "data"}, "spec": spec}
    cluster.create("/api/v1/namespaces/stored/persistentvolumeclaims", body)
    path = cluster.deployment("stored", "user", volumes=[{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}])
    claim = cluster.api.get(CLAIM) or {}
    assert claim["status"]["phase"] == "Bound"
    cluster.delete(path)
    cluster.delete(CLAIM)
    eventually(lambda: cluster.api.get("/api/v1/persistentvolumes/" + claim["spec"]["volumeName"]) is None, 30)


def test_autoscaler_becomes_active_when_its_pods_run(cluster: Cluster) -> None:
    cluster.namespace("scaled")
    cluster.deployment("scaled", "scaled")
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "scaled"}
    metric = {"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 80}}}
    body = {"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", "metadata": {"name": "scaled"}}
    path = "/apis/autoscaling/v2/namespaces/scaled/horizontalpodautoscalers"
    cluster.create(path, body | {"spec": {"scaleTargetRef": target, "maxReplicas": 3, "metrics": [metric]}})

    def active() -> bool:
        status = (cluster.api.get(f"{path}/scaled") or {}).get("status") or {}
        return any(entry["type"] == "ScalingActive" and entry["status"] == "True" for entry in status.get("conditions") or [])

    eventually(active, 40)


def test_stand_ins_go_on_when_the_api_server_was_killed(cluster: Cluster) -> None:
    cluster.bed.kill("kube-apiserver")
    cluster.bed.restart("kube-apiserver")
    cluster.namespace("stored")
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    body = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "later"}, "spec": spec}
    cluster.create("/api/v1/namespaces/stored/persistentvolumeclaims", body)
    volume = {"name": "data", "persistentVolumeClaim": {"claimName": "later"}}
    cluster.deployment("stored", "later", volumes=[volume], wait=False)
    path = "/api/v1/namespaces/stored/persistentvolumeclaims/later"
    eventually(lambda: (cluster.api.get(path) or {})["status"].get("phase") == "Bound", 60)
