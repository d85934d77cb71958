# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the platform's own configuration says about tenants: the identity header, who may pass, the labels of their namespaces."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.discovery import Discovery, Resource
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.errors import Refused
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.requests import Client
from ansible_collections.kubeflow.platform.plugins.module_utils.tenancy.model import RBAC, TenancyError

HOME = "kubeflow"
CONTROLLER = "profiles-deployment"
PIPELINES = "kubeflow-pipelines-profile-controller"
# KFAM's own defaults where its environment says nothing (kfam/bindings.go).
_GATEWAY = "cluster.local/ns/istio-system/sa/istio-ingressgateway-service-account"
_PIPELINES_UI = "cluster.local/ns/kubeflow/sa/ml-pipeline-ui"
NAMESPACES = Resource("", "v1", "Namespace", "namespaces", False)
BINDINGS = Resource(RBAC, "v1", "RoleBinding", "rolebindings", True)
ACCOUNTS = Resource("", "v1", "ServiceAccount", "serviceaccounts", True)
QUOTAS = Resource("", "v1", "ResourceQuota", "resourcequotas", True)
LIMITS = Resource("", "v1", "LimitRange", "limitranges", True)
NETWORK_POLICIES = Resource("networking.k8s.io", "v1", "NetworkPolicy", "networkpolicies", True)
SECRETS = Resource("", "v1", "Secret", "secrets", True)
MAPS = Resource("", "v1", "ConfigMap", "configmaps", True)
DEPLOYMENTS = Resource("apps", "v1", "Deployment", "deployments", True)


@dataclass(frozen=True, slots=True)
class Kinds:
    """The custom kinds, in the versions that the server prefers."""

    profiles: Resource
    policies: Resource
    pod_defaults: Resource | None
    # What metacontroller calls the pipelines' hook by: 1.8 has a CompositeController, later releases a DecoratorController.
    hooks: tuple[Resource, ...] = ()


@dataclass(frozen=True, slots=True)
class Platform:
    """What tenants depend on. ``pipelines``: whether namespaces get the pipelines' objects. ``found``: the controller is installed."""

    header: str = "kubeflow-userid"
    prefix: str = ""
    principals: tuple[str, ...] = (_GATEWAY, _PIPELINES_UI)
    namespace_labels: Mapping[str, str] = field(default_factory=dict)
    mesh_label: tuple[str, str] = ("istio-injection", "enabled")
    pipelines: bool = False
    found: bool = True


def kinds(discovery: Discovery) -> Kinds:
    """Return the custom kinds. Raise TenancyError where the platform is not installed."""
    discovery.refresh()
    profiles = discovery.preferred("kubeflow.org", "Profile")
    policies = discovery.preferred("security.istio.io", "AuthorizationPolicy")
    if profiles is None:
        raise TenancyError("The cluster does not serve Profiles (kubeflow.org). Install the component dashboard first.")
    if policies is None:
        # The controller retries for 120 s and exits; until then nobody would say why nothing happens.
        raise TenancyError(
            "The cluster does not serve AuthorizationPolicies (security.istio.io), without which the profile controller makes nothing. "
            "Install the component istio first."
        )
    hooks = [discovery.preferred("metacontroller.k8s.io", kind) for kind in ("DecoratorController", "CompositeController")]
    pod_defaults = discovery.preferred("kubeflow.org", "PodDefault")
    return Kinds(profiles, policies, pod_defaults, tuple(hook for hook in hooks if hook is not None))


def read_platform(client: Client, known: Kinds) -> Platform:
    """Return the configuration of the live platform, as its Deployment names it (the ConfigMaps' names carry hashes)."""
    deployment = _get(client, DEPLOYMENTS, HOME, CONTROLLER)
    pipelines = any(_get(client, hook, "", PIPELINES) for hook in known.hooks)
    if not deployment:
        return Platform(pipelines=pipelines, found=False)
    maps = [_get(client, MAPS, HOME, name).get("data") or {} for name in config_maps(deployment)]
    return interpret(maps, pipelines=pipelines)


def _get(client: Client, resource: Resource, namespace: str, name: str) -> dict[str, Any]:
    path = resource.path(namespace, name)
    response = client.get(path)
    if response.status == 404:
        return {}
    if not response.ok:
        raise Refused(f"GET {path}", response)
    return response.body()


def config_maps(deployment: Mapping[str, Any]) -> list[str]:
    """Return the names of the ConfigMaps that a Deployment's pods read, without repetition."""
    pod = deployment["spec"]["template"]["spec"]
    names = [volume["configMap"]["name"] for volume in pod.get("volumes") or [] if "configMap" in volume]
    for container in pod["containers"]:
        names += [source["configMapRef"]["name"] for source in container.get("envFrom") or [] if "configMapRef" in source]
    return list(dict.fromkeys(names))


def interpret(maps: list[dict[str, str]], *, pipelines: bool) -> Platform:
    """Return the platform that the ConfigMaps' ``data`` describe."""
    settings: dict[str, str] = {}
    labels: dict[str, str] = {}
    for data in maps:
        if "USERID_HEADER" in data:
            settings = data
        if "namespace-labels.yaml" in data:
            labels = _labels(data["namespace-labels.yaml"])
    principals = (
        settings.get("ISTIO_INGRESS_GATEWAY_PRINCIPAL") or _GATEWAY,
        settings.get("KFP_UI_PRINCIPAL") or _PIPELINES_UI,
    )
    ambient = settings.get("SERVICE_MESH_MODE") == "istio-ambient"
    return Platform(
        settings.get("USERID_HEADER") or "kubeflow-userid",
        settings.get("USERID_PREFIX") or "",
        principals,
        labels,
        ("istio.io/dataplane-mode", "ambient") if ambient else ("istio-injection", "enabled"),
        pipelines,
    )


def _labels(text: str) -> dict[str, str]:
    """Return the labels that the controller adds; an empty value means that it removes one."""
    import yaml

    try:
        found = yaml.safe_load(text)
    except yaml.YAMLError:
        return {}
    return {str(key): str(value or "") for key, value in found.items()} if isinstance(found, dict) else {}
