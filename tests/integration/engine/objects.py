# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Small sets of objects. Everything is named after a test's own place, so that tests share one cluster."""

from __future__ import annotations

from typing import Any

Object = dict[str, Any]


def namespace(name: str, **labels: str) -> Object:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels or {"test": name}}}


def config_map(where: str, name: str, **data: str) -> Object:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": where}, "data": data or {"key": "value"}}


def config_maps(where: str, count: int) -> list[Object]:
    return [config_map(where, f"plain-{number}") for number in range(count)]


def secret(where: str, name: str, **values: str) -> Object:
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name, "namespace": where}, "type": "Opaque", "stringData": values}


def deployment(where: str, name: str, *, replicas: int = 1, annotations: dict[str, str] | None = None, **labels: str) -> Object:
    """A Deployment that Pod Security's level "restricted" lets pass."""
    own = {"app": name, **labels}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": where, "labels": {"app": name}},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {"app": name}},
            "template": {
                "metadata": {"labels": own, "annotations": annotations or {"made-for": "a test"}},
                "spec": {
                    "securityContext": {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}},
                    "containers": [
                        {
                            "name": "main",
                            "image": "registry.example/app:1",
                            "env": [{"name": "MODE", "value": "on"}],
                            "ports": [{"containerPort": 8443}],
                            "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
                        }
                    ],
                },
            },
        },
    }


def service(where: str, name: str, app: str = "", port: int = 443) -> Object:
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name, "namespace": where},
        "spec": {"selector": {"app": app or name}, "ports": [{"port": port, "targetPort": 8443}]},
    }


def claim(where: str, name: str, size: str = "1Gi") -> Object:
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": name, "namespace": where},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": size}}},
    }


def crd(
    group: str, kind: str = "Widget", *, versions: tuple[str, ...] = ("v1",), scope: str = "Namespaced", description: str = ""
) -> Object:
    """A CustomResourceDefinition with a strict schema: spec.size, spec.colour, and spec.fixed that never changes."""
    plural = f"{kind.lower()}s"
    spec = {
        "type": "object",
        "properties": {
            "size": {"type": "integer", "minimum": 0},
            "colour": {"type": "string", "default": "blue", "enum": ["blue", "red"]},
            "fixed": {"type": "string", "x-kubernetes-validations": [{"rule": "self == oldSelf", "message": "it is what it is"}]},
        },
    }
    schema = {"type": "object", "description": description or f"{kind} of a test.", "properties": {"spec": spec}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{group}"},
        "spec": {
            "group": group,
            "names": {"kind": kind, "plural": plural, "singular": kind.lower(), "listKind": f"{kind}List"},
            "scope": scope,
            "versions": [
                {"name": name, "served": True, "storage": number == 0, "schema": {"openAPIV3Schema": schema}}
                for number, name in enumerate(versions)
            ],
        },
    }


def widget(group: str, where: str, name: str = "first", kind: str = "Widget", **spec: Any) -> Object:
    return {"apiVersion": f"{group}/v1", "kind": kind, "metadata": {"name": name, "namespace": where}, "spec": spec or {"size": 1}}


def webhook(name: str, where: str, backend: str, group: str, resource: str = "widgets", **more: Any) -> Object:
    """A fail-closed validating webhook for one resource."""
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingWebhookConfiguration",
        "metadata": {"name": name},
        "webhooks": [
            {
                "name": f"judge.{name}.example.org",
                "admissionReviewVersions": ["v1"],
                "sideEffects": "None",
                "failurePolicy": "Fail",
                "timeoutSeconds": 2,
                "clientConfig": {"service": {"namespace": where, "name": backend, "path": "/judge", "port": 443}},
                "rules": [{"apiGroups": [group], "apiVersions": ["v1"], "operations": ["CREATE", "UPDATE"], "resources": [resource]}],
                **more,
            }
        ],
    }


def pod_webhook(name: str, where: str, backend: str, selected: str) -> Object:
    """A fail-closed mutating webhook for the pods of namespaces with the label ``inject: selected``."""
    found = webhook(name, where, backend, "", "pods", namespaceSelector={"matchLabels": {"inject": selected}}, reinvocationPolicy="Never")
    return {**found, "kind": "MutatingWebhookConfiguration"}


def platform(place: str, group: str) -> list[Object]:
    """A small platform with every kind of dependency: CRD, custom resource, webhook with Service and workload, roles, data."""
    return [
        config_map(place, "settings"),
        widget(group, place, "first", size=1),
        widget(group, place, "second", size=2, colour="red"),
        deployment(place, "app"),
        crd(group),
        crd(group, "Gadget"),
        widget(group, place, "gadget", kind="Gadget"),
        webhook(place, place, "judge", group),
        service(place, "judge"),
        deployment(place, "judge"),
        secret(place, "token", password="not-a-real-one"),
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "app", "namespace": place}},
        {
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "RoleBinding",
            "metadata": {"name": "app", "namespace": place},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "app"},
            "subjects": [{"kind": "ServiceAccount", "name": "app", "namespace": place}],
        },
        {
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "Role",
            "metadata": {"name": "app", "namespace": place},
            "rules": [{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get"]}],
        },
        claim(place, "data"),
        *config_maps(place, 5),
        namespace(place),
    ]
