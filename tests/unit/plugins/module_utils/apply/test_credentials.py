# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which given values are refused, before anything is rendered, and that no refusal quotes one."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.credentials import (
    Credential,
    Credentials,
    cookie_bytes,
    decoded,
    faults,
    without,
)
from ansible_collections.kubeflow.platform.plugins.module_utils.identity.passwords import fingerprint
from hypothesis import given
from hypothesis import strategies as st

SHIPPED = "everybody-knows-this"
SHIPPED_HASH = "$2y$12$4K/VkmDd1q1Orb3xAt82zu8gk7Ad6ReFR4LCP9UeYE90NLiN9Df72"
SECRETS = [
    {"namespace": "auth", "name": "dex", "values": [{"key": "HASH", "make": "bcrypt"}]},
    {"namespace": "auth", "name": "client", "values": [{"key": "SECRET", "make": "hex", "same": "c", "shipped": [fingerprint(SHIPPED)]}]},
    {
        "namespace": "proxy",
        "name": "proxy",
        "values": [{"key": "client", "make": "hex", "same": "c"}, {"key": "cookie", "make": "cookie"}],
    },
    {"namespace": "hub", "name": "token", "values": [{"key": "KEY", "make": "none"}]},
]


def found(mode: str = "generate", **given_for: Any) -> list[str]:
    names = {"dex": "auth/dex", "client": "auth/client", "proxy": "proxy/proxy", "token": "hub/token"}
    values = {names.get(name, name): keys for name, keys in given_for.items()}
    return faults({"credentials": {"mode": mode, "secrets": SECRETS, "given": values}})


def test_right_values_are_taken() -> None:
    assert found(dex={"HASH": "correct horse"}, client={"SECRET": "x" * 8}, proxy={"cookie": "y" * 32}, token={"KEY": ""}) == []
    for text in ("$2b$12$" + "a" * 53, base64.b64encode(b"$2y$10$" + b"a" * 53).decode(), " a password with spaces "):
        assert found(dex={"HASH": text}) == []
    assert faults({"credentials": None}) == faults({}) == []


@pytest.mark.parametrize(
    ("given_for", "words"),
    [
        ({"nobody": {"a": "b"}}, "names the Secret nobody, which is none of auth/client, auth/dex, hub/token, proxy/proxy"),
        ({"dex": "canary-canary"}, "must be a mapping"),
        ({"dex": {"OTHER": "canary-canary"}}, "there is no key OTHER; the keys are HASH"),
        ({"client": {"SECRET": 12345678}}, "must be a text"),
        ({"client": {"SECRET": "canary!"}}, "under 8 characters"),
        ({"client": {"SECRET": ""}}, "under 8 characters"),
        ({"client": {"SECRET": "canary-canary\n"}}, "line break"),
        ({"client": {"SECRET": " canary-canary"}}, "space"),
        ({"client": {"SECRET": "canary\x00canary"}}, "control character"),
        ({"client": {"SECRET": SHIPPED}}, "which everybody knows"),
        ({"proxy": {"cookie": "canary-canary"}}, "must be 16, 24 or 32 bytes"),
        ({"proxy": {"cookie": "a" * 64}}, "must be 16, 24 or 32 bytes"),
        ({"dex": {"HASH": "$2b$09$" + "a" * 53}}, "has the cost 9, and Dex takes 10 to 16"),
        ({"dex": {"HASH": "$2b$17$" + "a" * 53}}, "has the cost 17, and Dex takes 10 to 16"),
        ({"dex": {"HASH": "$2x$12$" + "a" * 53}}, "an old kind of bcrypt"),
        ({"dex": {"HASH": "$2b$12$" + "a" * 52}}, "has 59 characters"),
        ({"dex": {"HASH": "ö" * 37}}, "has 74 bytes, and bcrypt reads 72"),
        ({"dex": {"HASH": "canary"}}, "under 8 characters"),
        ({"dex": {"HASH": ""}}, "is empty"),
        ({"dex": {"HASH": "12341234"}}, "which everybody knows"),
        ({"dex": {"HASH": SHIPPED_HASH}}, "whose password everybody knows"),
        ({"client": {"SECRET": "canary-canary\ud800"}}, "cannot be typed"),
        ({"proxy": {"cookie": "canary-canary\ud800"}}, "cannot be typed"),
        ({"client": {"SECRET": "canary-one"}, "proxy": {"client": "canary-two"}}, "auth/client SECRET and proxy/proxy client"),
    ],
)
def test_wrong_values_are_refused_with_the_reason_and_never_quoted(given_for: dict[str, Any], words: str) -> None:
    (text,) = found(**given_for)
    assert words in text and "canary" not in text and "12345678" not in text


def test_a_demo_may_be_given_what_upstream_ships() -> None:
    assert found("demo", client={"SECRET": SHIPPED}) == []
    assert found("demo", dex={"HASH": "12341234"}) == found("demo", dex={"HASH": SHIPPED_HASH}) == []


def test_every_mistake_is_told_at_once() -> None:
    assert len(found(dex={"A": "x"}, client={"SECRET": "x", "B": "y"}, other={})) == 4


@given(st.binary(min_size=1, max_size=64))
def test_a_cookie_secret_is_counted_as_oauth2_proxy_counts_it(raw: bytes) -> None:
    text = base64.urlsafe_b64encode(raw).decode()
    expected = len(raw) if len(raw) in (16, 24, 32) else len(text)
    assert cookie_bytes(text) == expected
    assert cookie_bytes(text.rstrip("=")) == (len(raw) if len(raw) in (16, 24, 32) else len(text.rstrip("=")))


def test_standard_base64_with_its_own_letters_is_counted_as_text() -> None:
    assert cookie_bytes(base64.b64encode(b"\xfb" * 32).decode()) == 44


@pytest.mark.parametrize(
    ("name", "is_it"),
    [("proxy", True), ("proxy-2456789bcd", True), ("proxy-parameters", False), ("proxy-2456789bcd-x", False), ("prox", False)],
)
def test_a_content_hash_is_no_part_of_a_name(name: str, is_it: bool) -> None:
    assert Credential("n", "proxy").is_called(name) is is_it
    assert (Credentials("generate", (Credential("n", "proxy"),)).find("n", name) is not None) is is_it


@pytest.mark.parametrize(
    "secret", [{}, {"data": None}, {"data": "x"}, {"data": {"k": "%%%"}}, {"data": {"k": "//8="}}, {"stringData": {"k": 1}}]
)
def test_what_is_no_text_is_no_value(secret: dict[str, Any]) -> None:
    assert decoded(secret, "k") is None
    without(secret, ["k"])
