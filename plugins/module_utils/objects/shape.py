# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Is an object built as its kind is, as far as this collection reads it? Everything else is the API server's to judge.

A shape is a dict (a mapping with these fields and any others), a list of one shape, ``Each`` (a mapping of names to a shape),
``Needed`` (must be there), ``Text`` (of a certain form), or str, bool or int. null is as good as absent, as it is to the server,
but not as an item of a list.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ansible_collections.kubeflow.platform.plugins.module_utils.objects.identity import split_api_version


@dataclass(frozen=True, slots=True)
class Each:
    """A mapping whose every value has a shape; None: values are not looked at."""

    shape: Any = None


@dataclass(frozen=True, slots=True)
class Needed:
    """What must be there: not absent, not null, not empty."""

    shape: Any


@dataclass(frozen=True, slots=True)
class Text:
    """A text that matches a pattern; ``words`` say what that is."""

    pattern: re.Pattern[str]
    words: str


# What becomes a step of a path in requests (apimachinery pkg/api/validation/path, pkg/util/validation).
_NAME = Text(re.compile(r"(?!\.{1,2}\Z)[^/%\x00-\x1f\x7f\ud800-\udfff]+"), "a name without / and %, other than . and ..")
_NAMESPACE = Text(re.compile(r"(?:[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)?"), "up to 63 lower-case letters, digits and hyphens")
_STEP = Text(re.compile(r"[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?"), "lower-case letters, digits, hyphens and dots")
_METADATA = {"name": _NAME, "namespace": _NAMESPACE, "labels": Each(), "annotations": Each(), "finalizers": [str], "ownerReferences": [{}]}
_SELECTOR = {"matchLabels": Each(), "matchExpressions": [{"key": str, "operator": str, "values": [str]}]}
_NAMED = {"name": str}
_CONTAINER = {
    "name": str,
    "env": [{"name": str, "valueFrom": {"configMapKeyRef": _NAMED, "secretKeyRef": _NAMED}}],
    "envFrom": [{"configMapRef": _NAMED, "secretRef": _NAMED}],
    "ports": [{}],
}
_VOLUME = {
    "name": str,
    "configMap": _NAMED,
    "secret": {"secretName": str},
    "persistentVolumeClaim": {"claimName": str},
    "projected": {"sources": [{}]},
}
_POD = {"serviceAccountName": str, "volumes": [_VOLUME], "containers": [_CONTAINER], "initContainers": [_CONTAINER]}
_TEMPLATE = {"metadata": {"labels": Each(), "annotations": Each()}, "spec": _POD}
_WORKLOAD = {"spec": {"selector": {}, "template": _TEMPLATE}}
_SERVICE = {"namespace": str, "name": str, "path": str, "port": int}
_CLIENT = {"url": str, "service": _SERVICE, "caBundle": str}
_RULE = {"apiGroups": [str], "apiVersions": [str], "resources": [str], "operations": [str], "scope": str}
_WEBHOOKS = {
    "webhooks": [
        {
            "name": str,
            "failurePolicy": str,
            "matchPolicy": str,
            "clientConfig": _CLIENT,
            "rules": [_RULE],
            "namespaceSelector": _SELECTOR,
            "objectSelector": _SELECTOR,
            "matchConditions": [{}],
        }
    ]
}
_BINDING = {"roleRef": {"kind": str, "name": str}, "subjects": [{}]}
_CRD = {
    "spec": Needed(
        {
            "group": Needed(_STEP),
            "scope": str,
            "names": Needed({"kind": Needed(str), "plural": Needed(_STEP)}),
            "versions": Needed([{"name": Needed(_STEP), "served": bool, "storage": bool, "schema": {"openAPIV3Schema": {}}}]),
            "conversion": {"strategy": str, "webhook": {"clientConfig": _CLIENT}},
        }
    )
}
_SHAPES: Mapping[tuple[str, str], Any] = {
    ("", "ConfigMap"): {"data": Each(), "binaryData": Each()},
    ("", "Pod"): {"spec": _POD},
    ("", "ReplicationController"): {"spec": {"selector": Each(), "template": _TEMPLATE}},
    ("", "Secret"): {"data": Each(), "stringData": Each()},
    ("", "Service"): {"spec": {"selector": Each(), "ports": [{}]}},
    ("admissionregistration.k8s.io", "MutatingWebhookConfiguration"): _WEBHOOKS,
    ("admissionregistration.k8s.io", "ValidatingWebhookConfiguration"): _WEBHOOKS,
    ("apiextensions.k8s.io", "CustomResourceDefinition"): _CRD,
    ("apps", "DaemonSet"): _WORKLOAD,
    ("apps", "Deployment"): _WORKLOAD,
    ("apps", "ReplicaSet"): _WORKLOAD,
    ("apps", "StatefulSet"): {"spec": {**_WORKLOAD["spec"], "volumeClaimTemplates": [{"metadata": _METADATA}]}},
    ("batch", "CronJob"): {"spec": {"jobTemplate": {"metadata": {}, "spec": {"template": _TEMPLATE}}}},
    ("batch", "Job"): {"spec": {"template": _TEMPLATE}},
    ("kubeflow.org", "Profile"): {"spec": {"owner": {"name": str}}},
    ("rbac.authorization.k8s.io", "ClusterRoleBinding"): _BINDING,
    ("rbac.authorization.k8s.io", "RoleBinding"): _BINDING,
}
_TYPES = {str: "a text", bool: "true or false", int: "a whole number"}


