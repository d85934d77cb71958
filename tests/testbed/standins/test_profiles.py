# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Profiles: what is made, what is adopted, what blocks; and the pipelines' objects in their namespaces."""

from __future__ import annotations

import time

import pytest

from .api import Object
from .conftest import Cluster, eventually

pytestmark = pytest.mark.bed

PROFILES = "/apis/kubeflow.org/v1/profiles"


@pytest.fixture
def prepared(cluster: Cluster) -> Cluster:
    """The profile controller and its ConfigMaps."""
    cluster.crd("kubeflow.org", "Profile", "profiles", namespaced=False)
    cluster.crd("security.istio.io", "AuthorizationPolicy", "authorizationpolicies")
    cluster.namespace("kubeflow")
    labels = 'app.kubernetes.io/part-of: kubeflow-profile\npipelines.kubeflow.org/enabled: "true"\ngone: ""\n'
    settings = {"USERID_HEADER": "kubeflow-userid", "ISTIO_INGRESS_GATEWAY_PRINCIPAL": "gateway", "KFP_UI_PRINCIPAL": "ui"}
    for name, data in (("labels-hash", {"namespace-labels.yaml": labels}), ("profiles-config-hash", settings)):
        body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data}
        cluster.create("/api/v1/namespaces/kubeflow/configmaps", body)
    cluster.deployment(
        "kubeflow",
        "profiles-deployment",
        volumes=[{"name": "labels", "configMap": {"name": "labels-hash"}}],
        container={"envFrom": [{"configMapRef": {"name": "profiles-config-hash"}}]},
    )
    return cluster


def profile(name: str, owner: str, **spec: object) -> Object:
    """A Profile of a user."""
    return {
        "apiVersion": "kubeflow.org/v1",
        "kind": "Profile",
        "metadata": {"name": name},
        "spec": {"owner": {"kind": "User", "name": owner}, **spec},
    }


def test_profile_gets_namespace_policy_bindings_and_quota_when_it_is_made(prepared: Cluster) -> None:
    prepared.create(PROFILES, profile("alice", "alice@example.com", resourceQuotaSpec={"hard": {"cpu": "7"}}))
    eventually(lambda: "finalizers" in (prepared.api.get(f"{PROFILES}/alice") or {})["metadata"])
    namespace = prepared.api.get("/api/v1/namespaces/alice") or {}
    assert namespace["metadata"]["annotations"]["owner"] == "alice@example.com"
    assert namespace["metadata"]["labels"]["istio-injection"] == "enabled"
    assert "gone" not in namespace["metadata"]["labels"]
    assert namespace["metadata"]["ownerReferences"][0]["kind"] == "Profile"
    admin = prepared.api.get("/apis/rbac.authorization.k8s.io/v1/namespaces/alice/rolebindings/namespaceAdmin") or {}
    assert admin["metadata"]["annotations"] == {"user": "alice@example.com", "role": "admin"}
    policy = prepared.api.get("/apis/security.istio.io/v1/namespaces/alice/authorizationpolicies/ns-owner-access-istio") or {}
    assert policy["spec"]["rules"][0]["when"][0]["values"] == ["alice@example.com"]
    assert (prepared.api.get("/api/v1/namespaces/alice/resourcequotas/kf-resource-quota") or {})["spec"]["hard"] == {"cpu": "7"}


def test_namespace_is_adopted_without_injection_label_when_its_owner_matches(prepared: Cluster) -> None:
    prepared.namespace("bob", annotations={"owner": "bob@example.com"})
    prepared.create(PROFILES, profile("bob", "bob@example.com"))
    eventually(lambda: "finalizers" in (prepared.api.get(f"{PROFILES}/bob") or {})["metadata"])
    metadata = (prepared.api.get("/api/v1/namespaces/bob") or {})["metadata"]
    assert "ownerReferences" not in metadata
    assert "istio-injection" not in metadata["labels"]
    assert metadata["labels"]["app.kubernetes.io/part-of"] == "kubeflow-profile"


def test_nothing_is_made_and_deletion_blocks_when_the_namespace_belongs_to_somebody_else(prepared: Cluster) -> None:
    prepared.namespace("carol")
    prepared.create(PROFILES, profile("carol", "carol@example.com"))
    time.sleep(1)
    assert prepared.api.get("/api/v1/namespaces/carol/serviceaccounts/default-editor") is None
    finalizers = {"metadata": {"finalizers": ["profile-finalizer"]}}
    prepared.api.merge_patch(f"{PROFILES}/carol", finalizers, "test")
    prepared.delete(f"{PROFILES}/carol")
    time.sleep(1)
    assert prepared.api.get(f"{PROFILES}/carol") is not None
    prepared.api.merge_patch("/api/v1/namespaces/carol", {"metadata": {"annotations": {"owner": "carol@example.com"}}}, "test")
    eventually(lambda: prepared.api.get(f"{PROFILES}/carol") is None)


def test_owner_change_keeps_the_old_annotations_when_the_namespace_follows(prepared: Cluster) -> None:
    prepared.create(PROFILES, profile("dave", "dave@example.com"))
    eventually(lambda: "finalizers" in (prepared.api.get(f"{PROFILES}/dave") or {})["metadata"])
    prepared.api.merge_patch("/api/v1/namespaces/dave", {"metadata": {"annotations": {"owner": "eve@example.com"}}}, "test")
    prepared.api.merge_patch(f"{PROFILES}/dave", {"spec": {"owner": {"name": "eve@example.com"}}}, "test")
    path = "/apis/rbac.authorization.k8s.io/v1/namespaces/dave/rolebindings/namespaceAdmin"
    eventually(lambda: (prepared.api.get(path) or {})["subjects"][0]["name"] == "eve@example.com")
    assert (prepared.api.get(path) or {})["metadata"]["annotations"]["user"] == "dave@example.com"
    prepared.delete(path)
    again = eventually(lambda: prepared.api.get(path))
    assert again["metadata"]["annotations"]["user"] == "eve@example.com"


def test_profile_waits_when_the_controller_is_down(prepared: Cluster) -> None:
    prepared.fault(profiles="down")
    prepared.create(PROFILES, profile("frank", "frank@example.com"))
    time.sleep(1)
    assert prepared.api.get("/api/v1/namespaces/frank") is None
    prepared.fault(profiles="ok")
    eventually(lambda: prepared.api.get("/api/v1/namespaces/frank"))


def test_pipelines_fill_a_profile_namespace_when_metacontroller_and_the_hook_are_ready(prepared: Cluster) -> None:
    artifact = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "mlpipeline-minio-artifact"}, "stringData": {"accesskey": "k"}}
    prepared.create("/api/v1/namespaces/kubeflow/secrets", artifact)
    prepared.deployment("kubeflow", "metacontroller")
    prepared.deployment("kubeflow", "kubeflow-pipelines-profile-controller")
    prepared.create(PROFILES, profile("grace", "grace@example.com"))
    secret = eventually(lambda: prepared.api.get("/api/v1/namespaces/grace/secrets/mlpipeline-minio-artifact"))
    assert secret["data"]["accesskey"] == "aw=="
    maps = "/api/v1/namespaces/grace/configmaps/"
    names = ("kfp-launcher", "metadata-grpc-configmap", "artifact-repositories")
    eventually(lambda: all(prepared.api.get(maps + name) is not None for name in names))
