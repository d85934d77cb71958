# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Profiles as data on a real API server: made, left alone, handed over, adopted, taken away."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.integration.tenancy.driver import Kfam, KfamError, Platform

pytestmark = pytest.mark.bed

ALICE, BOB, EVE = "alice@example.com", "bob@example.com", "eve@example.com"
PEM = "-----BEGIN CERTIFICATE-----\nTUlJ\n-----END CERTIFICATE-----\n"
EVERYTHING: dict[str, Any] = {
    "owner": {"name": ALICE},
    "contributors": [
        {"name": BOB},
        {"name": "Carol.C@example.com", "role": "view"},
        {"name": "dan@example.com", "role": "admin"},
        {"name": "science", "kind": "Group"},
    ],
    "quota": {"cpu": "4000m", "memory": "8Gi"},
    "labels": {"cost-centre": "7"},
    "annotations": {"example.com/contact": "x"},
    "pod_security": "baseline",
    "image_pull_secrets": ["registry"],
    "limits": {"default": {"cpu": "1000m", "memory": "1024Mi"}, "min": {"cpu": "10m"}},
    "network_policy": {"isolated": True},
    "pod_defaults": {
        "pip_index": {"url": "https://pypi.example.com/simple"},
        "ca": {"certificate": PEM},
        "proxy": {"http": "http://proxy.example.com:3128", "no_proxy": ".svc"},
        "own": [{"name": "mine", "spec": {"selector": {"matchLabels": {"mine": "true"}}, "env": [{"name": "A", "value": "1"}]}}],
    },
}


def writes(platform: Platform, since: int) -> list[str]:
    """What our modules persisted since a point of the audit log."""
    return [str(row) for row in platform.audit(since).writes()]


def test_check_run_run_again_and_check_again_tell_the_truth(platform: Platform) -> None:
    data = [{"name": "four-tests", **EVERYTHING}, {"name": "four-tests-plain", "owner": {"name": EVE}}]
    start = platform.now
    foretold = platform.succeeds("profiles", profiles=data, check=True, diff=True)
    assert foretold.changed
    assert writes(platform, start) == []
    assert "cost-centre" in json.dumps(foretold.json["diff"])

    done = platform.succeeds("profiles", profiles=data, diff=True)
    assert sorted(done.actions()) == sorted(foretold.actions())
    assert all(row["ready"] for row in done.json["tenants"])

    start = platform.now
    again = platform.succeeds("profiles", profiles=data)
    assert (again.changed, again.actions(), writes(platform, start)) == (False, [], [])
    assert not platform.succeeds("profiles", profiles=data, check=True, diff=True).changed

    level = platform.get("namespace", "", "four-tests")["metadata"]["labels"]["pod-security.kubernetes.io/enforce"]
    quota = platform.get("resourcequota", "four-tests", "kf-resource-quota")["spec"]["hard"]
    account = platform.get("serviceaccount", "four-tests", "default-viewer")
    assert (level, quota, account["imagePullSecrets"]) == ("baseline", {"cpu": "4", "memory": "8Gi"}, [{"name": "registry"}])


def test_the_namespace_is_patched_and_never_owned_by_apply(platform: Platform) -> None:
    platform.succeeds("profile", name="patched", **EVERYTHING)
    shown = platform.bed.kubectl("get", "namespace", "patched", "-o", "json", "--show-managed-fields")
    fields = json.loads(shown.stdout)["metadata"]["managedFields"]
    assert [row["operation"] for row in fields if row["manager"] == "kubeflow.platform"] == ["Update"]
    # Dropping what the data said before leaves the owner and the controller's labels.
    platform.succeeds("profile", name="patched", owner={"name": ALICE}, labels={"cost-centre": None})
    metadata = platform.get("namespace", "", "patched")["metadata"]
    assert metadata["annotations"]["owner"] == ALICE
    assert "cost-centre" not in metadata["labels"]
    assert metadata["labels"]["istio-injection"] == "enabled"


# -- KFAM


