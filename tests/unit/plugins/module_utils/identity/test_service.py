# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.kubeflow.platform.plugins.module_utils.identity import passwords, service
from ansible_collections.kubeflow.platform.tests.unit.dex_objects import SHIPPED

PASSWORD = "correct horse"
MADE = passwords.make(PASSWORD, 10).text


def params(**given: Any) -> dict[str, Any]:
    defaults = {name: option.get("default") for name, option in service.spec().items()}
    return {**defaults, "email": "user@example.com", **given}


@pytest.mark.parametrize(
    "given",
    [
        {"user_password": PASSWORD},
        {"user_password": PASSWORD, "cost": 16},
        {"user_hash": MADE},
        {"user_hash": MADE, "user_password": PASSWORD},
        {"user_password": PASSWORD, "proof": "none"},
        {"user_password": PASSWORD, "proof": "gateway", "gateway_url": "https://kubeflow.example.com/"},
        {"user_password": PASSWORD, "proof": "gateway", "gateway_url": "http://10.0.0.1:8080", "gateway_host": "kubeflow.example.com"},
    ],
)
def test_good_options_are_taken(given: dict[str, Any]) -> None:
    wish, findings = service.read(params(**given))
    assert findings == []
    assert (wish.password, wish.cost) == (given.get("user_password", ""), given.get("cost", 0))
    assert PASSWORD not in repr(wish)
    assert MADE not in repr(wish)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({}, "neither"),
        ({"user_password": "short"}, "under 8"),
        ({"user_password": "12341234"}, "ships"),
        ({"user_password": "ü" * 37}, "74 bytes"),
        ({"user_hash": SHIPPED}, "ships"),
        ({"user_hash": PASSWORD}, "perhaps a password"),
        ({"user_hash": ""}, "empty"),
        ({"user_password": ""}, "empty"),
        ({"user_hash": MADE, "user_password": "another one"}, "not a hash of"),
        ({"user_hash": MADE, "cost": 12}, "one of them"),
        ({"user_password": PASSWORD, "cost": 9}, "10 to 16"),
        ({"user_password": PASSWORD, "email": " "}, "`email`"),
        ({"user_password": PASSWORD, "wait_timeout": 0}, "wait_timeout"),
        ({"user_password": PASSWORD, "proof_timeout": -1}, "proof_timeout"),
        ({"user_password": PASSWORD, "proof": "gateway"}, "gateway_url"),
        ({"user_password": PASSWORD, "gateway_url": "https://kubeflow.example.com"}, "`proof`"),
        *(
            ({"user_password": PASSWORD, "proof": "gateway", "gateway_url": url}, "gateway_url")
            for url in (
                "kubeflow.example.com",
                "ftp://a",
                "https://",
                "https://a:x",
                "https://a:0",
                "https://u:p@a",
                "https://a/dex",
                "https://[",
            )
        ),
    ],
)
def test_each_wrong_option_is_a_finding_and_nothing_is_asked_of_a_cluster(given: dict[str, Any], words: str) -> None:
    result = service.execute(params(kubeconfig="/nowhere", **given), check=False, diff=True)
    assert (result["failed"], result["changed"], len(result["findings"])) == (True, False, 1)
    assert words in result["msg"]
    assert all(str(value) not in str(result) for name, value in given.items() if name.startswith("user_") and value)


def test_all_findings_are_told_at_once() -> None:
    result = service.execute(params(email="", user_password="short", cost=9, wait_timeout=0, gateway_url="x"), check=False, diff=False)
    assert len(result["findings"]) == 5
    assert result["msg"].startswith("5 problems: ")


def test_a_cluster_that_is_nowhere_is_said() -> None:
    result = service.execute(params(user_password=PASSWORD, kubeconfig="/nowhere"), check=False, diff=False)
    assert result["failed"]
    assert "/nowhere" in result["msg"]
