# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One record of a run, and what is read from it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.model import WRITES, Decision
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.result import Report, Row, Wait, summary
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.errors import Failure
from ansible_collections.kubeflow.platform.plugins.module_utils.objects import difference
from ansible_collections.kubeflow.platform.plugins.module_utils.objects.identity import Identity
from ansible_collections.kubeflow.platform.plugins.module_utils.objects.redaction import Redactor
from ansible_collections.kubeflow.platform.tests.unit.api_double.objects import config, thing

BAD = Failure("invalid", "Failed to apply ConfigMap default/bad: no", "Mend it.")
FORBIDDEN = Failure("rbac", "Failed to apply it: no", "Grant it.", rbac=("patch", "apps", "deployments", "one"))


def row(action: str, name: str = "a", *, kind: str = "ConfigMap", group: str = "", **more: Any) -> Row:
    return Row(Identity(group, kind, "default", name), "comp", action, **more)


def told(report: Report, *, diff: bool = False) -> dict[str, Any]:
    return report.as_result(Redactor(()), diff=diff)


@pytest.mark.parametrize("action", sorted(WRITES))
def test_changed_is_true_when_an_object_was_written_and_false_when_writing_it_failed(action: str) -> None:
    assert Report([row(action)]).changed
    assert not Report([row(action, failure=BAD)]).changed


@pytest.mark.parametrize("action", ["unchanged", "keep", "skipped", "conflict", "blocked", "invalid", "not_ready"])
def test_changed_is_false_when_nothing_was_written(action: str) -> None:
    assert not Report([row(action)]).changed


def test_failures_are_failed_and_skipped_objects() -> None:
    report = Report([row("create"), row("invalid", "b", failure=BAD), row("skipped", "c", reason="b failed")])
    assert [each.identity.name for each in report.failures] == ["b", "c"]


def test_failed_write_is_counted_as_failed_and_a_refusal_by_its_own_word() -> None:
    rows = [row("create"), row("create", "b", failure=BAD), row("conflict", "c", failure=BAD), row("unchanged", "d"), row("skipped", "e")]
    assert Report(rows).counts() == {"conflict": 1, "create": 1, "failed": 1, "skipped": 1, "unchanged": 1}


def test_actions_tell_everything_but_the_unchanged_in_order() -> None:
    change = difference.compare({"data": {"a": "1"}}, {"data": {"a": "2"}})
    decision = Decision("configure", {}, {}, change, yielded=(".spec.replicas",), predicted=True)
    rows = [
        row("unchanged", "z"),
        row("configure", "b", decision=decision, attempts=3),
        row("create", "a", attempts=1),
        row("keep", reason="why"),
    ]
    assert told(Report(rows))["actions"] == [
        {
            "action": "configure",
            "kind": "ConfigMap",
            "namespace": "default",
            "name": "b",
            "component": "comp",
            "attempts": 3,
            "paths": [".data.a"],
            "yielded": [".spec.replicas"],
            "predicted": True,
        },
        {"action": "create", "kind": "ConfigMap", "namespace": "default", "name": "a", "component": "comp"},
        {"action": "keep", "kind": "ConfigMap", "namespace": "default", "name": "a", "component": "comp", "reason": "why"},
    ]


def test_failed_objects_say_class_reason_and_what_to_do() -> None:
    failed = told(Report([row("invalid", "bad", failure=BAD, attempts=1), row("skipped", "c", reason="bad failed")]))["failed_objects"]
    assert [(each["name"], each["class"], each["reason"], each["what_to_do"]) for each in failed] == [
        ("bad", "invalid", "Failed to apply ConfigMap default/bad: no", "Mend it."),
        ("c", "skipped", "bad failed", "Mend the object that failed first; then run again."),
    ]


def test_missing_permissions_are_one_role_when_something_was_forbidden() -> None:
    role = told(Report([row("blocked", failure=FORBIDDEN), row("invalid", "b", failure=BAD)]))["missing_permissions"]
    assert role["kind"] == "Role" and role["rules"][0]["resources"] == ["deployments"]
    assert "missing_permissions" not in told(Report([row("invalid", failure=BAD)]))


