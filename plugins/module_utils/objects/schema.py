# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Would the API server take a custom resource whose CRD it does not serve yet? By the CRD's structural schema.

Judges what the server judges: defaults first, then types, values and fields that the schema does not know (which a
server-side apply refuses, KEP 2885). Not judged: CEL rules and string formats, so silence is no promise, but what is found is
a fault. Keywords: apiextensions ``pkg/apis/apiextensions/v1/types_jsonschema.go``. A keyword of the wrong type is as good as absent:
the server names it when the CustomResourceDefinition is applied.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from ansible_collections.kubeflow.platform.plugins.module_utils.objects.credentials import is_credential

Schema = Mapping[str, Any]
_ROOT = ("apiVersion", "kind", "metadata")
_TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "boolean": (bool,),
    "integer": (int,),
    "number": (int, float),
}
_MOST = 20  # problems of one object that are told
_ABSENT = object()


def problems(obj: Mapping[str, Any], crd: Mapping[str, Any], version: str) -> list[str]:
    """Return what is wrong with ``obj`` by the schema of its CRD, "path: problem" each, at most 20; [] when nothing is.

    ``obj`` is not changed. A version that the CRD does not serve is a problem; one without schema accepts everything.
    """
    entry = next((row for row in (crd.get("spec") or {}).get("versions") or [] if row.get("name") == version), None)
    if entry is None or not entry.get("served", True):
        return [f"apiVersion: the CustomResourceDefinition does not serve version {version}"]
    schema = (entry.get("schema") or {}).get("openAPIV3Schema")
    if not schema:
        return []
    return check(obj, schema, root=True)[:_MOST]


def check(value: Any, schema: Schema, *, root: bool = False) -> list[str]:
    """Return the problems of any value under a structural schema; ``root``: apiVersion, kind and metadata are a matter of course."""
    found: list[str] = []
    # Plain dicts are asked for by `isinstance` throughout: the test against Mapping costs as much as all the rest.
    _value(with_defaults(value, schema), {**schema, "x-kubernetes-embedded-resource": True} if root else schema, "", found, True)
    return found


def minimal(crd: Mapping[str, Any], version: str, namespace: str, name: str) -> dict[str, Any] | None:
    """Return a smallest object that the schema accepts, for probes of webhooks; see ``sample.minimal``."""
    from ansible_collections.kubeflow.platform.plugins.module_utils.objects import sample  # it imports this module

    return sample.minimal(crd, version, namespace, name)


def with_defaults(value: Any, schema: Schema) -> Any:
    """Return ``value`` as the server completes it: defaults for absent fields, nulls that the schema does not allow dropped."""
    if isinstance(value, list):
        items = schema.get("items")
        return [with_defaults(item, items) for item in value] if isinstance(items, dict) else value
    if not isinstance(value, dict):
        return value
    properties, additional = schemas(schema, "properties"), schema.get("additionalProperties")
    result: dict[str, Any] = {}
    for key, item in value.items():
        inner = properties.get(key, additional if isinstance(additional, dict) else None)
        if inner is None:
            result[key] = item
        elif item is not None or inner.get("nullable"):
            result[key] = with_defaults(item, inner)
    for key, inner in properties.items():
        if "default" in inner and key not in result:
            result[key] = with_defaults(inner["default"], inner)
    return result


def schemas(schema: Schema, keyword: str) -> dict[str, Any]:
    """Return a keyword's mapping of names to schemas."""
    found = schema.get(keyword)
    if not isinstance(found, dict):
        return {}
    return found if all(isinstance(inner, dict) for inner in found.values()) else {k: v for k, v in found.items() if isinstance(v, dict)}


def branches(schema: Schema, keyword: str) -> list[Any]:
    """Return a keyword's list of schemas."""
    return [branch for branch in listed(schema, keyword) if isinstance(branch, dict)]


def listed(schema: Schema, keyword: str) -> list[Any]:
    """Return a keyword's list."""
    found = schema.get(keyword)
    return found if isinstance(found, list) else []


def bound(schema: Schema, keyword: str) -> Any:
    """Return a keyword's number, None where there is none."""
    found = schema.get(keyword)
    return found if isinstance(found, int | float) and not isinstance(found, bool) else None


def _value(value: Any, schema: Schema, path: str, found: list[str], structural: bool) -> None:
    """Check one value. ``structural`` is False inside allOf, anyOf, oneOf and not, which may mention fields but declare none."""
    if value is None and schema.get("nullable"):
        return
    wanted = schema.get("type")
    wanted = wanted if isinstance(wanted, str) else None
    if schema.get("x-kubernetes-int-or-string"):
        if isinstance(value, bool) or not isinstance(value, (int, str)):
            found.append(f"{path}: must be an integer or a string, not {_name(value)}")
            return
    elif wanted and not _is(value, wanted):
        found.append(f"{path or 'object'}: must be {wanted}, not {_name(value)}")
        return
    if isinstance(schema.get("enum"), list) and value not in schema["enum"]:
        found.append(f"{path}: must be one of {', '.join(json.dumps(item) for item in schema['enum'])}")
    if isinstance(value, dict):
        _object(value, schema, path, found, structural)
    elif isinstance(value, list):
        _array(value, schema, path, found, structural)
    elif isinstance(value, str):
        _string(value, schema, path, found)
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        _number(value, schema, path, found)
    if "anyOf" in schema or "oneOf" in schema or "allOf" in schema or "not" in schema:
        _combinations(value, schema, path, found)


