# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Lists of tenants that are wrong: every finding is told, at once."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.kubeflow.platform.plugins.module_utils.tenancy.model import Contributor, Subject, Tenant
from ansible_collections.kubeflow.platform.plugins.module_utils.tenancy.result import in_one_message
from ansible_collections.kubeflow.platform.plugins.module_utils.tenancy.validation import near_misses, read

ALICE: dict[str, Any] = {"name": "alice@example.com"}
BOB: dict[str, Any] = {"name": "bob@example.com"}


def errors(*rows: dict[str, Any], **options: Any) -> list[str]:
    return read(rows, **options)[1].errors


def warnings(*rows: dict[str, Any], **options: Any) -> list[str]:
    return read(rows, **options)[1].warnings


def team(name: str = "team-a", **more: Any) -> dict[str, Any]:
    return {"name": name, "owner": ALICE, **more}


def test_a_whole_tenant_is_read_when_everything_is_right() -> None:
    (tenant,), findings = read([team(contributors=[BOB, {"name": "c@example.com", "role": "view"}], quota={"cpu": 4}, labels={"on": True})])
    assert findings.errors == []
    assert findings.warnings == []
    assert tenant == Tenant(
        "team-a",
        owner=Subject("User", "alice@example.com"),
        contributors=(
            Contributor(Subject("User", "bob@example.com"), "edit"),
            Contributor(Subject("User", "c@example.com"), "view"),
        ),
        quota={"cpu": "4"},
        labels={"on": "true"},
    )


def test_all_findings_are_told_when_many_things_are_wrong() -> None:
    found = errors(
        team("kubeflow"),
        team("Team_A"),
        team("a.b"),
        team("x" * 64),
        team("twice"),
        team("twice"),
        team("both", contributors=[{**ALICE, "role": "edit"}]),
        team("roles", contributors=[{**BOB, "role": "owner"}, {"name": "nobody"}]),
        team("collision", contributors=[{"name": "a.b@example.com"}, {"name": "a-b@example.com"}]),
        {"name": "ownerless"},
        team("kinds", owner={"name": "x", "kind": "Robot"}),
        team("level", pod_security="strict", quota={"cpu": "many"}, labels={"a b": "c"}, annotations={"owner": "x"}),
    )
    said = "\n".join(found)
    for word in ("kubeflow", "Team_A", "a.b", "x" * 64, "twice", "both", "roles", "collision", "ownerless", "kinds", "level"):
        assert f"Profile {word}:" in said
    assert len(found) == 15
    assert "owner and a contributor" in said
    assert "the role owner of the contributor bob@example.com is unknown; use edit, view, admin" in said
    assert "nobody is no e-mail address" in said
    assert "a.b@example.com and a-b@example.com are both edit" in said
    assert "named 2 times" in said
    message = in_one_message(found)
    assert message.startswith("Nothing was written, since 15 things are wrong:\n1. ")
    assert all(text in message for text in found)


def test_an_empty_list_is_refused_when_the_data_is_authoritative() -> None:
    assert errors() == []
    assert "did not arrive" in errors(authoritative=True)[0]


@pytest.mark.parametrize(
    ("owner", "word"),
    [
        ({"kind": "Group", "name": "science"}, "members of the group science get Kubernetes rights only"),
        ({"kind": "ServiceAccount", "name": "builder", "namespace": "ci"}, "cannot reach services of the namespace through the gateway"),
    ],
)
def test_what_an_owner_cannot_do_is_warned_when_it_is_no_user(owner: dict[str, str], word: str) -> None:
    assert errors(team(owner=owner)) == []
    assert word in "\n".join(warnings(team(owner=owner)))


@pytest.mark.parametrize(
    ("owner", "word"),
    [
        ({"kind": "ServiceAccount", "name": "builder"}, "needs its namespace"),
        ({"kind": "User", "name": "a@example.com", "namespace": "ci"}, "cannot have a namespace"),
        ({"kind": "user", "name": "a@example.com"}, "the kind user of the owner"),
        ({"name": ""}, "an owner with a name is required"),
        ({"name": "alice"}, "no e-mail address"),
    ],
)
def test_an_owner_is_refused_when_nobody_can_be_meant(owner: dict[str, str], word: str) -> None:
    assert word in errors(team(owner=owner))[0]


def test_other_names_than_addresses_are_taken_when_the_provider_sends_such() -> None:
    assert errors(team(owner={"name": "u12345"}), user_format="any") == []
    assert errors(team(owner={"name": "u12345 "}), user_format="any")


def test_a_service_account_is_refused_when_it_is_to_contribute() -> None:
    assert "use User, Group" in errors(team(contributors=[{"kind": "ServiceAccount", "name": "x", "namespace": "y"}]))[0]


def test_a_near_miss_is_warned_when_names_differ_in_case_only() -> None:
    (text,) = warnings(team(), team("team-b", owner={"name": "Alice@example.com"}))
    assert "alice@example.com (owner of team-a)" in text
    assert "Alice@example.com (owner of team-b)" in text


