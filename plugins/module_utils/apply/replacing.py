# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which desired objects take the place of one that goes, so that it goes only when they work."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ansible_collections.kubeflow.platform.plugins.module_utils.apply.probes import pod_template, webhooks_of
from ansible_collections.kubeflow.platform.plugins.module_utils.objects.identity import Identity

_WORKLOADS = ("Deployment", "StatefulSet", "DaemonSet")


def replaced_by(old: Mapping[str, Any], desired: Iterable[tuple[Identity, Mapping[str, Any]]]) -> list[Identity]:
    """Return the desired objects that do what ``old`` (a whole live object) does.

    Services that select the same pods; VirtualServices for the same host and an equal path; webhook configurations whose
    webhooks see the same resources; workloads whose pods the same Service of the desired objects selects.
    """
    rows = [(identity, obj) for identity, obj in desired if obj is not old]
    kind = str(old.get("kind"))
    if kind in _WORKLOADS:
        return _behind_the_same_service(old, rows)
    same = [(identity, obj) for identity, obj in rows if identity.kind == kind]
    place = _place(old)
    if kind == "Service":
        selector = (old.get("spec") or {}).get("selector")
        return [i for i, obj in same if selector and _place(obj) == place and (obj.get("spec") or {}).get("selector") == selector]
    if kind == "VirtualService":
        routes = _routes(old)
        return [identity for identity, obj in same if routes & _routes(obj)]
    if kind.endswith("WebhookConfiguration"):
        seen = _seen(old)
        return [identity for identity, obj in same if seen & _seen(obj)]
    return []


def _behind_the_same_service(old: Mapping[str, Any], rows: list[tuple[Identity, Mapping[str, Any]]]) -> list[Identity]:
    labels, place = _pod_labels(old), _place(old)
    selectors = [
        (obj.get("spec") or {}).get("selector") or {} for identity, obj in rows if identity.kind == "Service" and _place(obj) == place
    ]
    shared = [selector for selector in selectors if selector and selector.items() <= labels.items()]
    return [
        identity
        for identity, obj in rows
        if identity.kind in _WORKLOADS and _place(obj) == place and any(selector.items() <= _pod_labels(obj).items() for selector in shared)
    ]


def _routes(service: Mapping[str, Any]) -> set[tuple[str, str, str]]:
    """Return (gateway, host, path) of every match of a VirtualService, "" for a route without path."""
    spec = service.get("spec") or {}
    paths = {
        str(next(iter((match.get("uri") or {"": ""}).values()), ""))
        for route in spec.get("http") or []
        for match in route.get("match") or [{}]
    }
    return {
        (str(gateway), str(host), path)
        for gateway in spec.get("gateways") or [""]
        for host in spec.get("hosts") or []
        for path in paths or {""}
    }


def _seen(configuration: Mapping[str, Any]) -> set[tuple[str, str]]:
    """Return (group, resource) of every rule of a webhook configuration."""
    return {
        (group, resource)
        for webhook in webhooks_of(configuration)
        for rule in webhook.rules
        for group in rule.groups
        for resource in rule.resources
    }


def _pod_labels(workload: Mapping[str, Any]) -> dict[str, str]:
    return (pod_template(workload).get("metadata") or {}).get("labels") or {}


def _place(obj: Mapping[str, Any]) -> str:
    return str((obj.get("metadata") or {}).get("namespace") or "")
