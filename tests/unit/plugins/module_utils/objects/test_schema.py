# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Judging custom resources by their CRD's schema, before any server serves the kind."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from ansible_collections.kubeflow.platform.plugins.module_utils.objects import schema as schemas
from hypothesis import given
from hypothesis import strategies as st


def crd(spec: dict[str, Any], scope: str = "Namespaced") -> dict[str, Any]:
    root = {
        "type": "object",
        "properties": {"apiVersion": {"type": "string"}, "kind": {"type": "string"}, "metadata": {"type": "object"}, "spec": spec},
    }
    versions = [{"name": "v1", "served": True, "schema": {"openAPIV3Schema": root}}, {"name": "v0", "served": False}]
    return {"spec": {"group": "x.io", "scope": scope, "names": {"kind": "Thing", "plural": "things"}, "versions": versions}}


def judge(spec: Any, schema: dict[str, Any]) -> list[str]:
    obj = {"apiVersion": "x.io/v1", "kind": "Thing", "metadata": {"name": "x", "labels": {"a": "b"}}, "spec": spec}
    return schemas.problems(obj, crd(schema), "v1")


def fields(required: list[str] | None = None, **properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, **({"required": required} if required else {})}


TEXT: dict[str, Any] = {"type": "string"}


def test_an_unknown_field_is_named_with_its_path() -> None:
    rows = {"type": "array", "items": fields(image=TEXT)}
    assert judge({"rows": [{"image": "x"}, {"imgae": "x"}]}, fields(rows=rows)) == ["spec.rows[1].imgae: unknown field"]
    assert judge({"anything": 1}, {"type": "object"}) == ["spec.anything: unknown field"]


def test_an_unknown_field_at_the_top_is_a_problem_and_metadata_is_not() -> None:
    obj = {"apiVersion": "x.io/v1", "kind": "Thing", "metadata": {"name": "x", "annotations": {}}, "specc": {}}
    assert schemas.problems(obj, crd(fields()), "v1") == ["specc: unknown field"]


def test_fields_are_free_where_the_schema_says_so_and_known_ones_are_still_judged() -> None:
    loose = {**fields(a=TEXT), "x-kubernetes-preserve-unknown-fields": True}
    assert judge({"b": {"c": 1}}, loose) == []
    assert judge({"a": 1}, loose) == ["spec.a: must be string, not integer"]
    assert judge({"b": 1}, {"type": "object", "additionalProperties": True}) == []
    assert judge({"b": 1}, {"type": "object", "additionalProperties": TEXT}) == ["spec.b: must be string, not integer"]


@pytest.mark.parametrize(
    ("kind", "good", "bad"),
    [
        ("string", ["", "x"], [1, True, {}, []]),
        ("integer", [1, -1, 2.0], ["1", 1.5, True]),
        ("number", [1, 1.5], ["1", False]),
        ("boolean", [True], ["true", 1]),
        ("object", [{}], [[], "x"]),
        ("array", [[]], [{}, "x"]),
    ],
)
def test_types_are_the_ones_of_json(kind: str, good: list[Any], bad: list[Any]) -> None:
    assert [judge({"a": value}, fields(a={"type": kind})) for value in good] == [[]] * len(good)
    assert all(judge({"a": value}, fields(a={"type": kind}))[0].startswith(f"spec.a: must be {kind}, not ") for value in bad)


def test_int_or_string_takes_both_and_nothing_else() -> None:
    port = {"x-kubernetes-int-or-string": True, "anyOf": [{"type": "integer"}, TEXT]}
    assert judge({"a": 1}, fields(a=port)) == []
    assert judge({"a": "50%"}, fields(a=port)) == []
    assert judge({"a": True}, fields(a=port)) == ["spec.a: must be an integer or a string, not boolean"]


def test_a_required_field_may_come_from_its_default_but_not_from_null() -> None:
    schema = fields(["a", "b"], a={"type": "string", "default": "x"}, b=TEXT)
    assert judge({}, schema) == ["spec.b: is required"]
    assert judge({"b": None}, schema) == ["spec.b: is required"]
    assert judge({"a": None, "b": "x"}, schema) == []


def test_null_is_a_value_only_where_it_is_allowed() -> None:
    assert judge({"a": None}, fields(["a"], a={"type": "string", "nullable": True})) == []
    assert judge({"a": [None]}, fields(a={"type": "array", "items": TEXT})) == ["spec.a[0]: must be string, not null"]


