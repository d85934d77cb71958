# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What objects define and what they cannot do without, read from the objects alone: the judge of a selection.

A thing is a tuple: what it is, then what tells it apart from others of its sort.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import yaml

Object = Mapping[str, Any]
Thing = tuple[str, ...]

# Kubernetes' own API groups; everything else needs a CustomResourceDefinition.
OWN_GROUPS = frozenset(
    {
        *("", "apps", "autoscaling", "batch", "policy"),
        *(f"{name}.k8s.io" for name in ("admissionregistration", "apiextensions", "apiregistration", "certificates", "coordination")),
        *(f"{name}.k8s.io" for name in ("discovery", "events", "networking", "node", "rbac.authorization", "scheduling", "storage")),
    }
)
OWN_NAMESPACES = frozenset({"default", "kube-system", "kube-public", "kube-node-lease"})
WORKLOADS = frozenset({"Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "Job"})
OWN_ROLES = frozenset({"cluster-admin", "admin", "edit", "view"})
# istiod writes it into every namespace.
OF_ISTIOD = "istio-ca-root-cert"
# The profile controller makes them in each Profile's namespace.
OF_A_PROFILE = ("default-editor", "default-viewer")


def group(obj: Object) -> str:
    """API group of an object."""
    return str(obj["apiVersion"]).rpartition("/")[0]


def defined(obj: Object) -> Iterator[Thing]:
    """What is there once the object is, controllers included that the platform brings."""
    kind, name, namespace = obj["kind"], obj["metadata"]["name"], obj["metadata"].get("namespace", "")
    if kind == "CustomResourceDefinition":
        yield "kind", obj["spec"]["group"], obj["spec"]["names"]["kind"]
    elif kind == "Namespace":
        yield "namespace", name
        yield "ServiceAccount", name, "default"
    elif kind == "Profile" and group(obj) == "kubeflow.org":
        yield "namespace", name
        for account in ("default", *OF_A_PROFILE):
            yield "ServiceAccount", name, account
    elif kind == "Certificate" and group(obj) == "cert-manager.io":
        yield "Secret", namespace, obj["spec"]["secretName"]
    elif kind == "Issuer":
        yield "issuer", kind, namespace, name
    elif kind == "ClusterIssuer":
        yield "issuer", kind, "", name
    elif kind == "Gateway" and group(obj) == "networking.istio.io":
        yield "gateway", namespace, name
    elif kind == "ConfigMap" and name == "istio" and namespace == "istio-system":
        yield kind, namespace, name
        yield from (("mesh provider", entry["name"]) for entry in yaml.safe_load(obj["data"]["mesh"]).get("extensionProviders") or [])
    elif kind in ("ClusterRole", "Role", "ServiceAccount", "Secret", "ConfigMap", "PersistentVolumeClaim", "Service"):
        yield kind, "" if kind == "ClusterRole" else namespace, name


def needed(obj: Object) -> Iterator[Thing]:
    """What the object names and cannot do without. What it calls optional does not count."""
    kind, namespace = obj["kind"], obj["metadata"].get("namespace", "")
    if group(obj) not in OWN_GROUPS:
        yield "kind", group(obj), kind
    if namespace and namespace not in OWN_NAMESPACES:
        yield "namespace", namespace
    if kind in WORKLOADS:
        yield from _of_pod(obj["spec"]["template"]["spec"], namespace)
    elif kind == "CronJob":
        yield from _of_pod(obj["spec"]["jobTemplate"]["spec"]["template"]["spec"], namespace)
    elif kind in ("RoleBinding", "ClusterRoleBinding"):
        yield from _bound(obj, namespace)
    elif kind in ("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"):
        services = (hook["clientConfig"].get("service") for hook in obj.get("webhooks") or [])
        yield from (("Service", service["namespace"], service["name"]) for service in services if service)
    elif kind == "ConfigMap":
        yield from _of_configuration(obj["metadata"]["name"], namespace, obj.get("data") or {})
    else:
        yield from _of_custom(obj, namespace)


def _of_custom(obj: Object, namespace: str) -> Iterator[Thing]:
    kind, spec = (group(obj), obj["kind"]), obj.get("spec") or {}
    if kind == ("cert-manager.io", "Certificate"):
        sort = spec["issuerRef"].get("kind", "Issuer")
        yield "issuer", sort, namespace if sort == "Issuer" else "", spec["issuerRef"]["name"]
    elif kind == ("networking.istio.io", "VirtualService"):
        yield from (_gateway(name, namespace) for name in spec.get("gateways", []) if name != "mesh")
        routes = [route for http in spec.get("http", []) for route in http.get("route", [])]
        yield from _service(route["destination"]["host"] for route in routes)
    elif kind == ("networking.istio.io", "Gateway"):
        secrets = (server.get("tls", {}).get("credentialName") for server in spec.get("servers", []))
        yield from (("Secret", namespace, name) for name in secrets if name)
    elif kind == ("security.istio.io", "AuthorizationPolicy") and spec.get("provider"):
        yield "mesh provider", spec["provider"]["name"]
    elif kind == ("security.istio.io", "RequestAuthentication"):
        hosts = ((rule.get("jwksUri") or "").partition("://")[2].partition("/")[0] for rule in spec.get("jwtRules") or [])
        yield from _service(host.partition(":")[0] for host in hosts)


def _of_configuration(name: str, namespace: str, data: Mapping[str, str]) -> Iterator[Thing]:
    if name == "inferenceservice-config":
        yield from _of_kserve(data)
    elif name == "config-istio" and namespace == "knative-serving":
        yield from _of_knative(data)


def _is_there(thing: Thing, there: set[Thing]) -> bool:
    if thing in there or thing[0] == "ClusterRole" and thing[2] in OWN_ROLES:
        return True
    return thing[0] == "ConfigMap" and thing[2] == OF_ISTIOD and ("ServiceAccount", "istio-system", "istiod") in there


def missing(objects: Iterable[Object]) -> dict[Thing, list[str]]:
    """What these objects need and none of them defines, each with the objects that need it."""
    objects = list(objects)
    there = {thing for obj in objects for thing in defined(obj)}
    found: dict[Thing, list[str]] = {}
    for obj in objects:
        for thing in needed(obj):
            if not _is_there(thing, there):
                metadata = obj["metadata"]
                found.setdefault(thing, []).append(f"{obj['kind']} {metadata.get('namespace', '')}/{metadata['name']}")
    return found


def _gateway(name: str, namespace: str) -> Thing:
    place, slash, gateway = name.rpartition("/")
    return "gateway", place if slash else namespace, gateway


def _service(hosts: Iterable[str]) -> Iterator[Thing]:
    """Services in the cluster that hosts name in full; what is outside, and what a controller makes for a tenant, is not looked at."""
    for host in hosts:
        name, _dot, rest = host.partition(".")
        namespace, _dot, tail = rest.partition(".")
        if tail in ("svc", "svc.cluster.local"):
            yield "Service", namespace, name


def _bound(obj: Object, namespace: str) -> Iterator[Thing]:
    role = obj["roleRef"]
    yield role["kind"], namespace if role["kind"] == "Role" else "", role["name"]
    for subject in obj.get("subjects") or []:
        if subject["kind"] == "ServiceAccount":
            yield "ServiceAccount", subject.get("namespace", namespace), subject["name"]


def _of_pod(pod: Object, namespace: str) -> Iterator[Thing]:
    yield "ServiceAccount", namespace, pod.get("serviceAccountName") or "default"
    for volume in pod.get("volumes") or []:
        yield from _of_volume(volume, namespace)
    for container in [*(pod.get("containers") or []), *(pod.get("initContainers") or [])]:
        sources = [entry.get("valueFrom") or {} for entry in container.get("env") or []]
        for key, sort in (("secretKeyRef", "Secret"), ("configMapKeyRef", "ConfigMap")):
            yield from ((sort, namespace, source[key]["name"]) for source in sources if key in source and not source[key].get("optional"))
        for key, sort in (("secretRef", "Secret"), ("configMapRef", "ConfigMap")):
            entries = [entry[key] for entry in container.get("envFrom") or [] if key in entry]
            yield from ((sort, namespace, entry["name"]) for entry in entries if not entry.get("optional"))


def _of_volume(volume: Object, namespace: str) -> Iterator[Thing]:
    if "secret" in volume and not volume["secret"].get("optional"):
        yield "Secret", namespace, volume["secret"]["secretName"]
    if "configMap" in volume and not volume["configMap"].get("optional"):
        yield "ConfigMap", namespace, volume["configMap"]["name"]
    if "persistentVolumeClaim" in volume:
        yield "PersistentVolumeClaim", namespace, volume["persistentVolumeClaim"]["claimName"]
    for source in (volume.get("projected") or {}).get("sources") or []:
        for key, sort in (("secret", "Secret"), ("configMap", "ConfigMap")):
            if key in source and not source[key].get("optional"):
                yield sort, namespace, source[key]["name"]


def _of_knative(data: Mapping[str, str]) -> Iterator[Thing]:
    """C(gateway.<namespace>.<name>) and C(local-gateway.<namespace>.<name>), or lists under C(external-gateways) and C(local-gateways)."""
    for key in data:
        sort, _dot, place = key.partition(".")
        if sort in ("gateway", "local-gateway") and "." in place:
            namespace, _dot, name = place.partition(".")
            yield "gateway", namespace, name


def _of_kserve(data: Mapping[str, str]) -> Iterator[Thing]:
    """Its own gateway always, and Knative with what answers inside the cluster when models run on it unless they say otherwise."""
    ingress, deploy = json.loads(data["ingress"]), json.loads(data.get("deploy") or "{}")
    if not ingress.get("disableIstioVirtualHost"):
        yield _gateway(ingress["ingressGateway"], "")
    if deploy.get("defaultDeploymentMode", "Serverless") in ("Serverless", "Knative"):
        yield "kind", "serving.knative.dev", "Service"
        if ingress.get("localGateway"):
            yield _gateway(ingress["localGateway"], "")
