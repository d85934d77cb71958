# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What takes the place of an object that goes."""

from __future__ import annotations

from typing import Any

from ansible_collections.kubeflow.platform.plugins.module_utils.apply.replacing import replaced_by
from ansible_collections.kubeflow.platform.plugins.module_utils.objects.identity import Identity


def service(name: str, selector: dict[str, str], namespace: str = "kubeflow") -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": name, "namespace": namespace}, "spec": {"selector": selector}}


def deployment(name: str, labels: dict[str, str]) -> dict[str, Any]:
    spec = {"template": {"metadata": {"labels": labels}}}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name, "namespace": "kubeflow"}, "spec": spec}


def route(name: str, path: str) -> dict[str, Any]:
    spec = {"hosts": ["*"], "gateways": ["kubeflow-gateway"], "http": [{"match": [{"uri": {"prefix": path}}]}]}
    return {
        "apiVersion": "networking.istio.io/v1",
        "kind": "VirtualService",
        "metadata": {"name": name, "namespace": "kubeflow"},
        "spec": spec,
    }


def hooks(name: str, resource: str) -> dict[str, Any]:
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "resources": [resource], "operations": ["CREATE"]}
    webhooks = [{"name": "a", "rules": [rule]}]
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "MutatingWebhookConfiguration",
        "metadata": {"name": name},
        "webhooks": webhooks,
    }


def names(old: dict[str, Any], *desired: dict[str, Any]) -> list[str]:
    rows = [(Identity("", obj["kind"], obj["metadata"].get("namespace", ""), obj["metadata"]["name"]), obj) for obj in desired]
    return [identity.name for identity in replaced_by(old, rows)]


def test_a_service_is_replaced_by_one_with_the_same_selector_in_its_namespace() -> None:
    old = service("minio-service", {"app": "store"})
    assert names(old, service("seaweedfs", {"app": "store"}), service("other", {"app": "x"}), service("far", {"app": "store"}, "n")) == [
        "seaweedfs"
    ]
    assert names(service("headless", {}), service("other", {})) == []


def test_a_virtual_service_is_replaced_by_one_for_the_same_host_and_path() -> None:
    old = route("centraldashboard", "/")
    assert names(old, route("dashboard", "/"), route("pipelines", "/pipeline")) == ["dashboard"]


def test_a_webhook_configuration_is_replaced_by_one_that_sees_the_same_resources() -> None:
    assert names(hooks("admission-webhook", "pods"), hooks("poddefaults", "pods"), hooks("katib", "experiments")) == ["poddefaults"]


def test_a_workload_is_replaced_by_the_one_behind_the_same_service() -> None:
    old = deployment("minio", {"app": "store", "version": "1"})
    desired = [service("minio-service", {"app": "store"}), deployment("seaweedfs", {"app": "store"}), deployment("ui", {"app": "ui"})]
    assert names(old, *desired) == ["seaweedfs"]


def test_a_config_map_has_no_replacement() -> None:
    old = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x", "namespace": "kubeflow"}}
    assert names(old, service("x", {"a": "b"})) == []