@pytest.mark.parametrize(
    ("schema", "value", "problem"),
    [
        ({"type": "string", "enum": ["a", "b"]}, "c", 'must be one of "a", "b"'),
        ({"type": "string", "pattern": "^[a-z]+$"}, "A", "must match ^[a-z]+$"),
        ({"type": "string", "maxLength": 2}, "abc", "must have at most 2 characters"),
        ({"type": "string", "minLength": 1}, "", "must have at least 1 characters"),
        ({"type": "integer", "minimum": 1}, 0, "must be at least 1"),
        ({"type": "integer", "maximum": 9}, 10, "must be at most 9"),
        ({"type": "number", "minimum": 0, "exclusiveMinimum": True}, 0, "must be more than 0"),
        ({"type": "number", "multipleOf": 0.5}, 0.7, "must be a multiple of 0.5"),
        ({"type": "array", "items": {"type": "integer"}, "minItems": 1}, [], "must have at least 1 items"),
        ({"type": "object", "additionalProperties": True, "maxProperties": 0}, {"a": 1}, "must have at most 0 fields"),
        ({"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set"}, ["a", "a"], 'duplicate entry "a"'),
    ],
)
def test_values_are_held_to_their_bounds(schema: dict[str, Any], value: Any, problem: str) -> None:
    assert judge({"a": value}, fields(a=schema)) == [f"spec.a: {problem}"]


def test_a_pattern_that_python_does_not_know_is_not_judged() -> None:
    assert judge({"a": "x"}, fields(a={"type": "string", "pattern": r"^\p{Lu}$"})) == []


def env(*names: str | None) -> dict[str, Any]:
    return {"env": [{"name": name} if name else {"value": "x"} for name in names]}


def test_lists_by_key_refuse_duplicates_and_items_without_key() -> None:
    keys = {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"]}
    schema = fields(env={"type": "array", "items": fields(name=TEXT, value=TEXT), **keys})
    assert judge(env("A", "B"), schema) == []
    assert judge(env("A", "A"), schema) == ['spec.env: duplicate entries for key [name="A"]']
    assert judge(env("A", None), schema) == ["spec.env[1].name: is required, since it is the key of the list"]


def test_a_key_of_a_list_may_come_from_its_default() -> None:
    keys = {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["port", "protocol"]}
    item = fields(["port"], port={"type": "integer"}, protocol={"type": "string", "default": "TCP"})
    schema = fields(ports={"type": "array", "items": item, **keys})
    assert judge({"ports": [{"port": 1}, {"port": 1, "protocol": "UDP"}]}, schema) == []
    assert judge({"ports": [{"port": 1}, {"port": 1, "protocol": "TCP"}]}, schema) == [
        'spec.ports: duplicate entries for key [port=1, protocol="TCP"]'
    ]


def test_alternatives_mention_fields_but_declare_none() -> None:
    schema = {**fields(a=TEXT, b=TEXT), "oneOf": [{"required": ["a"]}, {"required": ["b"]}]}
    assert judge({"a": "x"}, schema) == []
    assert judge({}, schema) == ["spec: must match exactly one alternative, matches 0 of 2"]
    assert judge({"a": "x", "b": "x"}, schema) == ["spec: must match exactly one alternative, matches 2 of 2"]
    assert judge({"c": "x"}, {**fields(a=TEXT), "anyOf": [{"properties": {"c": TEXT}}]}) == ["spec.c: unknown field"]


def test_all_any_and_not_are_judged() -> None:
    assert judge({"a": "x"}, fields(a={**TEXT, "allOf": [{"enum": ["x"]}, {"enum": ["y"]}]})) == ['spec.a: must be one of "y"']
    assert judge({"a": "x"}, fields(a={**TEXT, "anyOf": [{"enum": ["y"]}, {"maxLength": 0}]}))[0].startswith(
        "spec.a: must match at least one"
    )
    assert judge({"a": "x"}, fields(a={**TEXT, "not": {"enum": ["x"]}})) == ['spec.a: must not match {"enum": ["x"]}']


def test_an_embedded_object_needs_a_kind_and_may_have_metadata() -> None:
    schema = fields(template={"type": "object", "x-kubernetes-embedded-resource": True, "properties": {"spec": fields(a=TEXT)}})
    assert judge({"template": {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "x"}, "spec": {"a": "b"}}}, schema) == []
    assert judge({"template": {"spec": {"b": 1}}}, schema) == [
        "spec.template.apiVersion: is required",
        "spec.template.kind: is required",
        "spec.template.spec.b: unknown field",
    ]