def test_a_near_miss_is_warned_when_the_live_owner_is_written_otherwise() -> None:
    assert near_misses({"Bob@x.org": "owner of b"}, {"bob@x.org": "live in c"})
    assert near_misses({"bob@x.org": "owner of b"}, {"bob@x.org": "live in c"}) == []
    assert near_misses({}, {"bob@x.org": "live in c", "Bob@x.org": "live in d"}) == []


def test_names_collide_when_they_differ_in_case_only_and_have_one_role() -> None:
    rows = [{"name": "Bob@example.com"}, BOB]
    assert "KFAM gives both the name" in errors(team(contributors=rows))[0]
    assert errors(team(contributors=[rows[0], {**BOB, "role": "view"}])) == []


@pytest.mark.parametrize("other", ["a-b@x.org", "a+b@x.org", "a_b@x.org", "A.B@x.org", "a.b@x-org.org"])
def test_names_collide_exactly_when_kfam_computes_one_name(other: str) -> None:
    found = errors(team(contributors=[{"name": "a.b@x.org"}, {"name": other}]))
    assert bool(found) == (other != "a.b@x-org.org")


def test_one_person_may_have_several_roles_and_is_warned_about() -> None:
    rows = [{**BOB, "role": "edit"}, {**BOB, "role": "view"}]
    assert errors(team(contributors=rows)) == []
    assert "several roles" in warnings(team(contributors=rows))[0]
    assert "named twice" in errors(team(contributors=[BOB, BOB]))[0]


def test_groups_and_plus_signs_are_warned_about() -> None:
    said = "\n".join(warnings(team(contributors=[{"kind": "Group", "name": "science"}, {"name": "a+b@example.com"}])))
    assert "members of the group science" in said
    assert "reject the + in a+b@example.com" in said


def test_defaults_hold_where_a_tenant_says_nothing() -> None:
    rows = [team(labels={"b": "2"}), team("team-b", quota={"cpu": "1"})]
    (one, two), findings = read(rows, defaults={"quota": {"cpu": "9"}, "labels": {"a": "1"}})
    assert findings.errors == []
    assert (one.quota, one.labels) == ({"cpu": "9"}, {"a": "1", "b": "2"})
    assert (two.quota, two.labels) == ({"cpu": "1"}, {"a": "1"})


def test_defaults_are_refused_when_a_key_is_unknown_or_no_default() -> None:
    assert len(errors(team(), defaults={"quotas": {}, "state": "absent"})) == 2


@pytest.mark.parametrize(
    "name",
    [
        "cpu",
        "requests.cpu",
        "limits.memory",
        "pods",
        "requests.storage",
        "services.nodeports",
        "requests.nvidia.com/gpu",
        "count/jobs.batch",
    ]
    + ["gold.storageclass.storage.k8s.io/requests.storage", "hugepages-2Mi", "requests.hugepages-1Gi"],
)
def test_a_quota_may_be_on_whatever_kubernetes_counts(name: str) -> None:
    assert errors(team(quota={name: "1"})) == []


@pytest.mark.parametrize("name", ["cpus", "gpu", "CPU", "requests.gpu", "limits.storage", "storage", "count/", "/x", ""])
def test_a_quota_is_refused_when_the_controller_would_fail_on_it_in_silence(name: str) -> None:
    assert "nothing that Kubernetes counts" in errors(team(quota={name: "1"}))[0]


@pytest.mark.parametrize(
    ("key", "value", "word"),
    [
        ("network_policy", {"allow_from": ["a"], "spec": {"podSelector": {}}}, "both allow_from and spec"),
        ("network_policy", {"allow_from": ["A B"]}, "no name of an object"),
        ("limits", {"default": {"cpu": "lots"}}, "limits.default.cpu is lots"),
        ("image_pull_secrets", ["Not_Valid"], "no name of an object"),
        ("labels", {"pod-security.kubernetes.io/enforce": "restricted"}, ""),
        ("labels", {"kubernetes.io/metadata.name": "x"}, "the API server sets it"),
        ("labels", {"a": "x" * 64}, "at most 63"),
        ("pod_defaults", {"pip_index": {"url": "pypi"}}, "must be a URL"),
        ("pod_defaults", {"ca": {"certificate": "x"}}, "PEM"),
        ("pod_defaults", {"proxy": {"no_proxy": "x"}}, "needs http or https"),
        ("pod_defaults", {"proxy": {"http": "proxy:3128"}}, "must be a URL"),
        ("pod_defaults", {"own": [{"name": "x", "spec": {"selector": {"matchExpressions": []}}}]}, "selector.matchLabels"),
        ("pod_defaults", {"own": [{"name": "kubeflow-platform-ca", "spec": {"selector": {"matchLabels": {"a": "b"}}}}]}, "is taken"),
        ("state", "gone", "the state gone is unknown"),
        ("deletion", "yes", "the only value is confirmed"),
    ],
)
def test_a_value_is_refused_when_the_cluster_would_refuse_or_misread_it(key: str, value: Any, word: str) -> None:
    found = errors(team(**{key: value}))
    assert (word in "\n".join(found)) if word else found == []


def test_levels_disagree_when_label_and_pod_security_differ() -> None:
    label = {"pod-security.kubernetes.io/enforce": "restricted"}
    assert "keep one of them" in errors(team(labels=label, pod_security="baseline"))[0]
    assert errors(team(labels=label, pod_security="restricted")) == []