def _object(value: dict[str, Any], schema: Schema, path: str, found: list[str], structural: bool) -> None:
    properties, additional = schemas(schema, "properties"), schema.get("additionalProperties")
    embedded = bool(schema.get("x-kubernetes-embedded-resource"))
    open_ended = not structural or bool(schema.get("x-kubernetes-preserve-unknown-fields")) or additional is True
    for key in listed(schema, "required"):
        if isinstance(key, str) and key not in value:
            found.append(f"{_join(path, key)}: is required")
    if embedded:
        found += [f"{_join(path, key)}: is required" for key in _ROOT[:2] if not value.get(key)]
    for key, item in value.items():
        if embedded and key in _ROOT:
            continue
        if key in properties:
            _value(item, properties[key], _join(path, key), found, structural)
        elif isinstance(additional, dict):
            _value(item, additional, _join(path, key), found, structural)
        elif not open_ended:
            found.append(f"{_join(path, key)}: unknown field")
    _size(len(value), schema, "Properties", path, found)


def _array(value: list[Any], schema: Schema, path: str, found: list[str], structural: bool) -> None:
    items = schema.get("items")
    if isinstance(items, dict):
        for index, item in enumerate(value):
            _value(item, items, f"{path}[{index}]", found, structural)
    _size(len(value), schema, "Items", path, found)
    kind = schema.get("x-kubernetes-list-type")
    if kind == "set":
        hidden = is_credential(path)
        found += [
            f"{path}: duplicate entry{'' if hidden else f' {item}'}"
            for item in _twice([json.dumps(item, sort_keys=True) for item in value])
        ]
    elif kind == "map":
        keys = [key for key in listed(schema, "x-kubernetes-list-map-keys") if isinstance(key, str)]
        rows = [item for item in value if isinstance(item, dict)]
        for index, item in enumerate(rows):
            found += [f"{path}[{index}].{key}: is required, since it is the key of the list" for key in keys if key not in item]
        names = [", ".join(f"{key}={json.dumps(item.get(key))}" for key in keys) for item in rows]
        found += [f"{path}: duplicate entries for key [{name}]" for name in _twice(names)]


def _string(value: str, schema: Schema, path: str, found: list[str]) -> None:
    _size(len(value), schema, "Length", path, found)
    pattern = _pattern(schema["pattern"]) if isinstance(schema.get("pattern"), str) else None
    if pattern is not None and not pattern.search(value):
        found.append(f"{path}: must match {schema['pattern']}")


def _number(value: float, schema: Schema, path: str, found: list[str]) -> None:
    least, most, step = (bound(schema, keyword) for keyword in ("minimum", "maximum", "multipleOf"))
    if least is not None and (value < least or (schema.get("exclusiveMinimum") and value == least)):
        found.append(f"{path}: must be at least {least}" if value < least else f"{path}: must be more than {least}")
    if most is not None and (value > most or (schema.get("exclusiveMaximum") and value == most)):
        found.append(f"{path}: must be at most {most}" if value > most else f"{path}: must be less than {most}")
    if step and abs(value / step - round(value / step)) > 1e-9:
        found.append(f"{path}: must be a multiple of {step}")


def _combinations(value: Any, schema: Schema, path: str, found: list[str]) -> None:
    def faults(branch: Schema) -> list[str]:
        inner: list[str] = []
        _value(value, branch, path, inner, False)
        return inner

    for branch in branches(schema, "allOf"):
        found += faults(branch)
    either, one = branches(schema, "anyOf"), branches(schema, "oneOf")
    if either and all(faults(branch) for branch in either):
        found.append(f"{path or 'object'}: must match at least one alternative ({'; '.join(_alternatives(either, faults))})")
    if one:
        matching = sum(not faults(branch) for branch in one)
        if matching != 1:
            found.append(f"{path or 'object'}: must match exactly one alternative, matches {matching} of {len(one)}")
    if isinstance(schema.get("not"), dict) and schema["not"] and not faults(schema["not"]):
        found.append(f"{path or 'object'}: must not match {json.dumps(schema['not'], sort_keys=True)[:200]}")


def _alternatives(branches: list[Schema], faults: Any) -> Iterator[str]:
    for branch in branches[:3]:
        yield faults(branch)[0]


def _size(size: int, schema: Schema, what: str, path: str, found: list[str]) -> None:
    least, most = bound(schema, f"min{what}"), bound(schema, f"max{what}")
    unit = {"Length": "characters", "Items": "items", "Properties": "fields"}[what]
    if least is not None and size < least:
        found.append(f"{path or 'object'}: must have at least {least} {unit}")
    if most is not None and size > most:
        found.append(f"{path or 'object'}: must have at most {most} {unit}")


@functools.lru_cache(maxsize=1024)
def _pattern(text: str) -> re.Pattern[str] | None:
    """Return a pattern of Go's syntax (RE2) for Python, None where Python does not know it; then it is not judged."""
    try:
        return re.compile(text)
    except re.error:
        return None


def _is(value: Any, wanted: str) -> bool:
    if isinstance(value, bool):
        return wanted == "boolean"
    if wanted == "integer" and isinstance(value, float):
        return value.is_integer()
    return isinstance(value, _TYPES.get(wanted, (object,)))


def _name(value: Any) -> str:
    if value is None:
        return "null"
    return next((name for name in ("boolean", "object", "array", "string", "integer", "number") if _is(value, name)), type(value).__name__)


def _twice(names: list[str]) -> list[str]:
    return sorted({name for name in names if names.count(name) > 1}) if len(set(names)) < len(names) else []


def _join(path: str, key: Any) -> str:
    text = str(key)
    if "." in text or "/" in text:
        return f"{path}[{text!r}]"
    return f"{path}.{text}" if path else text
