# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""CA injection and cert-manager: who injects what, and when."""

from __future__ import annotations

import json
from typing import Any

import pytest

from .api import Object
from .conftest import Cluster, eventually
from .test_webhooks import CONFIGURATIONS, configuration

pytestmark = pytest.mark.bed

ISSUERS = "/apis/cert-manager.io/v1/namespaces/hooked/issuers"
CERTIFICATES = "/apis/cert-manager.io/v1/namespaces/hooked/certificates"


@pytest.fixture
def certified(cluster: Cluster) -> Cluster:
    """A cluster with cert-manager's kinds."""
    for kind, plural, namespaced in (
        ("Issuer", "issuers", True),
        ("Certificate", "certificates", True),
        ("ClusterIssuer", "clusterissuers", False),
    ):
        cluster.crd("cert-manager.io", kind, plural, namespaced=namespaced)
    for namespace in ("cert-manager", "hooked"):
        cluster.namespace(namespace)
    return cluster


def certificate(name: str, issuer: str) -> Object:
    """A Certificate that writes the Secret of its name."""
    spec = {"secretName": name, "dnsNames": ["guard.hooked.svc"], "issuerRef": {"name": issuer}}
    return {"apiVersion": "cert-manager.io/v1", "kind": "Certificate", "metadata": {"name": name}, "spec": spec}


def conditions(item: Object | None) -> dict[str, str]:
    """The conditions by type."""
    return {entry["type"]: entry["status"] for entry in ((item or {}).get("status") or {}).get("conditions") or []}


def webhook(cluster: Cluster, name: str) -> Any:
    """The first webhook of a configuration."""
    return (cluster.api.get(f"{CONFIGURATIONS}/{name}") or {})["webhooks"][0]


def manager_of(cluster: Cluster, name: str, field: str) -> str:
    """Who owns a field of the first webhook of a configuration."""
    entries = (cluster.api.get(f"{CONFIGURATIONS}/{name}") or {})["metadata"]["managedFields"]
    return str(next(entry["manager"] for entry in entries if f'f:{field}"' in json.dumps(entry["fieldsV1"]) and entry["manager"] != "test"))


def test_certificate_is_issued_only_when_its_issuer_and_cert_manager_are_ready(certified: Cluster) -> None:
    body = {"apiVersion": "cert-manager.io/v1", "kind": "Issuer", "metadata": {"name": "self"}, "spec": {"selfSigned": {}}}
    certified.create(ISSUERS, body)
    certified.create(CERTIFICATES, certificate("served", "self"))
    certified.create(CERTIFICATES, certificate("orphan", "nobody"))
    certified.deployment("cert-manager", "cert-manager")
    eventually(lambda: conditions(certified.api.get(f"{CERTIFICATES}/served")).get("Ready") == "True")
    data = (certified.api.get("/api/v1/namespaces/hooked/secrets/served") or {})["data"]
    assert sorted(data) == ["ca.crt", "tls.crt", "tls.key"]
    eventually(lambda: conditions(certified.api.get(f"{CERTIFICATES}/orphan")).get("Ready") == "False")
    assert certified.api.get("/api/v1/namespaces/hooked/secrets/orphan") is None


def test_secret_of_a_certificate_comes_back_when_it_is_deleted(certified: Cluster) -> None:
    test_certificate_is_issued_only_when_its_issuer_and_cert_manager_are_ready(certified)
    path = "/api/v1/namespaces/hooked/secrets/served"
    uid = (certified.api.get(path) or {})["metadata"]["uid"]
    certified.delete(path)
    eventually(lambda: (certified.api.get(path) or {"metadata": {"uid": uid}})["metadata"]["uid"] != uid)


def test_cainjector_fills_and_refills_the_bundle_when_certificate_and_cainjector_are_ready(certified: Cluster) -> None:
    test_certificate_is_issued_only_when_its_issuer_and_cert_manager_are_ready(certified)
    body = configuration("annotated", "annotated")
    body["metadata"]["annotations"] = {"cert-manager.io/inject-ca-from": "hooked/served"}
    certified.create(CONFIGURATIONS, body)
    assert "caBundle" not in webhook(certified, "annotated")["clientConfig"]
    certified.deployment("cert-manager", "cert-manager-cainjector")
    bundle = eventually(lambda: webhook(certified, "annotated")["clientConfig"].get("caBundle"))
    assert manager_of(certified, "annotated", "caBundle") == "cert-manager-cainjector"
    certified.api.json_patch(
        f"{CONFIGURATIONS}/annotated", [{"op": "replace", "path": "/webhooks/0/clientConfig/caBundle", "value": ""}], "test"
    )
    eventually(lambda: webhook(certified, "annotated")["clientConfig"].get("caBundle") == bundle)
    certified.fault(ca="wrong-ca")
    eventually(lambda: webhook(certified, "annotated")["clientConfig"].get("caBundle") not in ("", bundle))
    certified.fault(ca="ok")
    eventually(lambda: webhook(certified, "annotated")["clientConfig"].get("caBundle") == bundle)


def test_knative_fills_rules_path_and_owner_when_its_webhook_is_ready(cluster: Cluster) -> None:
    cluster.namespace("hooked")
    body = configuration("config.webhook.testbed.knative.dev", "knative")
    del body["webhooks"][0]["rules"]
    cluster.create(CONFIGURATIONS, body)
    cluster.service("hooked", "knative")
    cluster.deployment("hooked", "knative")
    rules = eventually(lambda: webhook(cluster, "config.webhook.testbed.knative.dev").get("rules"))
    assert rules[0]["resources"] == ["configmaps/*"]
    live = cluster.api.get(f"{CONFIGURATIONS}/config.webhook.testbed.knative.dev") or {}
    assert live["metadata"]["ownerReferences"][0]["name"] == "hooked"
    assert live["webhooks"][0]["clientConfig"]["service"]["path"] == "/config-validation"
    cluster.delete(f"{CONFIGURATIONS}/config.webhook.testbed.knative.dev")


def test_istiod_turns_its_validator_to_fail_again_when_somebody_resets_it(cluster: Cluster) -> None:
    cluster.namespace("hooked")
    body = configuration("istio-validator-hooked", "istiod")
    body["webhooks"][0]["failurePolicy"] = "Ignore"
    cluster.create(CONFIGURATIONS, body)
    cluster.service("hooked", "istiod")
    cluster.deployment("hooked", "istiod")
    path = f"{CONFIGURATIONS}/istio-validator-hooked"
    eventually(lambda: webhook(cluster, "istio-validator-hooked")["failurePolicy"] == "Fail")
    assert manager_of(cluster, "istio-validator-hooked", "failurePolicy") == "pilot-discovery"
    cluster.api.json_patch(path, [{"op": "replace", "path": "/webhooks/0/failurePolicy", "value": "Ignore"}], "test")
    eventually(lambda: webhook(cluster, "istio-validator-hooked")["failurePolicy"] == "Fail")
    cluster.delete(path)
