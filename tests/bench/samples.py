# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The smallest objects that the API server takes, for the judge's dry runs."""

from __future__ import annotations

from typing import Any

from tests.bench.cluster import Cluster, Object, Resource

_CRD = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/"


def pod() -> Object:
    """A pod that the strictest Pod Security Standard lets in."""
    closed = {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}
    outer = {"runAsNonRoot": True, "runAsUser": 1000, "seccompProfile": {"type": "RuntimeDefault"}}
    container = {"name": "probe", "image": "registry.example.com/probe:1", "securityContext": closed}
    return {"apiVersion": "v1", "kind": "Pod", "spec": {"securityContext": outer, "containers": [container]}}


def sample(cluster: Cluster, resource: Resource) -> Object | None:
    """A small object of a kind: of a custom kind by the schema of its CRD, else nothing but its name."""
    api_version = f"{resource.group}/{resource.version}" if resource.group else resource.version
    base = {"apiVersion": api_version, "kind": resource.kind}
    if not resource.group or resource.kind.endswith("Review"):
        return base if resource.kind in ("ConfigMap", "Namespace", "Secret") else None
    schema = _schema(cluster, f"{resource.plural}.{resource.group}", resource.version)
    return None if schema is None else {**smallest(schema), **base}


def _schema(cluster: Cluster, name: str, version: str) -> Object | None:
    if name not in cluster.schemas:
        unused, crd = cluster.request("GET", _CRD + name)
        versions = (crd.get("spec") or {}).get("versions") or []
        cluster.schemas[name] = {entry["name"]: entry["schema"]["openAPIV3Schema"] for entry in versions}
    return cluster.schemas[name].get(version)


def smallest(schema: Object) -> Any:
    """The smallest value that a structural schema allows, as far as required fields, enumerations and bounds tell."""
    if "default" in schema:
        return schema["default"]
    if schema.get("enum"):
        return schema["enum"][0]
    if schema.get("x-kubernetes-int-or-string"):
        return 1
    kind = schema.get("type")
    if kind == "object" or "properties" in schema:
        properties = schema.get("properties") or {}
        return {name: smallest(properties[name]) for name in schema.get("required") or [] if name in properties}
    if kind == "array":
        return [smallest(schema["items"])] * int(schema.get("minItems", 0))
    if kind in ("integer", "number"):
        return max(1, int(schema.get("minimum", 1)))
    if kind == "boolean":
        return False
    if kind == "string":
        shortest = "x" * max(1, int(schema.get("minLength", 1)))
        return {"byte": "eA==", "date-time": "2026-01-01T00:00:00Z"}.get(schema.get("format", ""), shortest)
    return {}
