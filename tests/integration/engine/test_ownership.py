# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whose field it is: drift is mended, other people's additions stay, controllers are yielded to, strangers are reported."""

from __future__ import annotations

import copy
import json
import time
from typing import Any

import yaml

from . import objects
from .conftest import Place
from .driver import attempts, eventually, named, persisted


def rows(place: Place) -> list[objects.Object]:
    return [
        objects.namespace(place.name),
        *objects.config_maps(place.name, 3),
        objects.deployment(place.name, "app"),
        objects.service(place.name, "front", "app"),
    ]


def apply_as(place: Place, manager: str, content: objects.Object, *, force: bool = False) -> None:
    """Server-side apply by another program."""
    options = ["--force-conflicts"] if force else []
    place.bed.kubectl("apply", "--server-side", f"--field-manager={manager}", *options, "-f", "-", stdin=json.dumps(content))


def update_as(place: Place, manager: str, kind: str, name: str, patch: dict[str, Any] | list[Any], *where: str) -> None:
    """A write by another program that does not apply."""
    how = "json" if isinstance(patch, list) else "strategic"
    if kind.lower().startswith(("validating", "mutating", "clusterrole", "custom")) and how == "strategic":
        how = "merge"
    place.bed.kubectl("patch", kind, name, *where, f"--type={how}", f"--field-manager={manager}", "-p", json.dumps(patch))


def test_drift_is_shown_exactly_and_mended_while_additions_of_others_stay(place: Place) -> None:
    desired = rows(place)
    place.engine.succeeds(desired)
    there = ("-n", place.name)
    update_as(place, "kubectl-edit", "configmap", "plain-0", {"data": {"key": "edited by hand"}}, *there)
    place.bed.kubectl("label", "deployment", "app", "team=blue", *there)
    place.bed.kubectl("annotate", "deployment", "app", "note=mine", *there)
    place.bed.kubectl("set", "image", "deployment/app", "main=registry.example/app:hacked", *there)
    place.bed.kubectl("delete", "configmap", "plain-2", *there)
    plan = place.engine(desired, check=True, diff=True)
    expected = {"ConfigMap plain-0": "configure", "ConfigMap plain-2": "create", "Deployment app": "configure"}
    assert plan.actions() == expected
    assert plan.action("ConfigMap", "plain-0")["paths"] == [".data.key"]
    assert plan.action("Deployment", "app")["paths"] == ['.spec.template.spec.containers[name="main"].image']
    diffs = {entry["after_header"]: entry for entry in plan.json["diff"]}
    assert len(diffs) == 3
    (edited,) = [entry for header, entry in diffs.items() if "plain-0" in header]
    before, after = yaml.safe_load(edited["before"]), yaml.safe_load(edited["after"])
    assert (before["data"], after["data"]) == ({"key": "edited by hand"}, {"key": "value"})
    (app,) = [entry for header, entry in diffs.items() if "Deployment" in header]
    assert app["before"].replace("app:hacked", "app:1") == app["after"]
    done = place.engine.succeeds(desired)
    assert done.actions() == expected
    live = place.bed.get("deployment", "app", *there)
    assert live["metadata"]["labels"]["team"] == "blue"
    assert live["metadata"]["annotations"]["note"] == "mine"
    assert live["spec"]["template"]["spec"]["containers"][0]["image"] == "registry.example/app:1"
    assert not place.engine.succeeds(desired).changed


def test_field_that_is_no_longer_rendered_goes_unless_another_manager_has_it_too(place: Place) -> None:
    desired = rows(place)
    named(desired, "ConfigMap", "plain-0")["data"] = {"key": "value", "ours": "1", "shared": "2"}
    place.engine.succeeds(desired)
    apply_as(
        place,
        "another",
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "plain-0", "namespace": place.name}, "data": {"shared": "2"}},
    )
    named(desired, "ConfigMap", "plain-0")["data"] = {"key": "value"}
    assert place.engine.succeeds(desired).actions() == {"ConfigMap plain-0": "configure"}
    assert place.bed.get("configmap", "plain-0", "-n", place.name)["data"] == {"key": "value", "shared": "2"}


