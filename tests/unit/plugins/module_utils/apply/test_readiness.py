# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""When an object that was applied also works."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.readiness import Readiness, ReadinessContext, has_predicate, state
from hypothesis import given
from hypothesis import strategies as st

NOW = 1_000_000.0


def judge(
    api_version: str, kind: str, *, spec: Any = None, status: Any = None, metadata: Any = None, age: float = 10, **context: Any
) -> Readiness:
    obj = {
        "apiVersion": api_version,
        "kind": kind,
        "metadata": {"name": "x", "namespace": "n", "generation": 2, **(metadata or {})},
        "spec": spec or {},
        "status": status or {},
    }
    return state(obj, now=NOW, since=NOW - age, context=ReadinessContext(**context))


def deployment(spec: Any = None, **more: Any) -> Readiness:
    status = {"observedGeneration": 2, **more.pop("status", {})}
    return judge(
        "apps/v1", "Deployment", spec={"replicas": 2, "selector": {"matchLabels": {"app": "x"}}, **(spec or {})}, status=status, **more
    )


def condition(kind: str, status: str, **more: Any) -> dict[str, Any]:
    return {"type": kind, "status": status, **more}


FULL = {"replicas": 2, "updatedReplicas": 2, "availableReplicas": 2}


def test_deployment_is_ready_when_all_replicas_are_new_and_available() -> None:
    assert deployment(status=FULL).status == "ready"


@pytest.mark.parametrize(
    "counts",
    [{}, {**FULL, "availableReplicas": 1}, {**FULL, "updatedReplicas": 1}, {**FULL, "replicas": 3}, {**FULL, "observedGeneration": 1}],
)
def test_deployment_is_progressing_when_a_replica_is_missing_old_or_not_seen(counts: dict[str, int]) -> None:
    assert deployment(status=counts).status == "progressing"


def test_deployment_without_status_is_progressing() -> None:
    assert judge("apps/v1", "Deployment").status == "progressing"


def test_deployment_with_zero_replicas_or_paused_is_ready() -> None:
    assert deployment(spec={"replicas": 0}).status == "ready"
    assert deployment(spec={"paused": True}).status == "ready"


def test_deployment_fails_when_its_progress_deadline_is_exceeded() -> None:
    answer = deployment(status={"conditions": [condition("Progressing", "False", reason="ProgressDeadlineExceeded", message="too slow")]})
    assert answer == ("failed", "too slow")


def test_webhook_that_refuses_the_pods_is_said_at_once_while_the_deployment_still_counts_as_progressing() -> None:
    text = 'failed calling webhook "poddefaults": dial tcp 127.96.1.1:443: connect: connection refused'
    conditions = [
        condition("Progressing", "True", reason="NewReplicaSetCreated"),
        condition("ReplicaFailure", "True", reason="FailedCreate", message=text),
    ]
    answer = deployment(status={"conditions": conditions})
    assert answer == ("progressing", f"FailedCreate: {text}")


def test_deployment_fails_when_a_quota_is_used_up() -> None:
    text = 'pods "x" is forbidden: exceeded quota: small, requested: cpu=1'
    answer = deployment(status={"conditions": [condition("ReplicaFailure", "True", reason="FailedCreate", message=text)]})
    assert answer.status == "failed"
    assert "exceeded quota: small" in answer.reason


def pod(reason: str = "", message: str = "", conditions: Any = (), **metadata: Any) -> dict[str, Any]:
    waiting = {"state": {"waiting": {"reason": reason, "message": message}}, "name": "main"} if reason else {"state": {"running": {}}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "x-1", "namespace": "n", "labels": {"app": "x"}, **metadata},
        "status": {"phase": "Pending", "containerStatuses": [waiting], "conditions": list(conditions)},
    }


UNSCHEDULABLE = [condition("PodScheduled", "False", reason="Unschedulable", message="0/1 nodes are available")]


