# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A server that is busy, late, away or unwilling, and connections that break."""

from __future__ import annotations

import json
import socket
import time
from pathlib import Path
from typing import Any

import pytest
import yaml

from . import objects
from .conftest import Place
from .driver import attempts, eventually, persisted


def small(place: Place, count: int = 12) -> list[objects.Object]:
    return [objects.namespace(place.name), *objects.config_maps(place.name, count)]


def faults(place: Place) -> list[dict[str, Any]]:
    """What the fault proxy did."""
    path = place.bed.folder / "proxy.log"
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []


def test_kind_that_is_late_in_discovery_is_waited_for(place: Place) -> None:
    place.bed.proxy({"late_discovery": {"seconds": 5, "groups": [place.group]}})
    rows = [objects.namespace(place.name), objects.widget(place.group, place.name), objects.crd(place.group)]
    result = place.proxied.succeeds(rows)
    assert result.changed
    assert result.counts == {"create": 3}
    assert "no matches" not in result.all_text()
    assert any("Widget" in row["what"] and row["seconds"] >= 3 for row in result.json["waited"])
    assert not place.proxied.succeeds(rows).changed


def test_busy_server_is_obeyed(place: Place) -> None:
    """429 with Retry-After, then 409, then 200: both are tried again, the first not before its time."""
    path = f"/namespaces/{place.name}/configmaps/plain-3"
    place.bed.proxy(
        {
            "rules": [
                {"method": "PATCH", "path": path, "status": 429, "retry_after": 2, "number": 1},
                {"method": "PATCH", "path": path, "status": 409, "message": "the object has been modified", "number": 2},
            ]
        }
    )
    result = place.proxied.succeeds(small(place))
    assert result.counts == {"create": 13}
    assert result.action("ConfigMap", "plain-3")["attempts"] == 3
    assert "attempts" not in result.action("ConfigMap", "plain-4")
    assert result.json["timeline"]["total"] >= 2


@pytest.mark.parametrize(
    "rule",
    [
        {"status": 429, "retry_after": 1, "every": 5, "times": 6},
        {"status": 503, "every": 4, "times": 8},
        {"status": 500, "message": "etcdserver: leader changed", "reason": "", "every": 6, "times": 4},
        {"action": "reset", "every": 4, "times": 8},
        {"action": "lose-answer", "every": 4, "times": 8},
        {"action": "cut-body", "every": 5, "times": 6},
    ],
    ids=["429", "503", "500-etcd", "reset", "lost-answer", "cut-body"],
)
def test_passing_faults_anywhere_in_a_run_are_outlasted(place: Place, rule: dict[str, Any]) -> None:
    rows = [*small(place, 8), objects.crd(place.group), objects.widget(place.group, place.name), objects.deployment(place.name, "app")]
    place.bed.proxy({"rules": [{"agent": "kubeflow.platform", **rule}]})
    begun = len(faults(place))
    result = place.proxied.succeeds(rows)
    assert len(faults(place)) - begun >= min(rule["times"], 4)
    assert result.counts == {"create": len(rows)}
    place.bed.proxy({})
    again = place.proxied.succeeds(rows)
    assert not again.changed, again.actions()


def test_answer_that_is_lost_counts_as_created_once(place: Place) -> None:
    """The server did it, the client saw a reset: the object was created by this run all the same."""
    rows = small(place, 2)
    place.bed.proxy({"rules": [{"action": "lose-answer", "method": "PATCH", "path": "/configmaps/", "times": 2}]})
    result = place.proxied.succeeds(rows)
    assert result.changed
    assert result.counts == {"create": 3}


def test_server_that_is_killed_and_restarted_in_the_middle_of_a_run_is_waited_for(place: Place) -> None:
    rows = [
        *small(place, 30),
        objects.crd(place.group),
        objects.widget(place.group, place.name),
        *(objects.deployment(place.name, f"app-{number}") for number in range(3)),
    ]
    place.bed.proxy({"latency_ms": 40})
    run = place.proxied.start(rows, workers=2)
    before = place.bed.audit().end
    assert eventually(lambda: len(persisted(place.bed.audit(0))) >= 8 and before is not None, 30, 0.02)
    place.bed.kill("kube-apiserver")
    time.sleep(1)
    assert run.alive
    place.bed.restart("kube-apiserver")
    result = run.finish()
    assert not result.failed, result.message
    assert result.counts == {"create": len(rows)}
    place.bed.proxy({})
    assert not place.engine.succeeds(rows).changed


