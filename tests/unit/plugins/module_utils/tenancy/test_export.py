# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Live tenants as data, and back."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.kubeflow.platform.plugins.module_utils.tenancy.export import exported
from ansible_collections.kubeflow.platform.plugins.module_utils.tenancy.live import Live
from ansible_collections.kubeflow.platform.plugins.module_utils.tenancy.validation import read
from ansible_collections.kubeflow.platform.tests.unit.plugins.module_utils.tenancy.test_inside import EVERYTHING, odd_state
from ansible_collections.kubeflow.platform.tests.unit.tenants import PLATFORM, actions, decided, namespace, settled, stored, tenant
from hypothesis import given
from hypothesis import strategies as st


def again(state: Any, **options: Any) -> list[str]:
    """What applying the export would do."""
    row, _findings = exported(state, PLATFORM)
    (wanted,), findings = read([row])
    assert findings.errors == []
    return actions(decided(wanted, state, **options))


def test_an_export_says_what_was_asked_for() -> None:
    asked = {**EVERYTHING, "quota": {"cpu": "4"}, "labels": {"a": "b"}, "annotations": {"n": "x"}, "pod_security": "baseline"}
    row, findings = exported(settled(tenant(**asked)), PLATFORM)
    assert findings == []
    assert row["owner"] == {"name": "alice@example.com"}
    assert row["contributors"] == [
        {"kind": "Group", "name": "science", "role": "edit"},
        {"name": "bob@example.com", "role": "edit"},
        {"name": "carol@example.com", "role": "view"},
    ]
    for key in ("quota", "labels", "annotations", "pod_security", "image_pull_secrets", "pod_defaults"):
        assert row[key] == asked[key], key
    assert row["network_policy"] == {"allow_from": ["istio-system", "knative-serving", "kubeflow"]}
    assert again(settled(tenant(**asked)), authoritative=True) == []


def test_an_export_leaves_out_what_the_platform_sets_everywhere() -> None:
    row, _findings = exported(settled(tenant()), PLATFORM)
    assert row == {"name": "team-a", "owner": {"name": "alice@example.com"}, "contributors": []}


def test_an_export_tells_what_it_cannot_express() -> None:
    state = odd_state()
    assert state.profile is not None
    state.profile["spec"]["plugins"] = [{"kind": "WorkloadIdentity"}]
    state.profile["spec"]["resourceQuotaSpec"] = {"scopes": ["Terminating"]}
    row, findings = exported(state, PLATFORM)
    assert [one["name"] for one in row["contributors"]] == ["bob@example.com"]
    assert len(findings) == 5
    assert again(state) == []


def test_a_group_that_kfam_made_a_contributor_is_exported_and_stays_as_it_is() -> None:
    state = settled(tenant(contributors=[{"kind": "Group", "name": "science"}]))
    metadata = state.bindings["group-science-clusterrole-edit"]["metadata"]
    del metadata["labels"]
    metadata["annotations"] = {"user": "science", "role": "edit"}
    assert exported(state, PLATFORM)[0]["contributors"] == [{"kind": "Group", "name": "science", "role": "edit"}]
    assert again(state, authoritative=True) == []


def test_a_service_account_that_contributes_is_told_and_left_out() -> None:
    state = settled(tenant())
    notes = {"user": "robot", "role": "edit"}
    subjects = [{"kind": "ServiceAccount", "name": "robot", "namespace": "ci"}]
    name = "serviceaccount-robot-clusterrole-edit"
    grant = {"roleRef": {"kind": "ClusterRole", "name": "kubeflow-edit"}, "subjects": subjects}
    state.bindings[name] = stored({"metadata": {"name": name, "annotations": notes}, **grant})
    row, findings = exported(state, PLATFORM)
    assert row["contributors"] == []
    assert "neither a user nor a group" in findings[0]
    assert again(state) == []


def test_an_export_leaves_out_an_owner_who_is_a_contributor_too() -> None:
    state = settled(tenant(owner="eve@example.com", contributors=[{"name": "alice@example.com"}]))
    assert state.namespace is not None and state.profile is not None
    state.profile["spec"]["owner"]["name"] = "alice@example.com"
    row, findings = exported(state, PLATFORM)
    assert row["contributors"] == []
    assert "also a contributor" in findings[0]


def test_an_edited_preset_is_told_as_ones_own() -> None:
    state = settled(tenant(**EVERYTHING))
    state.pod_defaults["kubeflow-platform-proxy"]["spec"]["env"].append({"name": "X", "value": "1"})
    row, _findings = exported(state, PLATFORM)
    assert "proxy" not in row["pod_defaults"]
    assert {one["name"] for one in row["pod_defaults"]["own"]} == {"kubeflow-platform-proxy", "mine"}


names = st.from_regex(r"[a-z]{1,4}[.+_-]?[a-zA-Z]{1,4}@[a-z]{1,5}\.(com|org)", fullmatch=True)
people = st.lists(
    st.fixed_dictionaries({"name": names, "role": st.sampled_from(["edit", "view", "admin"])}),
    max_size=5,
    unique_by=lambda row: (row["name"].lower().translate(str.maketrans("+._", "---")), row["role"]),
)
amounts = st.dictionaries(st.sampled_from(["cpu", "memory", "pods"]), st.sampled_from(["1", "1000m", "2Gi", "0", "1e3"]), max_size=3)
data = st.fixed_dictionaries(
    {},
    optional={
        "contributors": people,
        "quota": amounts,
        "labels": st.dictionaries(st.sampled_from(["a", "x.org/b", "istio-injection"]), st.sampled_from(["", "1", "disabled"]), max_size=3),
        "annotations": st.dictionaries(st.sampled_from(["a", "x.org/b"]), st.text(max_size=5), max_size=2),
        "pod_security": st.sampled_from(["privileged", "baseline", "restricted"]),
        "image_pull_secrets": st.lists(st.sampled_from(["a", "b", "c"]), unique=True),
        "limits": st.dictionaries(st.sampled_from(["default", "default_request", "max", "min"]), amounts),
        "network_policy": st.sampled_from(
            [{}, {"isolated": True}, {"allow_from": []}, {"allow_from": ["b", "a"]}, {"spec": {"egress": [{}]}}]
        ),
        "pod_defaults": st.dictionaries(st.sampled_from(sorted(EVERYTHING["pod_defaults"])), st.none()).map(
            lambda keys: {key: EVERYTHING["pod_defaults"][key] for key in keys}
        ),
    },
)


@given(data, data, st.booleans())
def test_a_second_run_and_the_export_change_nothing_whatever_was_there(before: Any, wanted: Any, adopted: bool) -> None:
    start = Live("team-a", namespace=namespace(labels={"a": "0"}, annotations={"a": "0"})) if adopted else None
    state = settled(tenant(**before, adopt=True), start)
    state = settled(tenant(**wanted), state, authoritative=True)
    assert actions(decided(tenant(**wanted), state, authoritative=True)) == []
    assert again(state) == []


@pytest.mark.parametrize("owner", [{"kind": "Group", "name": "g"}, {"kind": "ServiceAccount", "name": "s", "namespace": "n"}])
def test_an_owner_of_any_kind_is_exported(owner: dict[str, str]) -> None:
    state = settled(tenant(owner=owner))
    assert exported(state, PLATFORM)[0]["owner"] == owner
    assert again(state) == []
