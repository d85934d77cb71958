# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import base64

import bcrypt
import pytest
from ansible_collections.kubeflow.platform.plugins.module_utils.identity import passwords
from ansible_collections.kubeflow.platform.plugins.module_utils.identity.passwords import Unusable

PASSWORD = "correct horse"
MADE = passwords.make(PASSWORD, 10)
SHIPPED = "$2y$12$4K/VkmDd1q1Orb3xAt82zu8gk7Ad6ReFR4LCP9UeYE90NLiN9Df72"


def with_cost(cost: str) -> str:
    return f"$2b${cost}{MADE.text[6:]}"


@pytest.mark.parametrize("letter", ["a", "b", "y"])
@pytest.mark.parametrize("form", ["plain", "line", "base64", "base64 of a line", "wrapped in spaces"])
def test_every_form_is_taken_that_dex_reads(letter: str, form: str) -> None:
    text = f"$2{letter}{MADE.text[3:]}"
    given = {
        "plain": text,
        "line": f"{text}\n",
        "base64": base64.b64encode(text.encode()).decode(),
        "base64 of a line": base64.b64encode(f"{text}\n".encode()).decode() + "\n",
        "wrapped in spaces": f"  {text} ",
    }[form]
    assert passwords.read_hash(given).text == text
    assert passwords.matches(PASSWORD, passwords.read_hash(given))


@pytest.mark.parametrize(
    "given",
    [
        "",
        " \n",
        PASSWORD,
        "cGFzc3dvcmQ=",
        MADE.text[:-1],
        MADE.text + "a",
        MADE.text.replace("$2b$", "$2$"),
        MADE.text.replace("$2b$", "$2x$"),
        MADE.text.replace("$2b$", "$2z$"),
        MADE.text[:-1] + "!",
        MADE.text[:20] + "\n" + MADE.text[20:],
        f"{MADE.text} {MADE.text}",
        f"'{MADE.text}'",
        base64.b64encode(b"no hash at all").decode(),
        base64.b64encode(MADE.text.encode()).decode()[:-2],
        "$argon2id$v=19$m=65536,t=3,p=4$c29tZXNhbHQ$RdescudvJCsgt3ub+b",
        "$6$rounds=5000$saltsalt$" + "a" * 86,
        "{SHA}W6ph5Mm5Pz8GgiULbPgzG37mj9g=",
        "5f4dcc3b5aa765d61d8327deb882cf99",
        *(with_cost(f"{cost:02d}") for cost in (0, 4, 9, 17, 31, 99)),
        with_cost("1"),
        "ä" * 60,
    ],
)
def test_all_else_is_refused_and_not_quoted(given: str) -> None:
    with pytest.raises(Unusable) as refusal:
        passwords.read_hash(given)
    assert len(given.strip()) < 4 or given.strip() not in str(refusal.value)
    assert PASSWORD not in str(refusal.value)


@pytest.mark.parametrize("cost", range(10, 17))
def test_the_costs_that_dex_takes_are_taken(cost: int) -> None:
    assert passwords.read_hash(with_cost(str(cost))).cost == cost
    passwords.check_cost(cost)


@pytest.mark.parametrize("cost", [-1, 0, 4, 9, 17, 31])
def test_other_costs_are_refused(cost: int) -> None:
    with pytest.raises(Unusable, match="10 to 16"):
        passwords.make(PASSWORD, cost)


@pytest.mark.parametrize("password", ["a" * 72, "ä" * 36, "€" * 24, "😀" * 18, " with spaces ", "$2b$12$ is no hash"])
def test_passwords_of_up_to_72_bytes_are_taken(password: str) -> None:
    assert passwords.matches(password, passwords.make(password, 10))


@pytest.mark.parametrize("password", ["a" * 73, "ä" * 37, "€" * 25, "😀" * 19])
def test_longer_ones_are_refused_with_their_size(password: str) -> None:
    with pytest.raises(Unusable, match=str(len(password.encode()))):
        passwords.make(password, 10)


@pytest.mark.parametrize("password", ["", "short", "a line\nand another", "nothing\x00more", "tabs\tinside", "\ud800 alone", "12341234"])
def test_what_nobody_could_type_or_everybody_knows_is_refused(password: str) -> None:
    with pytest.raises(Unusable) as refusal:
        passwords.check(password)
    assert not password or password not in str(refusal.value)


def test_the_hash_that_is_shipped_is_refused_in_every_form() -> None:
    for given in (SHIPPED, base64.b64encode(SHIPPED.encode()).decode()):
        with pytest.raises(Unusable, match="ships"):
            passwords.read_hash(given)


def test_a_wrong_password_does_not_match() -> None:
    assert not passwords.matches("incorrect horse", MADE)
    assert not passwords.matches(PASSWORD, passwords.Hash(with_cost("99"), 99))


def test_hashes_of_bcrypt_itself_are_read_when_stored_with_a_cost_below_what_dex_takes() -> None:
    stored = passwords.parse(bcrypt.hashpw(PASSWORD.encode(), bcrypt.gensalt(4)).decode())
    assert stored is not None
    assert not stored.usable
    assert passwords.matches(PASSWORD, stored)


def test_what_is_stored_and_is_no_hash_is_none() -> None:
    assert passwords.parse("") is None
    assert passwords.parse("plain text") is None


def test_a_hash_is_the_same_under_each_of_its_names_and_not_shown() -> None:
    other = passwords.read_hash(MADE.text.replace("$2b$", "$2y$"))
    assert MADE.same_as(other)
    assert not MADE.same_as(passwords.make(PASSWORD, 10))
    assert MADE.text not in repr(MADE)