def test_kfam_lists_and_deletes_what_we_made_and_we_leave_what_it_made(platform: Platform) -> None:
    kfam = Kfam(platform)
    people = [{"name": BOB, "role": "edit"}, {"name": "Carol.C@example.com", "role": "view"}, {"name": "dan@example.com", "role": "admin"}]
    platform.succeeds("profile", name="kfam", owner={"name": ALICE}, contributors=people)
    assert kfam.list("kfam") == [("Carol.C@example.com", "view"), (ALICE, "admin"), (BOB, "edit"), ("dan@example.com", "admin")]
    for person in people:
        kfam.delete("kfam", person["name"], person["role"])
    assert kfam.list("kfam") == [(ALICE, "admin")]
    for person in people:
        kfam.create("kfam", person["name"], person["role"])
    start = platform.now
    assert not platform.succeeds("profile", name="kfam", owner={"name": ALICE}, contributors=people, authoritative=True).changed
    assert writes(platform, start) == []


def test_contributors_are_reported_by_default_and_removed_when_the_data_is_authoritative(platform: Platform) -> None:
    kfam = Kfam(platform)
    data = {"name": "strict", "owner": {"name": ALICE}, "contributors": [{"name": BOB}]}
    platform.succeeds("profile", **data)
    kfam.create("strict", "mallory@example.com", "edit")
    left = platform.succeeds("profile", **data)
    assert not left.changed
    assert left.json["unnamed_contributors"] == {"strict": ["mallory@example.com (edit)"]}
    assert "mallory@example.com (edit)" in left.warnings
    refused = platform.fails("profile", name="strict", owner={"name": ALICE}, contributors=[], authoritative=True)
    assert "names no contributor at all" in refused.message
    gone = platform.succeeds("profile", **data, authoritative=True)
    assert sorted(gone.actions()) == [
        "delete AuthorizationPolicy strict/user-mallory-example-com-clusterrole-edit",
        "delete RoleBinding strict/user-mallory-example-com-clusterrole-edit",
    ]
    assert kfam.list("strict") == [(ALICE, "admin"), (BOB, "edit")]
    with pytest.raises(KfamError):
        kfam.delete("strict", "mallory@example.com", "edit")


def test_a_collision_with_a_live_contributor_is_refused_before_anything_is_written(platform: Platform) -> None:
    platform.succeeds("profile", name="collide", owner={"name": ALICE}, contributors=[{"name": "a.b@example.com"}])
    start = platform.now
    refused = platform.fails(
        "profile", name="collide", owner={"name": ALICE}, contributors=[{"name": "a-b@example.com"}], quota={"cpu": "1"}
    )
    assert "a.b@example.com" in refused.message
    assert "a-b@example.com" in refused.message
    assert writes(platform, start) == []


def test_one_contributor_comes_changes_role_and_goes(platform: Platform) -> None:
    kfam = Kfam(platform)
    platform.succeeds("profile", name="single", owner={"name": ALICE}, contributors=[{"name": EVE}])
    one = {"profile": "single", "name": BOB}
    assert platform.run("profile_contributor", **one, check=True).changed
    assert kfam.list("single") == [(ALICE, "admin"), (EVE, "edit")]
    for role in ("edit", "view"):
        assert platform.succeeds("profile_contributor", **one, role=role).changed
        assert not platform.succeeds("profile_contributor", **one, role=role).changed
        assert kfam.list("single", user=BOB) == [(BOB, role)]
    assert platform.succeeds("profile_contributor", **one, state="absent", diff=True).changed
    assert not platform.succeeds("profile_contributor", **one, state="absent").changed
    assert kfam.list("single") == [(ALICE, "admin"), (EVE, "edit")]
    assert "is its owner" in platform.fails("profile_contributor", profile="single", name=ALICE).message
    assert "no e-mail address" in platform.fails("profile_contributor", profile="single", name="bob").message
    assert "does not exist" in platform.fails("profile_contributor", profile="nowhere", name=BOB).message


# -- owner


def test_a_hand_over_leaves_nothing_of_the_old_owner_for_kfam_either(platform: Platform) -> None:
    kfam = Kfam(platform)
    platform.succeeds("profile", name="handed", owner={"name": ALICE})
    foretold = platform.succeeds("profile", name="handed", owner={"name": EVE}, check=True)
    done = platform.succeeds("profile", name="handed", owner={"name": EVE})
    assert done.actions() == foretold.actions()
    assert kfam.list("handed", user=ALICE) == []
    assert kfam.list("handed", user=EVE) == [(EVE, "admin")]
    for kind in ("rolebindings", "authorizationpolicies", "serviceaccounts"):
        assert ALICE not in json.dumps(platform.bed.get(kind, "-n", "handed"))
    assert ALICE not in json.dumps(platform.get("namespace", "", "handed"))
    start = platform.now
    assert not platform.succeeds("profile", name="handed", owner={"name": EVE}).changed
    assert writes(platform, start) == []


