# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which webhooks will be called for which object, what stands behind them, and a pod to ask them with.

The matching follows the API server's own (apiserver ``plugin/webhook/predicates/{rules,namespace,object}``), where the
documentation and the code differ, the code: a rule ``pods/*`` matches pods themselves too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from ansible_collections.kubeflow.platform.plugins.module_utils.apply.selectors import selector_matches
from ansible_collections.kubeflow.platform.plugins.module_utils.objects.identity import Identity, split_api_version

__all__ = [
    "Backend",
    "Rule",
    "Webhook",
    "conversion_webhook",
    "namespace_labels",
    "pod_template",
    "probe_pod",
    "selector_matches",
    "service_backends",
    "webhooks_of",
]
ADMISSION_GROUP = "admissionregistration.k8s.io"
CRD = "CustomResourceDefinition"
NAME_LABEL = "kubernetes.io/metadata.name"
PAUSE_IMAGE = "registry.k8s.io/pause:3.10"
_CONFIGURATIONS = ("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration")
# Annotations that name containers of the original template; on a pod without these containers they are invalid.
_CONTAINER_ANNOTATIONS = ("container.apparmor.security.beta.kubernetes.io/", "container.seccomp.security.alpha.kubernetes.io/")


class Backend(NamedTuple):
    """The Service that a webhook is called through."""

    namespace: str
    name: str
    port: int
    path: str


class Rule(NamedTuple):
    """One rule of a webhook; ``*`` means all. ``scope`` is "*", "Cluster" or "Namespaced"."""

    groups: tuple[str, ...]
    versions: tuple[str, ...]
    resources: tuple[str, ...]
    operations: tuple[str, ...]
    scope: str

    def covers(self, group: str, version: str | None, resource: str, operation: str, namespaced: bool) -> bool:
        """Say whether a request for a main resource falls under this rule; version None means any."""
        return (
            _has(self.groups, group)
            and (version is None or _has(self.versions, version))
            and _has(self.operations, operation)
            and (self.scope == "*" or (self.scope == "Namespaced") == namespaced)
            and any(_resource_covers(pattern, resource) for pattern in self.resources)
        )


@dataclass(frozen=True, slots=True)
class Webhook:
    """One webhook of a configuration. Its key is (configuration_kind, configuration, name): names alone are not unique.

    ``configuration_kind`` of a conversion webhook is "CustomResourceDefinition" and ``configuration`` the CRD's name.
    ``match_conditions`` says that CEL conditions exist; they are not evaluated, so the webhook may turn out not to match.
    """

    configuration_kind: str
    configuration: str
    name: str
    failure_policy: str
    rules: tuple[Rule, ...]
    namespace_selector: Mapping[str, Any]
    object_selector: Mapping[str, Any]
    service: Backend | None
    ca_bundle: bool
    match_conditions: bool
    operations: frozenset[str]
    match_policy: str = "Equivalent"
    url: str = ""

    @property
    def key(self) -> tuple[str, str, str]:
        """What identifies this webhook in a cluster."""
        return (self.configuration_kind, self.configuration, self.name)

    @property
    def fails_closed(self) -> bool:
        """Say whether a request is refused when this webhook does not answer."""
        return self.failure_policy == "Fail"

    def matches(
        self,
        group: str,
        version: str,
        resource: str,
        operation: str,
        namespace_labels: Mapping[str, str] | None,
        object_labels: Mapping[str, str] | None,
        namespaced: bool,
    ) -> bool:
        """Say whether the server will call this webhook for a request ("CREATE", "UPDATE", "DELETE").

        ``namespace_labels`` are those of the object's namespace, with the server's own ``kubernetes.io/metadata.name``
        (see ``namespace_labels``); ignored for cluster-scoped objects, except that a Namespace is matched by its own labels.
        """
        if group == ADMISSION_GROUP and self.configuration_kind != CRD:
            return False  # the server exempts them, else a broken webhook could not be mended
        # Equivalent: the server converts the request to a version that a rule names, so that any served version matches.
        wanted = version if self.match_policy == "Exact" else None
        if not any(rule.covers(group, wanted, resource, operation, namespaced) for rule in self.rules):
            return False
        labels = object_labels or {}
        if namespaced and not selector_matches(self.namespace_selector, namespace_labels or {}):
            return False
        # The name label is the server's; a rendered Namespace lacks it, so take it from the caller's view of the namespace.
        whole = {**(namespace_labels or {}), **labels}
        if (group, resource) == ("", "namespaces") and not selector_matches(self.namespace_selector, whole):
            return False
        return selector_matches(self.object_selector, labels)


def webhooks_of(configuration: Mapping[str, Any]) -> list[Webhook]:
    """Return the webhooks of a webhook configuration or of a CRD with a conversion webhook; [] for any other object."""
    kind = str(configuration.get("kind") or "")
    group, _version = split_api_version(str(configuration.get("apiVersion") or ""))
    if kind == CRD:
        conversion = conversion_webhook(configuration)
        return [conversion] if conversion else []
    if group != ADMISSION_GROUP or kind not in _CONFIGURATIONS:
        return []
    name = str((configuration.get("metadata") or {}).get("name") or "")
    return [_webhook(kind, name, entry) for entry in configuration.get("webhooks") or []]


def conversion_webhook(crd: Mapping[str, Any]) -> Webhook | None:
    """Return the webhook that converts objects of ``crd``, as one that matches versions which are not the stored one.

    A fresh object sent in the stored version is never converted. Once ``status.storedVersions`` lists another version,
    objects of it may be read at any time, so every version matches.
    """
    spec = crd.get("spec") or {}
    conversion = spec.get("conversion") or {}
    if conversion.get("strategy") != "Webhook":
        return None
    client = (conversion.get("webhook") or {}).get("clientConfig") or {}
    versions = [entry for entry in spec.get("versions") or [] if entry.get("served", True)]
    stored = {str(entry.get("name")) for entry in versions if entry.get("storage")}
    converted = tuple(str(entry.get("name")) for entry in versions if not entry.get("storage"))
    if set((crd.get("status") or {}).get("storedVersions") or []) - stored:
        converted = ("*",)
    names = spec.get("names") or {}
    rule = Rule((str(spec.get("group") or ""),), converted, (str(names.get("plural") or ""),), ("*",), "*")
    name = str((crd.get("metadata") or {}).get("name") or "")
    return Webhook(
        configuration_kind=CRD,
        configuration=name,
        name=name,
        failure_policy="Fail",
        rules=(rule,),
        namespace_selector={},
        object_selector={},
        service=_backend(client),
        ca_bundle=bool(client.get("caBundle")),
        match_conditions=False,
        operations=frozenset("*"),
        match_policy="Exact",
        url=_url(client),
    )


def namespace_labels(name: str, labels: Mapping[str, str] | None) -> dict[str, str]:
    """Return a Namespace's labels as the server will have them: with ``kubernetes.io/metadata.name``, which it adds itself."""
    return {**(labels or {}), NAME_LABEL: name}


def pod_template(workload: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the pod template of a workload (a Pod is its own), or {}."""
    if workload.get("kind") == "Pod":
        return workload
    spec = workload.get("spec") or {}
    if workload.get("kind") == "CronJob":
        spec = (spec.get("jobTemplate") or {}).get("spec") or {}
    template: Mapping[str, Any] = spec.get("template") or {}
    return template if isinstance(template, Mapping) else {}


def service_backends(service: Mapping[str, Any], workloads: Iterable[Mapping[str, Any]]) -> list[Identity]:
    """Return the workloads whose pods a Service selects: same namespace, and a template with the selector's labels."""
    selector = (service.get("spec") or {}).get("selector") or {}
    namespace = (service.get("metadata") or {}).get("namespace")
    if not selector:
        return []  # a Service without selector has endpoints that somebody writes by hand
    found = []
    for workload in workloads:
        metadata = workload.get("metadata") or {}
        labels = (pod_template(workload).get("metadata") or {}).get("labels") or {}
        if metadata.get("namespace") == namespace and all(labels.get(key) == value for key, value in selector.items()):
            group, _version = split_api_version(str(workload.get("apiVersion") or ""))
            found.append(Identity(group, str(workload.get("kind") or ""), str(namespace or ""), str(metadata.get("name") or "")))
    return found


def probe_pod(
    namespace: str, template_labels: Mapping[str, str] | None, template_annotations: Mapping[str, str] | None, name: str
) -> dict[str, Any]:
    """Return a pod to be sent as a dry run, that calls the webhooks which a workload's pods will call.

    Labels and annotations are the template's, since they decide which webhooks match. The rest satisfies Pod Security
    "restricted" and quotas that demand requests, so that a refusal speaks of the webhook. An answer other than "failed
    calling webhook" proves that the mutating webhooks answered: quota and Pod Security are judged after them.
    """
    resources = {"requests": {"cpu": "1m", "memory": "1Mi"}, "limits": {"cpu": "10m", "memory": "16Mi"}}
    annotations = {key: value for key, value in (template_annotations or {}).items() if not key.startswith(_CONTAINER_ANNOTATIONS)}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": namespace, "labels": dict(template_labels or {}), "annotations": annotations},
        "spec": {
            "automountServiceAccountToken": False,
            "restartPolicy": "Never",
            "securityContext": {"runAsNonRoot": True, "runAsUser": 65535, "seccompProfile": {"type": "RuntimeDefault"}},
            "containers": [
                {
                    "name": "probe",
                    "image": PAUSE_IMAGE,
                    "resources": resources,
                    "securityContext": {
                        "allowPrivilegeEscalation": False,
                        "capabilities": {"drop": ["ALL"]},
                        "runAsNonRoot": True,
                        "seccompProfile": {"type": "RuntimeDefault"},
                    },
                }
            ],
        },
    }


def _webhook(kind: str, configuration: str, entry: Mapping[str, Any]) -> Webhook:
    client = entry.get("clientConfig") or {}
    rules = tuple(_rule(row) for row in entry.get("rules") or [])
    return Webhook(
        configuration_kind=kind,
        configuration=configuration,
        name=str(entry.get("name") or ""),
        failure_policy=str(entry.get("failurePolicy") or "Fail"),
        rules=rules,
        namespace_selector=entry.get("namespaceSelector") or {},
        object_selector=entry.get("objectSelector") or {},
        service=_backend(client),
        ca_bundle=bool(client.get("caBundle")),
        match_conditions=bool(entry.get("matchConditions")),
        operations=frozenset(operation for rule in rules for operation in rule.operations),
        match_policy=str(entry.get("matchPolicy") or "Equivalent"),
        url=_url(client),
    )


def _rule(row: Mapping[str, Any]) -> Rule:
    def words(key: str) -> tuple[str, ...]:
        return tuple(str(word) for word in row.get(key) or [])

    return Rule(words("apiGroups"), words("apiVersions"), words("resources"), words("operations"), str(row.get("scope") or "*"))


def _backend(client: Mapping[str, Any]) -> Backend | None:
    service = client.get("service")
    if not service:
        return None
    return Backend(
        str(service.get("namespace") or ""), str(service.get("name") or ""), int(service.get("port") or 443), str(service.get("path") or "")
    )


def _url(client: Mapping[str, Any]) -> str:
    return str(client.get("url") or "")


def _has(patterns: tuple[str, ...], word: str) -> bool:
    return "*" in patterns or word in patterns


def _resource_covers(pattern: str, resource: str) -> bool:
    main, _slash, sub = pattern.partition("/")
    return main in ("*", resource) and sub in ("", "*")
