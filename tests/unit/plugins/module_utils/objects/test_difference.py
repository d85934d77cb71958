# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import copy
from typing import Any

import pytest
from ansible_collections.kubeflow.platform.plugins.module_utils.objects.difference import compare, render
from ansible_collections.kubeflow.platform.plugins.module_utils.objects.normalise import canonical
from ansible_collections.kubeflow.platform.plugins.module_utils.objects.redaction import Redactor
from hypothesis import given
from hypothesis import strategies as st


def config_map(**data: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "b"}, "data": data}


def paths(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    difference = compare(before, after)
    return difference.paths if difference else []


trees = st.recursive(
    st.none() | st.booleans() | st.integers(0, 2) | st.floats(0, 1) | st.sampled_from(["", "x"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["name", "port", "a", "b"]), inner, max_size=3),
    max_leaves=12,
)
objects = st.dictionaries(st.sampled_from(["spec", "data", "a"]), trees, max_size=3)


@given(objects)
def test_nothing_differs_from_itself(tree: dict[str, Any]) -> None:
    assert compare(tree, copy.deepcopy(tree)) is None


@given(objects, objects)
def test_compare_finds_a_difference_exactly_when_the_json_differs(before: dict[str, Any], after: dict[str, Any]) -> None:
    numbers_apart = canonical(before) != canonical(after)
    difference = compare(before, after)
    if not numbers_apart:
        assert difference is None
    elif difference is None:  # 1 and 1.0 are one number to JSON
        assert before == after
    else:
        assert difference.paths == sorted(difference.paths)
        assert difference.paths


@given(objects, objects)
def test_compare_sees_the_same_paths_from_both_sides(one: dict[str, Any], other: dict[str, Any]) -> None:
    assert paths(one, other) == paths(other, one)


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ({"a": 1}, {"a": 2}, [".a"]),
        ({"a": 1}, {}, [".a"]),
        ({}, {"a": None}, [".a"]),
        ({"a": True}, {"a": 1}, [".a"]),
        ({"a": []}, {"a": [{}]}, [".a[0]"]),
        ({"a": []}, {}, [".a"]),
        ({"a": [1, 2]}, {"a": [1, 3]}, [".a[1]"]),
        ({"c": [{"name": "x", "image": "1"}]}, {"c": [{"name": "x", "image": "2"}]}, ['.c[name="x"].image']),
        ({"c": [{"name": "x"}, {"name": "y"}]}, {"c": [{"name": "y"}]}, ['.c[name="x"]']),
        ({"c": [{"name": "x"}, {"name": "y"}]}, {"c": [{"name": "y"}, {"name": "x"}]}, [".c (order)"]),
        (
            {"p": [{"port": 1, "protocol": "TCP"}]},
            {"p": [{"port": 1, "protocol": "TCP", "targetPort": 2}]},
            ['.p[port=1,protocol="TCP"].targetPort'],
        ),
        ({"c": [{"name": "x"}, {"name": "x", "v": 1}]}, {"c": [{"name": "x"}, {"name": "x", "v": 2}]}, [".c[1].v"]),
    ],
)
def test_compare_names_the_smallest_differing_fields(before: dict[str, Any], after: dict[str, Any], expected: list[str]) -> None:
    assert paths(before, after) == expected


def test_render_shows_both_states_as_yaml() -> None:
    difference = compare(config_map(key="old"), config_map(key="new"))
    assert difference is not None
    shown = render(difference, Redactor(), 1000)
    assert "  key: old\n" in shown["before"]
    assert "  key: new\n" in shown["after"]
    assert shown["before_header"] == "ConfigMap b/a (live)"


def test_render_shows_a_new_object_against_nothing() -> None:
    difference = compare({}, config_map(key="new"))
    assert difference is not None
    shown = render(difference, Redactor(), 1000)
    assert shown["before"] == ""
    assert shown["after_header"] == "ConfigMap b/a (wanted)"


def test_render_shows_only_the_differing_fields_when_the_object_is_too_long() -> None:
    difference = compare(config_map(big="x" * 5000, key="old"), config_map(big="x" * 5000, key="new"))
    assert difference is not None
    shown = render(difference, Redactor(), 1000)
    assert (shown["before"], shown["after"]) == ('.data.key: "old"\n', '.data.key: "new"\n')


def test_render_cuts_at_the_limit_and_says_so() -> None:
    difference = compare({}, {"kind": "Thing", "spec": {f"k{number}": "v" * 50 for number in range(100)}})
    assert difference is not None
    shown = render(difference, Redactor(), 500)
    assert len(shown["after"]) < 600
    assert "lines are not shown" in shown["after"]


def test_render_shows_only_paths_when_the_object_is_a_crd() -> None:
    before = {"kind": "CustomResourceDefinition", "metadata": {"name": "x"}, "spec": {"a": "long old text", "gone": 1}}
    after = {"kind": "CustomResourceDefinition", "metadata": {"name": "x"}, "spec": {"a": "long new text", "new": 1}}
    difference = compare(before, after)
    assert difference is not None
    shown = render(difference, Redactor(), 1000)
    assert shown["before"] == ".spec.a: before\n.spec.gone\n"
    assert shown["after"] == ".spec.a: after\n.spec.new\n"


def test_render_tells_changed_secrets_from_equal_ones_without_showing_them() -> None:
    before = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "data": {"same": "QUFBQUFBQUFB", "moved": "QkJCQkJCQkI="}}
    after = {**before, "data": {"same": "QUFBQUFBQUFB", "moved": "Q0NDQ0NDQ0M="}}
    difference = compare(before, after)
    assert difference is not None
    shown = render(difference, Redactor(), 1000)
    assert "moved: '******** (before)'" in shown["before"]
    assert "moved: '******** (after)'" in shown["after"]
    assert "same: '********'" in shown["before"]
    assert "same: '********'" in shown["after"]
    assert "QUFB" not in str(shown)
    assert "QkJC" not in str(shown)
