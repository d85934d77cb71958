# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Deleting an object to create it anew: what is never allowed, and that nothing is lost when it goes wrong."""

from __future__ import annotations

import copy
import json
import stat
from pathlib import Path
from typing import Any, cast

import pytest
from ansible_collections.kubeflow.platform.plugins.module_utils.apply import backup
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.model import Decision, Item, Outcome, Part
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.recreate import PROTECTED_KINDS, allowed, propagation, recreate
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.discovery import Resource
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.requests import Client, Unreachable
from ansible_collections.kubeflow.platform.plugins.module_utils.objects.identity import Identity
from ansible_collections.kubeflow.platform.tests.unit.doubles import Clock, Server, status

PATH = "/apis/apps/v1/namespaces/n/deployments/x"
OLD = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "x", "namespace": "n", "uid": "old", "generation": 3, "managedFields": []},
    "spec": {"selector": {"matchLabels": {"app": "x"}}},
    "status": {"replicas": 1},
}
NEW = {**OLD, "metadata": {"name": "x", "namespace": "n"}, "spec": {"selector": {"matchLabels": {"app": "x", "tier": "y"}}}}
NEW.pop("status")


class Bench:
    def __init__(self, live: dict[str, Any] | None = None) -> None:
        self.server, self.clock = Server(), Clock()
        self.live = self.server.put(PATH, live or OLD)
        resource = Resource("apps", "v1", self.live["kind"], "deployments", True)
        identity = Identity("apps", self.live["kind"], "n", "x")
        self.item = Item(0, identity, "v1", copy.deepcopy(NEW), "hash", Part("p", "c", None, ()), resource)

    def run(self, backup_dir: str | None = None, live: dict[str, Any] | None = None) -> Outcome:
        decision = Decision("recreate", self.item.desired, live or self.live)
        return recreate(cast(Client, self.server), self.clock.monotonic, self.clock.sleep, self.item, decision, backup_dir)

    @property
    def methods(self) -> list[str]:
        return [method for method, _path in self.server.log]


def test_an_object_is_deleted_waited_out_and_created() -> None:
    bench = Bench()
    outcome = bench.run()
    assert outcome.failure is None
    assert outcome.action == "recreate"
    assert bench.methods == ["DELETE", "GET", "PATCH"]
    assert outcome.metadata["uid"] == bench.server.objects[PATH]["metadata"]["uid"] != "old"


@pytest.mark.parametrize(("group", "kind"), sorted(PROTECTED_KINDS))
def test_a_protected_kind_is_never_allowed_not_even_by_name(group: str, kind: str) -> None:
    answer, reason = allowed(Identity(group, kind, "", "x"), [kind, f"{kind}.{group}"])
    assert not answer
    assert "never recreated" in reason


def test_a_kind_is_allowed_only_when_it_is_listed() -> None:
    identity = Identity("apps", "Deployment", "n", "x")
    assert allowed(identity, []) == (False, "")
    assert allowed(identity, ["StatefulSet"]) == (False, "")
    assert allowed(identity, ["Deployment"]) == (True, "")
    assert allowed(identity, ["Deployment.apps"]) == (True, "")
    assert allowed(identity, ["Deployment.other"]) == (False, "")


def test_an_object_that_was_replaced_meanwhile_is_not_deleted() -> None:
    bench = Bench()
    outcome = bench.run(live={**OLD, "metadata": {**OLD["metadata"], "uid": "another"}})  # type: ignore[dict-item]
    assert outcome.failure is not None
    assert outcome.failure.error_class == "conflict_version"
    assert bench.methods == ["DELETE"]
    assert PATH in bench.server.objects and not outcome.written


def test_an_object_whose_successor_is_refused_is_put_back() -> None:
    bench = Bench()
    bench.server.answers = [None, None, status(403, "Forbidden", "exceeded quota: small")]
    outcome = bench.run()
    assert outcome.failure is not None
    assert "the old object was put back" in outcome.failure.message and outcome.written
    restored = bench.server.objects[PATH]
    assert restored["spec"] == OLD["spec"]
    assert "status" not in restored
    assert restored["metadata"]["uid"] != "old"


def test_a_successor_is_tried_again_while_the_trouble_may_pass() -> None:
    bench = Bench()
    down = status(500, "InternalError", 'Internal error occurred: failed calling webhook "x": connection refused')
    bench.server.answers = [None, None, down, down, None]
    outcome = bench.run()
    assert outcome.failure is None
    assert bench.clock.now > 1000


def test_a_webhook_that_stays_down_ends_with_the_old_object_and_no_promise_of_a_retry() -> None:
    bench = Bench()
    down = status(500, "InternalError", 'Internal error occurred: failed calling webhook "x": connection refused')
    bench.server.answers = [None, None, *[down] * 200]
    outcome = bench.run()
    assert bench.clock.now - 1000 <= 125
    assert outcome.failure is not None
    assert "could not be put back" in outcome.failure.message


