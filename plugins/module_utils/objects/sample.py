# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A smallest custom resource that its CRD's schema accepts, to be sent as a dry run to a webhook that guards the kind."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import Any

from ansible_collections.kubeflow.platform.plugins.module_utils.objects.schema import (
    Schema,
    bound,
    branches,
    check,
    listed,
    problems,
    schemas,
)

# Tried in this order against a string's schema: most patterns of CRDs are names, quantities, durations, versions, addresses.
_WORDS = (
    "probe",
    "a",
    "1",
    "1s",
    "1m",
    "1Gi",
    "v1",
    "a.b",
    "a/b",
    "A",
    "*",
    "http://probe",
    "probe.example.com",
    "2026-01-01T00:00:00Z",
    "10.0.0.1",
)
_LARGEST = 4096
_BRANCHES = 12  # alternatives that are tried before giving up


def minimal(crd: Mapping[str, Any], version: str, namespace: str, name: str) -> dict[str, Any] | None:
    """Return a minimal object of ``crd`` in ``version``; None when none was found that the schema accepts.

    CEL rules are not known here: the server may still refuse it, but then it has said more than "failed calling webhook".
    """
    spec = crd.get("spec") or {}
    entry = next((row for row in spec.get("versions") or [] if row.get("name") == version and row.get("served", True)), None)
    if entry is None:
        return None
    metadata = {"name": name, **({"namespace": namespace} if spec.get("scope") == "Namespaced" else {})}
    head = {"apiVersion": f"{spec.get('group')}/{version}", "kind": (spec.get("names") or {}).get("kind"), "metadata": metadata}
    schema = (entry.get("schema") or {}).get("openAPIV3Schema") or {}
    for body in _objects({**schema, "required": [key for key in _names(schema) if key not in head]}):
        obj = {**body, **head}
        if not problems(obj, crd, version):
            return obj
    return None


def _sample(schema: Schema) -> Any:
    """Return the first value found that ``schema`` accepts, else the last one tried."""
    value: Any = None
    for value in itertools.islice(_candidates(schema), 64):
        if not check(value, schema):
            break
    return value


def _candidates(schema: Schema) -> Iterator[Any]:
    if "default" in schema:
        yield schema["default"]
    if listed(schema, "enum"):
        yield from schema["enum"]
        return
    kind = schema.get("type")
    if kind == "object" or (kind is None and schema.get("properties")):
        yield from _objects(schema)
    elif kind == "array":
        items = schema.get("items")
        yield [_sample(items if isinstance(items, dict) else {}) for _index in range(_count(schema, "minItems"))]
    elif kind == "boolean":
        yield from (False, True)
    elif kind in ("integer", "number"):
        least, most = bound(schema, "minimum") or 0, bound(schema, "maximum")
        yield from (least, least + 1, 1 if most is None else most)
    elif schema.get("nullable") and kind is None:
        yield None
    else:
        yield from _strings(schema)
        yield 1


def _strings(schema: Schema) -> Iterator[str]:
    least = _count(schema, "minLength")
    for word in _WORDS:
        yield word.ljust(least, "a") if len(word) < least else word
    yield "a" * max(least, 1)
    yield ""


def _objects(schema: Schema) -> Iterator[dict[str, Any]]:
    """Yield objects with the required fields, then with those that one of the alternatives requires."""
    properties = schemas(schema, "properties")
    required = _names(schema)
    missing = _count(schema, "minProperties") - len(required)
    spare = [key for key in properties if key not in required]
    if isinstance(schema.get("additionalProperties"), dict):
        spare = [f"probe{number}" for number in range(missing)]
    base = required + spare[: max(0, missing)]
    yield {key: _field(schema, key) for key in base}
    for branch in [*branches(schema, "oneOf"), *branches(schema, "anyOf")][:_BRANCHES]:
        more = [key for key in _names(branch) if key not in base]
        yield {key: _field(schema, key, branch) for key in [*base, *more]}


def _field(schema: Schema, key: str, branch: Schema | None = None) -> Any:
    inner = schemas(schema, "properties").get(key)
    if inner is None:
        additional = schema.get("additionalProperties")
        inner = additional if isinstance(additional, dict) else {}
    narrowed = schemas(branch or {}, "properties").get(key)
    return _sample({**inner, **narrowed} if narrowed else inner)


def _names(schema: Schema) -> list[str]:
    """The fields that a schema requires."""
    return [key for key in listed(schema, "required") if isinstance(key, str)]


def _count(schema: Schema, keyword: str) -> int:
    """A keyword's number of items, characters or fields; a schema that asks for very many is not satisfied."""
    return min(int(bound(schema, keyword) or 0), _LARGEST)
