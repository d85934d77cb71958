# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rules of readiness and checks in whole runs: when they are asked, how long, and what a run says of them."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.inputs import InputRejected
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.rules import Rule, read
from ansible_collections.kubeflow.platform.plugins.module_utils.objects.redaction import Redactor
from ansible_collections.kubeflow.platform.tests.unit.api_double.objects import config, crd, custom, deployment, documents, refusing
from ansible_collections.kubeflow.platform.tests.unit.api_double.world import World


def rules(kind: str, expression: str, *, group: str = "", **more: Any) -> tuple[Rule, ...]:
    return read([{"kind": kind, "group": group, "expression": expression, "message": "it is not as it should be", **more}])


WIDGETS = [crd("Widget"), custom("Widget", "a", "default")]
STATUS = "status.conditions[?type=='Available'].status | [0] == 'True'"


def report_widget(world: World, after: float, **status: Any) -> None:
    """A controller that writes the status of the widget some time after it came."""
    (key,) = [key for key in world.server.objects if key.plural == "widgets"] or [None]
    if key is None:
        world.clock.at(1.0, lambda: report_widget(world, after, **status))
        return
    world.clock.at(after, lambda: world.server.objects[key].update(status=status))


def test_custom_resource_is_waited_for_when_a_rule_says_when_it_is_ready() -> None:
    world = World()
    world.clock.at(0.5, lambda: report_widget(world, 20.0, conditions=[{"type": "Available", "status": "True"}]))
    report = world.run(documents(*WIDGETS), ready=rules("Widget", STATUS, group="example.com"))
    assert report.failures == []
    assert any(wait.what == "everything to be ready" and wait.seconds > 15 for wait in report.waited)


def test_run_fails_naming_the_object_and_the_message_when_a_rule_never_holds() -> None:
    report = World().run(documents(*WIDGETS), ready=rules("Widget", STATUS, group="example.com"), no_progress_timeout=30.0)
    (row,) = report.failures
    assert row.failure is not None
    assert row.failure.message == "Widget default/a is not ready: it is not as it should be"


def test_rule_overrides_what_the_engine_knows_of_a_kind() -> None:
    world = World()
    world.controllers.never = {"app"}
    report = world.run(documents(deployment("app")), ready=rules("Deployment", "`true`", group="apps"), no_progress_timeout=30.0)
    assert report.failures == []


def test_check_that_holds_is_listed() -> None:
    report = World().run(documents(config("a", x="1")), checks=rules("ConfigMap", "data.x == '1'", name="a", component="katib"))
    assert report.failures == []
    assert report.checks == [
        {
            "kind": "ConfigMap",
            "name": "a",
            "component": "katib",
            "expression": "data.x == '1'",
            "state": "passed",
            "objects": 1,
            "reason": "",
        }
    ]


def test_check_is_asked_until_it_holds() -> None:
    world = World()
    world.clock.at(0.5, lambda: report_widget(world, 40.0, conditions=[{"type": "Available", "status": "True"}]))
    report = world.run(documents(*WIDGETS), checks=rules("Widget", STATUS, group="example.com"))
    assert (report.failures, report.checks[0]["state"]) == ([], "passed")
    assert any(wait.what == "checks to hold" for wait in report.waited)


def test_run_fails_naming_object_and_message_when_a_check_does_not_hold_in_time() -> None:
    world = World()
    begun = world.clock.now
    report = world.run(
        documents(config("a", x="1"), config("b", x="2")),
        checks=rules("ConfigMap", "data.x == '1'", namespace="default"),
        no_progress_timeout=30.0,
    )
    (row,) = report.failures
    assert row.failure is not None
    assert row.failure.message == "A check of ConfigMap default/b does not hold: it is not as it should be"
    assert "data.x == '1'" in row.failure.advice
    assert (report.checks[0]["state"], report.checks[0]["objects"]) == ("failed", 2)
    assert report.counts() == {"create": 2, "failed": 1}
    assert 30 <= world.clock.now - begun < 60
    result = report.as_result(Redactor(()), diff=False)
    assert result["checks"] == report.checks
    assert [row["class"] for row in result["failed_objects"]] == ["check"]
    assert {row["action"] for row in result["actions"]} == {"create"}


@pytest.mark.parametrize(("least", "state"), [(0, "passed"), (1, "failed")])
def test_check_needs_as_many_objects_as_it_says(least: int, state: str) -> None:
    report = World().run(
        documents(config("a")), checks=rules("Secret", "`true`", selector="app=x", at_least=least), no_progress_timeout=5.0
    )
    assert report.checks[0]["state"] == state
    if state == "failed":
        assert report.checks[0]["reason"] == "it is not as it should be (there are 0, and 1 are needed)"


def test_checks_are_not_made_when_something_failed_before() -> None:
    report = World().run(documents(refusing("policy")), checks=rules("ConfigMap", "`true`"))
    assert report.checks[0]["state"] == "not made"
    assert len(report.failures) == 1


def test_checks_are_not_made_in_check_mode_or_without_waiting() -> None:
    for options in ({"check": True}, {"wait": False}):
        report = World().run(documents(config("a")), checks=rules("ConfigMap", "`false`"), **options)
        assert (report.failures, report.checks[0]["state"]) == ([], "not made")


def test_check_of_a_kind_that_nobody_knows_is_refused_before_anything_is_written() -> None:
    world = World()
    checks = rules("Gizmo", "`true`", group="example.com") + rules("Pood", "`true`")
    with pytest.raises(InputRejected) as raised:
        world.run(documents(config("a")), checks=checks)
    assert len(raised.value.findings) == 2
    assert "check Gizmo: neither the cluster nor any of the objects defines Gizmo in the API group example.com" in str(raised.value)
    assert world.writes() == []


def test_check_of_a_kind_that_the_run_brings_is_made() -> None:
    report = World().run(documents(*WIDGETS), checks=rules("Widget", "spec.size == `1`", group="example.com"))
    assert report.checks[0]["state"] == "passed"


def test_narrowed_run_leaves_out_checks_of_others_and_those_that_come_too_early() -> None:
    checks = rules("ConfigMap", "`false`", component="katib") + rules("Gizmo", "`true`", group="example.com")
    report = World().run(documents(config("a")), checks=checks, scope=("infra",), no_progress_timeout=5.0)
    assert report.failures == []
    assert [(row["kind"], row["state"]) for row in report.checks] == [("Gizmo", "not made")]