def test_an_object_held_by_a_finalizer_ends_the_wait_and_names_it() -> None:
    bench = Bench({**OLD, "metadata": {**OLD["metadata"], "finalizers": ["keep.me/here"]}})  # type: ignore[dict-item]
    outcome = bench.run()
    assert outcome.failure is not None
    assert outcome.failure.error_class == "terminating"
    assert "keep.me/here" in outcome.failure.message and outcome.written
    assert "PATCH" not in bench.methods


def test_the_old_object_is_kept_in_a_file_that_only_its_owner_can_read(tmp_path: Path) -> None:
    bench = Bench()
    bench.run(str(tmp_path / "backups"))
    (path,) = (tmp_path / "backups" / "kubeflow-platform").iterdir()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert json.loads(path.read_text())["spec"] == OLD["spec"]


def test_nothing_is_deleted_when_the_old_object_cannot_be_kept(tmp_path: Path) -> None:
    bench = Bench()
    (tmp_path / "file").write_text("in the way")
    outcome = bench.run(str(tmp_path / "file"))
    assert outcome.failure is not None
    assert "`backup_dir`" in str(outcome.failure)
    assert bench.methods == []


def test_a_copy_that_exists_is_not_overwritten(tmp_path: Path) -> None:
    bench = Bench()
    bench.run(str(tmp_path))
    (path,) = (tmp_path / "kubeflow-platform").iterdir()
    path.write_text("first")
    again = Bench()
    again.run(str(tmp_path))
    assert path.read_text() == "first"


def stateful(selector: dict[str, str], **spec: Any) -> dict[str, Any]:
    return {**OLD, "kind": "StatefulSet", "spec": {"selector": {"matchLabels": selector}, **spec}}


def test_pods_go_with_their_workload_but_a_stateful_set_of_the_same_selector_leaves_them_running() -> None:
    assert propagation(OLD) == "Foreground"
    assert propagation({"apiVersion": "v1", "kind": "Service"}) == "Background"
    assert propagation(stateful({"app": "x"}), stateful({"app": "x"})) == "Orphan"
    assert propagation(stateful({"app": "x"}), stateful({"app": "y"})) == "Foreground"


def test_a_stateful_set_whose_deletion_would_delete_its_volumes_is_left() -> None:
    bench = Bench(stateful({"app": "x"}, persistentVolumeClaimRetentionPolicy={"whenDeleted": "Delete"}))
    outcome = bench.run()
    assert outcome.failure is not None
    assert "would delete its volumes" in outcome.failure.message
    assert bench.methods == []


OWN = {"manager": "kubeflow.platform", "operation": "Apply", "fieldsV1": {}}


def occupied(bench: Bench, labels: dict[str, str], *managers: dict[str, Any]) -> None:
    """Somebody makes an object as soon as the old one is gone."""
    taker = {**OLD, "metadata": {"name": "x", "namespace": "n", "uid": "taker", "labels": labels, "managedFields": list(managers)}}
    bench.item.desired["metadata"]["labels"] = {"kubeflow.platform/set": "kubeflow"}
    bench.server.on_delete = lambda: bench.server.put(PATH, taker)


def test_place_that_another_set_took_meanwhile_is_left_to_it() -> None:
    bench = Bench()
    occupied(bench, {"kubeflow.platform/set": "monitoring"}, OWN)
    outcome = bench.run()
    assert outcome.failure is not None and outcome.failure.error_class == "foreign_set"
    assert bench.server.objects[PATH]["metadata"]["uid"] == "taker" and bench.server.objects[PATH]["spec"] == OLD["spec"]


def test_place_that_a_controller_took_meanwhile_is_overruled() -> None:
    bench = Bench()
    occupied(bench, {})
    outcome = bench.run()
    assert outcome.failure is None and bench.server.objects[PATH]["spec"] == NEW["spec"]


def test_successor_whose_answer_was_lost_is_not_sent_again() -> None:
    bench = Bench()
    bench.server.answers = [None, None, Unreachable("connection reset", "reset")]
    occupied(bench, {"kubeflow.platform/set": "kubeflow"}, OWN)
    outcome = bench.run()
    assert outcome.failure is None and outcome.metadata["uid"] == "taker"
    assert bench.methods == ["DELETE", "GET", "PATCH", "PATCH", "GET"]


def test_copy_has_a_name_that_a_file_can_have_when_the_objects_name_is_long(tmp_path: Path) -> None:
    names = ["a" * 253, "a" * 252 + "b"]
    paths = [
        Path(backup.keep(str(tmp_path), Identity("long-group.example.org", "Kind", "n" * 63, name), {"metadata": {"uid": "u" * 36}}))
        for name in names
    ]
    assert len(set(paths)) == 2
    assert all(len(path.name.encode()) <= 255 and path.is_file() and path.suffix == ".json" for path in paths)
    again = backup.keep(str(tmp_path), Identity("long-group.example.org", "Kind", "n" * 63, names[0]), {"metadata": {"uid": "u" * 36}})
    assert again == str(paths[0])
