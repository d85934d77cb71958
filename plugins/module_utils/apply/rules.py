# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What must be true of objects, as data: JMESPath expressions from records and inventories.

An expression sees one object. It gives true, or a text that says why not; whatever else it gives means "not yet".
"""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ansible_collections.kubeflow.platform.plugins.module_utils.apply.pods import READY, Readiness, progressing
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.selectors import SelectorError, parse_selector, selector_matches
from ansible_collections.kubeflow.platform.plugins.module_utils.objects.identity import Identity

_KIND = re.compile(r"[A-Z][A-Za-z0-9]*")
_GROUP = re.compile(r"([a-z0-9]([-a-z0-9]*[a-z0-9])?)(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
HIDDEN = "********"
_TEXTS = ("kind", "group", "namespace", "name", "selector", "expression", "message", "component")
_OWN_KEY = {"ready": ("alone", bool, "true or false"), "checks": ("at_least", int, "a whole number")}


class RuleError(ValueError):
    """An expression that cannot be used; the text says what is wrong with it."""


@dataclass(frozen=True, slots=True)
class Rule:
    """What must be true of the objects of a kind. Empty texts select by nothing.

    ``alone``: a rule of readiness takes the place of what the engine knows of the kind. ``at_least``: a check needs so many
    objects. ``component``: whom a check is about.
    """

    kind: str
    group: str
    expression: str
    message: str
    search: Callable[[Any], Any]
    namespace: str = ""
    name: str = ""
    selector: str = ""
    component: str = ""
    alone: bool = True
    at_least: int = 1

    @property
    def title(self) -> str:
        """Which objects it is about, for messages."""
        place = "/".join(text for text in (self.namespace, self.name) if text)
        words = [self.kind, place, f"({self.selector})" if self.selector else ""]
        return " ".join(word for word in words if word)

    def selects(self, identity: Identity, labels: Mapping[str, str]) -> bool:
        """Whether it is about this object."""
        return (
            (self.group, self.kind) == (identity.group, identity.kind)
            and self.namespace in ("", identity.namespace)
            and self.name in ("", identity.name)
            and selector_matches(parse_selector(self.selector), labels)
        )

    def judge(self, content: Mapping[str, Any]) -> Readiness:
        """Whether it is true of an object. The values of Secrets are kept from the expression, and so from messages."""
        try:
            found = self.search(_without_values(content))
        except Exception as error:  # jmespath raises ValueErrors of its own kinds, and others for odd data
            return progressing(f"{self.message} ({' '.join(str(error).split())})")
        if found is True:
            return READY
        return progressing(found if isinstance(found, str) and found else self.message)


def _without_values(content: Mapping[str, Any]) -> Mapping[str, Any]:
    if (content.get("apiVersion"), content.get("kind")) != ("v1", "Secret"):
        return content
    hidden = {key: dict.fromkeys(content[key] or {}, HIDDEN) for key in ("data", "stringData") if key in content}
    return {**content, **hidden}


def compiled(expression: str) -> Callable[[Any], Any]:
    """The expression, ready to be asked; RuleError for one that could never be answered."""
    try:
        library = importlib.import_module("jmespath")
        known = importlib.import_module("jmespath.functions").Functions.FUNCTION_TABLE
    except ImportError:
        raise RuleError(f"the Python package jmespath, which reads expressions, is missing; install it for {sys.executable}") from None
    try:
        parsed = library.compile(expression)
    except Exception as error:  # ValueErrors of its own
        raise RuleError(f"{expression!r} is no JMESPath expression: {' '.join(str(error).split())}") from None
    unknown = sorted({name for name in _functions(parsed.parsed) if name not in known})
    if unknown:
        raise RuleError(f"{expression!r} uses {', '.join(unknown)}(), which JMESPath does not have")
    search: Callable[[Any], Any] = parsed.search
    return search


def _functions(node: Any) -> Iterator[str]:
    """Names of all functions in a parsed expression; only evaluating it would complain, and perhaps not today."""
    if node.get("type") == "function_expression":
        yield str(node.get("value"))
    for child in node.get("children") or []:
        if isinstance(child, dict):
            yield from _functions(child)


def faults(params: Mapping[str, Any]) -> list[str]:
    """What is wrong with the options ``ready`` and ``checks``, one sentence each."""
    found = []
    for option in ("ready", "checks"):
        for number, row in enumerate(params.get(option) or [], 1):
            found += [f"`{option}`, entry {number}: {fault}" for fault in row_faults(row, option)]
    return found


def row_faults(row: Mapping[str, Any], option: str) -> Iterator[str]:
    """What is wrong with one entry of ``ready`` or ``checks``."""
    wrong = [*_shape_faults(row, option)]
    yield from wrong or _content_faults(row)


def _shape_faults(row: Mapping[str, Any], option: str) -> Iterator[str]:
    own, kind, words = _OWN_KEY[option]
    for key, value in row.items():
        if key in _TEXTS:
            if value is not None and not isinstance(value, str):
                yield f"`{key}` must be a text (quote it if it looks like a number)"
        elif key != own:
            yield f"unknown key `{key}` (known: {', '.join((*_TEXTS, own))})"
        elif value is not None and (not isinstance(value, kind) or isinstance(value, bool) is not (kind is bool)):
            yield f"`{key}` must be {words}"
    for key in ("kind", "expression", "message"):
        if not row.get(key):
            yield f"`{key}` is missing"


def _content_faults(row: Mapping[str, Any]) -> Iterator[str]:
    kind, group = str(row.get("kind") or ""), str(row.get("group") or "")
    if not _KIND.fullmatch(kind):
        yield f"`kind: {kind}` is no kind; use its name as in manifests, such as Deployment"
    if group and not _GROUP.fullmatch(group):
        yield f"`group: {group}` is no API group; use it without the version, such as apps, and nothing for core kinds"
    if not str(row.get("message") or "").strip():
        yield "`message` is empty; say what is wrong when the expression is not true"
    if int(row.get("at_least") or 0) < 0:
        yield "`at_least` is negative"
    try:
        parse_selector(str(row.get("selector") or ""))
    except SelectorError as error:
        yield f"`selector`: {error}"
    try:
        compiled(str(row.get("expression") or ""))
    except RuleError as error:
        yield f"`expression`: {error}"


def read(rows: Iterable[Mapping[str, Any]] | None) -> tuple[Rule, ...]:
    """The rules of an option that has no faults."""
    return tuple(
        Rule(
            kind=row["kind"],
            group=row.get("group") or "",
            expression=row["expression"],
            message=row["message"],
            search=compiled(row["expression"]),
            namespace=row.get("namespace") or "",
            name=row.get("name") or "",
            selector=row.get("selector") or "",
            component=row.get("component") or "",
            alone=row.get("alone") is not False,
            at_least=1 if row.get("at_least") is None else int(row["at_least"]),
        )
        for row in rows or ()
    )


def judged(rules: Sequence[Rule], identity: Identity, content: Mapping[str, Any], builtin: Callable[[], Readiness]) -> Readiness:
    """The state of an object by the rules about it and, unless one of them stands alone, by what the engine knows of its kind.

    What is being deleted, or has changes that its controller has not seen, is not ready whatever a rule says.
    """
    metadata = content.get("metadata") or {}
    mine = [rule for rule in rules if rule.selects(identity, metadata.get("labels") or {})]
    if not mine or metadata.get("deletionTimestamp"):
        return builtin()
    if not any(rule.alone for rule in mine):
        known = builtin()
        if known.status != "ready":
            return known
    observed = (content.get("status") or {}).get("observedGeneration")
    if isinstance(observed, int) and observed < int(metadata.get("generation") or 0):
        return progressing("its controller has not seen the last change")
    return next((found for rule in mine if (found := rule.judge(content)).status != "ready"), READY)
