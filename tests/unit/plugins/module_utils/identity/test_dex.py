# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.kubeflow.platform.plugins.module_utils.identity import dex
from ansible_collections.kubeflow.platform.plugins.module_utils.identity.dex import Source, Unclear
from ansible_collections.kubeflow.platform.tests.unit.dex_objects import CONFIGURATION, INLINE, SHIPPED, deployment

NEW = "$2b$10$N9qo8uLOickgx2ZMRZoMyeIjZAgcfl7p92ldGxad68LJZdL17lhWy"


def container(of: dict[str, Any]) -> dict[str, Any]:
    row: dict[str, Any] = of["spec"]["template"]["spec"]["containers"][0]
    return row


def test_the_configuration_says_who_logs_in_where() -> None:
    found = dex.read(CONFIGURATION)
    assert [(user.email, user.variable, user.inline) for user in found.users] == [("user@example.com", "DEX_USER_PASSWORD", "")]
    assert (found.prefix, found.port) == ("/dex", 5556)
    assert found.applications[0].identifier.variable == "OIDC_CLIENT_ID"
    assert found.applications[0].redirect == "/oauth2/callback"


def test_a_hash_in_the_configuration_wins_over_a_variable() -> None:
    (user,) = dex.read(INLINE.replace("username: user", "hashFromEnv: X")).users
    assert (user.variable, user.inline) == ("", SHIPPED)
    assert SHIPPED not in repr(user)


def test_a_user_is_found_whatever_the_case_and_two_of_them_are_refused() -> None:
    (user,) = dex.read(CONFIGURATION).users
    assert dex.find([user], "User@Example.com") is user
    assert dex.find([user], "other@example.com") is None
    twice = dex.read(CONFIGURATION.replace("staticClients:", "- email: USER@example.com\n  hashFromEnv: OTHER\nstaticClients:"))
    with pytest.raises(Unclear, match="USER@example.com"):
        dex.find(twice.users, "user@example.com")


@pytest.mark.parametrize("quote", ["", "'", '"'])
def test_only_the_hash_changes_when_it_stands_in_the_configuration(quote: str) -> None:
    text = INLINE.replace(SHIPPED, f"{quote}{SHIPPED}{quote}")
    (user,) = dex.read(text).users
    assert dex.with_hash(text, user, NEW) == text.replace(f"{quote}{SHIPPED}{quote}", f"'{NEW}'")


def test_the_hash_of_the_right_user_changes_when_two_have_the_same() -> None:
    text = INLINE.replace("staticClients:", f"- {{email: second@example.com, hash: {SHIPPED}}} # ä\nstaticClients:")
    second = dex.find(dex.read(text).users, "second@example.com")
    assert second is not None
    changed = dex.with_hash(text, second, NEW)
    assert changed == text.replace(f"second@example.com, hash: {SHIPPED}", f"second@example.com, hash: '{NEW}'")


@pytest.mark.parametrize(
    "text",
    [
        INLINE.replace("user@example.com", "&all user@example.com").replace(f"hash: {SHIPPED}", f"hash: &h {SHIPPED}\n  groups: [*h]"),
        INLINE.replace(f"hash: {SHIPPED}", "<<: {hash: " + SHIPPED + "}"),
        INLINE.replace(f"hash: {SHIPPED}", f"hash: >\n    {SHIPPED}"),
    ],
    ids=["anchor", "merge", "block"],
)
def test_nothing_is_changed_where_more_than_the_hash_would(text: str) -> None:
    (user,) = dex.read(text).users
    try:
        changed = dex.with_hash(text, user, NEW)
    except Unclear as refusal:
        assert SHIPPED not in str(refusal)
    else:
        assert dex.read(changed).users[0].inline == NEW
        assert dex.read(changed).applications == dex.read(text).applications


@pytest.mark.parametrize("text", ["", "- a", "a: [", "staticPasswords: {a: b}", "staticPasswords: [a]", f"a: b: {SHIPPED}"])
def test_what_is_no_configuration_is_said_without_its_text(text: str) -> None:
    with pytest.raises(Unclear) as refusal:
        dex.read(text)
    assert SHIPPED not in str(refusal.value)


def test_the_configuration_is_found_where_the_command_says() -> None:
    assert dex.configuration_source(deployment()) == Source("ConfigMap", "dex", "config.yaml")


def test_the_configuration_is_found_under_another_key_and_in_a_secret() -> None:
    other = deployment()
    volume = {"name": "config", "secret": {"secretName": "dex-config", "items": [{"key": "all", "path": "config.yaml"}]}}
    other["spec"]["template"]["spec"]["volumes"] = [volume]
    assert dex.configuration_source(other) == Source("Secret", "dex-config", "all")
    volume["secret"] = {"secretName": "dex-config"}
    assert dex.configuration_source(other) == Source("Secret", "dex-config", "config.yaml")
    container(other)["volumeMounts"] = [{"name": "config", "mountPath": "/etc/dex/cfg/config.yaml", "subPath": "sub.yaml"}]
    assert dex.configuration_source(other) == Source("Secret", "dex-config", "sub.yaml")


@pytest.mark.parametrize("what", ["command", "mounts", "kind", "container"])
def test_a_configuration_that_cannot_be_found_is_said(what: str) -> None:
    other = deployment()
    if what == "command":
        container(other)["command"] = ["start.sh"]
    elif what == "mounts":
        container(other)["volumeMounts"] = []
    elif what == "kind":
        other["spec"]["template"]["spec"]["volumes"] = [{"name": "config", "emptyDir": {}}]
    else:
        other["spec"]["template"]["spec"]["containers"] = [{"name": "a"}, {"name": "b"}]
    with pytest.raises(Unclear):
        dex.configuration_source(other)


def test_the_last_secret_of_the_environment_comes_first() -> None:
    found = list(dex.sources(deployment(), "DEX_USER_PASSWORD"))
    assert [(row.name, row.key) for row in found] == [
        ("dex-passwords", "DEX_USER_PASSWORD"),
        ("dex-oidc-client", "DEX_USER_PASSWORD"),
    ]


def test_a_variable_of_its_own_wins_over_all_secrets() -> None:
    other = deployment()
    container(other)["env"].append({"name": "X", "valueFrom": {"secretKeyRef": {"name": "own", "key": "hash"}}})
    assert list(dex.sources(other, "X")) == [Source("Secret", "own", "hash")]
    container(other)["env"][-1] = {"name": "X", "value": "literal"}
    with pytest.raises(Unclear, match="Deployment itself"):
        list(dex.sources(other, "X"))


def test_a_prefix_is_part_of_the_variable_only() -> None:
    other = deployment()
    container(other)["envFrom"] = [{"secretRef": {"name": "users"}, "prefix": "DEX_"}]
    assert list(dex.sources(other, "DEX_ALICE")) == [Source("Secret", "users", "ALICE")]
    assert list(dex.sources(other, "ALICE")) == []
