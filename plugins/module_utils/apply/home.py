# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The namespace of our own in the cluster, in which the ledger, the Lease and the first user's password are."""

from __future__ import annotations

from ansible_collections.kubeflow.platform.plugins.module_utils.apply.model import EngineError
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.patience import Clock, patiently
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.requests import Client, Response

HOME = "kubeflow-platform"
MANAGED_BY = {"app.kubernetes.io/managed-by": "kubeflow.platform"}


def ensure_home(client: Client, clock: Clock, patience: float = 30.0) -> bool:
    """Make the namespace ``kubeflow-platform`` unless it exists; True if it was made. Raises EngineError.

    It is outside the set: neither in the ledger, nor counted as a change, nor ever pruned.
    """
    path = f"/api/v1/namespaces/{HOME}"
    answer = patiently(lambda: client.request("GET", path), clock, patience)
    if answer.ok and (answer.body().get("metadata") or {}).get("deletionTimestamp"):
        raise EngineError(f"Failed to use Namespace {HOME}: it is being deleted. Wait until it is gone, then run again.")
    if answer.ok or answer.status == 403:  # who may not read namespaces may still use this one
        return False
    if answer.status != 404:
        raise EngineError(f"Failed to read Namespace {HOME}: {message(answer)}. Check the API server, then run again.")
    body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": HOME, "labels": MANAGED_BY}}
    answer = patiently(lambda: client.request("POST", "/api/v1/namespaces", body=body), clock, patience)
    if answer.ok or answer.status == 409:
        return answer.ok
    advice = (
        f"Create the namespace {HOME} first, or let this user create namespaces." if answer.status == 403 else "Mend this and run again."
    )
    raise EngineError(f"Failed to create Namespace {HOME}: {message(answer)}. {advice}")


def message(answer: Response) -> str:
    """Return what the server said, in one line."""
    text = " ".join(str(answer.body().get("message") or "").split())
    return text or f"HTTP status {answer.status}"
