# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a caller says about Secrets that are shipped with public values: where they are and what becomes of them. Pure.

A value counts as upstream's own if it stands in that very Secret under that very key and has one of the fingerprints that the
records list for it: the first 16 digits of its SHA-256. Values that a user's patches put there are nobody's default.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ansible_collections.kubeflow.platform.plugins.module_utils.identity import passwords
from ansible_collections.kubeflow.platform.plugins.module_utils.objects.identity import bare_name

# In the ledger's digest of an ensured Secret; such a Secret is never pruned.
MARK = "ensured:"


@dataclass(frozen=True, slots=True)
class Value:
    """One key that must not keep the value that is shipped; see the records for its fields."""

    key: str
    make: str
    shipped: frozenset[str] = frozenset()
    same: str = ""
    workload: str = ""
    starts: str = ""

    def is_shipped(self, value: str) -> bool:
        """Say whether a value of this key is one that everybody can read upstream."""
        return passwords.fingerprint(value) in self.shipped


@dataclass(frozen=True, slots=True)
class Credential:
    """A Secret by its name without a content hash."""

    namespace: str
    name: str
    purpose: str = ""
    values: tuple[Value, ...] = ()

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}"

    def is_called(self, name: str) -> bool:
        """Say whether a Secret of the namespace with this name is meant."""
        return self.name in (name, bare_name(name))


@dataclass(frozen=True, slots=True)
class Credentials:
    """All of them, and what to do: with an empty ``mode`` they are applied like any other object."""

    mode: str = ""
    secrets: tuple[Credential, ...] = ()
    given: Mapping[str, Mapping[str, str]] = field(default_factory=dict, repr=False)

    @classmethod
    def from_params(cls, params: Mapping[str, Any] | None) -> Credentials:
        """Read the module's option."""
        if not params:
            return cls()
        return cls(params["mode"], tuple(_credential(row) for row in params.get("secrets") or []), params.get("given") or {})

    def find(self, namespace: str, name: str) -> Credential | None:
        """The credential that a Secret is, None where it is none."""
        return next((row for row in self.secrets if row.namespace == namespace and row.is_called(name)), None)

    def given_for(self, credential: Credential, value: Value) -> str | None:
        """The value that was given for a key or for a copy of it."""
        for other in self.secrets:
            for copy in other.values:
                if (other is credential and copy.key == value.key) or (value.same and copy.same == value.same):
                    found = (self.given.get(str(other)) or {}).get(copy.key)
                    if found is not None:
                        return found
        return None


def _credential(row: Mapping[str, Any]) -> Credential:
    values = tuple(
        Value(
            entry["key"],
            entry["make"],
            frozenset(entry.get("shipped") or ()),
            entry.get("same") or "",
            entry.get("workload") or "",
            entry.get("starts") or "",
        )
        for entry in row.get("values") or []
    )
    return Credential(row["namespace"], row["name"], row.get("purpose") or "", values)


def cookie_bytes(value: str) -> int:
    """Return how many bytes oauth2-proxy counts: those of URL-safe base64 if that gives an AES key, else of the text itself."""
    bare = value.rstrip("=")
    try:
        # Go's decoder is strict where Python's skips what it does not know.
        size = len(base64.urlsafe_b64decode(bare + "=" * (-len(bare) % 4))) if re.fullmatch(r"[-\w]*", bare, re.ASCII) else 0
    except (ValueError, binascii.Error):
        size = 0
    return size if size in (16, 24, 32) else len(value.encode())


def faults(params: Mapping[str, Any]) -> list[str]:
    """What is wrong with the option ``credentials``, one sentence each; no sentence quotes a value."""
    asked = Credentials.from_params(params.get("credentials"))
    if not asked.given:
        return []
    known = {str(row): row for row in asked.secrets}
    found = []
    for name, keys in sorted(asked.given.items(), key=lambda item: str(item[0])):
        if name not in known:
            found.append(f"`credentials.given` names the Secret {name}, which is none of {', '.join(sorted(known)) or 'this release'}")
        elif not isinstance(keys, Mapping):
            found.append(f"`credentials.given` of {name} must be a mapping of keys to values")
        else:
            found += [f"`credentials.given` of {name}: {text}" for text in _given_faults(asked, known[name], keys)]
    return found or _unlike(asked)