def test_a_version_that_is_not_served_is_a_problem() -> None:
    assert schemas.problems({}, crd(fields()), "v0") == ["apiVersion: the CustomResourceDefinition does not serve version v0"]
    assert schemas.problems({}, crd(fields()), "v9") == ["apiVersion: the CustomResourceDefinition does not serve version v9"]


def test_an_object_is_not_changed_by_judging_it() -> None:
    schema = fields(a={"type": "string", "default": "x"}, b={"type": "array", "items": fields(c={"type": "string", "default": "y"})})
    spec: dict[str, Any] = {"b": [{}], "a": None}
    before = copy.deepcopy(spec)
    judge(spec, schema)
    assert spec == before


def test_a_minimal_object_passes_its_own_schema() -> None:
    schema = fields(
        ["name", "mode", "rows", "when", "port", "labels", "alternative"],
        name={"type": "string", "minLength": 9, "pattern": "^[a-z]+$"},
        mode={"type": "string", "enum": ["Late", "Early"]},
        rows={"type": "array", "minItems": 2, "items": fields(["n"], n={"type": "integer", "minimum": 3})},
        when={"type": "string", "pattern": r"^\d{4}-"},
        port={"x-kubernetes-int-or-string": True},
        labels={"type": "object", "additionalProperties": TEXT, "minProperties": 1},
        alternative={**fields(a=TEXT, b=TEXT), "oneOf": [{"required": ["a"]}, {"required": ["b"]}]},
    )
    root = crd(schema)
    root["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["required"] = ["spec"]
    made = schemas.minimal(root, "v1", "n", "probe")
    assert made is not None
    assert made["metadata"] == {"name": "probe", "namespace": "n"}
    assert made["spec"]["mode"] == "Late"
    assert len(made["spec"]["rows"]) == 2


def test_a_minimal_object_of_a_cluster_scoped_kind_has_no_namespace() -> None:
    made = schemas.minimal(crd(fields(), scope="Cluster"), "v1", "n", "probe")
    assert made == {"apiVersion": "x.io/v1", "kind": "Thing", "metadata": {"name": "probe"}}


def test_no_object_is_better_than_one_that_the_schema_refuses() -> None:
    root = crd(fields(["a"], a={"type": "string", "pattern": "^never-guessed-[0-9]{7}$"}))
    root["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["required"] = ["spec"]
    assert schemas.minimal(root, "v1", "n", "probe") is None


leaves = st.sampled_from(
    [TEXT, {"type": "integer", "minimum": 2}, {"type": "boolean"}, {"type": "string", "enum": ["a"]}, {"x-kubernetes-int-or-string": True}]
)
NAMES = ["a", "b", "c"]


def containers(inner: st.SearchStrategy[dict[str, Any]]) -> st.SearchStrategy[dict[str, Any]]:
    objects = st.dictionaries(st.sampled_from(NAMES), inner, max_size=3).flatmap(
        lambda properties: st.lists(st.sampled_from(sorted(properties) or ["a"]), unique=True, max_size=2).map(
            lambda required: fields([key for key in required if key in properties], **properties)
        )
    )
    return objects | inner.map(lambda items: {"type": "array", "items": items, "minItems": 1})


trees = st.recursive(leaves, containers, max_leaves=8)


@given(trees)
def test_a_minimal_object_always_passes(spec: dict[str, Any]) -> None:
    root = crd(spec)
    root["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["required"] = ["spec"]
    made = schemas.minimal(root, "v1", "n", "probe")
    assert made is not None
    assert schemas.problems(made, root, "v1") == []


junk = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=3),
)


@given(trees, junk)
def test_any_value_gets_an_answer(schema: dict[str, Any], value: Any) -> None:
    assert all(": " in problem for problem in schemas.check(value, schema))


def test_entry_that_is_there_twice_is_not_quoted_when_it_is_a_credential() -> None:
    entries = {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set"}
    schema = {"type": "object", "properties": {"passwords": entries}}
    assert schemas.check({"passwords": ["a1", "a1"]}, schema) == ["passwords: duplicate entry"]
