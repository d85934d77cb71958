# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the server refuses for good: each object fails once, by name, and everything else is applied."""

from __future__ import annotations

import copy
import json
from pathlib import Path

import pytest
import yaml

from . import objects
from .conftest import Place
from .driver import attempts, eventually, named, persisted


def test_wrong_field_fails_its_object_at_once_and_others_are_applied(place: Place) -> None:
    rows = [objects.namespace(place.name), *objects.config_maps(place.name, 10), objects.deployment(place.name, "app")]
    broken = objects.deployment(place.name, "broken")
    broken["spec"]["template"]["spec"]["contaners"] = []
    before = place.bed.audit().end
    result = place.engine.fails([*rows, broken])
    (failure,) = result.failures().values()
    assert (failure["class"], failure["attempts"]) == ("schema", 1)
    assert ".spec.template.spec.contaners" in failure["reason"]
    assert f"Deployment {place.name}/broken" in result.message
    assert result.counts["create"] == len(rows)
    assert attempts(place.bed.audit(before), "deployments", "broken") == 1


def test_on_failure_stop_sends_nothing_after_the_first_failure(place: Place) -> None:
    broken = objects.config_map(place.name, "a-broken")
    broken["dataata"] = {}
    late = [objects.deployment(place.name, f"app-{number}") for number in range(5)]
    result = place.engine.fails([objects.namespace(place.name), broken, *late], on_failure="stop", workers=1)
    assert result.failures()["ConfigMap a-broken"]["class"] == "schema"
    assert result.counts["skipped"] == len(late)
    assert "on_failure=stop" in result.failures()["Deployment app-0"]["reason"]


def test_custom_resource_that_its_own_new_crd_refuses_is_never_sent(place: Place) -> None:
    rows = [objects.namespace(place.name), objects.crd(place.group), objects.widget(place.group, place.name, size="many")]
    before = place.bed.audit().end
    result = place.engine.fails(rows)
    assert result.failures()["Widget first"]["class"] == "schema"
    assert "spec.size" in result.failures()["Widget first"]["reason"]
    assert attempts(place.bed.audit(before), "widgets", "first") == 0


def test_object_whose_crd_fails_is_skipped_and_says_why(place: Place) -> None:
    broken = objects.crd(place.group)
    broken["spec"]["names"]["plural"] = "other"
    result = place.engine.fails(
        [objects.namespace(place.name), broken, objects.widget(place.group, place.name), objects.config_map(place.name, "x")]
    )
    assert result.failures()["CustomResourceDefinition " + broken["metadata"]["name"]]["class"] == "invalid"
    assert result.failures()["Widget first"]["class"] == "skipped"
    assert "CustomResourceDefinition" in result.failures()["Widget first"]["reason"]
    assert result.counts["create"] == 2


def with_selector(place: Place) -> list[objects.Object]:
    """A Deployment whose selector cannot become this one."""
    rows = [objects.namespace(place.name), *objects.config_maps(place.name, 3), objects.deployment(place.name, "app", tier="one")]
    named(rows, "Deployment")["spec"]["selector"]["matchLabels"] = {"app": "app", "tier": "one"}
    rows[1]["data"] = {"key": "changed"}
    return rows


def installed(place: Place) -> list[objects.Object]:
    rows = [objects.namespace(place.name), *objects.config_maps(place.name, 3), objects.deployment(place.name, "app")]
    place.engine.succeeds(rows)
    return rows


def test_immutable_field_is_told_apart_from_an_invalid_one_and_stops_before_any_write(place: Place) -> None:
    installed(place)
    before = place.bed.audit().end
    result = place.engine.fails(with_selector(place))
    assert f"Deployment {place.name}/app" in result.message
    assert "immutable" in result.message
    assert "`recreate`" in result.message
    assert "Nothing of the set was written" in result.message
    assert persisted(place.bed.audit(before), ledger=True) == []
    invalid = with_selector(place)
    named(invalid, "Deployment")["spec"]["template"]["metadata"]["labels"] = {"app": "another"}
    result = place.engine.fails(invalid)
    assert result.failures()["Deployment app"]["class"] == "invalid"
    assert "recreate" not in result.failures()["Deployment app"]["what_to_do"]


