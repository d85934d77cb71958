# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a pod says about why it does not run, and whether waiting can help."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, Literal, NamedTuple

Status = Literal["ready", "progressing", "failed"]

# Seconds that a trouble may last before it ends the wait. Pulls fail for a moment while a registry or its Secret comes up;
# Secrets named in the environment may be written by a controller; Kubeflow's pods restart while their databases start;
# a cluster autoscaler needs minutes for a node.
PULL_GRACE = 60.0
CONFIG_GRACE = 60.0
CRASH_GRACE = 300.0
SCHEDULE_GRACE = 300.0

_PULL = frozenset({"ErrImagePull", "ImagePullBackOff", "ErrImageNeverPull", "RegistryUnavailable"})
# Parts of what containerd and registries say when trying again cannot help.
_PULL_HOPELESS = (
    "not found",
    "notfound",
    "manifest unknown",
    "unauthorized",
    "denied",
    "forbidden",
    "authentication required",
    "no basic auth",
)
_LONGEST = 400


class Readiness(NamedTuple):
    """The state of one object, with the reason in words (empty when there is nothing to say)."""

    status: Status
    reason: str = ""


READY = Readiness("ready")


def one_line(text: Any) -> str:
    """Return a message of the cluster in one line of bearable length."""
    line = " ".join(str(text or "").split())
    return line if len(line) <= _LONGEST else line[: _LONGEST - 1] + "…"


def progressing(reason: Any) -> Readiness:
    """Return "not yet", with the reason."""
    return Readiness("progressing", one_line(reason))


def failed(reason: Any) -> Readiness:
    """Return "never, unless somebody changes something", with the reason."""
    return Readiness("failed", one_line(reason))


def timestamp(text: Any) -> float | None:
    """Return seconds since 1970 for a time as Kubernetes writes it, None for anything else."""
    try:
        return datetime.fromisoformat(str(text)).timestamp()
    except ValueError:
        return None


def pod_state(pod: Mapping[str, Any], *, now: float, since: float) -> Readiness:
    """Return the state of a pod. ``since``: when the engine wrote what made it; grace counts from then or from its creation."""
    status = pod.get("status") or {}
    phase = status.get("phase")
    if phase == "Succeeded":
        return READY
    if phase == "Failed":
        return failed(f"pod failed: {status.get('reason') or status.get('message') or 'a container ended with an error'}")
    conditions = {entry.get("type"): entry for entry in status.get("conditions") or []}
    if (conditions.get("Ready") or {}).get("status") == "True":
        return READY
    return pod_trouble(pod, now=now, since=since) or progressing("pod is not ready")


def pod_trouble(pod: Mapping[str, Any], *, now: float, since: float) -> Readiness | None:
    """Return what keeps a pod from running, None when it only takes its time."""
    metadata, status = pod.get("metadata") or {}, pod.get("status") or {}
    if metadata.get("deletionTimestamp"):
        return None
    age = now - max(since, timestamp(metadata.get("creationTimestamp")) or since)
    name = metadata.get("name")
    for container in [*(status.get("initContainerStatuses") or []), *(status.get("containerStatuses") or [])]:
        waiting = (container.get("state") or {}).get("waiting") or {}
        found = _waiting(str(waiting.get("reason") or ""), str(waiting.get("message") or ""), age)
        if found:
            return Readiness(found.status, one_line(f"pod {name}, container {container.get('name')}: {found.reason}"))
    for condition in status.get("conditions") or []:
        if condition.get("type") == "PodScheduled" and condition.get("status") == "False" and condition.get("reason") == "Unschedulable":
            return _after(SCHEDULE_GRACE, age, f"pod {name} cannot be scheduled: {condition.get('message')}")
    return None


def worst_trouble(pods: Iterable[Mapping[str, Any]], *, now: float, since: float) -> Readiness | None:
    """Return the trouble of one of several pods: a terminal one if there is one, else the first."""
    troubles = [trouble for pod in pods if (trouble := pod_trouble(pod, now=now, since=since))]
    return next((trouble for trouble in troubles if trouble.status == "failed"), troubles[0] if troubles else None)


def _waiting(reason: str, message: str, age: float) -> Readiness | None:
    text = f"{reason}: {message}" if message else reason
    if reason == "InvalidImageName":
        return failed(text)
    if reason in ("CreateContainerConfigError", "CreateContainerError"):
        return _after(CONFIG_GRACE, age, text)
    if reason in _PULL:
        hopeless = any(words in message.lower() for words in _PULL_HOPELESS)
        return _after(PULL_GRACE, age, text) if hopeless else progressing(text)
    if reason == "CrashLoopBackOff":
        return _after(CRASH_GRACE, age, text)
    return None


def _after(grace: float, age: float, text: str) -> Readiness:
    return failed(f"{text} (for over {grace:.0f} s)") if age > grace else progressing(text)
