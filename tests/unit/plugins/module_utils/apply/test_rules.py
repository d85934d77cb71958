# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What must be true of objects, as data: what is refused before anything happens, and what an expression may say."""

from __future__ import annotations

import sys
from typing import Any

import pytest
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.pods import READY, Readiness
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.rules import faults, judged, read
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.selectors import SelectorError, parse_selector, selector_matches
from ansible_collections.kubeflow.platform.plugins.module_utils.objects.identity import Identity

AVAILABLE = "status.conditions[?type=='Available'].status | [0] == 'True'"


def row(expression: str = AVAILABLE, **more: Any) -> dict[str, Any]:
    return {"kind": "Widget", "group": "example.com", "expression": expression, "message": "it is not available", **more}


def judge(expression: str, content: dict[str, Any]) -> Readiness:
    (rule,) = read([row(expression)])
    return rule.judge(content)


def test_every_fault_of_every_entry_is_told_at_once() -> None:
    rows = [
        row("status.["),
        row(kind="widget", group="example.com/v1", message=" ", selector="app=x y"),
        row("surely(status)", at_least=-1),
    ]
    found = faults({"ready": rows[:1], "checks": rows[1:]})
    assert [fault.split(":")[0] for fault in found] == [
        "`ready`, entry 1",
        "`checks`, entry 1",
        "`checks`, entry 1",
        "`checks`, entry 1",
        "`checks`, entry 1",
        "`checks`, entry 2",
        "`checks`, entry 2",
    ]
    text = "\n".join(found)
    assert "'status.[' is no JMESPath expression" in text
    assert "`kind: widget` is no kind" in text
    assert "`group: example.com/v1` is no API group; use it without the version" in text
    assert "`message` is empty" in text
    assert "uses surely(), which JMESPath does not have" in text
    assert "`at_least` is negative" in text


@pytest.mark.parametrize(
    ("option", "more", "told"),
    [
        (
            "ready",
            {"at_least": 2},
            "unknown key `at_least` (known: kind, group, namespace, name, selector, expression, message, component, alone)",
        ),
        ("checks", {"alone": True}, "unknown key `alone`"),
        ("checks", {"massage": "x"}, "unknown key `massage`"),
        ("checks", {"at_least": "2"}, "`at_least` must be a whole number"),
        ("checks", {"at_least": True}, "`at_least` must be a whole number"),
        ("ready", {"alone": "no"}, "`alone` must be true or false"),
        ("ready", {"name": 1}, "`name` must be a text (quote it if it looks like a number)"),
        ("ready", {"message": None}, "`message` is missing"),
    ],
)
def test_key_that_is_unknown_missing_or_of_another_type_is_told(option: str, more: dict[str, Any], told: str) -> None:
    (found,) = faults({option: [{**row(), **more}]})
    assert told in found


def test_unknown_function_is_found_wherever_it_stands() -> None:
    assert faults({"checks": [row("status.items[?shout(name) == 'A'] | [0]")]}) != []
    assert faults({"checks": [row("length(status.items[?starts_with(name, 'a')]) > `0`")]}) == []


def test_nothing_is_wrong_with_no_rules() -> None:
    assert faults({}) == faults({"ready": None, "checks": []}) == []


def test_missing_library_is_named_with_the_python_that_lacks_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jmespath", None)
    (found,) = faults({"ready": [row()]})
    assert "the Python package jmespath" in found and sys.executable in found
    assert faults({}) == []


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("`true`", READY),
        ("`false`", Readiness("progressing", "it is not available")),
        ("nothing", Readiness("progressing", "it is not available")),
        ("`1`", Readiness("progressing", "it is not available")),
        ("status.phase", Readiness("progressing", "Pending")),
        ("status.phase == 'Pending'", READY),
        (
            "status.ready >= spec.replicas || join(' of ', [to_string(status.ready), to_string(spec.replicas)])",
            Readiness("progressing", "1 of 2"),
        ),
    ],
)
def test_true_is_ready_and_a_text_says_why_not(expression: str, expected: Readiness) -> None:
    assert judge(expression, {"spec": {"replicas": 2}, "status": {"phase": "Pending", "ready": 1}}) == expected