def faults(obj: Mapping[str, Any]) -> list[str]:
    """Return what is built otherwise than its kind is, "path: problem" each. ``obj`` has apiVersion and kind."""
    group, _version = split_api_version(str(obj["apiVersion"]))
    found = list(_faults(obj.get("metadata"), _METADATA, "metadata"))
    for field, shape in _SHAPES.get((group, str(obj["kind"])), {}).items():
        found += _faults(obj.get(field), shape, field)
    return found


def _faults(value: Any, shape: Any, path: str) -> Iterator[str]:
    if isinstance(shape, Needed):
        if value in (None, "", {}, []):
            yield f"{path} is missing"
            return
        shape = shape.shape
    if value is None or shape is None:
        return
    if isinstance(shape, dict | Each):
        yield from _of_mapping(value, shape, path)
    elif isinstance(shape, list):
        yield from _of_list(value, shape[0], path)
    else:
        yield from _of_scalar(value, shape, path)


def _of_mapping(value: Any, shape: dict[str, Any] | Each, path: str) -> Iterator[str]:
    if not isinstance(value, dict):
        yield f"{path} must be a mapping, not {kind_of(value)}"
        return
    rows = shape.items() if isinstance(shape, dict) else ((name, shape.shape) for name in value)
    for name, inner in rows:
        yield from _faults(value.get(name), inner, f"{path}.{name}")


def _of_list(value: Any, shape: Any, path: str) -> Iterator[str]:
    if not isinstance(value, list):
        yield f"{path} must be a list, not {kind_of(value)}"
        return
    for index, item in enumerate(value):
        place = f"{path}[{index}]"
        yield from [f"{place} must not be null"] if item is None else _faults(item, shape, place)


def _of_scalar(value: Any, shape: Any, path: str) -> Iterator[str]:
    wanted = str if isinstance(shape, Text) else shape
    if not isinstance(value, wanted) or (wanted is int and isinstance(value, bool)):
        yield f"{path} must be {_TYPES[wanted]}, not {kind_of(value)}"
    elif isinstance(shape, Text) and not shape.pattern.fullmatch(value):
        yield f"{path} must be {shape.words}"


def kind_of(value: Any) -> str:
    """Return what a JSON value is, in words."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true or false"
    words: dict[type, str] = {dict: "a mapping", list: "a list", str: "a text", int: "a number", float: "a number"}
    return words.get(type(value), type(value).__name__)