def test_conflict_with_an_unknown_program_is_reported_and_takeover_overrules_it(place: Place) -> None:
    desired = rows(place)
    place.engine.succeeds(desired)
    update_as(place, "stranger", "configmap", "plain-0", {"data": {"key": "theirs"}}, "-n", place.name)
    for check in (True, False):
        result = place.engine(desired, check=check)
        assert result.failed
        failure = result.failures()["ConfigMap plain-0"]
        assert failure["class"] == "conflict_owner"
        assert ".data.key by stranger" in failure["reason"]
        assert "takeover" in failure["what_to_do"]
        assert not result.changed
    assert place.bed.get("configmap", "plain-0", "-n", place.name)["data"] == {"key": "theirs"}
    result = place.engine.succeeds(desired, takeover=["stranger"])
    assert result.actions() == {"ConfigMap plain-0": "configure"}
    assert place.bed.get("configmap", "plain-0", "-n", place.name)["data"] == {"key": "value"}
    assert not place.engine.succeeds(desired).changed


def test_platform_that_kubectl_made_is_reported_then_adopted_without_touching_pods(place: Place) -> None:
    desired = rows(place)
    stale = copy.deepcopy(desired)
    named(stale, "ConfigMap", "plain-1")["data"]["stale"] = "of an older release"
    for row in stale:
        apply_as(place, "kubectl", row)
    before = place.bed.audit().end
    refused = place.engine.fails(desired)
    assert "applied by another tool" in refused.message
    assert "`adopt: allow`" in refused.message
    assert persisted(place.bed.audit(before), ledger=True) == []
    pod = place.bed.get("deployment", "app", "-n", place.name)["metadata"]["generation"]
    plan = place.engine(desired, check=True, adopt="allow")
    done = place.engine.succeeds(desired, adopt="allow")
    assert done.actions() == plan.actions()
    assert set(done.actions().values()) == {"adopt", "configure"}
    assert done.action("ConfigMap", "plain-1")["paths"] == [".data.stale", ".metadata.labels"], "what goes is told before it goes"
    assert done.action("ConfigMap", "plain-0")["action"] == "adopt"
    assert place.bed.get("deployment", "app", "-n", place.name)["metadata"]["generation"] == pod
    assert "stale" not in place.bed.get("configmap", "plain-1", "-n", place.name)["data"]
    assert not place.engine.succeeds(desired).changed


def test_platform_that_older_kubectl_made_is_adopted_without_counting_defaults_as_losses(place: Place) -> None:
    """Client-side apply: the tool holds every default of the server, and an annotation of its own."""
    desired = rows(place)
    for row in desired:
        place.bed.kubectl("apply", "-f", "-", stdin=json.dumps(row))
    plan = place.engine(desired, check=True, adopt="allow", diff=True)
    done = place.engine.succeeds(desired, adopt="allow")
    assert done.actions() == plan.actions()
    assert set(done.actions().values()) == {"adopt"}
    for kind, name in (("configmap", "plain-0"), ("deployment", "app")):
        live = json.loads(place.bed.kubectl("get", kind, name, "-n", place.name, "--show-managed-fields", "-o", "json").stdout)
        assert "kubectl.kubernetes.io/last-applied-configuration" not in live["metadata"].get("annotations", {})
        assert not [row for row in live["metadata"]["managedFields"] if row["manager"].startswith("kubectl")]
    assert len(place.bed.get("replicasets", "-n", place.name)["items"]) == 1, "no pod is made anew"
    assert not place.engine.succeeds(desired).changed


def test_aggregated_role_keeps_its_rules_through_every_run(place: Place) -> None:
    label = f"aggregate-to-{place.name}"
    rbac = "rbac.authorization.k8s.io/v1"
    whole = {
        "apiVersion": rbac,
        "kind": "ClusterRole",
        "metadata": {"name": place.name},
        "aggregationRule": {"clusterRoleSelectors": [{"matchLabels": {label: "true"}}]},
        "rules": [],
    }
    piece = {
        "apiVersion": rbac,
        "kind": "ClusterRole",
        "metadata": {"name": f"{place.name}-piece", "labels": {label: "true"}},
        "rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}],
    }
    place.engine.succeeds([whole, piece])
    assert eventually(lambda: place.bed.get("clusterrole", place.name)["rules"])
    version = place.bed.get("clusterrole", place.name)["metadata"]["resourceVersion"]
    for check in (True, False):
        result = place.engine([whole, piece], check=check, diff=True)
        assert not result.failed
        assert not result.changed
        assert not result.json.get("diff")
    piece["rules"][0]["verbs"] = ["get", "list"]
    assert place.engine.succeeds([whole, piece]).actions() == {f"ClusterRole {place.name}-piece": "configure"}
    assert eventually(lambda: place.bed.get("clusterrole", place.name)["rules"][0]["verbs"] == ["get", "list"])
    assert not place.engine.succeeds([whole, piece]).changed
    history = [
        row for row in place.bed.audit().by(agent="kubeflow.platform").writes() if row.name == place.name and row.resource == "clusterroles"
    ]
    assert len(history) == 1
    assert version


