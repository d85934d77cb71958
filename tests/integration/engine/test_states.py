# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Objects and namespaces that are being deleted, CRDs that lose versions, and what is no longer desired."""

from __future__ import annotations

import json

from . import objects
from .conftest import Place
from .driver import Part, eventually, persisted

FINALIZER = "test.example.org/hold"


def hold(place: Place, kind: str, name: str, *where: str) -> None:
    place.bed.kubectl("patch", kind, name, *where, "--type=merge", "-p", json.dumps({"metadata": {"finalizers": [FINALIZER]}}))


def let_go(place: Place, kind: str, name: str, *where: str) -> None:
    place.bed.kubectl("patch", kind, name, *where, "--type=merge", "-p", '{"metadata": {"finalizers": null}}')


def held_namespace(place: Place) -> list[objects.Object]:
    """A namespace of the set that is being deleted and cannot end, since an object in it is held."""
    rows = [objects.namespace(place.name), *objects.config_maps(place.name, 3)]
    place.engine.succeeds(rows)
    hold(place, "configmap", "plain-0", "-n", place.name)
    place.bed.kubectl("delete", "namespace", place.name, "--wait=false")
    assert eventually(lambda: "deletionTimestamp" in place.bed.get("namespace", place.name)["metadata"])
    assert eventually(lambda: len(place.bed.get("configmaps", "-n", place.name)["items"]) <= 1)
    return rows


def test_namespace_that_is_being_deleted_is_waited_for_and_made_again(place: Place) -> None:
    rows = held_namespace(place)
    run = place.engine.start(rows)
    assert not eventually(lambda: not run.alive, 3)
    let_go(place, "configmap", "plain-0", "-n", place.name)
    result = run.finish()
    assert not result.failed, result.message
    assert result.counts == {"create": len(rows)}
    assert "deletionTimestamp" not in place.bed.get("namespace", place.name)["metadata"]
    assert not place.engine.succeeds(rows).changed


def test_namespace_that_cannot_be_deleted_is_explained_at_the_deadline(place: Place) -> None:
    rows = held_namespace(place)
    result = place.engine.fails([*rows, objects.namespace(f"{place.name}-other")], run_timeout=5)
    assert result.action("Namespace", f"{place.name}-other")["action"] == "create"
    reason = result.failures()[f"Namespace {place.name}"]["reason"]
    assert "being deleted" in reason
    assert FINALIZER in result.message + json.dumps(result.json["failed_objects"]) + json.dumps(result.json["findings"])
    let_go(place, "configmap", "plain-0", "-n", place.name)


def test_namespace_that_is_being_deleted_is_told_in_check_mode(place: Place) -> None:
    rows = held_namespace(place)
    before = place.bed.audit().end
    result = place.engine(rows, check=True)
    assert "being deleted" in result.all_text()
    assert persisted(place.bed.audit(before), ledger=True) == []
    let_go(place, "configmap", "plain-0", "-n", place.name)


def test_object_that_is_being_deleted_is_no_success_until_it_is_made_again(place: Place) -> None:
    rows = [objects.namespace(place.name), *objects.config_maps(place.name, 2)]
    place.engine.succeeds(rows)
    hold(place, "configmap", "plain-1", "-n", place.name)
    place.bed.kubectl("delete", "configmap", "plain-1", "-n", place.name, "--wait=false")
    run = place.engine.start(rows)
    assert not eventually(lambda: not run.alive, 2)
    let_go(place, "configmap", "plain-1", "-n", place.name)
    result = run.finish()
    assert not result.failed, result.message
    assert result.actions() == {"ConfigMap plain-1": "create"}


def test_crd_that_drops_a_version_with_stored_objects_is_refused_with_the_way_out(place: Place) -> None:
    old = objects.crd(place.group, versions=("v1", "v2"))
    rows = [objects.namespace(place.name), old, objects.widget(place.group, place.name)]
    place.engine.succeeds(rows)
    new = objects.crd(place.group, versions=("v2",))
    newer = objects.widget(place.group, place.name)
    newer["apiVersion"] = f"{place.group}/v2"
    wanted = [rows[0], new, newer, objects.config_map(place.name, "other")]
    before = place.bed.audit().end
    plan = place.engine(wanted, check=True)
    failure = plan.failures()[f"CustomResourceDefinition widgets.{place.group}"]
    assert "v1" in failure["reason"]
    assert "storedVersions" in failure["what_to_do"]
    result = place.engine.fails(wanted)
    assert "v1" in result.message
    assert "storedVersions" in result.message
    assert persisted(place.bed.audit(before), ledger=True) == []
    served = [row["name"] for row in place.bed.get("crd", f"widgets.{place.group}")["spec"]["versions"]]
    assert served == ["v1", "v2"]


def release(place: Place) -> list[objects.Object]:
    return [
        objects.namespace(place.name),
        *objects.config_maps(place.name, 12),
        objects.claim(place.name, "data"),
        objects.crd(place.group),
        objects.service(place.name, "front"),
    ]


