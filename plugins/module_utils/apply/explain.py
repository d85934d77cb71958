# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Why does a webhook not answer? Its configuration, Service, endpoints and CA, and what hangs on it, in one sentence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ansible_collections.kubeflow.platform.plugins.module_utils.apply import probes
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.requests import Client, Unreachable

PLURALS = {
    "MutatingWebhookConfiguration": "mutatingwebhookconfigurations",
    "ValidatingWebhookConfiguration": "validatingwebhookconfigurations",
}
MOST_NAMED = 5


def explain(client: Client, hook: probes.Webhook, reason: str, parked: Sequence[str]) -> str:
    """Look at everything between the API server and the webhook; reads only, and never fails itself."""
    try:
        state = "; ".join([_authority(client, hook), *_service(client, hook)])
    except Unreachable as error:
        state = f"the API server cannot be asked about it ({error})"
    behind = ""
    if parked:
        more = f" and {len(parked) - MOST_NAMED} more" if len(parked) > MOST_NAMED else ""
        behind = f" Waiting behind it: {', '.join(parked[:MOST_NAMED])}{more}."
    what = f"Webhook {hook.name} of {hook.configuration_kind} {hook.configuration}"
    return f"{what} does not answer: {reason or 'no answer yet'} ({state}).{behind}"


def _authority(client: Client, hook: probes.Webhook) -> str:
    plural = PLURALS.get(hook.configuration_kind)
    if plural is None:
        return "a conversion webhook"
    answer = client.get(f"/apis/admissionregistration.k8s.io/v1/{plural}/{hook.configuration}")
    if not answer.ok:
        return "the configuration is not live"
    for row in answer.json().get("webhooks") or []:
        if row.get("name") == hook.name:
            return "caBundle is set" if (row.get("clientConfig") or {}).get("caBundle") else "caBundle is empty"
    return "the live configuration has no such webhook"


def _service(client: Client, hook: probes.Webhook) -> list[str]:
    if hook.service is None:
        return ["it is reached at a URL"]
    where = f"Service {hook.service.namespace}/{hook.service.name}"
    if not client.get(f"/api/v1/namespaces/{hook.service.namespace}/services/{hook.service.name}").ok:
        return [f"{where} does not exist"]
    slices = client.list_objects(
        f"/apis/discovery.k8s.io/v1/namespaces/{hook.service.namespace}/endpointslices",
        selector=f"kubernetes.io/service-name={hook.service.name}",
    )
    endpoints: list[dict[str, Any]] = [row for piece in slices for row in piece.get("endpoints") or []]
    ready = sum(bool((row.get("conditions") or {}).get("ready")) for row in endpoints)
    return [f"{where} has {ready} of {len(endpoints)} endpoints ready"]
