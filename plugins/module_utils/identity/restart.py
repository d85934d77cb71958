# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Restarts a Deployment, and waits until all its pods are new ones that serve."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.kubeflow.platform.plugins.module_utils.apply import workloads
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.case import Case, ReadinessContext
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.selectors import selector_matches
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.errors import Refused
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.patience import Clock, insist
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.requests import Client

ANNOTATION = "kubeflow.platform/restarted-at"
_PAUSE = 1.0
_ENDED = ("Succeeded", "Failed")
# Dex ends once at its very first start and then works, so one crash is no sign; three are.
_CRASHES = 3


class NotUp(Exception):
    """The Deployment did not come up; the text says why."""


def roll(client: Client, path: str, stamp: str, clock: Clock, *, dry_run: bool = False) -> None:
    """Have all pods of a Deployment replaced, as ``kubectl rollout restart`` does."""
    body = {"spec": {"template": {"metadata": {"annotations": {ANNOTATION: stamp}}}}}
    insist(f"restart {path.rsplit('/', 1)[-1]}", lambda: client.merge_patch(path, body, dry_run), clock)


def wait(client: Client, path: str, timeout: float, clock: Clock) -> None:
    """Wait until all pods are those of the last restart and ready, and none of before is left. Raise NotUp with the reason."""
    begun, deadline = clock.time(), clock.monotonic() + timeout
    while True:
        deployment = read(client, path)
        stamp = _stamp(deployment["spec"]["template"])
        pods = [pod for pod in pods_of(client, path, deployment) if (pod.get("status") or {}).get("phase") not in _ENDED]
        namespace = str(deployment["metadata"]["namespace"])
        case = Case(deployment, clock.time(), begun, ReadinessContext(pods={namespace: pods}))
        state = workloads.deployment(case)
        leaving = [pod for pod in pods if _stamp(pod) != stamp]
        if state.status == "ready" and not leaving:
            return
        crash = next((text for pod in pods if _stamp(pod) == stamp and (text := _crashes(pod))), "")
        reason = crash or state.reason or f"{len(leaving)} pods of before are still there"
        if state.status == "failed" or crash:
            raise NotUp(reason)
        if clock.monotonic() >= deadline:
            raise NotUp(f"{reason} after {timeout:.0f} s")
        clock.sleep(_PAUSE)


def pods_of(client: Client, path: str, deployment: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the pods of a Deployment."""
    selector = deployment["spec"].get("selector") or {}
    labels = ",".join(f"{name}={value}" for name, value in sorted((selector.get("matchLabels") or {}).items()))
    namespace = path.split("/namespaces/")[1].split("/")[0]
    rows = client.list_objects(f"/api/v1/namespaces/{namespace}/pods", selector=labels)
    return [row for row in rows if selector_matches(selector, (row.get("metadata") or {}).get("labels") or {})]


def ready_pods(pods: list[dict[str, Any]]) -> list[str]:
    """Return the names of pods that serve and are to stay."""
    return [
        str(pod["metadata"]["name"])
        for pod in pods
        if not pod["metadata"].get("deletionTimestamp")
        and any(row.get("type") == "Ready" and row.get("status") == "True" for row in (pod.get("status") or {}).get("conditions") or [])
    ]


def read(client: Client, path: str) -> dict[str, Any]:
    """Return an object. Raise Refused where it cannot be read."""
    response = client.get(path)
    if not response.ok:
        raise Refused(f"GET {path}", response)
    return response.body()


def _stamp(pod: Mapping[str, Any]) -> str:
    return str(((pod.get("metadata") or {}).get("annotations") or {}).get(ANNOTATION) or "")


def _crashes(pod: Mapping[str, Any]) -> str:
    for row in (pod.get("status") or {}).get("containerStatuses") or []:
        waiting = (row.get("state") or {}).get("waiting") or {}
        if waiting.get("reason") == "CrashLoopBackOff" and int(row.get("restartCount") or 0) >= _CRASHES:
            return f"pod {pod['metadata']['name']} has ended {row['restartCount']} times right after its start"
    return ""
