# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Words for tenants that did not get ready, or did not go, in time: who did not act, and how that controller is."""

from __future__ import annotations

from collections.abc import Mapping

from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.errors import ClusterError
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.requests import Client
from ansible_collections.kubeflow.platform.plugins.module_utils.tenancy import platform as platforms
from ansible_collections.kubeflow.platform.plugins.module_utils.tenancy import readiness, removal
from ansible_collections.kubeflow.platform.plugins.module_utils.tenancy.live import Live
from ansible_collections.kubeflow.platform.plugins.module_utils.tenancy.model import Tenant


def explain(
    client: Client, waiting: Mapping[str, Tenant], lives: Mapping[str, Live], platform: platforms.Platform, seconds: float
) -> dict[str, str]:
    """Return for each tenant that was waited for in vain what is owed, and by whom."""
    workloads = {key: _workload(client, words[1]) for key, words in readiness.CONTROLLERS.items()}
    found = {}
    for name, tenant in waiting.items():
        if tenant.absent:
            held = removal.holding(lives[name])
            found[name] = f"Profile {name} is not gone after {seconds:.0f} s: {held}. Run again once it acts."
        else:
            found[name] = readiness.explain(name, readiness.missing(lives[name], platform), workloads, seconds)
    return found


def _workload(client: Client, name: str) -> str:
    """Return words for a controller's Deployment."""
    words = f"Deployment {platforms.HOME}/{name}"
    try:
        response = client.get(platforms.DEPLOYMENTS.path(platforms.HOME, name))
    except ClusterError as error:
        return f"{words} cannot be read: {error}"
    if not response.ok:
        return f"there is no {words}" if response.status == 404 else words
    body = response.body()
    wanted, there = (body.get("spec") or {}).get("replicas", 1), (body.get("status") or {}).get("availableReplicas", 0)
    return f"{words} has {there} of {wanted} replicas available"
