# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""When an object that was applied also works: kind -> predicate. Starts from kstatus (cli-utils ``pkg/kstatus/status``).

Differences: kinds that are known to have a controller are not ready while it has written no status; a claim whose class
binds on first consumer is ready without one; a Job must complete; ReplicaFailure is said at once and not after the ten
minutes of progressDeadlineSeconds, since a webhook that is down for ever keeps a Deployment "progressing" that long.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ansible_collections.kubeflow.platform.plugins.module_utils.apply import custom, workloads
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.case import Case, ReadinessContext
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.pods import READY, Readiness, failed, progressing
from ansible_collections.kubeflow.platform.plugins.module_utils.objects.identity import split_api_version

__all__ = ["Readiness", "ReadinessContext", "has_predicate", "state"]


def state(obj: Mapping[str, Any], *, now: float, since: float, context: ReadinessContext) -> Readiness:
    """Return whether an object works. ``now`` and ``since`` (when the engine wrote it) are seconds since 1970."""
    case = Case(obj, now, since, context)
    if case.metadata.get("deletionTimestamp"):
        return progressing(_deletion(case))
    group, _version = split_api_version(str(obj.get("apiVersion") or ""))
    predicate = _PREDICATES.get((group, str(obj.get("kind") or "")))
    return predicate(case) if predicate else READY


def has_predicate(group: str, kind: str) -> bool:
    """Say whether objects of a kind can be anything but ready, so that polling them makes sense."""
    return (group, kind) in _PREDICATES


def _deletion(case: Case) -> str:
    remaining = [
        str(entry.get("message")) for entry in case.status.get("conditions") or [] if entry.get("status") == "True" and entry.get("message")
    ]
    finalizers = ", ".join(case.metadata.get("finalizers") or (case.spec.get("finalizers") or []))
    return "is being deleted" + (f"; finalizers {finalizers}" if finalizers else "") + "".join(f"; {text}" for text in remaining)


def _claim(case: Case) -> Readiness:
    phase = case.status.get("phase")
    if phase == "Bound":
        return READY
    if phase == "Lost":
        return failed("its volume is lost")
    modes = case.context.binding_modes
    name = case.spec.get("storageClassName", case.context.default_class)
    if modes is None:
        return progressing("not bound")
    if not name:
        return progressing("not bound: it names no StorageClass and the cluster has no default one")
    if name not in modes:
        return progressing(f"not bound: StorageClass {name} does not exist")
    used = (str(case.metadata.get("namespace")), str(case.metadata.get("name"))) in case.context.claims_in_use
    if modes[name] == "WaitForFirstConsumer" and not used:
        return Readiness("ready", "will be bound when a pod uses it")
    return progressing(f"not bound by StorageClass {name}")


def _crd(case: Case) -> Readiness:
    names = case.condition("NamesAccepted")
    if names.get("status") == "False":
        return failed(f"names not accepted: {names.get('message')}")
    if not case.holds("Established"):
        return progressing("not established")
    if case.context.served is None:
        return READY
    kind, group = (case.spec.get("names") or {}).get("kind"), case.spec.get("group")
    served = [entry.get("name") for entry in case.spec.get("versions") or [] if entry.get("served", True)]
    missing = [str(version) for version in served if (group, version, kind) not in case.context.served]
    return progressing(f"not served yet: {', '.join(missing)}") if missing else READY


def _api_service(case: Case) -> Readiness:
    if case.holds("Available") or not case.spec.get("service"):
        return READY
    return progressing(case.condition("Available").get("message") or "not available")


def _namespace(case: Case) -> Readiness:
    return progressing(_deletion(case)) if case.status.get("phase") == "Terminating" else READY


def _service(case: Case) -> Readiness:
    if not case.context.load_balancers or case.spec.get("type") != "LoadBalancer":
        return READY
    return READY if (case.status.get("loadBalancer") or {}).get("ingress") else progressing("the load balancer has no address")


def _webhooks(case: Case) -> Readiness:
    """Endpoints and CA only; that it answers is proved by the engine's probe, which alone opens a gate."""
    ready = case.context.ready_services
    for webhook in case.obj.get("webhooks") or [] if ready is not None else []:
        client = webhook.get("clientConfig") or {}
        service = client.get("service") or {}
        place = (str(service.get("namespace")), str(service.get("name")))
        if service and ready is not None and place not in ready:
            return progressing(f"webhook {webhook.get('name')}: Service {'/'.join(place)} has no ready endpoint")
        if service and not client.get("caBundle"):
            return progressing(f"webhook {webhook.get('name')}: caBundle is empty")
    return READY


def _profile(case: Case) -> Readiness:
    """Return the state of a Profile by what it makes: the controller of dashboard v2 never writes a status."""
    name, context = str(case.metadata.get("name")), case.context
    if context.namespaces is not None and name not in context.namespaces:
        return progressing(f"namespace {name} does not exist yet")
    if context.owner_bindings is not None and name not in context.owner_bindings:
        return progressing(f"the owner's RoleBinding namespaceAdmin does not exist in {name} yet")
    ready = case.condition("Ready")
    return READY if ready.get("status", "True") == "True" else progressing(ready.get("message") or "not ready")


_PREDICATES: dict[tuple[str, str], Callable[[Case], Readiness]] = {
    ("apps", "Deployment"): workloads.deployment,
    ("apps", "ReplicaSet"): workloads.replica_set,
    ("apps", "StatefulSet"): workloads.stateful_set,
    ("apps", "DaemonSet"): workloads.daemon_set,
    ("", "Pod"): workloads.pod,
    ("batch", "Job"): workloads.job,
    ("", "PersistentVolumeClaim"): _claim,
    ("", "Namespace"): _namespace,
    ("", "Service"): _service,
    ("apiextensions.k8s.io", "CustomResourceDefinition"): _crd,
    ("apiregistration.k8s.io", "APIService"): _api_service,
    ("admissionregistration.k8s.io", "MutatingWebhookConfiguration"): _webhooks,
    ("admissionregistration.k8s.io", "ValidatingWebhookConfiguration"): _webhooks,
    ("kubeflow.org", "Profile"): _profile,
    **custom.PREDICATES,
}
