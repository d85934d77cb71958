# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Webhooks: reached on the ClusterIP while the Service has a ready endpoint, and every way to fail."""

from __future__ import annotations

import time
from base64 import b64encode

import pytest

from .api import ApiError, Object
from .conftest import Cluster, eventually

pytestmark = pytest.mark.bed

CONFIGURATIONS = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
MAPS = "/api/v1/namespaces/hooked/configmaps"


def configuration(name: str, service: str, *, timeout: int = 2) -> Object:
    """A configuration that guards the ConfigMaps of one namespace."""
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["configmaps"]}
    webhook = {
        "name": "guard.testbed.example",
        "admissionReviewVersions": ["v1"],
        "sideEffects": "None",
        "timeoutSeconds": timeout,
        "failurePolicy": "Fail",
        "clientConfig": {"service": {"namespace": "hooked", "name": service}},
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "hooked"}},
        "objectSelector": {"matchLabels": {"guarded": name}},
        "rules": [rule],
    }
    kind = "ValidatingWebhookConfiguration"
    return {"apiVersion": "admissionregistration.k8s.io/v1", "kind": kind, "metadata": {"name": name}, "webhooks": [webhook]}


def refusal(cluster: Cluster, name: str = "guard") -> str:
    """What a dry-run create of a guarded ConfigMap answers; empty for accepted."""
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "probe", "labels": {"guarded": name}}}
    try:
        cluster.api.request("POST", MAPS, body, dryRun="All")
    except ApiError as error:
        return str(error)
    return ""


@pytest.fixture
def guarded(cluster: Cluster) -> Cluster:
    """A namespace guarded by a webhook that answers."""
    cluster.namespace("hooked")
    cluster.deployment("hooked", "guard")
    cluster.service("hooked", "guard")
    cluster.create(CONFIGURATIONS, configuration("guard", "guard"))
    path = f"{CONFIGURATIONS}/guard"
    eventually(lambda: (cluster.api.get(path) or {})["webhooks"][0]["clientConfig"].get("caBundle"))
    eventually(lambda: not refusal(cluster))
    return cluster


def test_webhook_allows_when_the_service_has_a_ready_endpoint_and_the_ca_is_injected(guarded: Cluster) -> None:
    webhook = (guarded.api.get(f"{CONFIGURATIONS}/guard") or {})["webhooks"][0]
    assert webhook["clientConfig"]["caBundle"]
    assert refusal(guarded) == ""


@pytest.mark.parametrize(
    ("mode", "text"),
    [
        ("deny", "denied by the test bed"),
        ("down", "connection refused"),
        ("error", "the test bed wants an error"),
        ("hang", "context deadline exceeded"),
        ("wrong-ca", "certificate signed by unknown authority"),
    ],
)
def test_webhook_fails_in_the_wanted_way_and_recovers_when_faults_change(guarded: Cluster, mode: str, text: str) -> None:
    guarded.fault(hooked__guard=mode)
    # the API server follows a new configuration with a delay
    eventually(lambda: text in refusal(guarded))
    guarded.fault(hooked__guard="ok")
    eventually(lambda: not refusal(guarded))


def test_webhook_refuses_connections_when_its_last_pod_goes(guarded: Cluster) -> None:
    path = "/apis/apps/v1/namespaces/hooked/deployments/guard"
    guarded.api.merge_patch(path, {"spec": {"replicas": 0}}, "test")
    eventually(lambda: "connection refused" in refusal(guarded))
    guarded.api.merge_patch(path, {"spec": {"replicas": 1}}, "test")
    eventually(lambda: not refusal(guarded))


def test_webhook_answers_late_when_counted_from_its_first_ready_endpoint(cluster: Cluster) -> None:
    cluster.fault(webhooks=("late", 3))
    cluster.namespace("hooked")
    cluster.create(CONFIGURATIONS, configuration("late", "late"))
    cluster.service("hooked", "late")
    cluster.deployment("hooked", "late")
    began = time.monotonic()
    eventually(lambda: "connection refused" in refusal(cluster, "late"), 2)
    eventually(lambda: not refusal(cluster, "late"))
    cluster.delete(f"{CONFIGURATIONS}/late")
    assert 1.5 < time.monotonic() - began < 5


def test_conversion_webhook_answers_when_a_crd_names_its_service(cluster: Cluster) -> None:
    cluster.namespace("hooked")
    cluster.service("hooked", "convert")
    cluster.deployment("hooked", "convert")
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    versions = [{"name": name, "served": True, "storage": name == "v2", "schema": schema} for name in ("v1", "v2")]
    bundle = next(iter(cluster.directory.glob("standins/authority.pem"))).read_text(encoding="utf-8")
    conversion = {"strategy": "Webhook", "webhook": {"conversionReviewVersions": ["v1"], "clientConfig": {}}}
    conversion["webhook"]["clientConfig"] = {  # type: ignore[index]
        "service": {"namespace": "hooked", "name": "convert", "path": "/convert"},
        "caBundle": b64encode(bundle[bundle.index("-----BEGIN CERT") :].encode()).decode(),
    }
    names = {"kind": "Turn", "listKind": "TurnList", "plural": "turns", "singular": "turn"}
    spec = {"group": "turn.example", "scope": "Cluster", "names": names, "versions": versions, "conversion": conversion}
    body = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "turns.turn.example"}}
    cluster.create("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", body | {"spec": spec})
    eventually(lambda: cluster.api.get("/apis/turn.example/v1/turns") is not None)

    def converted() -> bool:
        try:
            return cluster.api.create(
                "/apis/turn.example/v1/turns", {"apiVersion": "turn.example/v1", "kind": "Turn", "metadata": {"name": "a"}}, "test"
            )
        except ApiError:
            return False

    eventually(converted)
    assert (cluster.api.get("/apis/turn.example/v2/turns/a") or {})["apiVersion"] == "turn.example/v2"
