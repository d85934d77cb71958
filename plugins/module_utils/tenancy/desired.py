# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The objects that a tenant is to have, with the values that the API server would add, so that a comparison sees only differences."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.kubeflow.platform.plugins.module_utils.tenancy.live import GROUP_LABEL, MANAGED_LABEL
from ansible_collections.kubeflow.platform.plugins.module_utils.tenancy.model import POD_SECURITY_LABEL, RBAC, Contributor, Tenant
from ansible_collections.kubeflow.platform.plugins.module_utils.tenancy.platform import Platform
from ansible_collections.kubeflow.platform.plugins.module_utils.tenancy.presets import CA_KEY

LIMITS_NAME = "kubeflow-platform-limits"
NETWORK_POLICY_NAME = "kubeflow-platform-tenant"
# Who must reach pods of a tenant for the platform to work: the gateway, the platform's own controllers, Knative's activator.
PLATFORM_NAMESPACES = ("istio-system", "knative-serving", "kubeflow")
Object = dict[str, Any]


def profile(tenant: Tenant, api_version: str) -> Object:
    """Return the Profile as it is created."""
    spec: Object = {}
    if tenant.owner is not None:
        spec["owner"] = tenant.owner.as_rbac()
    if tenant.quota:
        spec["resourceQuotaSpec"] = {"hard": dict(tenant.quota)}
    return {"apiVersion": api_version, "kind": "Profile", "metadata": {"name": tenant.name}, "spec": spec}


def namespace_labels(tenant: Tenant) -> dict[str, str | None]:
    """Return the labels that the data asks for; None removes one."""
    level = {POD_SECURITY_LABEL: tenant.pod_security} if tenant.pod_security else {}
    return {**tenant.labels, **level}


def binding(tenant: str, row: Contributor) -> Object:
    """Return the RoleBinding of a contributor: a user's as KFAM makes it, a group's without the annotations that KFAM lists by."""
    metadata: Object = {"name": row.binding, "namespace": tenant}
    if row.subject.kind == "User":
        metadata["annotations"] = {"role": row.role, "user": row.subject.name}
    else:
        metadata["labels"] = {GROUP_LABEL: "group"}
    return {
        "apiVersion": f"{RBAC}/v1",
        "kind": "RoleBinding",
        "metadata": metadata,
        "roleRef": {"apiGroup": RBAC, "kind": "ClusterRole", "name": f"kubeflow-{row.role}"},
        "subjects": [row.subject.as_rbac()],
    }


def policy(tenant: str, row: Contributor, platform: Platform, api_version: str) -> Object:
    """Return the AuthorizationPolicy of a user, as KFAM makes it: through the gateway and the pipelines' page, under the exact name."""
    rule = {
        "from": [{"source": {"principals": list(platform.principals)}}],
        "when": [{"key": f"request.headers[{platform.header}]", "values": [platform.prefix + row.subject.name]}],
    }
    annotations = {"role": row.role, "user": row.subject.name}
    metadata = {"name": row.binding, "namespace": tenant, "annotations": annotations}
    return {"apiVersion": api_version, "kind": "AuthorizationPolicy", "metadata": metadata, "spec": {"rules": [rule]}}


def limits(tenant: Tenant) -> Object | None:
    """Return the LimitRange for containers; None where none is wanted."""
    if not tenant.limits:
        return None
    item: dict[str, Any] = {"type": "Container"}
    for key, field in (("max", "max"), ("min", "min"), ("default", "default"), ("default_request", "defaultRequest")):
        if tenant.limits.get(key):
            item[field] = dict(tenant.limits[key])
    # What the API server adds (SetDefaults_LimitRangeItem).
    item["default"] = {**item.get("max", {}), **item.get("default", {})}
    item["defaultRequest"] = {**item.get("min", {}), **item["default"], **item.get("defaultRequest", {})}
    kept = {key: value for key, value in item.items() if value}
    return _managed("v1", "LimitRange", LIMITS_NAME, tenant.name, {"spec": {"limits": [kept]}})


def network_policy(tenant: Tenant) -> Object | None:
    """Return the NetworkPolicy; None where none is wanted."""
    if tenant.network_policy is None or not any(tenant.network_policy.values()):
        return None
    content = {"spec": network_policy_spec(tenant.name, tenant.network_policy)}
    return _managed("networking.k8s.io/v1", "NetworkPolicy", NETWORK_POLICY_NAME, tenant.name, content)


def network_policy_spec(tenant: str, raw: Mapping[str, Any]) -> Object:
    """Return the spec that the data asks for: its own, or one that lets in the namespace itself and those of ``allow_from``."""
    if raw.get("spec"):
        return with_defaults(raw["spec"])
    allowed = raw["allow_from"] if raw.get("allow_from") is not None else PLATFORM_NAMESPACES
    named = sorted({tenant, *allowed})
    chosen = {"matchExpressions": [{"key": "kubernetes.io/metadata.name", "operator": "In", "values": named}]}
    return {"ingress": [{"from": [{"namespaceSelector": chosen}]}], "podSelector": {}, "policyTypes": ["Ingress"]}


def with_defaults(given: Mapping[str, Any]) -> Object:
    """Return a NetworkPolicy's spec with what the API server adds, and without what it loses (an empty list of rules)."""
    spec: Object = {"podSelector": {}, **given}
    spec.setdefault("policyTypes", ["Ingress", *(["Egress"] if spec.get("egress") else [])])
    for direction in ("ingress", "egress"):
        if spec.get(direction):
            spec[direction] = [_rule(row) for row in spec[direction]]
        else:
            spec.pop(direction, None)
    return spec


def _rule(given: Mapping[str, Any]) -> Object:
    rule = dict(given)
    if rule.get("ports"):
        rule["ports"] = [{"protocol": "TCP", **port} for port in rule["ports"]]
    return rule


def pod_default(tenant: str, name: str, spec: Mapping[str, Any], api_version: str) -> Object:
    """Return a PodDefault."""
    return _managed(api_version, "PodDefault", name, tenant, {"spec": dict(spec)})


def authority(tenant: str, name: str, pem: str) -> Object:
    """Return the ConfigMap that holds the certificate authority."""
    return _managed("v1", "ConfigMap", name, tenant, {"data": {CA_KEY: pem}})


def _managed(api_version: str, kind: str, name: str, namespace: str, content: Object) -> Object:
    metadata = {"name": name, "namespace": namespace, "labels": {MANAGED_LABEL: namespace}}
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, **content}
