# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""When objects of kinds that have a controller of their own are ready."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.custom import PREDICATES, UNSEEN
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.readiness import Readiness, ReadinessContext, has_predicate, state

READY = Readiness("ready")


def judge(kind: str, *, spec: Any = None, status: Any = None, annotations: Any = None) -> Readiness:
    group, _dot, name = kind.rpartition("/")
    metadata = {"name": "x", "namespace": "n", "generation": 2, "annotations": annotations or {}}
    obj = {"apiVersion": f"{group}/v1", "kind": name, "metadata": metadata, "spec": spec or {}, "status": status or {}}
    return state(obj, now=0.0, since=0.0, context=ReadinessContext())


def condition(kind: str, status: str = "True", **more: Any) -> dict[str, Any]:
    return {"conditions": [{"type": kind, "status": status, **more}]}


@pytest.mark.parametrize("kind", sorted("/".join(key) for key in PREDICATES))
def test_object_that_its_controller_has_not_seen_is_not_ready(kind: str) -> None:
    group, _dot, name = kind.rpartition("/")
    assert has_predicate(group, name)
    assert judge(kind) == Readiness("progressing", UNSEEN)


READY_OBJECTS = [
    ("kubeflow.org/Workspace", {"state": "Running"}, ""),
    ("kubeflow.org/Workspace", {"state": "Paused"}, "paused"),
    ("kubeflow.org/PVCViewer", {"ready": True}, ""),
    ("kubeflow.org/Notebook", {"readyReplicas": 1}, ""),
    ("tensorboard.kubeflow.org/Tensorboard", {"readyReplicas": 1}, ""),
    ("kubeflow.org/Experiment", condition("Succeeded"), ""),
    ("kubeflow.org/PyTorchJob", condition("Succeeded"), ""),
    ("jobset.x-k8s.io/JobSet", condition("Completed"), ""),
    ("trainer.kubeflow.org/TrainJob", condition("Complete"), ""),
    ("argoproj.io/Workflow", {"phase": "Succeeded"}, ""),
    ("sparkoperator.k8s.io/SparkApplication", {"applicationState": {"state": "COMPLETED"}}, ""),
    ("ray.io/RayCluster", {"state": "ready"}, ""),
    ("ray.io/RayJob", {"jobDeploymentStatus": "Complete", "jobStatus": "SUCCEEDED"}, ""),
    ("ray.io/RayService", {"serviceStatus": "Running"}, ""),
    ("ray.io/RayService", condition("Ready"), ""),
    ("serving.kserve.io/InferenceService", condition("Ready"), ""),
    ("serving.kserve.io/LLMInferenceService", condition("Ready"), ""),
    ("serving.knative.dev/Route", condition("Ready"), ""),
    ("eventing.knative.dev/Broker", condition("Ready"), ""),
]


@pytest.mark.parametrize(("kind", "status", "reason"), READY_OBJECTS)
def test_object_is_ready_when_its_controller_says_so(kind: str, status: dict[str, Any], reason: str) -> None:
    assert judge(kind, status=status) == Readiness("ready", reason)


FAILED_OBJECTS = [
    ("kubeflow.org/Workspace", {"state": "Error", "stateMessage": "no image"}, "Error: no image"),
    ("kubeflow.org/Experiment", condition("Failed", message="max trials"), "max trials"),
    ("kubeflow.org/Trial", condition("MetricsUnavailable", message="no metrics"), "no metrics"),
    ("kubeflow.org/MPIJob", condition("Failed", reason="BackoffLimitExceeded"), "BackoffLimitExceeded"),
    ("jobset.x-k8s.io/JobSet", condition("Failed", message="a job failed"), "a job failed"),
    ("argoproj.io/Workflow", {"phase": "Error", "message": "no template"}, "Error: no template"),
    (
        "sparkoperator.k8s.io/SparkApplication",
        {"applicationState": {"state": "FAILED", "errorMessage": "driver died"}},
        "FAILED: driver died",
    ),
    ("ray.io/RayJob", {"jobDeploymentStatus": "Complete", "jobStatus": "FAILED", "message": "exit 1"}, "exit 1"),
]


@pytest.mark.parametrize(("kind", "status", "reason"), FAILED_OBJECTS)
def test_waiting_ends_at_once_when_its_controller_has_given_up(kind: str, status: dict[str, Any], reason: str) -> None:
    assert judge(kind, status=status) == Readiness("failed", reason)


@pytest.mark.parametrize(
    ("kind", "status", "reason"),
    [
        ("kubeflow.org/Workspace", {"state": "Pending", "stateMessage": "pulling"}, "Pending: pulling"),
        ("kubeflow.org/Experiment", condition("Running"), "not complete"),
        ("argoproj.io/Workflow", {"phase": "Running"}, "Running"),
        ("sparkoperator.k8s.io/SparkApplication", {"applicationState": {"state": "SUBMISSION_FAILED"}}, "SUBMISSION_FAILED"),
        ("ray.io/RayService", condition("Ready", "False", message="no endpoint"), "no endpoint"),
        ("serving.kserve.io/InferenceService", condition("Ready", "False", reason="PredictorNotReady"), "PredictorNotReady"),
    ],
)
def test_object_is_waited_for_while_its_controller_is_at_work(kind: str, status: dict[str, Any], reason: str) -> None:
    assert judge(kind, status=status) == Readiness("progressing", reason)


@pytest.mark.parametrize(
    ("kind", "spec"),
    [
        ("argoproj.io/Workflow", {"suspend": True}),
        ("sparkoperator.k8s.io/SparkApplication", {"suspend": True}),
        ("kubeflow.org/TFJob", {"runPolicy": {"suspend": True}}),
        ("jobset.x-k8s.io/JobSet", {"suspend": True}),
        ("trainer.kubeflow.org/TrainJob", {"suspend": True}),
    ],
)
def test_work_that_is_suspended_is_not_waited_for(kind: str, spec: dict[str, Any]) -> None:
    assert judge(kind, spec=spec) == Readiness("ready", "suspended")


def test_services_and_notebooks_that_are_stopped_are_not_waited_for() -> None:
    assert judge("serving.kserve.io/InferenceService", annotations={"serving.kserve.io/stop": "true"}).status == "ready"
    assert judge("kubeflow.org/Notebook", annotations={"kubeflow-resource-stopped": "2026"}).status == "ready"
