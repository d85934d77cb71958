# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The Pod Security Standard `restricted`, as far as pods of the platform can break it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

VOLUMES = {"configMap", "csi", "downwardAPI", "emptyDir", "ephemeral", "persistentVolumeClaim", "projected", "secret"}
Pod = Mapping[str, Any]


def breaches(pod: Pod) -> Iterator[str]:
    """What of a pod's spec the standard forbids."""
    yield from (name for name in ("hostNetwork", "hostPID", "hostIPC") if pod.get(name))
    for volume in pod.get("volumes") or []:
        if not set(volume) - {"name"} <= VOLUMES:
            yield f"volume {volume['name']}"
    for container in [*(pod.get("containers") or []), *(pod.get("initContainers") or [])]:
        yield from (f"{container['name']}: {what}" for what in _of_container(container, pod.get("securityContext") or {}))


def _of_container(container: Pod, of_pod: Pod) -> Iterator[str]:
    own = container.get("securityContext") or {}
    both = {**of_pod, **own}
    capabilities = own.get("capabilities") or {}
    if own.get("privileged"):
        yield "privileged"
    if own.get("allowPrivilegeEscalation") is not False:
        yield "allowPrivilegeEscalation"
    if "ALL" not in (capabilities.get("drop") or []) or set(capabilities.get("add") or []) - {"NET_BIND_SERVICE"}:
        yield "capabilities"
    if not both.get("runAsNonRoot") or both.get("runAsUser") == 0:
        yield "runAsNonRoot"
    if (both.get("seccompProfile") or {}).get("type") not in ("RuntimeDefault", "Localhost"):
        yield "seccompProfile"
