# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import pytest
from ansible_collections.kubeflow.platform.plugins.plugin_utils.records.condition import ALWAYS, Condition, is_given, referenced, substitute


def test_nothing_asked_for_always_holds():
    assert ALWAYS.holds("1.8.1", {})


def test_every_option_of_when_must_have_one_of_its_values():
    condition = Condition(when=(("istio_mode", ("ambient",)), ("istio_platform", ("gke", "generic"))))
    assert condition.holds("26.03", {"istio_mode": "ambient", "istio_platform": "gke"})
    assert not condition.holds("26.03", {"istio_mode": "cni", "istio_platform": "gke"})
    assert not condition.holds("26.03", {"istio_platform": "gke"})


def test_since_is_the_first_release_and_until_the_first_one_without():
    condition = Condition(since="1.10", until="26.03")
    assert [condition.covers(release) for release in ("1.8.1", "1.10", "1.11.0", "26.03", "26.03.1")] == [False, True, True, False, False]


def test_given_wants_all_and_absent_none():
    condition = Condition(given=("host", "port"), absent=("socket",))
    assert condition.fits({"host": "db", "port": 0, "socket": ""})
    assert not condition.fits({"host": "db"})
    assert not condition.fits({"host": "db", "port": 1, "socket": "/run/s"})


@pytest.mark.parametrize(("value", "given"), [(None, False), ("", False), ([], False), ({}, False), (False, True), (0, True), ("a", True)])
def test_false_and_zero_are_something_empty_is_nothing(value, given):
    assert is_given(value) is given


def test_a_reference_becomes_the_value_with_its_type():
    patch = [{"op": "replace", "path": "/spec/replicas", "value": {"option": "replicas"}}]
    assert substitute(patch, {"replicas": 3}) == [{"op": "replace", "path": "/spec/replicas", "value": 3}]
    assert list(referenced(patch)) == ["replicas"]


def test_a_text_holds_options_and_other_braces():
    value = {"data": {"url": {"text": "http://{host}:{port}/{Path}/$(x)/{}"}}}
    assert substitute(value, {"host": "db", "port": 3306}) == {"data": {"url": "http://db:3306/{Path}/$(x)/{}"}}
    assert list(referenced(value)) == ["host", "port"]


def test_mappings_that_only_look_like_references_stay():
    value = {"text": "a", "other": 1, "list": [{"option": "x", "name": "y"}]}
    assert substitute(value, {"x": 1}) == value
    assert list(referenced(value)) == []


def test_a_text_writes_booleans_as_yaml_does():
    assert substitute({"text": "secure={secure}"}, {"secure": True}) == "secure=true"


def test_a_list_is_joined_and_what_is_not_given_has_its_default():
    value = {"a": {"option": "names", "join": ","}, "b": {"option": "place", "default": "kubeflow"}}
    assert substitute(value, {"names": ["x", "y"], "place": ""}) == {"a": "x,y", "b": "kubeflow"}
    assert substitute(value, {"names": None, "place": "here"}) == {"a": "", "b": "here"}


def test_selected_wants_all_of_these_components():
    condition = Condition(selected=("hub",))
    assert condition.holds("26.03", {}, ["hub", "dex"])
    assert not condition.holds("26.03", {}, ["dex"])


def test_same_wants_one_value_for_all():
    condition = Condition(same=("a", "b"))
    assert condition.fits({"a": "x", "b": "x"})
    assert condition.fits({"a": None})
    assert not condition.fits({"a": "x", "b": "y"})
