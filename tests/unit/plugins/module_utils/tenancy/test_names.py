# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Names of Profiles, e-mail addresses, and the names that KFAM computes."""

from __future__ import annotations

import pytest
from ansible_collections.kubeflow.platform.plugins.module_utils.tenancy.names import (
    RESERVED,
    binding_name,
    is_email,
    profile_name_problem,
)
from hypothesis import given
from hypothesis import strategies as st


@pytest.mark.parametrize("name", ["a", "team-a", "x1", "1x", "a" * 63, "kubeflow-user-example-com", "kubeless", "openshiftish"])
def test_a_name_is_accepted_when_it_can_be_a_namespace(name: str) -> None:
    assert profile_name_problem(name) == ""


@pytest.mark.parametrize(
    "name", ["", "Team_A", "team_a", "Team", "-a", "a-", "a b", "ä", "a/b", "a" * 64, "a.b", "team.a.example.com", "A.B"]
)
def test_a_name_is_refused_with_the_reason_when_no_namespace_can_have_it(name: str) -> None:
    assert profile_name_problem(name)


@pytest.mark.parametrize(
    "name", sorted(RESERVED) + ["kube-system", "kube-public", "kube-node-lease", "kube-anything", "kube", "openshift-ingress"]
)
def test_a_name_is_refused_when_the_platform_or_the_cluster_uses_it(name: str) -> None:
    assert "namespace of the platform or of the cluster" in profile_name_problem(name)


def test_a_name_is_refused_when_the_operator_reserves_it() -> None:
    assert profile_name_problem("monitoring") == ""
    assert profile_name_problem("monitoring", ["monitoring"])


@pytest.mark.parametrize(("name", "better"), [("Team_A", "team-a"), ("a.b", "a-b"), ("_x_", "x")])
def test_a_refusal_suggests_a_name_that_works_when_there_is_one(name: str, better: str) -> None:
    assert f"Use {better}" in profile_name_problem(name)


@pytest.mark.parametrize(
    "text", ["a@example.com", "a.b@example.com", "a+b@example.com", "A.B@Example.COM", "o'neil@example.co.uk", "a_b-c@x-y.example.com"]
)
def test_an_address_is_accepted_when_the_dashboard_takes_it(text: str) -> None:
    assert is_email(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "alice",
        "@example.com",
        "a@",
        "a@example",
        "a b@example.com",
        "a@@example.com",
        "a@example.com ",
        "a..b@example.com",
        ".a@example.com",
    ]
    + [
        "a@example.c",
        "a@exa mple.com",
        "a,b@example.com",
        "a@example.com\n",
        "<a@example.com>",
        "a:b@example.com",
        "x" * 250 + "@example.com",
    ],
)
def test_an_address_is_refused_when_the_dashboard_refuses_it(text: str) -> None:
    assert not is_email(text)


@pytest.mark.parametrize(
    ("user", "role", "name"),
    [
        ("alice@example.com", "edit", "user-alice-example-com-clusterrole-edit"),
        ("Alice.B+c@Example.com", "view", "user-alice-b-c-example-com-clusterrole-view"),
        ("a..b@x.org", "admin", "user-a-b-x-org-clusterrole-admin"),
        ("jörg@example.com", "edit", "user-j-rg-example-com-clusterrole-edit"),
        ("_a_@example.com", "edit", "user-a-example-com-clusterrole-edit"),
    ],
)
def test_a_binding_is_called_as_kfam_calls_it(user: str, role: str, name: str) -> None:
    assert binding_name("User", user, role) == name


@given(st.text(min_size=1, max_size=80), st.sampled_from(["edit", "view", "admin"]))
def test_a_computed_name_holds_only_lower_case_and_hyphens_whatever_the_user(user: str, role: str) -> None:
    name = binding_name("User", user, role)
    assert set(name) <= set("abcdefghijklmnopqrstuvwxyz0123456789-")
    assert "--" not in name