def test_immutable_field_is_planned_in_check_mode(place: Place) -> None:
    installed(place)
    before = place.bed.audit().end
    result = place.engine(with_selector(place), check=True, diff=True, recreate=["Deployment"])
    assert not result.failed, result.message
    assert result.actions() == {"Deployment app": "recreate", "ConfigMap plain-0": "configure"}
    assert any("selector" in path for path in result.action("Deployment", "app")["paths"])
    assert persisted(place.bed.audit(before), ledger=True) == []


def test_immutable_field_is_recreated_where_its_kind_is_allowed(place: Place, tmp_path: Path) -> None:
    installed(place)
    old = place.bed.get("deployment", "app", "-n", place.name)["metadata"]["uid"]
    result = place.engine.succeeds(with_selector(place), recreate=["Deployment"], backup_dir=str(tmp_path / "backup"))
    assert result.actions() == {"Deployment app": "recreate", "ConfigMap plain-0": "configure"}
    live = place.bed.get("deployment", "app", "-n", place.name)
    assert live["metadata"]["uid"] != old
    assert live["spec"]["selector"]["matchLabels"] == {"app": "app", "tier": "one"}
    (kept,) = (tmp_path / "backup").rglob("*app*")
    assert json.loads(kept.read_text(encoding="utf-8"))["metadata"]["uid"] == old
    assert not place.engine.succeeds(with_selector(place)).changed


def test_claim_is_never_recreated_whatever_is_allowed(place: Place) -> None:
    rows = [objects.namespace(place.name), objects.claim(place.name, "data", "2Gi")]
    place.engine.succeeds(rows)
    uid = place.bed.get("pvc", "data", "-n", place.name)["metadata"]["uid"]
    changed = copy.deepcopy(rows)
    named(changed, "PersistentVolumeClaim")["spec"]["accessModes"] = ["ReadWriteMany"]
    before = place.bed.audit().end
    result = place.engine.fails(changed, recreate=["PersistentVolumeClaim"])
    assert f"PersistentVolumeClaim {place.name}/data" in result.message
    assert "never recreated" in result.message
    assert persisted(place.bed.audit(before), ledger=True) == []
    assert place.bed.get("pvc", "data", "-n", place.name)["metadata"]["uid"] == uid


def test_transition_rule_of_a_crd_counts_as_immutable(place: Place) -> None:
    rows = [objects.namespace(place.name), objects.crd(place.group), objects.widget(place.group, place.name, fixed="one")]
    place.engine.succeeds(rows)
    rows[-1]["spec"]["fixed"] = "two"
    assert "it is what it is" in place.engine.fails(rows).message
    assert place.engine.succeeds(rows, recreate=["Widget"]).actions() == {"Widget first": "recreate"}


def test_exhausted_quota_fails_its_objects_with_used_and_limit(place: Place) -> None:
    place.bed.kubectl("create", "namespace", place.name)
    place.bed.kubectl("create", "quota", "few", "--hard=configmaps=3", "-n", place.name)
    assert eventually(lambda: place.bed.get("quota", "few", "-n", place.name).get("status", {}).get("used"))
    rows = [*objects.config_maps(place.name, 4), objects.secret(place.name, "free", key="of-the-quota")]
    result = place.engine.fails(rows)
    failures = result.failures().values()
    assert {row["class"] for row in failures} == {"quota"}
    assert all(
        "few is exhausted" in row["reason"] and "limited to configmaps=3" in row["reason"] and row["attempts"] == 1 for row in failures
    )
    assert result.action("Secret", "free")["action"] == "create"


def test_quota_that_keeps_pods_from_starting_ends_the_wait(place: Place) -> None:
    place.bed.kubectl("create", "namespace", place.name)
    place.bed.kubectl("create", "quota", "none", "--hard=pods=0", "-n", place.name)
    result = place.engine.fails([objects.deployment(place.name, "app"), objects.config_map(place.name, "other")], run_timeout=60)
    assert result.seconds < 40
    assert result.counts["create"] == 2
    assert "quota" in result.message


