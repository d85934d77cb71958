# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Is an object larger than the API server takes? It says so only when the object is sent, and etcd only when it is written.

Limits: apimachinery ``pkg/api/validation/objectmeta.go`` (annotations), kubernetes ``pkg/apis/core/validation`` (ConfigMap, Secret),
etcd ``--max-request-bytes``. Only what must fail is told: what the server adds (defaults, managed fields) is not counted.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator, Mapping
from typing import Any

from ansible_collections.kubeflow.platform.plugins.module_utils.objects.identity import split_api_version

MOST_ANNOTATIONS = 256 * 1024
MOST_DATA = 1024 * 1024
MOST_STORED = 3 * 512 * 1024
# Smaller objects keep every limit, in whatever characters they are written.
SMALLEST = MOST_ANNOTATIONS


def faults(obj: Mapping[str, Any], size: int) -> list[str]:
    """Return in what an object is too large, one clause each; ``size`` is that of its JSON text in bytes."""
    found = []
    metadata = obj.get("metadata")
    annotations = metadata.get("annotations") if isinstance(metadata, dict) else None
    if isinstance(annotations, dict):
        total = sum(_bytes(name) + _bytes(value) for name, value in annotations.items())
        found += _over("its annotations hold", total, MOST_ANNOTATIONS)
    group, _version = split_api_version(str(obj.get("apiVersion") or ""))
    kind = str(obj.get("kind") or "")
    if group == "" and kind in ("ConfigMap", "Secret"):
        found += _over("its data hold", _data(obj, kind == "Secret"), MOST_DATA)
    # Built-in kinds are stored in a form that is denser than JSON; no form is denser than their texts.
    stored = size if "." in group and not group.endswith(".k8s.io") or kind == "CustomResourceDefinition" else sum(_leaves(obj))
    return found or _over("it has", stored, MOST_STORED)


def _over(what: str, size: int, most: int) -> list[str]:
    return [f"{what} {size} bytes, at most {most} can be stored"] if size > most else []


def _data(obj: Mapping[str, Any], secret: bool) -> int:
    total = 0
    for field in ("data", "binaryData", "stringData"):
        values = obj.get(field)
        for value in values.values() if isinstance(values, dict) else ():
            encoded = field == "binaryData" or (secret and field == "data")
            total += _decoded(value) if encoded else _bytes(value)
    return total


def _decoded(value: Any) -> int:
    try:
        return len(base64.b64decode(value)) if isinstance(value, str) else 0
    except (binascii.Error, ValueError):
        return 0


def _leaves(value: Any) -> Iterator[int]:
    if isinstance(value, dict):
        for item in value.values():
            yield from _leaves(item)
    elif isinstance(value, list):
        for item in value:
            yield from _leaves(item)
    else:
        yield _bytes(value)


def _bytes(value: Any) -> int:
    return len(value.encode("utf-8", "surrogatepass")) if isinstance(value, str) else 0