def test_expression_that_cannot_be_answered_yet_is_not_yet_true() -> None:
    found = judge("length(status.addresses) > `0`", {"status": {}})
    assert found.status == "progressing"
    assert found.reason.startswith("it is not available (") and "length()" in found.reason


def test_values_of_secrets_never_reach_an_expression() -> None:
    secret = {"apiVersion": "v1", "kind": "Secret", "data": {"password": "aHVudGVy"}, "stringData": {"token": "hunter"}}
    assert judge("data.password", secret).reason == judge("stringData.token", secret).reason == "********"
    assert judge("contains(keys(data), 'password')", secret) == READY
    assert secret["data"] == {"password": "aHVudGVy"}


WIDGET = Identity("example.com", "Widget", "one", "a")


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({}, True),
        ({"namespace": "one", "name": "a"}, True),
        ({"namespace": "two"}, False),
        ({"name": "b"}, False),
        ({"group": ""}, False),
        ({"kind": "Gadget"}, False),
        ({"selector": "app=x"}, True),
        ({"selector": "app!=x"}, False),
    ],
)
def test_rule_is_about_what_it_selects(more: dict[str, Any], expected: bool) -> None:
    (rule,) = read([row(**more)])
    assert rule.selects(WIDGET, {"app": "x"}) is expected


def state(rules: list[dict[str, Any]], content: dict[str, Any], builtin: Readiness = READY) -> Readiness:
    return judged(read(rules), WIDGET, content, lambda: builtin)


SLOW, TRUE, FALSE = Readiness("progressing", "slow"), row("`true`"), row("`false`")


def test_rule_takes_the_place_of_what_the_engine_knows_unless_it_does_not_stand_alone() -> None:
    assert state([], {}, SLOW) == SLOW
    assert state([TRUE], {}, SLOW) == READY
    assert state([FALSE], {}) == Readiness("progressing", "it is not available")
    assert state([{**TRUE, "alone": False}], {}, SLOW) == SLOW
    assert state([{**FALSE, "alone": False}], {}).status == "progressing"
    assert state([TRUE, FALSE], {}).status == "progressing"


def test_object_that_is_being_deleted_or_was_not_seen_is_not_ready_whatever_a_rule_says() -> None:
    assert state([TRUE], {"metadata": {"deletionTimestamp": "now"}}, SLOW) == SLOW
    unseen = {"metadata": {"generation": 3}, "status": {"observedGeneration": 2}}
    assert state([TRUE], unseen) == Readiness("progressing", "its controller has not seen the last change")


@pytest.mark.parametrize(
    ("text", "labels", "expected"),
    [
        ("", {}, True),
        ("app=x", {"app": "x"}, True),
        ("app==x", {"app": "y"}, False),
        ("app.kubernetes.io/name = x , tier in (a, b)", {"app.kubernetes.io/name": "x", "tier": "b"}, True),
        ("tier notin (a,b)", {"tier": "b"}, False),
        ("tier notin (a,b)", {}, True),
        ("app!=x", {}, True),
        ("!old", {"old": ""}, False),
        ("old", {"old": ""}, True),
        ("app=", {"app": ""}, True),
    ],
)
def test_selector_means_what_it_means_to_kubectl(text: str, labels: dict[str, str], expected: bool) -> None:
    assert selector_matches(parse_selector(text), labels) is expected


@pytest.mark.parametrize("text", ["=x", "app in x", "app=x,,b=y", "a b", "app=x y", "tier in (a b)", "app>1"])
def test_text_that_is_no_selector_is_refused(text: str) -> None:
    with pytest.raises(SelectorError, match="is no label selector"):
        parse_selector(text)