@pytest.mark.parametrize(
    ("row", "age", "expected"),
    [
        (pod("InvalidImageName", "cannot parse"), 1, "failed"),
        (pod("CreateContainerConfigError", 'secret "a" not found'), 30, "progressing"),
        (pod("CreateContainerConfigError", 'secret "a" not found'), 90, "failed"),
        (pod("ImagePullBackOff", "manifest unknown: not found"), 30, "progressing"),
        (pod("ErrImagePull", "docker.io/x:1: not found"), 90, "failed"),
        (pod("ErrImagePull", "i/o timeout"), 900, "progressing"),
        (pod("CrashLoopBackOff", "back-off"), 200, "progressing"),
        (pod("CrashLoopBackOff", "back-off"), 400, "failed"),
        (pod(conditions=UNSCHEDULABLE), 200, "progressing"),
        (pod(conditions=UNSCHEDULABLE), 400, "failed"),
        (pod("ContainerCreating"), 900, "progressing"),
    ],
)
def test_pod_trouble_ends_the_wait_of_its_workload_only_when_waiting_cannot_help(row: dict[str, Any], age: float, expected: str) -> None:
    answer = deployment(age=age, pods={"n": [row]})
    assert answer.status == expected
    assert state(row, now=NOW, since=NOW - age, context=ReadinessContext()).status == expected


def test_grace_counts_from_the_last_write_and_not_from_the_age_of_the_pod_alone() -> None:
    old = pod("CrashLoopBackOff", creationTimestamp="1970-01-01T00:00:00Z")
    assert deployment(age=10, pods={"n": [old]}).status == "progressing"


def test_pods_of_other_workloads_and_terminating_pods_do_not_count() -> None:
    other = pod("InvalidImageName", labels={"app": "y"})
    leaving = pod("InvalidImageName", deletionTimestamp="2026-01-01T00:00:00Z")
    assert deployment(pods={"n": [other, leaving], "m": [pod("InvalidImageName")]}).status == "progressing"


def test_pod_is_ready_when_its_condition_says_so_or_it_succeeded() -> None:
    assert judge("v1", "Pod", status={"phase": "Running", "conditions": [condition("Ready", "True")]}).status == "ready"
    assert judge("v1", "Pod", status={"phase": "Succeeded"}).status == "ready"
    assert judge("v1", "Pod", status={"phase": "Failed", "reason": "Evicted"}) == ("failed", "pod failed: Evicted")


def stateful(status: dict[str, Any], **spec: Any) -> str:
    return judge("apps/v1", "StatefulSet", spec={"replicas": 2, **spec}, status={"observedGeneration": 2, **status}).status


def test_stateful_set_is_ready_when_all_replicas_are_of_the_new_revision() -> None:
    same = {"currentRevision": "a", "updateRevision": "a"}
    rolling = {"currentRevision": "a", "updateRevision": "b", "readyReplicas": 2}
    assert stateful({"readyReplicas": 2, **same}) == "ready"
    assert stateful({"readyReplicas": 1, **same}) == "progressing"
    assert stateful({**rolling, "updatedReplicas": 1}) == "progressing"
    assert stateful({**rolling, "updatedReplicas": 1}, updateStrategy={"rollingUpdate": {"partition": 1}}) == "ready"
    assert stateful({**rolling, "updatedReplicas": 0}, updateStrategy={"type": "OnDelete"}) == "ready"
    assert stateful({}, replicas=0) == "ready"


def test_daemon_set_is_ready_when_every_scheduled_pod_is_new_and_available() -> None:
    def daemon(**status: int) -> str:
        return judge("apps/v1", "DaemonSet", status={"observedGeneration": 2, "desiredNumberScheduled": 2, **status}).status

    assert daemon(numberAvailable=2, updatedNumberScheduled=2) == "ready"
    assert daemon(numberAvailable=2, updatedNumberScheduled=1) == "progressing"
    assert daemon(numberAvailable=2, updatedNumberScheduled=2, observedGeneration=1) == "progressing"


def test_job_must_complete() -> None:
    assert judge("batch/v1", "Job", status={"active": 1}).status == "progressing"
    assert judge("batch/v1", "Job", status={"conditions": [condition("Complete", "True")]}).status == "ready"
    assert judge("batch/v1", "Job", status={"conditions": [condition("Failed", "True", message="Deadline")]}) == (
        "failed",
        "job failed: Deadline",
    )
    assert judge("batch/v1", "Job", spec={"suspend": True}).status == "ready"


def claim(phase: str, spec: dict[str, Any], **context: Any) -> Readiness:
    return judge("v1", "PersistentVolumeClaim", status={"phase": phase}, spec=spec, **context)