def test_what_the_cluster_fills_in_is_no_change(place: Place) -> None:
    """caBundle filled and failurePolicy turned by controllers, as istiod does with its validator."""
    name = f"istio-validator-{place.name}"
    desired = [
        objects.namespace(place.name),
        objects.service(place.name, "istiod"),
        objects.deployment(place.name, "istiod"),
        objects.crd(place.group),
        objects.webhook(name, place.name, "istiod", place.group, failurePolicy="Ignore"),
    ]
    place.engine.succeeds(desired)

    def policies() -> list[str]:
        found = place.bed.get("validatingwebhookconfiguration", name)["webhooks"]
        return [row["failurePolicy"] for row in found if row["clientConfig"].get("caBundle")]

    assert eventually(lambda: policies() == ["Fail"])
    for check in (True, False):
        result = place.engine(desired, check=check, diff=True)
        assert not result.failed, result.message
        assert not result.changed, result.actions()
        assert not result.json.get("diff")
    desired[-1]["webhooks"][0]["timeoutSeconds"] = 3
    changed = place.engine.succeeds(desired, diff=True)
    assert changed.action("ValidatingWebhookConfiguration", name)["paths"] == [f'.webhooks[name="judge.{name}.example.org"].timeoutSeconds']
    assert policies() == ["Fail"], "a yielded field is never written back"
    place.bed.kubectl("delete", "validatingwebhookconfiguration", name)


def test_replicas_that_an_autoscaler_set_stay(place: Place) -> None:
    desired = rows(place)
    place.engine.succeeds(desired)
    update_as(
        place, "kube-controller-manager", "deployment", "app", [{"op": "replace", "path": "/spec/replicas", "value": 3}], "-n", place.name
    )
    for _run in range(2):
        result = place.engine.succeeds(desired)
        assert not result.changed, result.actions()
    assert place.bed.get("deployment", "app", "-n", place.name)["spec"]["replicas"] == 3


def test_big_crd_that_was_applied_client_side_loses_the_annotation_once(place: Place) -> None:
    """Beyond 256 kB a CRD can only have come there by create; kubectl apply of a smaller one left its annotation."""
    big = objects.crd(place.group, description="x" * 300_000)
    small = objects.crd(place.group, description="y" * 200_000)
    place.bed.kubectl("apply", "-f", "-", stdin=json.dumps(small))
    last = "kubectl.kubernetes.io/last-applied-configuration"
    assert last in place.bed.get("crd", f"widgets.{place.group}")["metadata"]["annotations"]
    result = place.engine.succeeds([big], adopt="allow")
    assert result.changed
    assert last not in place.bed.get("crd", f"widgets.{place.group}")["metadata"].get("annotations", {})
    before = place.bed.audit().end
    assert not place.engine.succeeds([big]).changed
    assert attempts(place.bed.audit(before), "customresourcedefinitions", f"widgets.{place.group}", dry_run=True) == 0
    assert persisted(place.bed.audit(before), ledger=True) == []


def test_third_run_writes_nothing_at_all_but_its_lease(place: Place) -> None:
    desired = objects.platform(place.name, place.group)
    place.engine.succeeds(desired)
    place.engine.succeeds(desired)
    time.sleep(1)
    before = place.bed.audit().end
    result = place.engine.succeeds(desired)
    assert not result.changed
    assert persisted(place.bed.audit(before), ledger=True) == []
    assert result.json["requests"].get("PATCH dry-run", 0) <= 3, "only webhooks are asked"


def test_check_mode_on_an_empty_cluster_predicts_the_install_and_writes_nothing(place: Place) -> None:
    desired = objects.platform(place.name, place.group)
    before = place.bed.audit().end
    plan = place.engine(desired, check=True, diff=True)
    assert not plan.failed, plan.message
    assert plan.changed
    log = place.bed.audit(before)
    assert log.by(agent="kubeflow.platform").writes() == []
    done = place.engine.succeeds(desired)
    assert done.actions() == plan.actions()


def test_result_does_not_depend_on_order_or_workers(place: Place) -> None:
    desired = objects.platform(place.name, place.group)
    place.engine.succeeds(list(reversed(desired)), workers=1)
    for workers in (2, 16):
        assert not place.engine.succeeds(desired[3:] + desired[:3], workers=workers).changed
