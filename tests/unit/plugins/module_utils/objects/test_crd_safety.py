# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a new version of a CRD must not do to a live one."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from ansible_collections.kubeflow.platform.plugins.module_utils.objects.crd_safety import breaches

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "spec": {
            "type": "object",
            "required": ["a"],
            "properties": {
                "a": {"type": "string", "enum": ["x", "y"]},
                "rows": {"type": "array", "items": {"type": "object", "properties": {"b": {"type": "string"}}}},
                "map": {"type": "object", "additionalProperties": {"type": "object", "properties": {"c": {"type": "string"}}}},
            },
        }
    },
}


def crd(versions: tuple[str, ...] = ("v1",), stored: tuple[str, ...] = ("v1",)) -> dict[str, Any]:
    rows = [{"name": name, "served": True, "schema": {"openAPIV3Schema": copy.deepcopy(SCHEMA)}} for name in versions]
    spec = {"group": "x.io", "scope": "Namespaced", "names": {"kind": "Thing", "plural": "things"}, "versions": rows}
    return {"spec": spec, "status": {"storedVersions": list(stored)}}


def spec_of(obj: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = obj["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
    return found


def test_the_same_crd_is_safe() -> None:
    assert breaches(crd(), crd(), ["v1"]) == []


def test_a_dropped_stored_version_is_named_with_the_step_that_migrates_it() -> None:
    (text,) = breaches(crd(("v1alpha1", "v1"), ("v1alpha1", "v1")), crd(), [])
    assert text.startswith("version v1alpha1 would be dropped although objects may be stored in it")
    assert "remove v1alpha1 from status.storedVersions first" in text


def test_a_version_that_is_not_stored_may_go_when_no_object_was_written_in_it() -> None:
    assert breaches(crd(("v1alpha1", "v1")), crd(), ["v1"]) == []
    assert breaches(crd(("v1alpha1", "v1")), crd(), ["v1alpha1"]) == [
        "version v1alpha1 would no longer be served although objects were written in it"
    ]


@pytest.mark.parametrize(
    ("path", "value"), [(("scope",), "Cluster"), (("names", "kind"), "Other"), (("names", "plural"), "others"), (("group",), "y.io")]
)
def test_scope_names_and_group_must_stay(path: tuple[str, ...], value: str) -> None:
    new = crd()
    place = new["spec"]
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    (text,) = breaches(crd(), new, [])
    assert text.startswith(f"spec.{'.'.join(path)} would change from ")


def test_a_new_required_field_is_a_breach_unless_it_has_a_default_or_its_parent_is_new() -> None:
    new = crd()
    spec_of(new)["required"] = ["a", "b", "c"]
    spec_of(new)["properties"].update(b={"type": "string"}, c={"type": "string", "default": "x"})
    spec_of(new)["properties"]["fresh"] = {"type": "object", "required": ["d"], "properties": {"d": {"type": "string"}}}
    assert breaches(crd(), new, ["v1"]) == ["version v1: field spec.b would become required without a default"]


def test_narrowing_is_found_inside_lists_and_maps() -> None:
    new = crd()
    spec_of(new)["properties"]["rows"]["items"]["required"] = ["b"]
    spec_of(new)["properties"]["map"]["additionalProperties"]["required"] = ["c"]
    assert breaches(crd(), new, ["v1"]) == [
        "version v1: field spec.rows[].b would become required without a default",
        "version v1: field spec.map.*.c would become required without a default",
    ]


def test_a_removed_value_of_an_enum_is_a_breach_and_a_new_one_is_not() -> None:
    new = crd()
    spec_of(new)["properties"]["a"]["enum"] = ["x", "z"]
    assert breaches(crd(), new, ["v1"]) == ["version v1: field spec.a would no longer accept 'y'"]


def test_narrowing_breaks_nothing_while_no_object_exists() -> None:
    new = crd()
    spec_of(new)["required"] = ["a", "rows"]
    assert breaches(crd(), new, []) == []


def test_many_breaches_of_one_version_are_counted_after_the_first_five() -> None:
    new = crd()
    names = [f"f{number}" for number in range(8)]
    spec_of(new)["required"] = names
    found = breaches(crd(), new, ["v1"])
    assert len(found) == 6
    assert found[-1] == "version v1: 3 more of this kind"
