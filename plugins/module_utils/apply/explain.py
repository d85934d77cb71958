# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Why does a webhook not answer? Its configuration, Service, endpoints and CA, and what hangs on it, in one sentence."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ansible_collections.kubeflow.platform.plugins.module_utils.apply import probes
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.errors import Refused
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.requests import Client, Unreachable

PLURALS = {
    "MutatingWebhookConfiguration": "mutatingwebhookconfigurations",
    "ValidatingWebhookConfiguration": "validatingwebhookconfigurations",
}
MOST_NAMED = 5


def explain(client: Client, hook: probes.Webhook, reason: str, parked: Sequence[str]) -> str:
    """Look at everything between the API server and the webhook; reads only, and never fails itself."""
    state = "; ".join(_told(what, look, client, hook) for what, look in (("the configuration", _authority), ("its Service", _service)))
    behind = ""
    if parked:
        more = f" and {len(parked) - MOST_NAMED} more" if len(parked) > MOST_NAMED else ""
        behind = f" Waiting behind it: {', '.join(parked[:MOST_NAMED])}{more}."
    what = f"Webhook {hook.name} of {hook.configuration_kind} {hook.configuration}"
    return f"{what} does not answer: {reason or 'no answer yet'} ({state}).{behind}"


def _told(what: str, look: Callable[[Client, probes.Webhook], str], client: Client, hook: probes.Webhook) -> str:
    try:
        return look(client, hook)
    except Refused as error:
        return f"{what} cannot be read: {error.failure.reason}"
    except Unreachable as error:
        return f"{what} cannot be read: {error.reason}"


def _authority(client: Client, hook: probes.Webhook) -> str:
    plural = PLURALS.get(hook.configuration_kind)
    if plural is None:
        return "a conversion webhook"
    live = _read(client, f"/apis/admissionregistration.k8s.io/v1/{plural}/{hook.configuration}")
    if live is None:
        return "the configuration is not live"
    for row in live.get("webhooks") or []:
        if row.get("name") == hook.name:
            return "caBundle is set" if (row.get("clientConfig") or {}).get("caBundle") else "caBundle is empty"
    return "the live configuration has no such webhook"


def missing(client: Client, hook: probes.Webhook) -> str:
    """What is not there at all, so that no patience helps; "" where somebody may answer one day, or where it cannot be told."""
    try:
        return _look(client, hook)[1]
    except (Refused, Unreachable):
        return ""


def _service(client: Client, hook: probes.Webhook) -> str:
    return _look(client, hook)[0]


def _look(client: Client, hook: probes.Webhook) -> tuple[str, str]:
    """The state of a webhook's Service in words, and what of it is missing."""
    if hook.service is None:
        return "it is reached at a URL", ""
    where = f"Service {hook.service.namespace}/{hook.service.name}"
    if _read(client, f"/api/v1/namespaces/{hook.service.namespace}/services/{hook.service.name}") is None:
        return f"{where} does not exist", f"{where} does not exist"
    slices = client.list_objects(
        f"/apis/discovery.k8s.io/v1/namespaces/{hook.service.namespace}/endpointslices",
        selector=f"kubernetes.io/service-name={hook.service.name}",
    )
    endpoints: list[dict[str, Any]] = [row for piece in slices for row in piece.get("endpoints") or []]
    ready = sum(bool((row.get("conditions") or {}).get("ready")) for row in endpoints)
    return f"{where} has {ready} of {len(endpoints)} endpoints ready", "" if endpoints else f"{where} has no pods behind it"


def _read(client: Client, path: str) -> dict[str, Any] | None:
    """One object, None where it does not exist. Raises Refused and Unreachable."""
    answer = client.get(path)
    if not answer.ok and answer.status != 404:
        raise Refused(f"GET {path}", answer)
    return answer.body() if answer.ok else None
