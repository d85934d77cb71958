# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Passwords of Dex and their hashes, by the same bcrypt that Dex uses: one set of rules for every option that takes one.

Nothing here quotes a password or a hash in a message.

What Dex takes was seen by running it: a hash as it is or as base64, with a cost of 10 to 16. A cost below that starts and then answers
each login with an error, anything else keeps Dex from starting; so all of it is refused before it is written.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from dataclasses import dataclass
from types import ModuleType

LEAST_COST, MOST_COST, USUAL_COST = 10, 16, 12
MOST_BYTES = 72
# Below this a value cannot be kept out of the output without blanking every equal piece of it, and is soon guessed.
SHORTEST = 8
_HASH = re.compile(r"\$(2[aby])\$(\d\d)\$([./A-Za-z0-9]{22})([./A-Za-z0-9]{31})")
_LENGTH = 60
# Control characters, and halves of characters, which no UTF-8 can hold.
_CONTROL = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]")
# Fingerprints of the password that every release ships and of its hash: everybody knows them.
_SHIPPED = frozenset({"1718c24b10aeb809", "c154376989fcff51"})


class Unusable(Exception):
    """A password or a hash that Dex would not take; the text says why and what to do, without quoting it."""


class Uninstalled(Exception):
    """The Python package bcrypt is missing where the module runs."""


@dataclass(frozen=True, slots=True)
class Hash:
    """A bcrypt hash, as text that Dex takes, and the cost that stands in it."""

    text: str
    cost: int

    def __repr__(self) -> str:
        """Keep the hash out of tracebacks: it can be attacked offline."""
        return f"Hash(cost={self.cost})"

    @property
    def usable(self) -> bool:
        """Say whether Dex lets somebody log in with it."""
        return LEAST_COST <= self.cost <= MOST_COST

    def same_as(self, other: Hash) -> bool:
        """Say whether two are one hash: 2a, 2b and 2y are names of the same thing."""
        return self.text[3:] == other.text[3:]


def parse(text: str) -> Hash | None:
    """Return the hash that a stored text is, in any form that Dex reads; None where Dex would refuse to start with it."""
    bare = text.strip()
    match = _HASH.fullmatch(bare) or _HASH.fullmatch(_decoded(bare))
    return Hash(match[0], int(match[2])) if match else None


def read_hash(given: str, *, known: bool = False) -> Hash:
    """Return a hash that somebody wants to be written. Raise Unusable where Dex would not start or would let nobody in with it.

    That of the password that everybody knows is taken only where ``known`` allows it.
    """
    bare = given.strip()
    if not bare:
        raise Unusable("the hash is empty; Dex does not start without one")
    found = parse(bare)
    if found is None:
        raise Unusable(f"{_what_it_is(bare)}; give a bcrypt hash ($2a$, $2b$ or $2y$, {_LENGTH} characters), or the password itself")
    if not found.usable:
        raise Unusable(f"the hash has the cost {found.cost}, and Dex takes {LEAST_COST} to {MOST_COST}; make it anew with one of these")
    if is_shipped(found.text) and not known:
        raise Unusable("it is the hash that Kubeflow ships, whose password everybody knows; choose another password")
    return found


def check(password: str, *, known: bool = False) -> None:
    """Raise Unusable for a password that could not be used to log in, or, unless ``known`` allows it, that everybody knows."""
    size = len(password.encode("utf-8", "surrogatepass"))
    if not password:
        raise Unusable("the password is empty")
    if fault := secret_fault(password):
        raise Unusable(f"the password {fault}")
    if size > MOST_BYTES:
        raise Unusable(f"the password has {size} bytes, and bcrypt reads {MOST_BYTES} at most; letters beyond ASCII count as two or more")
    if is_shipped(password) and not known:
        raise Unusable("it is the password that Kubeflow ships, which everybody knows; choose another")


def secret_fault(value: str) -> str:
    """Say what keeps any secret, hashed or not, from being of use: "has under 8 characters ..."; "" where nothing does."""
    if len(value) < SHORTEST:
        return f"has under {SHORTEST} characters: it would be guessed, and could not be kept out of the output"
    if _CONTROL.search(value):
        return "has a line break or another sign in it that cannot be typed, such as a control character"
    return ""


def check_cost(cost: int) -> None:
    """Raise Unusable for a cost with which Dex lets nobody in."""
    if not LEAST_COST <= cost <= MOST_COST:
        raise Unusable(f"the cost {cost} is not one of {LEAST_COST} to {MOST_COST}, which Dex takes")


def make(password: str, cost: int = USUAL_COST, *, known: bool = False) -> Hash:
    """Return a new hash of a password. Raise Unusable as ``check`` does, and Uninstalled."""
    check(password, known=known)
    check_cost(cost)
    bcrypt = package()
    return Hash(bcrypt.hashpw(password.encode(), bcrypt.gensalt(cost)).decode("ascii"), cost)


def matches(password: str, stored: Hash) -> bool:
    """Say whether a password belongs to a hash. It takes as long as the cost says: a fifth of a second at 12, some seconds at 16."""
    try:
        return bool(package().checkpw(password.encode()[:MOST_BYTES], stored.text.encode("ascii")))
    except ValueError:  # a cost outside 4 to 31
        return False


def is_shipped(value: str) -> bool:
    """Say whether a value is the password that the distribution ships, or a hash of it that stands in one of its releases."""
    return fingerprint(value) in _SHIPPED


def fingerprint(value: str) -> str:
    """Return the first 16 digits of the SHA-256 of a value, by which one that everybody knows is recognised without being written down."""
    return hashlib.sha256(value.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def package() -> ModuleType:
    """Return the Python package bcrypt. Raise Uninstalled, so that a run can end before it writes."""
    try:
        import bcrypt
    except ImportError as error:
        raise Uninstalled(
            f"The Python package bcrypt cannot be imported ({error}). "
            "Install it for the Python that runs this module: pip install -r requirements.txt."
        ) from error
    return bcrypt


def _decoded(text: str) -> str:
    try:
        return base64.b64decode(text, validate=True).decode("ascii").strip()
    except (ValueError, binascii.Error):
        return ""


def _what_it_is(text: str) -> str:
    """Say in words why a text is no hash, without quoting it."""
    text = _decoded(text) or text
    if not text.startswith("$"):
        return "what is given as hash is none, perhaps a password"
    if re.match(r"\$2x?\$", text):
        return "the hash is of an old kind of bcrypt that is not safe"
    if not re.match(r"\$2[aby]\$", text):
        return "the hash is not one of bcrypt"
    if len(text) != _LENGTH:
        return f"the hash has {len(text)} characters, so a part of it is missing or something was added"
    return "the hash has signs in it that bcrypt does not write"