def test_an_owner_changed_by_hand_in_the_profile_alone_is_finished(platform: Platform) -> None:
    platform.succeeds("profile", name="half", owner={"name": ALICE})
    platform.patch("profile", "", "half", {"spec": {"owner": {"name": EVE}}})
    platform.succeeds("profile", name="half", owner={"name": EVE})
    assert Kfam(platform).list("half") == [(EVE, "admin")]


# -- namespaces that are there already


def test_an_existing_namespace_is_adopted_only_when_asked_and_not_owned_by_another(platform: Platform) -> None:
    platform.namespace("found-bare")
    platform.namespace("found-same", annotations={"owner": ALICE})
    platform.namespace("found-other", annotations={"owner": "mallory@example.com"})
    names = ("found-bare", "found-same", "found-other", "kubeflow")
    start = platform.now
    refused = platform.fails("profiles", profiles=[{"name": name, "owner": {"name": ALICE}} for name in names])
    # "kubeflow" is refused by its name alone, so nothing was asked of the cluster yet.
    assert len(refused.json["findings"]) == 1
    refused = platform.fails("profiles", profiles=[{"name": name, "owner": {"name": ALICE}} for name in names[:3]])
    assert len(refused.json["findings"]) == 3
    asked = platform.fails("profiles", profiles=[{"name": name, "owner": {"name": ALICE}, "adopt": True} for name in names[:3]])
    assert len(asked.json["findings"]) == 1
    assert "mallory@example.com" in asked.message
    assert writes(platform, start) == []

    done = platform.succeeds("profiles", profiles=[{"name": name, "owner": {"name": ALICE}, "adopt": True} for name in names[:2]])
    assert all(row["ready"] for row in done.json["tenants"])
    for name in names[:2]:
        metadata = platform.get("namespace", "", name)["metadata"]
        assert metadata["labels"]["istio-injection"] == "enabled"
        assert metadata["annotations"]["owner"] == ALICE
    assert not platform.succeeds("profiles", profiles=[{"name": name, "owner": {"name": ALICE}} for name in names[:2]]).changed

    gone = platform.succeeds("profile", name="found-bare", state="absent", deletion="confirmed")
    assert "was adopted and stays" in gone.warnings
    assert platform.get("profile", "", "found-bare") == {}
    assert platform.get("namespace", "", "found-bare") != {}


# -- controllers


def test_the_profile_controller_is_named_when_it_does_not_act(platform: Platform) -> None:
    platform.bed.fault("profiles", "down")
    failed = platform.fails("profile", name="waiting", owner={"name": ALICE}, contributors=[{"name": BOB}], wait_timeout=2)
    assert "Profile waiting is not ready after 2 s: the profile controller did not act" in failed.message
    assert "Deployment kubeflow/profiles-deployment has 1 of 1 replicas available" in failed.message
    assert "Namespace waiting" in failed.message
    assert failed.changed
    platform.bed.clear_faults()
    assert platform.succeeds("profile", name="waiting", owner={"name": ALICE}, contributors=[{"name": BOB}]).changed
    assert Kfam(platform).list("waiting") == [(ALICE, "admin"), (BOB, "edit")]


def test_the_pipelines_controller_is_named_when_it_does_not_act(platform: Platform) -> None:
    platform.bed.fault("pipelines", "down")
    failed = platform.fails("profile", name="no-runs", owner={"name": ALICE}, wait_timeout=3)
    assert "the pipelines' profile controller" in failed.message
    assert "Secret mlpipeline-minio-artifact" in failed.message
    platform.bed.clear_faults()
    platform.succeeds("profile", name="no-runs", owner={"name": ALICE})


def test_a_quota_edited_by_hand_is_mended(platform: Platform) -> None:
    data = {"name": "drift", "owner": {"name": ALICE}, "quota": {"cpu": "4"}}
    platform.succeeds("profile", **data)
    platform.patch("resourcequota", "drift", "kf-resource-quota", {"spec": {"hard": {"cpu": "99"}}})
    assert platform.succeeds("profile", **data).changed
    assert platform.get("resourcequota", "drift", "kf-resource-quota")["spec"]["hard"] == {"cpu": "4"}
    platform.succeeds("profile", **{**data, "quota": {}})
    assert platform.get("resourcequota", "drift", "kf-resource-quota") == {}
    assert not platform.succeeds("profile", **{**data, "quota": {}}).changed


