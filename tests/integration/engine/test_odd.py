# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Layers, webhooks that fail after they worked, servers that are away for long, and answers that nobody expects."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from . import objects
from .conftest import Place
from .driver import Part, attempts, eventually, persisted


def layers(place: Place, **annotations: str) -> list[Part]:
    base = [
        objects.namespace(place.name),
        objects.deployment(
            place.name, "mesh", annotations={f"testbed.kubeflow.platform/{key}": value for key, value in annotations.items()}
        ),
    ]
    middle = [objects.config_map(place.name, "middle")]
    top = [objects.deployment(place.name, "ui"), objects.config_map(place.name, "ui")]
    return [
        Part(top, "ui", layer="applications", requires=["middle"]),
        Part(middle, "middle", layer="applications", requires=["mesh"]),
        Part(base, "mesh", layer="infrastructure"),
    ]


def test_workloads_of_applications_wait_for_the_infrastructure_that_they_require(place: Place) -> None:
    before = place.bed.audit().end
    result = place.engine.succeeds(layers(place, **{"ready-after": "4s"}))
    log = place.bed.audit(before).by(agent="kubeflow.platform").requests
    sent = {row.name: row.time for row in log if row.verb == "patch" and not row.dry_run and row.resource in ("deployments", "configmaps")}
    ready = next(
        row["lastTransitionTime"]
        for row in place.bed.get("deployment", "mesh", "-n", place.name)["status"]["conditions"]
        if row["type"] == "Available"
    )
    assert sent["ui"][:19] >= ready[:19], "no pod of an application before the mesh can inject into it"
    assert any("the workloads of mesh" in row["what"] for row in result.json["waited"])


def test_infrastructure_that_never_gets_ready_is_named_and_configuration_is_applied_all_the_same(place: Place) -> None:
    result = place.engine.fails(layers(place, pod="crash"), run_timeout=6)
    assert result.action("ConfigMap", "ui")["action"] == "create"
    failure = result.failures()["Deployment ui"]
    assert "the workloads of mesh" in failure["reason"]
    assert f"Deployment {place.name}/mesh" in failure["reason"]


def test_workload_that_never_gets_ready_fails_the_run_with_the_reason_of_its_pod(place: Place) -> None:
    app = objects.deployment(place.name, "app", annotations={"testbed.kubeflow.platform/pod": "pull"})
    result = place.engine.fails([objects.namespace(place.name), app], run_timeout=14)
    assert result.counts["create"] == 2
    assert result.changed
    assert f"Deployment {place.name}/app is not ready" in result.message
    assert "pull" in result.message.lower(), result.message


def test_wait_can_be_left_out(place: Place) -> None:
    app = objects.deployment(place.name, "app", annotations={"testbed.kubeflow.platform/pod": "stuck"})
    result = place.engine.succeeds([objects.namespace(place.name), app], wait=False)
    assert result.counts == {"create": 2}


def test_no_progress_ends_a_run_before_its_deadline(place: Place) -> None:
    app = objects.deployment(place.name, "app", annotations={"testbed.kubeflow.platform/pod": "stuck"})
    result = place.engine.fails([objects.namespace(place.name), app], no_progress_timeout=3, run_timeout=60)
    assert result.seconds < 20


def test_webhook_that_dies_in_the_middle_of_a_run_parks_what_is_left(place: Place) -> None:
    guard = [row for row in objects.platform(place.name, place.group) if row["kind"] not in ("Widget", "Gadget")]
    place.engine.succeeds(guard)
    widgets = [objects.widget(place.group, place.name, f"w{number}") for number in range(20)]
    place.bed.proxy({"latency_ms": 60})
    before = place.bed.audit().end
    run = place.proxied.start([*guard, *widgets], workers=2)
    assert eventually(lambda: any("widgets" in row for row in persisted(place.bed.audit(before))), 30, 0.02)
    place.bed.fault(f"{place.name}/judge", "down")
    time.sleep(3)
    assert run.alive
    place.bed.fault(f"{place.name}/judge", "ok")
    result = run.finish()
    assert not result.failed, result.message
    assert result.counts["create"] == 20
    sent = [
        row for row in place.bed.audit(before).by(agent="kubeflow.platform").requests if row.resource == "widgets" and row.verb == "patch"
    ]
    refused = [row for row in sent if not row.dry_run and row.status == 500]
    assert len(refused) <= 4, "one object probes for all"


