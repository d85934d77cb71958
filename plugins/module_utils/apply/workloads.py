# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""When workloads are ready, and why they are not."""

from __future__ import annotations

from ansible_collections.kubeflow.platform.plugins.module_utils.apply.case import Case, count
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.pods import (
    READY,
    Readiness,
    failed,
    pod_state,
    progressing,
    worst_trouble,
)
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.selectors import selector_matches


def deployment(case: Case) -> Readiness:
    """Return the state of a Deployment: every replica new and available, and no old one left."""
    if case.spec.get("paused"):
        return Readiness("ready", "paused")
    if case.unobserved:
        return progressing("its controller has not seen the last change")
    wanted = count(case.spec, "replicas", 1)
    updated, available = count(case.status, "updatedReplicas"), count(case.status, "availableReplicas")
    if updated >= wanted and count(case.status, "replicas") <= updated and available >= wanted:
        return READY
    refused = _replica_failure(case)
    if refused:
        return refused
    progress = case.condition("Progressing")
    if progress.get("reason") == "ProgressDeadlineExceeded":
        trouble = _pod_trouble(case)
        return failed(f"{progress.get('message') or 'deadline exceeded'}" + (f"; {trouble.reason}" if trouble else ""))
    return _pod_trouble(case) or progressing(f"{min(updated, available)} of {wanted} replicas updated and available")


def replica_set(case: Case) -> Readiness:
    """Return the state of a ReplicaSet."""
    if case.unobserved:
        return progressing("its controller has not seen the last change")
    wanted, available = count(case.spec, "replicas", 1), count(case.status, "availableReplicas")
    if available >= wanted:
        return READY
    return _replica_failure(case) or _pod_trouble(case) or progressing(f"{available} of {wanted} replicas available")


def stateful_set(case: Case) -> Readiness:
    """Return the state of a StatefulSet; its partition counts, and OnDelete needs no new revision."""
    if case.unobserved:
        return progressing("its controller has not seen the last change")
    strategy = case.spec.get("updateStrategy") or {}
    wanted, ready = count(case.spec, "replicas", 1), count(case.status, "readyReplicas")
    updated = count(case.status, "updatedReplicas")
    if ready < wanted:
        return _replica_failure(case) or _pod_trouble(case) or progressing(f"{ready} of {wanted} replicas ready")
    if strategy.get("type") == "OnDelete" or wanted == 0:
        return READY
    partition = count(strategy.get("rollingUpdate") or {}, "partition")
    same_revision = case.status.get("currentRevision") == case.status.get("updateRevision")
    if not same_revision and updated < wanted - partition:
        return _pod_trouble(case) or progressing(f"{updated} of {wanted - partition} replicas updated")
    if not same_revision and not partition:
        return progressing("the new revision is being completed")
    return READY


def daemon_set(case: Case) -> Readiness:
    """Return the state of a DaemonSet."""
    if case.unobserved:
        return progressing("its controller has not seen the last change")
    wanted = count(case.status, "desiredNumberScheduled")
    available, updated = count(case.status, "numberAvailable"), count(case.status, "updatedNumberScheduled")
    if (case.spec.get("updateStrategy") or {}).get("type") == "OnDelete":
        updated = wanted
    if min(available, updated) >= wanted:
        return READY
    return _pod_trouble(case) or progressing(f"{min(available, updated)} of {wanted} pods updated and available")


def pod(case: Case) -> Readiness:
    """Return the state of a Pod."""
    return pod_state(case.obj, now=case.now, since=case.since)


def job(case: Case) -> Readiness:
    """Return the state of a Job: it must complete."""
    if case.holds("Complete"):
        return READY
    if case.holds("Failed"):
        return failed(f"job failed: {case.condition('Failed').get('message') or case.condition('Failed').get('reason')}")
    if case.spec.get("suspend"):
        return Readiness("ready", "suspended")
    return _pod_trouble(case) or progressing("job is not complete")


def _replica_failure(case: Case) -> Readiness | None:
    """Return why no pods are made: at once, and for good when a quota is used up."""
    condition = case.condition("ReplicaFailure")
    if condition.get("status") != "True":
        return None
    reason = f"{condition.get('reason') or 'ReplicaFailure'}: {condition.get('message')}"
    return failed(reason) if "exceeded quota" in reason else progressing(reason)


def _pod_trouble(case: Case) -> Readiness | None:
    selector = case.spec.get("selector")
    if not selector:
        return None
    pods = case.context.pods.get(str(case.metadata.get("namespace")), ())
    mine = [pod for pod in pods if selector_matches(selector, (pod.get("metadata") or {}).get("labels") or {})]
    return worst_trouble(mine, now=case.now, since=case.since)