# -- data that is wrong, rights that are missing


def test_nothing_is_written_and_everything_is_told_when_the_data_is_wrong(platform: Platform) -> None:
    start = platform.now
    refused = platform.fails(
        "profiles",
        profiles=[
            {"name": "good", "owner": {"name": ALICE}},
            {"name": "good", "owner": {"name": ALICE}},
            {"name": "kube-system", "owner": {"name": ALICE}},
            {"name": "Team_A", "owner": {"name": "alice"}},
            {"name": "roles", "owner": {"name": ALICE}, "contributors": [{"name": ALICE}, {"name": BOB, "role": "boss"}]},
        ],
    )
    assert len(refused.json["findings"]) == 6
    assert writes(platform, start) == []
    assert platform.audit(start).requests == ()
    assert "did not arrive" in platform.fails("profiles", profiles=[], authoritative=True).message


def test_missing_rights_are_told_in_one_role(platform: Platform) -> None:
    reader = str(platform.bed.kubeconfig_of("readonly"))
    failed = platform.fails("profile", name="forbidden", owner={"name": ALICE}, kubeconfig=reader)
    assert failed.json["missing_permissions"]["rules"] == [
        {"apiGroups": ["kubeflow.org"], "resources": ["profiles"], "verbs": ["create", "get", "patch"]}
    ]
    assert not failed.changed


# -- export


def test_an_export_given_back_changes_nothing(platform: Platform) -> None:
    platform.succeeds("profiles", profiles=[{"name": "export-full", **EVERYTHING}])
    platform.namespace("export-adopted", labels={"team": "x"})
    platform.succeeds("profile", name="export-adopted", owner={"name": EVE}, adopt=True)
    Kfam(platform).create("export-adopted", "frank@example.com", "edit")
    start = platform.now
    told = platform.succeeds("profile_info")
    mine = {row["name"]: row["contributors"] for row in told.json["profiles"]}
    assert mine["export-adopted"] == [{"name": "frank@example.com", "role": "edit"}]
    assert mine["export-full"] == [
        {"kind": "Group", "name": "science", "role": "edit"},
        {"name": "Carol.C@example.com", "role": "view"},
        {"name": BOB, "role": "edit"},
        {"name": "dan@example.com", "role": "admin"},
    ]
    assert "planted-canary" not in json.dumps(told.json)
    back = platform.succeeds("profiles", profiles=told.json["profiles"], authoritative=True)
    assert (back.changed, back.actions()) == (False, [])
    assert writes(platform, start) == []
    assert platform.succeeds("profile_info", names=["export-full", "not-there"]).json["tenants"][0]["ready"]
    assert platform.succeeds("profile_info", names=[]).json["profiles"] == []


# -- the end


def test_a_profile_goes_only_when_that_is_confirmed_and_its_loss_is_told(platform: Platform) -> None:
    platform.succeeds("profiles", profiles=[{"name": name, "owner": {"name": ALICE}} for name in ("going", "staying")])
    claim = {"spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}
    kinds = [("v1", "PersistentVolumeClaim", claim), ("kubeflow.org/v1", "Notebook", {"spec": {}})]
    rows = [
        {"apiVersion": version, "kind": kind, "metadata": {"name": "work", "namespace": "going"}, **body} for version, kind, body in kinds
    ]
    platform.apply(*rows)
    start = platform.now
    refused = platform.fails("profile", name="going", state="absent")
    assert "1 volume claims (work), 1 notebooks (work) would be deleted" in refused.message
    assert writes(platform, start) == []
    foretold = platform.succeeds("profile", name="going", state="absent", deletion="confirmed", check=True)
    assert foretold.json["lost"] == {"going": {"volume claims": ["work"], "notebooks": ["work"]}}
    assert platform.get("profile", "", "going")
    done = platform.succeeds("profile", name="going", state="absent", deletion="confirmed")
    assert done.actions() == ["delete Profile going"]
    assert platform.get("namespace", "", "going") == {}
    assert platform.get("profile", "", "staying")
    assert platform.get("crd", "", "profiles.kubeflow.org")
    assert not platform.succeeds("profile", name="going", state="absent").changed