def _given_faults(asked: Credentials, credential: Credential, keys: Mapping[str, Any]) -> Iterator[str]:
    values = {value.key: value for value in credential.values}
    for key, given in sorted(keys.items(), key=lambda item: str(item[0])):
        value = values.get(key)
        if value is None:
            yield f"there is no key {key}; the keys are {', '.join(sorted(values))}"
        elif not isinstance(given, str):
            yield f"{key} must be a text; put it in quotes"
        else:
            demo = asked.mode == "demo"
            wrong = _password_fault(given, known=demo) if value.make == "bcrypt" else _refusal(value, given)
            if not wrong and not demo and value.is_shipped(given):
                wrong = "is the value that upstream ships, which everybody knows; choose another, or use the mode demo"
            if wrong:
                yield f"{key} {wrong}"


def _password_fault(given: str, *, known: bool) -> str:
    """Why a password or a hash of it cannot be taken, "" when it can. What begins like a hash of bcrypt is meant to be one."""
    try:
        if passwords.parse(given) is not None or given.startswith("$2"):
            passwords.read_hash(given, known=known)
        else:
            passwords.check(given, known=known)
    except passwords.Unusable as error:
        return f"cannot be taken: {error}"
    return ""


def _refusal(value: Value, given: str) -> str:
    """Why a value that is used as it is cannot be taken, "" when it can."""
    if value.make == "none" and not given:
        return ""
    if fault := passwords.secret_fault(given):
        return fault
    if given != given.strip():
        return "begins or ends with a space"
    if value.make == "cookie" and cookie_bytes(given) not in (16, 24, 32):
        return "must be 16, 24 or 32 bytes, best as URL-safe base64 of 32 bytes: oauth2-proxy does not start with another length"
    return ""


def _unlike(asked: Credentials) -> list[str]:
    """Copies of one value that were given differently."""
    found: dict[str, dict[str, str]] = {}
    for credential in asked.secrets:
        for value in credential.values:
            given = (asked.given.get(str(credential)) or {}).get(value.key)
            if value.same and given is not None:
                found.setdefault(value.same, {})[f"{credential} {value.key}"] = given
    return [
        f"`credentials.given`: {' and '.join(sorted(rows))} must have the same value; give one of them"
        for rows in found.values()
        if len(set(rows.values())) > 1
    ]


def decoded(secret: Mapping[str, Any], key: str) -> str | None:
    """The text under a key of a Secret, None where it has no such key or the value is no text."""
    plain = secret.get("stringData")
    if isinstance(plain, Mapping) and isinstance(plain.get(key), str):
        return str(plain[key])
    data = secret.get("data")
    if not isinstance(data, Mapping) or key not in data:
        return None
    try:
        return base64.b64decode(str(data[key] or ""), validate=True).decode()
    except (ValueError, binascii.Error):
        return None


def without(secret: Mapping[str, Any], keys: Sequence[str]) -> dict[str, Any]:
    """The Secret without these keys."""
    result = dict(secret)
    for section in ("data", "stringData"):
        if isinstance(secret.get(section), Mapping):
            result[section] = {key: value for key, value in secret[section].items() if key not in keys}
    return result


def with_values(secret: Mapping[str, Any], values: Mapping[str, str]) -> dict[str, Any]:
    """The Secret with these texts in its ``data``."""
    data = {key: base64.b64encode(value.encode("utf-8", "surrogatepass")).decode() for key, value in values.items()}
    return {**secret, "data": {**(secret.get("data") or {}), **data}}
