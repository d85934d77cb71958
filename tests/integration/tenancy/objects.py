# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The objects of a platform that tenants depend on, as small as they can be."""

from __future__ import annotations

from typing import Any

Object = dict[str, Any]
ANY: Object = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
TEXT: Object = {"type": "string"}
LABELS = """app.kubernetes.io/part-of: "kubeflow-profile"
katib.kubeflow.org/metrics-collector-injection: "enabled"
pipelines.kubeflow.org/enabled: "true"
serving.kubeflow.org/inferenceservice: "enabled"
"""
SETTINGS = {
    "ADMIN": "",
    "USERID_HEADER": "kubeflow-userid",
    "USERID_PREFIX": "",
    "WORKLOAD_IDENTITY": "",
    "ISTIO_INGRESS_GATEWAY_PRINCIPAL": "cluster.local/ns/istio-system/sa/istio-ingressgateway-service-account",
    "NOTEBOOK_CONTROLLER_PRINCIPAL": "cluster.local/ns/kubeflow/sa/notebook-controller-service-account",
    "KFP_UI_PRINCIPAL": "cluster.local/ns/kubeflow/sa/ml-pipeline-ui",
}


def crd(group: str, kind: str, plural: str, spec: Object, *, version: str = "v1", namespaced: bool = True) -> Object:
    """A CRD whose spec has a schema, as upstream's has."""
    schema = {"type": "object", "properties": {"spec": spec, "status": ANY}}
    versions = [{"name": version, "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}, "subresources": {"status": {}}}]
    names = {"kind": kind, "listKind": f"{kind}List", "plural": plural, "singular": kind.lower()}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        # Groups under k8s.io are protected; upstream's own CRD says the same.
        "metadata": {"name": f"{plural}.{group}", "annotations": {"api-approved.kubernetes.io": "unapproved, request not yet submitted"}},
        "spec": {"group": group, "scope": "Namespaced" if namespaced else "Cluster", "names": names, "versions": versions},
    }


def profile_spec() -> Object:
    """The spec of the Profile's CRD (kubeflow/dashboard v2.0.0)."""
    owner = {
        "type": "object",
        "required": ["kind", "name"],
        "properties": dict.fromkeys(("apiGroup", "kind", "name", "namespace"), TEXT),
        "x-kubernetes-map-type": "atomic",
    }
    amount = {
        "anyOf": [{"type": "integer"}, {"type": "string"}],
        "x-kubernetes-int-or-string": True,
        "pattern": r"^[0-9.]+([KMGTPE]i?|[mk])?$",
    }
    quota = {
        "type": "object",
        "properties": {"hard": {"type": "object", "additionalProperties": amount}, "scopes": {"type": "array", "items": TEXT}},
    }
    return {"type": "object", "properties": {"owner": owner, "plugins": {"type": "array", "items": ANY}, "resourceQuotaSpec": quota}}


def deployment(name: str, pod: Object) -> Object:
    """A Deployment of the platform."""
    labels = {"app": name}
    spec = {"selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels}, "spec": pod}}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name, "namespace": "kubeflow"}, "spec": spec}


def config_map(name: str, data: dict[str, str]) -> Object:
    """A ConfigMap of the platform."""
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": "kubeflow"}, "data": data}


def platform_objects() -> tuple[list[Object], list[Object]]:
    """The kinds, and everything else."""
    kinds = [
        crd("kubeflow.org", "Profile", "profiles", profile_spec(), namespaced=False),
        crd("kubeflow.org", "PodDefault", "poddefaults", ANY, version="v1alpha1"),
        crd("kubeflow.org", "Notebook", "notebooks", ANY),
        crd("security.istio.io", "AuthorizationPolicy", "authorizationpolicies", ANY),
        crd("metacontroller.k8s.io", "DecoratorController", "decoratorcontrollers", ANY, version="v1alpha1", namespaced=False),
    ]
    container = {"name": "manager", "image": "profile-controller", "envFrom": [{"configMapRef": {"name": "profiles-config-5f7k"}}]}
    volume = {"name": "labels", "configMap": {"name": "profiles-namespace-labels-data-9c2m"}}
    plain = {"containers": [{"name": "main", "image": "main"}]}
    hook = "kubeflow-pipelines-profile-controller"
    return kinds, [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "kubeflow", "labels": {"kubeflow.platform/set": "kubeflow"}}},
        config_map("profiles-config-5f7k", SETTINGS),
        config_map("profiles-namespace-labels-data-9c2m", {"namespace-labels.yaml": LABELS}),
        {
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {"name": "mlpipeline-minio-artifact", "namespace": "kubeflow"},
            "stringData": {"accesskey": "planted-canary-access", "secretkey": "planted-canary-secret"},
        },
        deployment("profiles-deployment", {"containers": [container], "volumes": [volume]}),
        deployment("metacontroller", plain),
        deployment(hook, plain),
        {"apiVersion": "metacontroller.k8s.io/v1alpha1", "kind": "DecoratorController", "metadata": {"name": hook}, "spec": {}},
    ]
