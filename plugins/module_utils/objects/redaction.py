# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Keeps secret values out of everything that leaves the process: results, diffs, errors, plans, reports.

Two ways: by place (every value of a Secret, and what a name calls a credential), and by value (values that were learned
are blanked wherever they turn up, also base64- or URL-encoded, or inside a longer base64 text). A value under 8 characters
is masked by place only: to blank it everywhere would blank every equal piece of the output.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
import threading
from collections.abc import Iterable
from typing import Any
from urllib.parse import quote, quote_plus

MASK = "********"
MASK_BEFORE = "******** (before)"
MASK_AFTER = "******** (after)"
MINIMUM = 8
# Values of Secrets that are names of everyday things: blanking them would blank the names of objects.
_EVERYDAY = frozenset(
    {"kubeflow", "kubernetes", "mlpipeline", "postgres", "postgresql", "localhost", "us-east-1", "disabled", "istio-system"}
)
# Names are read word by word: clientSecret, CLIENT_SECRET and client-secret are one. The last word may say that it is but a place.
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_CREDENTIAL_ENDS = ("password", "passwd", "passphrase", "secret", "token", "credential", "apikey", "accesskey", "secretkey", "privatekey")
_CREDENTIAL_WORDS = frozenset({"authorization", "credentials", "pwd", "passwords"})
_KEY_OWNERS = frozenset({"access", "api", "encryption", "private", "secret", "signing"})
_PLACES = frozenset(
    {"audience", "class", "count", "disabled", "enabled", "endpoint", "expiration", "expiry", "file", "id", "length", "mode", "name"}
    | {"names", "namespace", "path", "policy", "ref", "refs", "seconds", "secrets", "size", "ttl", "type", "uri", "url", "version"}
)
# From the word that matters on; what is before it in the name is looked up backwards, which keeps the search linear.
_NAME = r"(?:pass(?:word|wd|phrase)|secret|token|api[-_]?key|access[-_]?key|private[-_]?key|credential)[\w.-]{0,60}"
_BEFORE = re.compile(r"[\w.-]{0,60}\Z")
_QUOTED = r'"(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\''
# Configuration inside texts: `password=x` anywhere, `"clientSecret": "x"`, and lines of YAML. Prose ("secret: not found") stays.
_ASSIGNMENTS = (
    re.compile(rf"""(?P<name>{_NAME})(?P<gap>["']?=)(?P<value>{_QUOTED}|[^\s,;&|>}}{{\]\["']+)""", re.IGNORECASE),
    re.compile(rf"""(?P<name>{_NAME})(?P<gap>["']?[ \t]*:[ \t]*)(?P<value>{_QUOTED})""", re.IGNORECASE),
    # What a server quotes of a field: `spec.password: Invalid value: "x": must be ...`.
    re.compile(rf"""(?P<name>{_NAME})(?P<gap>["\]]*: (?:Invalid|Unsupported|Duplicate) value: )(?P<value>{_QUOTED})""", re.IGNORECASE),
)
_LINE = re.compile(
    r"""^(?P<head>[ \t]*(?:-[ \t]+)?["']?(?P<name>[\w.-]{1,120})["']?[ \t]*:[ \t]+)(?P<value>[^\s"'{\[|>&*#][^\n]*)""", re.MULTILINE
)
_SWITCH = re.compile(r"true|false|null|~|none", re.IGNORECASE)
_PLAIN = re.compile(r"\d{1,3}|(Invalid|Unsupported|Duplicate|Required|Forbidden|Too long).*", re.IGNORECASE)
_BCRYPT = re.compile(r"\$2[abxy]?\$\d\d\$[./A-Za-z0-9]{53}")
_BEARER = re.compile(r"\b(?P<head>(?:Authorization[\"']?\s*[:=]\s*[\"']?)?(?:Bearer|Basic)\s+)[A-Za-z0-9._~+/=-]{8,}", re.IGNORECASE)
_JWT = re.compile(r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*")
_PRIVATE_KEY = re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(-----END [A-Z ]*PRIVATE KEY-----|\Z)", re.DOTALL)
_USERINFO = re.compile(r"(?P<head>\b[a-z][a-z0-9+.-]{0,20}://[^/\s:@\"']+:)[^/\s@\"']+(?=@)", re.IGNORECASE)


class Redactor:
    """Masks texts and objects. Thread-safe; values can be learned while others mask."""

    def __init__(self, extra_values: Iterable[str] = ()) -> None:
        self._lock = threading.Lock()
        self._values: set[str] = set()
        self._forms: tuple[str, ...] = ()
        self._learn_values(extra_values)

    def learn(self, obj: dict[str, Any]) -> None:
        """Remember the values of a Secret, so that they are blanked wherever they turn up. Other kinds teach nothing."""
        if obj.get("kind") == "Secret":
            self._learn_values(_secret_values(obj))

    def text(self, text: str) -> str:
        """Return ``text`` without secrets: learned values, and what looks like a credential."""
        for form in self._forms:
            if form in text:
                text = text.replace(form, MASK)
        text = _PRIVATE_KEY.sub(MASK, text)
        text = _BEARER.sub(rf"\g<head>{MASK}", text)
        text = _JWT.sub(MASK, text)
        text = _BCRYPT.sub(MASK, text)
        text = _USERINFO.sub(rf"\g<head>{MASK}", text)
        for pattern in _ASSIGNMENTS:
            text = pattern.sub(_mask_assignment, text)
        return _LINE.sub(
            lambda match: match.group(0) if _public(match.group("name"), match.group("value")) else f"{match.group('head')}{MASK}", text
        )

    def object(self, obj: Any) -> Any:
        """Return a copy of a Kubernetes object, or of any JSON value, without secrets."""
        if isinstance(obj, dict):
            return self._mapping(obj)
        if isinstance(obj, list):
            return self._list(obj)
        return self.text(obj) if isinstance(obj, str) else obj

    def pair(self, before: Any, after: Any) -> tuple[Any, Any]:
        """Return both states of one object masked: equal values under equal marks, different ones under different marks.

        The marks have fixed widths and tell neither length nor hash.
        """
        old, new = self.object(before), self.object(after)
        return self._mark(old, new, before, after)

    def _mark(self, old: Any, new: Any, before: Any, after: Any) -> tuple[Any, Any]:
        """Put different marks where both masked states look the same and the states themselves differ."""
        if isinstance(old, dict) and isinstance(new, dict) and isinstance(before, dict) and isinstance(after, dict):
            pairs = {k: self._mark(old[k], new[k], before[k], after[k]) for k in old if k in new}
            return {k: pairs[k][0] if k in pairs else v for k, v in old.items()}, {
                k: pairs[k][1] if k in pairs else v for k, v in new.items()
            }
        if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
            marked = [self._mark(*items) for items in zip(old, new, before, after, strict=True)]
            return [item[0] for item in marked], [item[1] for item in marked]
        if old == new and before != after and isinstance(old, str) and MASK in old:
            return old.replace(MASK, MASK_BEFORE), new.replace(MASK, MASK_AFTER)
        return old, new

    def _learn_values(self, values: Iterable[str]) -> None:
        new = {value for value in values if len(value) >= MINIMUM and value.lower() not in _EVERYDAY and not value.isspace()}
        with self._lock:
            if new <= self._values:
                return
            self._values |= new
            forms = {form for value in self._values for form in _forms(value)}
            self._forms = tuple(sorted(forms, key=lambda form: (-len(form), form)))

    def _mapping(self, value: dict[str, Any]) -> dict[str, Any]:
        secret = value.get("kind") == "Secret"
        variable = isinstance(value.get("name"), str) and isinstance(value.get("value"), str) and is_credential(value["name"])
        result = {}
        for key, item in value.items():
            if secret and key in ("data", "stringData"):
                result[key] = dict.fromkeys(item, MASK) if isinstance(item, dict) else MASK
            elif variable and key == "value" or isinstance(item, str) and item and is_credential(str(key)) and not _SWITCH.fullmatch(item):
                result[key] = MASK
            else:
                result[key] = self.object(item)
        return result

    def _list(self, items: list[Any]) -> list[Any]:
        """Mask a list; in arguments, ``--password x`` names its credential one item ahead."""
        result = []
        previous = ""
        for item in items:
            flag = previous.startswith("-") and "=" not in previous and is_credential(previous.lstrip("-"))
            result.append(MASK if flag and isinstance(item, str) and not item.startswith("-") else self.object(item))
            previous = item if isinstance(item, str) else ""
        return result


def is_credential(name: str) -> bool:
    """Tell whether ``name``, of a variable or key, calls its value a credential rather than the place of one."""
    words = [word.lower() for word in _WORDS.findall(name)]
    if not words or words[-1] in _PLACES:
        return False
    keys = any(owner in _KEY_OWNERS and key == "key" for owner, key in zip(words, words[1:], strict=False))
    return keys or any(word in _CREDENTIAL_WORDS or word.endswith(_CREDENTIAL_ENDS) for word in words)


def _mask_assignment(match: re.Match[str]) -> str:
    before = _BEFORE.search(match.string, max(0, match.start() - 60), match.start())
    value = match.group("value")
    if _public((before.group(0) if before else "") + match.group("name"), value.strip("\"'").strip()):
        return match.group(0)
    mark = value[0] if value[0] in "\"'" else ""
    return f"{match.group('name')}{match.group('gap')}{mark}{MASK}{mark}"


def _public(name: str, value: str) -> bool:
    """Tell whether ``value`` may be shown: its name is no credential's, or it is a setting, a reference, or masked already."""
    if not is_credential(name) or not value or MASK in value or value.startswith("$("):
        return True
    return bool(_SWITCH.fullmatch(value) or _PLAIN.fullmatch(value))


def _secret_values(secret: dict[str, Any]) -> Iterable[str]:
    texts = secret.get("stringData")
    yield from (value for value in (texts if isinstance(texts, dict) else {}).values() if isinstance(value, str))
    data = secret.get("data")
    for value in (data if isinstance(data, dict) else {}).values():
        if not isinstance(value, str):
            continue
        yield value
        try:
            yield base64.b64decode(value).decode()
        except (binascii.Error, ValueError):
            continue


def _forms(value: str) -> Iterable[str]:
    """Yield how ``value`` may be spelled: as it is, its long lines, in JSON, in URLs, in base64 at each offset."""
    plain = {
        value,
        value.strip(),
        *(line.strip() for line in value.splitlines() if len(line.strip()) >= 20 and not line.startswith("-----")),
    }
    for text in plain:
        yield text
        yield json.dumps(text)[1:-1]
        yield json.dumps(text, ensure_ascii=False)[1:-1]
        yield quote(text, safe="")
        yield quote(text)
        yield quote_plus(text)
    yield from _base64_forms(value.encode("utf-8", "surrogatepass"))


def _base64_forms(value: bytes) -> Iterable[str]:
    """Yield the base64 of ``value`` standing alone, and the part of it that stays the same inside longer texts.

    Three offsets are possible; at each, the characters that also hold bits of neighbours are cut off.
    """
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        yield encode(value).decode()
        for offset in range(3):
            whole = encode(b"\0" * offset + value).decode().rstrip("=")
            start = (offset * 8 + 5) // 6
            end = (offset + len(value)) * 8 // 6
            if end - start >= MINIMUM:
                yield whole[start:end]