def test_webhook_of_others_that_is_down_is_named(place: Place) -> None:
    """It is not of the set, and nothing in the cluster answers for it."""
    place.engine.succeeds([objects.namespace(place.name), objects.crd(place.group)])
    place.bed.kubectl("create", "-f", "-", stdin=json.dumps(objects.webhook(place.name, place.name, "nobody", place.group)))
    rows = [objects.namespace(place.name), objects.crd(place.group), objects.widget(place.group, place.name)]
    result = place.engine.fails(rows, run_timeout=5)
    assert f"Service {place.name}/nobody does not exist" in json.dumps(result.json["findings"])


def test_conversion_webhook_that_is_late_is_waited_for(place: Place) -> None:
    crd = objects.crd(place.group, versions=("v1", "v2"))
    crd["spec"]["conversion"] = {
        "strategy": "Webhook",
        "webhook": {
            "conversionReviewVersions": ["v1"],
            "clientConfig": {"service": {"namespace": place.name, "name": "judge", "path": "/convert", "port": 443}},
        },
    }
    crd["metadata"]["annotations"] = {"cert-manager.io/inject-ca-from": "none/none"}
    second = objects.widget(place.group, place.name)
    second["apiVersion"] = f"{place.group}/v2"
    rows = [
        objects.namespace(place.name),
        crd,
        second,
        objects.service(place.name, "judge"),
        objects.deployment(place.name, "judge"),
        objects.config_map(place.name, "other"),
    ]
    result = place.engine.fails(rows, run_timeout=6)
    assert "Widget first" in result.failures()
    assert "conversion" in result.failures()["Widget first"]["reason"]
    assert result.counts["create"] == 5


@pytest.mark.soak
def test_server_that_is_away_for_longer_than_the_lease_ends_the_run_and_the_next_goes_on(place: Place) -> None:
    rows = [objects.namespace(place.name), *objects.config_maps(place.name, 30)]
    place.bed.proxy({"latency_ms": 60})
    before = place.bed.audit().end
    run = place.proxied.start(rows, workers=2)
    assert eventually(lambda: len(persisted(place.bed.audit(before))) >= 6, 30, 0.02)
    place.bed.proxy({"rules": [{"action": "reset"}]})
    result = run.finish()
    assert result.failed
    assert "Lease" in result.message
    assert result.changed, "what was written until then is told"
    place.bed.proxy({})
    again = place.engine.succeeds(rows)
    assert again.changed
    assert not place.engine.succeeds(rows).changed


@pytest.mark.parametrize("method", ["PATCH", "GET"])
@pytest.mark.parametrize(
    "rule",
    [{"status": 200}, {"status": 302, "message": "<html>log in</html>"}, {"status": 418, "message": "<html>teapot</html>"}],
    ids=["200", "302", "418"],
)
def test_answers_that_nobody_expects_never_count_as_success(place: Place, rule: dict[str, Any], method: str) -> None:
    rows = [objects.namespace(place.name), *objects.config_maps(place.name, 3)]
    if method == "GET":
        place.engine.succeeds(rows)
        rows[2]["data"] = {"key": "changed"}
    place.bed.proxy({"rules": [{"method": method, "path": f"/namespaces/{place.name}/configmaps/plain-1$", **rule}]})
    result = place.proxied(rows, run_timeout=5)
    assert "Traceback" not in result.output
    assert result.failed, result.counts
    assert "report it" not in result.message
    assert set(result.failures()) == {"ConfigMap plain-1"}
    place.bed.proxy({})
    assert place.engine.succeeds(rows).changed


@pytest.mark.soak
def test_hanging_request_is_given_up(place: Place) -> None:
    """A server that takes a request and never answers: the run ends with its deadline, not with the socket's."""
    rows = [objects.namespace(place.name), *objects.config_maps(place.name, 3)]
    place.bed.proxy({"rules": [{"action": "hang", "seconds": 120, "method": "PATCH", "path": "/configmaps/plain-1"}]})
    result = place.proxied.fails(rows, run_timeout=5)
    assert set(result.failures()) == {"ConfigMap plain-1"}
    assert result.json["timeline"]["total"] < 5 + 62, "one request's timeout after the deadline"


def test_hundreds_of_good_objects_beside_one_bad_are_applied(place: Place) -> None:
    broken = objects.config_map(place.name, "broken")
    broken["data"] = {"key": {"not": "text"}}
    before = place.bed.audit().end
    result = place.engine.fails([objects.namespace(place.name), *objects.config_maps(place.name, 150), broken])
    assert result.counts == {"create": 151, "invalid": 1} or result.counts == {"blocked": 1, "create": 151}
    assert "broken" in result.message
    assert ".data.key" in result.message
    assert attempts(place.bed.audit(before), "configmaps", "broken") <= 1