LATE = {"binding_modes": {"standard": "WaitForFirstConsumer", "now": "Immediate"}, "default_class": "standard"}


def test_claim_is_ready_when_bound_or_when_its_class_waits_for_a_consumer_that_is_not_there() -> None:
    assert claim("Bound", {}).status == "ready"
    assert claim("Pending", {}, **LATE).status == "ready"
    assert claim("Pending", {}, claims_in_use={("n", "x")}, **LATE).status == "progressing"
    assert claim("Pending", {"storageClassName": "now"}, **LATE).status == "progressing"
    assert claim("Lost", {}).status == "failed"


def test_claim_says_that_there_is_no_class_for_it() -> None:
    assert "no default one" in claim("Pending", {}, binding_modes={}).reason
    assert "StorageClass fast does not exist" in claim("Pending", {"storageClassName": "fast"}, **LATE).reason


def crd(*conditions: dict[str, Any], **context: Any) -> Readiness:
    spec = {
        "group": "x.io",
        "names": {"kind": "Thing"},
        "versions": [{"name": "v1", "served": True}, {"name": "v1beta1", "served": True}, {"name": "v1alpha1", "served": False}],
    }
    return judge("apiextensions.k8s.io/v1", "CustomResourceDefinition", spec=spec, status={"conditions": list(conditions)}, **context)


def test_crd_is_ready_when_established_and_all_served_versions_are_in_discovery() -> None:
    established = condition("Established", "True")
    both = {("x.io", "v1", "Thing"), ("x.io", "v1beta1", "Thing")}
    assert crd().status == "progressing"
    assert crd(established, served=both).status == "ready"
    assert crd(established, served={("x.io", "v1", "Thing")}) == ("progressing", "not served yet: v1beta1")
    assert crd(condition("NamesAccepted", "False", message="taken"), established).status == "failed"


def test_api_service_must_be_available_unless_it_is_local() -> None:
    service = {"service": {"name": "metrics"}}
    assert judge("apiregistration.k8s.io/v1", "APIService", spec=service).status == "progressing"
    assert (
        judge("apiregistration.k8s.io/v1", "APIService", spec=service, status={"conditions": [condition("Available", "True")]}).status
        == "ready"
    )
    assert judge("apiregistration.k8s.io/v1", "APIService").status == "ready"


def test_load_balancer_needs_an_address_only_when_asked() -> None:
    assert judge("v1", "Service", spec={"type": "LoadBalancer"}).status == "ready"
    assert judge("v1", "Service", spec={"type": "LoadBalancer"}, load_balancers=True).status == "progressing"


@pytest.mark.parametrize(
    ("api_version", "kind"),
    [
        ("cert-manager.io/v1", "Certificate"),
        ("cert-manager.io/v1", "Issuer"),
        ("cert-manager.io/v1", "ClusterIssuer"),
        ("serving.kserve.io/v1beta1", "InferenceService"),
        ("serving.knative.dev/v1", "Service"),
        ("kubeflow.org/v1", "Notebook"),
        ("trainer.kubeflow.org/v1alpha1", "TrainJob"),
    ],
)
def test_kinds_with_a_controller_are_not_ready_while_it_has_written_no_status(api_version: str, kind: str) -> None:
    assert judge(api_version, kind) == ("progressing", "its controller has not reported yet")


def test_certificate_is_ready_by_its_condition_for_the_current_generation() -> None:
    ready = condition("Ready", "True", observedGeneration=2)
    assert judge("cert-manager.io/v1", "Certificate", status={"conditions": [ready]}).status == "ready"
    assert judge("cert-manager.io/v1", "Certificate", status={"conditions": [{**ready, "observedGeneration": 1}]}).status == "progressing"
    waiting = condition("Ready", "False", message="Issuing certificate as Secret does not exist")
    assert judge("cert-manager.io/v1", "Certificate", status={"conditions": [waiting]}) == (
        "progressing",
        "Issuing certificate as Secret does not exist",
    )


def test_stopped_notebooks_and_inference_services_are_ready() -> None:
    assert judge("kubeflow.org/v1", "Notebook", metadata={"annotations": {"kubeflow-resource-stopped": "2026"}}).status == "ready"
    stopped = {"annotations": {"serving.kserve.io/stop": "true"}}
    assert judge("serving.kserve.io/v1beta1", "InferenceService", metadata=stopped).status == "ready"
    assert judge("kubeflow.org/v1", "Notebook", status={"readyReplicas": 1}).status == "ready"


