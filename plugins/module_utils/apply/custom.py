# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""When objects of kinds that have a controller of their own are ready: what users run on the platform, and what that runs on.

Three ways of telling cover nearly all of them: a condition that turns true, conditions that end the work, a word in the status.
Work that runs to its end is ready when it has ended well, as a Job is. Sources: the API types of each project.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ansible_collections.kubeflow.platform.plugins.module_utils.apply.case import Case, count
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.pods import READY, Readiness, failed, progressing

UNSEEN = "its controller has not reported yet"
Predicate = Callable[[Case], Readiness]


def _at(content: Mapping[str, Any], path: str) -> Any:
    """The value below a dotted path, None where there is none."""
    value: Any = content
    for key in path.split("."):
        value = value.get(key) if isinstance(value, Mapping) else None
    return value


def conditioned(case: Case, kind: str = "Ready") -> Readiness:
    """Return the state of a kind whose controller reports a condition: without status it has not been seen."""
    found = case.condition(kind)
    observed = found.get("observedGeneration", case.status.get("observedGeneration"))
    if isinstance(observed, int) and observed < int(case.metadata.get("generation") or 0):
        return progressing("its controller has not seen the last change")
    if found.get("status") == "True":
        return READY
    if not found:
        return progressing(UNSEEN)
    return progressing(found.get("message") or found.get("reason") or f"not {kind.lower()}")


@dataclass(frozen=True, slots=True)
class Ends:
    """Work that conditions say to have ended. ``suspended``: where the spec says that it is not to run."""

    done: str
    suspended: str = "spec.suspend"
    failures: tuple[str, ...] = ("Failed",)

    def __call__(self, case: Case) -> Readiness:
        """Return the state of one object."""
        if case.holds(self.done):
            return READY
        for kind in self.failures:
            if case.holds(kind):
                found = case.condition(kind)
                return failed(found.get("message") or found.get("reason") or "failed")
        if _at(case.obj, self.suspended) is True:
            return Readiness("ready", "suspended")
        return progressing("not complete" if case.status else UNSEEN)


@dataclass(frozen=True, slots=True)
class Word:
    """A word of the status says it all. ``good``: words to be glad of, with what to add; ``message``: where the reason stands."""

    path: str
    good: Mapping[str, str]
    bad: frozenset[str] = field(default_factory=frozenset)
    message: str = "status.message"
    resting: str = ""

    def __call__(self, case: Case) -> Readiness:
        """Return the state of one object."""
        word = str(_at(case.obj, self.path) or "")
        text = str(_at(case.obj, self.message) or "")
        if word in self.good:
            return Readiness("ready", self.good[word])
        if word in self.bad:
            return failed(f"{word}: {text}" if text else word)
        if self.resting and _at(case.obj, self.resting) is True:
            return Readiness("ready", "suspended")
        if not word:
            return progressing(UNSEEN)
        return progressing(f"{word}: {text}" if text else word)


def _inference_service(case: Case) -> Readiness:
    if (case.metadata.get("annotations") or {}).get("serving.kserve.io/stop") == "true":
        return Readiness("ready", "stopped")
    return conditioned(case)


def _notebook(case: Case) -> Readiness:
    if "kubeflow-resource-stopped" in (case.metadata.get("annotations") or {}):
        return Readiness("ready", "stopped")
    return _one_pod(case)


def _one_pod(case: Case) -> Readiness:
    if count(case.status, "readyReplicas") >= 1:
        return READY
    return progressing("its pod is not ready" if case.status else UNSEEN)


def _viewer(case: Case) -> Readiness:
    return READY if case.status.get("ready") is True else progressing("its pod is not ready" if case.status else UNSEEN)


def _ray_service(case: Case) -> Readiness:
    """KubeRay reports the condition since 1.3, before that (and beside it) a word."""
    if case.condition("Ready"):
        return conditioned(case)
    return _RAY_SERVICE(case)


def _ray_job(case: Case) -> Readiness:
    """Older versions call a failed job's deployment complete too."""
    if case.status.get("jobStatus") == "FAILED":
        return failed(case.status.get("message") or "failed")
    return _RAY_JOB(case)


_TRAINING = Ends("Succeeded", "spec.runPolicy.suspend")
_RAY_SERVICE = Word("status.serviceStatus", {"Running": ""})
_RAY_JOB = Word("status.jobDeploymentStatus", {"Complete": "", "Suspended": "suspended"}, frozenset({"Failed"}))
_READY_KINDS = {
    "cert-manager.io": ("Certificate", "CertificateRequest", "Issuer", "ClusterIssuer"),
    "serving.knative.dev": ("Service", "Configuration", "Revision", "Route", "DomainMapping"),
    "eventing.knative.dev": ("Broker", "Trigger"),
    "messaging.knative.dev": ("Channel", "InMemoryChannel", "Subscription"),
    "sources.knative.dev": ("ApiServerSource", "ContainerSource", "PingSource", "SinkBinding"),
    "serving.kserve.io": ("InferenceGraph", "LLMInferenceService", "TrainedModel"),
}

PREDICATES: dict[tuple[str, str], Predicate] = {
    **{(group, kind): conditioned for group, kinds in _READY_KINDS.items() for kind in kinds},
    ("serving.kserve.io", "InferenceService"): _inference_service,
    ("kubeflow.org", "Notebook"): _notebook,
    ("kubeflow.org", "PVCViewer"): _viewer,
    ("tensorboard.kubeflow.org", "Tensorboard"): _one_pod,
    ("kubeflow.org", "Workspace"): Word(
        "status.state", {"Running": "", "Paused": "paused"}, frozenset({"Error"}), message="status.stateMessage"
    ),
    ("trainer.kubeflow.org", "TrainJob"): Ends("Complete"),
    ("jobset.x-k8s.io", "JobSet"): Ends("Completed"),
    ("kubeflow.org", "Experiment"): Ends("Succeeded"),
    ("kubeflow.org", "Trial"): Ends("Succeeded", failures=("Failed", "Killed", "MetricsUnavailable")),
    **{("kubeflow.org", f"{name}Job"): _TRAINING for name in ("JAX", "MPI", "Paddle", "PyTorch", "TF", "XGBoost")},
    ("argoproj.io", "Workflow"): Word("status.phase", {"Succeeded": ""}, frozenset({"Failed", "Error"}), resting="spec.suspend"),
    ("sparkoperator.k8s.io", "SparkApplication"): Word(
        "status.applicationState.state",
        {"COMPLETED": ""},
        frozenset({"FAILED"}),
        message="status.applicationState.errorMessage",
        resting="spec.suspend",
    ),
    ("ray.io", "RayCluster"): Word("status.state", {"ready": "", "suspended": "suspended"}, message="status.reason"),
    ("ray.io", "RayJob"): _ray_job,
    ("ray.io", "RayService"): _ray_service,
}