def test_waits_slowest_warnings_and_times_are_rounded_and_sorted() -> None:
    rows = [row("create", name, seconds=seconds) for name, seconds in (("a", 0.0), ("b", 1.26), ("c", 9.0), ("d", 3.0), ("e", 2.0))]
    report = Report(rows, [Wait("webhook w", 12.34, "refused", 3)], ["two", "one", "two"], timeline={"met": 0.1234}, requests={"GET": 2})
    result = told(report)
    assert result["slowest"] == [
        {"object": f"ConfigMap default/{name}", "seconds": sec} for name, sec in (("c", 9.0), ("d", 3.0), ("e", 2.0))
    ]
    assert result["waited"] == [{"what": "webhook w", "seconds": 12.3, "why": "refused", "objects": 3}]
    assert (result["warnings"], result["timeline"], result["requests"]) == (["one", "two"], {"met": 0.12}, {"GET": 2})


def test_components_count_ready_workloads_only_when_the_run_waited() -> None:
    rows = [
        row("create", "x", kind="Deployment", group="apps"),
        row("unchanged", "y", kind="Deployment", group="apps"),
        row("create", "c"),
        row("prune", "old"),
        row("not_ready", "y", kind="Deployment", group="apps", failure=BAD),
    ]
    assert Report(rows).components() == {"comp": {"objects": 3}}
    assert Report(rows, waited_for_all=True).components() == {"comp": {"objects": 3, "workloads": 2, "ready": 1}}


def test_diff_shows_created_and_configured_objects_only_when_asked_for() -> None:
    change = difference.compare(config("b", a="1"), config("b", a="2"))
    rows = [
        row("create", decision=Decision("create", config("a"))),
        row("configure", "b", decision=Decision("configure", {}, {}, change)),
        row("adopt", "c", decision=Decision("adopt", {}, {})),
        row("conflict", "d", decision=Decision("conflict", {}, {}, change), failure=BAD),
    ]
    assert "diff" not in told(Report(rows))
    created, configured = told(Report(rows), diff=True)["diff"]
    assert (created["before"], "name: a" in created["after"]) == ("", True)
    assert "a: '1'" in configured["before"] and "a: '2'" in configured["after"]


def test_secret_values_are_masked_wherever_they_turn_up() -> None:
    secret = thing("Secret", "s", "default", data={"password": "c2VjcmV0LWNhbmFyeS0xMjM0NQ=="})
    quoting = Failure("invalid", "Failed to apply it: bad value secret-canary-12345", "Do not use secret-canary-12345.")
    rows = [
        row("create", "s", kind="Secret", decision=Decision("create", secret)),
        row("invalid", "t", decision=Decision("invalid", {}, secret), failure=quoting),
    ]
    text = json.dumps(told(Report(rows, warnings=["secret-canary-12345"], findings=["secret-canary-12345"]), diff=True))
    assert "secret-canary" not in text and "c2VjcmV0" not in text


def test_summary_names_the_first_failure_and_counts_the_rest() -> None:
    rows = [row("skipped", "z"), row("invalid", failure=BAD), row("blocked", "b", failure=FORBIDDEN)]
    assert (
        summary(Report(rows)) == "Failed to apply ConfigMap default/bad: no. Mend it. 1 more failed. 1 object was skipped because of these."
    )
    assert summary(Report([row("skipped")])) == "1 object was skipped."


def test_summary_tells_what_is_not_ready_apart_from_what_failed() -> None:
    late = Failure("not_ready", "Deployment a/b is not ready: no pods", "Look.")
    waiting = [row("not_ready", name, failure=late) for name in "xy"]
    assert summary(Report(waiting)) == "Deployment a/b is not ready: no pods. Look. 1 more is not ready."
    assert summary(Report([*waiting, row("invalid", failure=BAD)])) == (
        "Failed to apply ConfigMap default/bad: no. Mend it. 2 more are not ready."
    )