def test_server_that_is_killed_while_the_run_waits_is_waited_for(place: Place) -> None:
    rows = [objects.namespace(place.name), objects.deployment(place.name, "app")]
    rows[1]["spec"]["template"]["metadata"]["annotations"]["testbed.kubeflow.platform/ready-after"] = "6s"
    run = place.engine.start(rows)
    assert eventually(lambda: "to be ready" in run.progress, 30, 0.1)
    place.bed.kill("kube-apiserver")
    time.sleep(1.5)
    place.bed.restart("kube-apiserver")
    result = run.finish()
    assert not result.failed, result.message
    assert place.bed.get("deployment", "app", "-n", place.name)["status"]["readyReplicas"] == 1


def told_at_once(place: Place, kubeconfig: Path, **options: Any) -> str:
    """The one message of a run that cannot begin."""
    before = place.bed.audit().end
    result = place.engine.through(kubeconfig).fails(small(place, 2), **options)
    assert result.json["timeline"]["total"] < 5 if "timeline" in result.json else result.seconds < 10
    assert persisted(place.bed.audit(before), ledger=True) == []
    assert not result.changed
    assert "Traceback" not in result.output
    return result.message


@pytest.mark.parametrize("check", [False, True])
@pytest.mark.parametrize(("who", "words"), [("badtoken", "credentials"), ("wrongca", "ca_cert")])
def test_credentials_that_are_worth_nothing_are_told_at_once(place: Place, who: str, words: str, check: bool) -> None:
    message = told_at_once(place, place.bed.kubeconfig_of(who), check=check)
    assert words in message


def test_user_who_may_only_read_is_told_at_once(place: Place) -> None:
    message = told_at_once(place, place.bed.kubeconfig_of("readonly"))
    assert "kubeflow-platform" in message
    assert "Let this user" in message


def test_user_who_may_only_read_can_look_at_the_plan(place: Place) -> None:
    place.engine.succeeds(small(place, 2))
    result = place.engine.through(place.bed.kubeconfig_of("readonly"))(small(place, 2), check=True)
    assert not result.failed, result.message
    assert not result.changed


def address(place: Place, tmp_path: Path, server: str) -> Path:
    config = yaml.safe_load(place.bed.kubeconfig.read_text(encoding="utf-8"))
    for entry in config["clusters"]:
        entry["cluster"]["server"] = server
    path = tmp_path / "elsewhere.kubeconfig"
    path.write_text(yaml.safe_dump(config), encoding="utf-8")
    return path


def test_server_that_refuses_connections_is_told_at_once(place: Place, tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    message = told_at_once(place, address(place, tmp_path, f"https://127.0.0.1:{port}"))
    assert "nothing accepts connections" in message


def test_server_that_swallows_packets_is_told_at_once(place: Place, tmp_path: Path) -> None:
    with socket.socket() as deaf:
        deaf.bind(("127.0.0.1", 0))
        deaf.listen(0)
        message = told_at_once(place, address(place, tmp_path, f"https://127.0.0.1:{deaf.getsockname()[1]}"))
    assert "did not answer in time" in message


def test_server_whose_name_does_not_resolve_is_told_at_once(place: Place, tmp_path: Path) -> None:
    message = told_at_once(place, address(place, tmp_path, "https://api.cluster.invalid:6443"))
    assert "cannot be resolved" in message


def test_kubeconfig_that_is_missing_is_told_at_once(place: Place, tmp_path: Path) -> None:
    assert "kubeconfig" in told_at_once(place, tmp_path / "no-such-file")


def test_bad_input_is_told_at_once_with_all_faults(place: Place) -> None:
    rows = [
        objects.namespace(place.name),
        objects.config_map(place.name, "twice"),
        objects.config_map(place.name, "twice"),
        objects.widget("nobody.serves.example.org", place.name),
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "nowhere"}},
        objects.config_map("no-such-namespace", "lost"),
    ]
    before = place.bed.audit().end
    result = place.engine.fails(rows)
    for words in ("twice is defined twice", "nobody.serves.example.org", "has no metadata.namespace", "no-such-namespace does not exist"):
        assert words in result.message
    assert persisted(place.bed.audit(before), ledger=True) == []


def test_first_attempt_that_the_proxy_swallows_is_sent_again(place: Place) -> None:
    place.bed.proxy({"rules": [{"action": "reset", "method": "PATCH", "path": "/configmaps/plain-1", "times": 3}]})
    before = place.bed.audit().end
    place.proxied.succeeds(small(place, 2))
    assert attempts(place.bed.audit(before), "configmaps", "plain-1") == 1, "three attempts never reached the server"