def user(place: Place, tmp_path: Path, *rules: objects.Object) -> Path:
    """A kubeconfig of somebody who may read everything, and write what the rules say."""
    name = place.name
    rules = (
        {"apiGroups": ["*"], "resources": ["*"], "verbs": ["get", "list", "watch"]},
        {"nonResourceURLs": ["*"], "verbs": ["get"]},
        *rules,
    )
    role = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": f"user-{name}"}, "rules": list(rules)}
    binding = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": f"user-{name}"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": f"user-{name}"},
        "subjects": [{"kind": "ServiceAccount", "namespace": "default", "name": f"user-{name}"}],
    }
    account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": f"user-{name}", "namespace": "default"}}
    rows = [role, binding, account]
    place.bed.kubectl("apply", "-f", "-", stdin="\n---\n".join(map(json.dumps, rows)))
    token = place.bed.kubectl("create", "token", f"user-{name}", "-n", "default").stdout.strip()
    config = yaml.safe_load(place.bed.kubeconfig.read_text(encoding="utf-8"))
    config["users"] = [{"name": entry["name"], "user": {"token": token}} for entry in config["users"]]
    path = tmp_path / "restricted.kubeconfig"
    path.write_text(yaml.safe_dump(config), encoding="utf-8")
    return path


HOUSEKEEPING = (
    {"apiGroups": ["coordination.k8s.io"], "resources": ["leases"], "verbs": ["create", "update"]},
    {"apiGroups": [""], "resources": ["secrets"], "verbs": ["create", "update"]},
    {"apiGroups": [""], "resources": ["namespaces"], "verbs": ["create", "patch"]},
)


def test_refusals_of_permission_are_all_collected_with_one_role_that_mends_them(place: Place, tmp_path: Path) -> None:
    rows = [
        objects.namespace(place.name),
        *objects.config_maps(place.name, 3),
        objects.service(place.name, "front"),
        objects.deployment(place.name, "app"),
        objects.crd(place.group),
        objects.widget(place.group, place.name),
    ]
    engine = place.engine.through(user(place, tmp_path, *HOUSEKEEPING))
    result = engine.fails(rows)
    failures = result.failures()
    assert {row["class"] for name, row in failures.items() if not name.startswith("Widget")} == {"rbac"}
    assert len(failures) == len(rows) - 1
    role = result.json["missing_permissions"]
    assert role["kind"] == "ClusterRole"
    missing = {(group, resource) for rule in role["rules"] for group in rule["apiGroups"] for resource in rule["resources"]}
    assert missing == {("", "configmaps"), ("", "services"), ("apps", "deployments"), ("apiextensions.k8s.io", "customresourcedefinitions")}


def test_role_that_is_printed_does_mend_the_refusals(place: Place, tmp_path: Path) -> None:
    rows = [objects.namespace(place.name), *objects.config_maps(place.name, 3), objects.service(place.name, "front")]
    result = place.engine.through(user(place, tmp_path, *HOUSEKEEPING)).fails(rows)
    role = result.json["missing_permissions"]
    mended = place.engine.through(user(place, tmp_path, *HOUSEKEEPING, *role["rules"]))
    for _turn in range(3):  # permissions may hide behind others
        result = mended(rows)
        if not result.failed:
            return
        role["rules"] += result.json["missing_permissions"]["rules"]
        mended = place.engine.through(user(place, tmp_path, *HOUSEKEEPING, *role["rules"]))
    pytest.fail(result.message)


def test_kinds_that_may_not_be_read_are_all_named_before_any_write(place: Place, tmp_path: Path) -> None:
    path = user(place, tmp_path, *HOUSEKEEPING)
    readable = {"apiGroups": ["", "coordination.k8s.io"], "resources": ["namespaces", "secrets", "leases"], "verbs": ["get", "list"]}
    narrow = [readable, *HOUSEKEEPING]
    place.bed.kubectl("patch", "clusterrole", f"user-{place.name}", "--type=merge", "-p", json.dumps({"rules": narrow}))
    before = place.bed.audit().end
    rows = [objects.namespace(place.name), objects.config_map(place.name, "x"), objects.service(place.name, "y")]
    result = place.engine.through(path).fails(rows)
    for words in ("may not list configmaps", "may not list services"):
        assert words in result.message
    assert result.json["missing_permissions"]["rules"] == [
        {"apiGroups": [""], "resources": ["configmaps", "services"], "verbs": ["get", "list"]}
    ]
    assert persisted(place.bed.audit(before)) == []