def test_train_job_must_complete_unless_it_is_suspended() -> None:
    assert judge("trainer.kubeflow.org/v1alpha1", "TrainJob", status={"conditions": [condition("Complete", "True")]}).status == "ready"
    assert judge("trainer.kubeflow.org/v1alpha1", "TrainJob", status={"conditions": [condition("Failed", "True")]}).status == "failed"
    assert judge("trainer.kubeflow.org/v1alpha1", "TrainJob", spec={"suspend": True}).status == "ready"


def profile(status: Any = None, **context: Any) -> str:
    return judge("kubeflow.org/v1", "Profile", status=status, **context).status


def test_profile_is_ready_by_its_namespace_and_the_owners_binding_since_it_has_no_status() -> None:
    assert profile(namespaces=frozenset(), owner_bindings=frozenset()) == "progressing"
    assert profile(namespaces={"x"}, owner_bindings=frozenset()) == "progressing"
    assert profile(namespaces={"x"}, owner_bindings={"x"}) == "ready"
    assert profile({"conditions": [condition("Ready", "False")]}, namespaces={"x"}, owner_bindings={"x"}) == "progressing"


def hooks(bundle: str, **context: Any) -> str:
    obj = {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingWebhookConfiguration",
        "metadata": {"name": "x"},
        "webhooks": [{"name": "a", "clientConfig": {"caBundle": bundle, "service": {"namespace": "n", "name": "s"}}}],
    }
    return state(obj, now=NOW, since=NOW, context=ReadinessContext(**context)).status


def test_webhook_configuration_needs_endpoints_and_a_bundle() -> None:
    assert hooks("eA==", ready_services={("n", "s")}) == "ready"
    assert hooks("", ready_services={("n", "s")}) == "progressing"
    assert hooks("eA==", ready_services=frozenset()) == "progressing"


def test_object_being_deleted_is_not_ready_and_names_its_finalizers() -> None:
    metadata = {"deletionTimestamp": "2026-01-01T00:00:00Z", "finalizers": ["profile-finalizer"]}
    answer = judge("kubeflow.org/v1", "Profile", metadata=metadata)
    assert answer == ("progressing", "is being deleted; finalizers profile-finalizer")


def test_terminating_namespace_says_what_remains() -> None:
    remaining = condition("NamespaceContentRemaining", "True", message="Some resources are remaining: pods. has 3 resource instances")
    answer = judge("v1", "Namespace", status={"phase": "Terminating", "conditions": [remaining]}, metadata={"deletionTimestamp": "x"})
    assert "has 3 resource instances" in answer.reason


@pytest.mark.parametrize(
    ("group", "kind"), [("autoscaling", "HorizontalPodAutoscaler"), ("policy", "PodDisruptionBudget"), ("", "ConfigMap")]
)
def test_kinds_that_nobody_waits_for_are_ready_and_not_worth_polling(group: str, kind: str) -> None:
    assert judge(f"{group}/v1" if group else "v1", kind).status == "ready"
    assert not has_predicate(group, kind)


def test_workloads_are_worth_polling() -> None:
    assert has_predicate("apps", "Deployment")


KINDS = st.sampled_from(
    [
        "apps/v1/Deployment",
        "apps/v1/StatefulSet",
        "apps/v1/DaemonSet",
        "batch/v1/Job",
        "v1/Pod",
        "v1/PersistentVolumeClaim",
        "cert-manager.io/v1/Certificate",
    ]
)
junk = st.recursive(
    st.none() | st.booleans() | st.integers(-1, 3) | st.sampled_from(["True", "Ready", "x"]),
    lambda inner: st.lists(inner, max_size=2),
    max_leaves=3,
)
statuses = st.dictionaries(st.sampled_from(["replicas", "readyReplicas", "observedGeneration", "phase", "updatedReplicas"]), junk)


@given(KINDS, statuses)
def test_any_status_gives_an_answer(kind: str, status: dict[str, Any]) -> None:
    api_version, _slash, name = kind.rpartition("/")
    assert judge(api_version, name, status=status).status in ("ready", "progressing", "failed")
