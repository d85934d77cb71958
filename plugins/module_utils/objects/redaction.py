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
import threading
from collections.abc import Iterable, Iterator
from typing import Any
from urllib.parse import quote, quote_plus

from ansible_collections.kubeflow.platform.plugins.module_utils.objects.credential_lines import mask_lines
from ansible_collections.kubeflow.platform.plugins.module_utils.objects.credentials import (
    MASK,
    is_credential,
    mask_inline,
    settled,
    suspicious,
)
from ansible_collections.kubeflow.platform.plugins.module_utils.objects.normalise import LAST_APPLIED

__all__ = ["MASK", "MASK_AFTER", "MASK_BEFORE", "MINIMUM", "Redactor", "is_credential"]

MASK_BEFORE = "******** (before)"
MASK_AFTER = "******** (after)"
MINIMUM = 8
# Values of Secrets that are names of everyday things: blanking them would blank the names of objects.
_EVERYDAY = frozenset(
    {"kubeflow", "kubernetes", "mlpipeline", "postgres", "postgresql", "localhost", "us-east-1", "disabled", "istio-system"}
)
_SECRET_FIELDS = ("data", "stringData")


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

    def learn_values(self, values: Iterable[str]) -> None:
        """Remember values that are known to be secret from elsewhere; short ones are ignored, see the top of this file."""
        self._learn_values(values)

    def text(self, text: str) -> str:
        """Return ``text`` without secrets: learned values, and what looks like a credential."""
        for form in self._forms:
            if form in text:
                text = text.replace(form, MASK)
        return mask_lines(mask_inline(text)) if suspicious(text) else text

    def object(self, obj: Any) -> Any:
        """Return a copy of a Kubernetes object, or of any JSON value, without secrets."""
        if isinstance(obj, dict):
            return self._mapping(obj)
        if isinstance(obj, list):
            return self._list(obj)
        return self._string(obj) if isinstance(obj, str) else obj

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
        pair = _names_credential(value)
        result = {}
        for key, item in value.items():
            if secret and key in _SECRET_FIELDS:
                result[key] = dict.fromkeys(item, MASK) if isinstance(item, dict) else MASK
            elif secret and key == "metadata":
                result[key] = self.object(_without_last_applied(item))
            elif key == LAST_APPLIED and isinstance(item, str):
                result[key] = self._last_applied(item)
            elif (pair and key == "value") or is_credential(str(key)):
                result[key] = self._credential(item)
            else:
                result[key] = self.object(item)
        return result

    def _credential(self, value: Any) -> Any:
        """Mask what a credential's name stands before: texts and numbers, also in lists. Mappings say themselves what they hold."""
        if isinstance(value, list):
            return [self._credential(item) for item in value]
        if isinstance(value, dict):
            return self._mapping(value)
        if value is None or isinstance(value, bool) or (isinstance(value, str) and settled(value)):
            return value
        return MASK

    def _string(self, text: str) -> str:
        """Mask a text; one that is JSON is masked as what it says, since that knows numbers and lists for what they are."""
        if text[:1] in ("{", "[") and suspicious(text):
            try:
                content = json.loads(text)
                masked = self.object(content)
            except (ValueError, RecursionError):
                return self.text(text)
            if masked != content:
                text = json.dumps(masked, indent=2 if "\n" in text.strip() else None, ensure_ascii=False)
        return self.text(text)

    def _last_applied(self, text: str) -> str:
        """Mask what kubectl keeps of an object: all of a Secret, or of what cannot be read; else what its own masking leaves."""
        try:
            content = json.loads(text)
        except (ValueError, RecursionError):
            return MASK
        return MASK if not isinstance(content, dict) or content.get("kind") == "Secret" else self._string(text)

    def _list(self, items: list[Any]) -> list[Any]:
        """Mask a list; in arguments, ``--password x`` names its credential one item ahead."""
        result = []
        previous = ""
        for item in items:
            flag = previous.startswith("-") and "=" not in previous and is_credential(previous.lstrip("-"))
            scalar = isinstance(item, str | int | float) and not (isinstance(item, str) and item.startswith("-"))
            result.append(self._credential(item) if flag and scalar else self.object(item))
            previous = item if isinstance(item, str) else ""
        return result


def _names_credential(value: dict[str, Any]) -> bool:
    """Tell whether a mapping is a pair of a credential's name and its value: a variable, a parameter, a step of a JSON patch."""
    return "value" in value and any(isinstance(value.get(key), str) and is_credential(value[key]) for key in ("name", "key", "path"))


def _without_last_applied(metadata: Any) -> Any:
    """Return a Secret's metadata less what kubectl keeps of its values in an annotation."""
    annotations = metadata.get("annotations") if isinstance(metadata, dict) else None
    if not isinstance(annotations, dict) or LAST_APPLIED not in annotations:
        return metadata
    return {**metadata, "annotations": {**annotations, LAST_APPLIED: MASK}}


def _secret_values(secret: dict[str, Any]) -> Iterator[str]:
    """Yield the values of a Secret, decoded too, and those that kubectl's annotation keeps of an earlier state."""
    for field in _SECRET_FIELDS:
        for text in _scalars(secret.get(field)):
            yield text
            if field == "data":
                try:
                    yield base64.b64decode(text).decode()
                except (binascii.Error, ValueError):
                    continue
    metadata = secret.get("metadata")
    annotations = metadata.get("annotations") if isinstance(metadata, dict) else None
    kept = annotations.get(LAST_APPLIED) if isinstance(annotations, dict) else None
    if isinstance(kept, str):
        try:
            earlier = json.loads(kept)
        except (ValueError, RecursionError):
            return
        if isinstance(earlier, dict):
            yield from (text for field in _SECRET_FIELDS for text in _secret_values({field: earlier.get(field)}))


def _scalars(value: Any) -> Iterator[str]:
    """Yield all texts and numbers inside a value: a Secret should hold texts only, but what is sent may be wrong."""
    if isinstance(value, dict):
        for item in value.values():
            yield from _scalars(item)
    elif isinstance(value, list):
        for item in value:
            yield from _scalars(item)
    elif isinstance(value, str):
        yield value
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield json.dumps(value)


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