def without(rows: list[objects.Object], *names: str) -> list[objects.Object]:
    return [row for row in rows if row["metadata"]["name"] not in names]


def test_what_the_next_release_lacks_is_reported_then_deleted_but_never_data(place: Place) -> None:
    rows = release(place)
    place.engine.succeeds(rows)
    alike = objects.config_map(place.name, "alike")
    alike["metadata"]["labels"] = {"kubeflow.platform/set": place.name}
    place.bed.kubectl("create", "-f", "-", stdin=json.dumps(alike))
    crd = f"widgets.{place.group}"
    fewer = without(rows, "plain-7", "data", crd)
    reported = place.engine.succeeds(fewer)
    assert not reported.changed
    assert reported.actions() == {
        "ConfigMap plain-7": "keep",
        "PersistentVolumeClaim data": "keep",
        f"CustomResourceDefinition {crd}": "keep",
    }
    planned = place.engine(fewer, check=True, prune="delete")
    assert planned.actions()["ConfigMap plain-7"] == "prune"
    assert place.bed.get("configmap", "plain-7", "-n", place.name)
    done = place.engine.succeeds(fewer, prune="delete")
    assert done.changed
    assert done.actions() == {"ConfigMap plain-7": "prune", "PersistentVolumeClaim data": "keep", f"CustomResourceDefinition {crd}": "keep"}
    names = {row["metadata"]["name"] for row in place.bed.get("configmaps", "-n", place.name)["items"]}
    assert "plain-7" not in names
    assert {"plain-6", "alike"} <= names
    assert place.bed.get("pvc", "data", "-n", place.name)
    assert place.bed.get("crd", crd)
    assert not place.engine.succeeds(fewer, prune="delete").changed


def test_nothing_is_pruned_after_a_failure_or_from_a_broken_render(place: Place) -> None:
    rows = release(place)
    place.engine.succeeds(rows)
    broken = objects.config_map(place.name, "broken")
    broken["dataata"] = {}
    place.engine.fails([*without(rows, "plain-7"), broken], prune="delete")
    assert place.bed.get("configmap", "plain-7", "-n", place.name)
    result = place.engine.succeeds(rows[:1], prune="delete")
    assert "prune" not in result.counts
    assert len(place.bed.get("configmaps", "-n", place.name)["items"]) == 13


def test_object_that_was_made_anew_by_somebody_else_is_not_pruned(place: Place) -> None:
    rows = release(place)
    place.engine.succeeds(rows)
    place.bed.kubectl("delete", "configmap", "plain-7", "-n", place.name)
    place.bed.kubectl("create", "configmap", "plain-7", "-n", place.name)
    result = place.engine.succeeds(without(rows, "plain-7"), prune="delete")
    assert result.actions() == {"ConfigMap plain-7": "keep"}
    assert place.bed.get("configmap", "plain-7", "-n", place.name)


def test_component_goes_only_when_it_is_named(place: Place) -> None:
    parts = [
        Part([objects.namespace(place.name), objects.config_map(place.name, "base")], "base"),
        Part([objects.config_map(place.name, "extra"), objects.deployment(place.name, "extra")], "extra"),
    ]
    place.engine.succeeds(parts)
    kept = place.engine.succeeds(parts[:1], prune="delete")
    assert not kept.changed
    gone = place.engine.succeeds(parts[:1], prune="delete", removed=["extra"])
    assert gone.actions() == {"ConfigMap extra": "prune", "Deployment extra": "prune"}
    assert eventually(lambda: place.bed.get("pods", "-n", place.name)["items"] == [])


def test_webhook_configuration_goes_before_what_answers_for_it(place: Place) -> None:
    rows = objects.platform(place.name, place.group)
    place.engine.succeeds([Part(rows[:7] + rows[10:], "base"), Part(rows[7:10], "guard")])
    before = place.bed.audit().end
    place.engine.succeeds([Part(rows[:7] + rows[10:], "base")], prune="delete", removed=["guard"])
    deleted = [row.resource for row in place.bed.audit(before).by(agent="kubeflow.platform").requests if row.verb == "delete"]
    assert deleted[0] == "validatingwebhookconfigurations"
    assert set(deleted) == {"validatingwebhookconfigurations", "services", "deployments"}


def test_pruned_object_that_a_finalizer_holds_stays_recorded_until_it_is_gone(place: Place) -> None:
    rows = release(place)
    place.engine.succeeds(rows)
    hold(place, "configmap", "plain-7", "-n", place.name)
    result = place.engine.fails(without(rows, "plain-7"), prune="delete", run_timeout=5)
    assert result.seconds < 15
    assert FINALIZER in result.failures()["ConfigMap plain-7"]["reason"]
    let_go(place, "configmap", "plain-7", "-n", place.name)
    assert eventually(lambda: place.bed.kubectl("get", "configmap", "plain-7", "-n", place.name, check=False).returncode)
    assert not place.engine.succeeds(without(rows, "plain-7"), prune="delete").changed
