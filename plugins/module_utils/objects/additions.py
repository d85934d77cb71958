# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What somebody added to a live object beside our fields. A server-side comparison cannot see it: nobody of ours sent it."""

from __future__ import annotations

from typing import Any

from ansible_collections.kubeflow.platform.plugins.module_utils.objects.identity import split_api_version

# Lists of pod specs that are merged by name: an item of another manager lives on beside ours.
_NAMED_LISTS = ("containers", "initContainers", "volumes")
# Fields of containers that no server defaults: present, and not sent by us, means that somebody set them.
_UNDEFAULTED = ("args", "command", "envFrom", "lifecycle")
_TEMPLATES: dict[tuple[str, str], tuple[str, ...]] = {
    ("apps", "DaemonSet"): ("spec", "template", "spec"),
    ("apps", "Deployment"): ("spec", "template", "spec"),
    ("apps", "StatefulSet"): ("spec", "template", "spec"),
    ("batch", "CronJob"): ("spec", "jobTemplate", "spec", "template", "spec"),
}


def foreign_additions(live: dict[str, Any], desired: dict[str, Any]) -> list[str]:
    """Return the paths of containers, volumes, environment, arguments and ConfigMap or Secret keys that only ``live`` has.

    A ConfigMap or Secret that we send without any data is left out: a controller is meant to fill it. Names only, no values.
    """
    group, _version = split_api_version(str(desired.get("apiVersion") or ""))
    kind = str(desired.get("kind") or "")
    if group == "" and kind in ("ConfigMap", "Secret"):
        return [path for field in ("data", "binaryData") for path in _extra_keys(live, desired, field)]
    where = _TEMPLATES.get((group, kind))
    if where is None:
        return []
    live_spec, desired_spec = _dig(live, where), _dig(desired, where)
    return _of_pod(live_spec, desired_spec, "." + ".".join(where)) if desired_spec else []


def _extra_keys(live: dict[str, Any], desired: dict[str, Any], field: str) -> list[str]:
    sent = {**_dig(desired, ("data",)), **_dig(desired, ("binaryData",))}
    return [f".{field}.{key}" for key in sorted(_dig(live, (field,))) if key not in sent] if sent else []


def _dig(value: Any, path: tuple[str, ...]) -> dict[str, Any]:
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


def _named(value: Any) -> dict[str, dict[str, Any]]:
    return {str(item.get("name")): item for item in value if isinstance(item, dict)} if isinstance(value, list) else {}


def _of_pod(live: dict[str, Any], desired: dict[str, Any], path: str) -> list[str]:
    found = []
    for field in _NAMED_LISTS:
        ours, theirs = _named(desired.get(field)), _named(live.get(field))
        for name, item in theirs.items():
            here = f'{path}.{field}[name="{name}"]'
            if name not in ours:
                found.append(here)
            elif field != "volumes":
                found.extend(_of_container(item, ours[name], here))
    return found


def _of_container(live: dict[str, Any], desired: dict[str, Any], path: str) -> list[str]:
    sent = _named(desired.get("env"))
    found = [f'{path}.env[name="{name}"]' for name in _named(live.get("env")) if name not in sent]
    return found + [f"{path}.{field}" for field in _UNDEFAULTED if live.get(field) and not desired.get(field)]
