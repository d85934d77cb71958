# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The form in which objects are sent and compared. Nothing here changes its argument: unchanged subtrees are shared."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from collections.abc import Callable, Mapping
from typing import Any

from ansible_collections.kubeflow.platform.plugins.module_utils.objects.identity import split_api_version

LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
SERVER_METADATA = ("creationTimestamp", "generation", "managedFields", "resourceVersion", "selfLink", "uid")
NOISE_METADATA = (*SERVER_METADATA, "deletionTimestamp")
_ADMISSION_KINDS = ("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration")
# Where the built-in kinds keep pod templates, as paths to the object that holds `metadata` and `spec`.
_POD_TEMPLATES: dict[tuple[str, str], tuple[str, ...]] = {
    ("", "Pod"): (),
    ("", "PodTemplate"): ("template",),
    ("", "ReplicationController"): ("spec", "template"),
    ("apps", "DaemonSet"): ("spec", "template"),
    ("apps", "Deployment"): ("spec", "template"),
    ("apps", "ReplicaSet"): ("spec", "template"),
    ("apps", "StatefulSet"): ("spec", "template"),
    ("batch", "Job"): ("spec", "template"),
    ("batch", "CronJob"): ("spec", "jobTemplate", "spec", "template"),
}


def canonical(obj: Any) -> bytes:
    """Return the canonical JSON of ``obj``: equal values give equal bytes whatever the order of their keys."""
    return json.dumps(obj, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode("utf-8", "surrogatepass")


def digest(obj: Any) -> str:
    """Return the hexadecimal sha256 of the canonical JSON of ``obj``."""
    return hashlib.sha256(canonical(obj)).hexdigest()


def desired(obj: dict[str, Any], namespaced: bool) -> dict[str, Any]:
    """Return the object as it is sent: what the server would drop, refuse or move is dropped or moved here already.

    Idempotent. Dropped: status, metadata that the server owns, a namespace on a cluster-scoped object, ``rules`` of an
    aggregated ClusterRole (a controller fills them; sending ``rules: []`` empties permissions for a moment), and a
    ``caBundle`` that is no PEM (a placeholder that would blank the injected one). Moved: ``stringData`` into ``data``,
    since the ownership of ``stringData`` hides later edits of ``data``. Added: ``protocol: TCP`` where ports are keyed by it.
    """
    group, _version = split_api_version(str(obj.get("apiVersion") or ""))
    kind = str(obj.get("kind") or "")
    result = {key: value for key, value in obj.items() if key != "status"}
    if isinstance(result.get("metadata"), dict):
        result["metadata"] = _desired_metadata(result["metadata"], namespaced)
    if (group, kind) in _POD_TEMPLATES:
        result = _with_pod_template(result, _POD_TEMPLATES[group, kind])
    if (group, kind) == ("apps", "StatefulSet"):
        result = _at(result, ("spec", "volumeClaimTemplates"), _claim_templates)
    elif (group, kind) == ("batch", "CronJob"):
        result = _at(result, ("spec", "jobTemplate"), _without_null_timestamp)
    elif (group, kind) == ("", "Service"):
        result = _at(result, ("spec", "ports"), lambda ports: _with_protocol(ports, "port"))
    elif (group, kind) == ("", "Secret"):
        result = _without_empty_data(_encoded(result))
    elif (group, kind) == ("", "ConfigMap"):
        result = _without_empty_data(result)
    elif (group, kind) == ("rbac.authorization.k8s.io", "ClusterRole") and result.get("aggregationRule") is not None:
        result.pop("rules", None)
    elif group == "admissionregistration.k8s.io" and kind in _ADMISSION_KINDS:
        result = _at(result, ("webhooks",), _webhooks)
    elif (group, kind) == ("apiextensions.k8s.io", "CustomResourceDefinition"):
        result = _at(result, ("spec", "conversion", "webhook", "clientConfig"), _with_real_bundle)
    elif (group, kind) == ("apiregistration.k8s.io", "APIService"):
        result = _at(result, ("spec",), _with_real_bundle)
    return result


def comparable(live: dict[str, Any]) -> dict[str, Any]:
    """Return ``live`` without what moves by itself: status and bookkeeping metadata. Empty maps and lists stay.

    Both sides of a comparison come from the same server, so nothing has to be smoothed over; and smoothing is dangerous:
    an AuthorizationPolicy with ``rules: [{}]`` allows everything, with ``rules: []`` nothing.
    """
    result = {key: value for key, value in live.items() if key != "status"}
    if isinstance(result.get("metadata"), dict):
        result["metadata"] = {key: value for key, value in result["metadata"].items() if key not in NOISE_METADATA}
    return result


def with_label(obj: dict[str, Any], key: str, value: str) -> dict[str, Any]:
    """Return ``obj`` with one label more in its own metadata (never in templates or selectors)."""
    metadata = dict(obj.get("metadata") or {})
    metadata["labels"] = {**(metadata.get("labels") or {}), key: value}
    return {**obj, "metadata": metadata}


def _without_empty_data(obj: dict[str, Any]) -> dict[str, Any]:
    """Return a Secret or ConfigMap without empty maps of data: who fills it later would take over what was sent empty."""
    return {key: value for key, value in obj.items() if key not in ("data", "binaryData", "stringData") or value}


def _at(value: Any, path: tuple[str, ...], change: Callable[[Any], Any]) -> Any:
    """Return ``value`` with ``change`` applied at ``path``, or ``value`` itself where the path does not exist."""
    if not path:
        return change(value)
    if not isinstance(value, dict) or value.get(path[0]) is None:
        return value
    return {**value, path[0]: _at(value[path[0]], path[1:], change)}


def _desired_metadata(metadata: dict[str, Any], namespaced: bool) -> dict[str, Any]:
    result = {key: value for key, value in metadata.items() if key not in SERVER_METADATA}
    if not namespaced:
        result.pop("namespace", None)
    annotations = result.get("annotations")
    if isinstance(annotations, dict) and LAST_APPLIED in annotations:
        kept = {key: value for key, value in annotations.items() if key != LAST_APPLIED}
        if kept:
            result["annotations"] = kept
        else:
            del result["annotations"]
    return result


def _without_null_timestamp(template: Any) -> Any:
    """Drop ``creationTimestamp: null``, which generators write into templates and the server never stores."""
    metadata = template.get("metadata") if isinstance(template, dict) else None
    if not isinstance(metadata, dict) or metadata.get("creationTimestamp", "") is not None:
        return template
    return {**template, "metadata": {key: value for key, value in metadata.items() if key != "creationTimestamp"}}


def _claim_templates(claims: Any) -> Any:
    return [_without_null_timestamp(claim) for claim in claims] if isinstance(claims, list) else claims


def _with_pod_template(obj: dict[str, Any], path: tuple[str, ...]) -> dict[str, Any]:
    result = _at(obj, path, _without_null_timestamp) if path else obj
    for field in ("containers", "initContainers", "ephemeralContainers"):
        result = _at(result, (*path, "spec", field), _containers)
    typed: dict[str, Any] = result
    return typed


def _containers(containers: Any) -> Any:
    if not isinstance(containers, list):
        return containers
    return [_at(item, ("ports",), lambda ports: _with_protocol(ports, "containerPort")) for item in containers]


def _with_protocol(ports: Any, key: str) -> Any:
    """Add TCP where a port names none: ``protocol`` is part of the key by which the server merges these lists."""
    if not isinstance(ports, list):
        return ports
    return [
        {**port, "protocol": "TCP"} if isinstance(port, dict) and key in port and port.get("protocol") is None else port for port in ports
    ]


def _encoded(secret: dict[str, Any]) -> dict[str, Any]:
    """Move ``stringData`` into ``data``, as the server does; ill-typed values stay, so that the server names them."""
    text = secret.get("stringData")
    if "stringData" not in secret or not (text is None or isinstance(text, dict)):
        return secret
    values = text or {}
    data = secret.get("data")
    if not all(isinstance(value, str) for value in values.values()) or not (data is None or isinstance(data, dict)):
        return secret
    result = {key: value for key, value in secret.items() if key != "stringData"}
    if values:
        result["data"] = {**(data or {}), **{key: _base64(value) for key, value in values.items()}}
    return result


def _base64(text: str) -> str:
    return base64.b64encode(text.encode("utf-8", "surrogatepass")).decode("ascii")


def _webhooks(webhooks: Any) -> Any:
    if not isinstance(webhooks, list):
        return webhooks
    return [_at(webhook, ("clientConfig",), _with_real_bundle) for webhook in webhooks]


def _with_real_bundle(config: Any) -> Any:
    if not isinstance(config, Mapping) or "caBundle" not in config or _is_pem(config["caBundle"]):
        return config
    return {key: value for key, value in config.items() if key != "caBundle"}


def _is_pem(bundle: Any) -> bool:
    if not isinstance(bundle, str):
        return False
    try:
        return b"-----BEGIN CERTIFICATE-----" in base64.b64decode("".join(bundle.split()), validate=True)
    except (binascii.Error, ValueError):
        return False
