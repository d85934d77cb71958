# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Label selectors, as the API server evaluates them (apimachinery ``pkg/labels``)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

_NAME = r"(?:[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?/)?[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?"
_VALUE = r"(?:[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?"
_EQUAL = re.compile(rf"({_NAME})\s*(==|=|!=)\s*({_VALUE})")
_AMONG = re.compile(rf"({_NAME})\s+(in|notin)\s*\(([^()]*)\)")
_THERE = re.compile(rf"(!?)\s*({_NAME})")


class SelectorError(ValueError):
    """A text that is no label selector."""


@lru_cache(maxsize=256)
def parse_selector(text: str) -> Mapping[str, Any]:
    """A selector as one writes it for kubectl (``app=x,tier in (a,b),!old``) as a LabelSelector; SelectorError when it is none."""
    expressions = [_requirement(piece.strip()) for piece in re.split(r",(?![^()]*\))", text)] if text.strip() else []
    return {"matchExpressions": expressions} if expressions else {}


def _requirement(text: str) -> dict[str, Any]:
    found = _EQUAL.fullmatch(text)
    if found:
        return {"key": found.group(1), "operator": "NotIn" if found.group(2) == "!=" else "In", "values": [found.group(3)]}
    found = _AMONG.fullmatch(text)
    values = [value.strip() for value in found.group(3).split(",")] if found else []
    if found and all(re.fullmatch(_VALUE, value) for value in values):
        return {"key": found.group(1), "operator": "In" if found.group(2) == "in" else "NotIn", "values": values}
    found = _THERE.fullmatch(text)
    if found:
        return {"key": found.group(2), "operator": "DoesNotExist" if found.group(1) else "Exists"}
    raise SelectorError(f"{text!r} is no label selector; write app=x, tier in (a,b), a label's name, or ! and a label's name")


def selector_matches(selector: Mapping[str, Any] | None, labels: Mapping[str, str]) -> bool:
    """Say whether a LabelSelector selects ``labels``. An empty or absent selector selects everything.

    An operator that this version does not know selects nothing it is sure of, and counts as a match: a gate too many
    costs a wait, a gate too few a failure.
    """
    if not selector:
        return True
    if any(labels.get(key) != value for key, value in (selector.get("matchLabels") or {}).items()):
        return False
    return all(_expression_matches(expression, labels) for expression in selector.get("matchExpressions") or [])


def _expression_matches(expression: Mapping[str, Any], labels: Mapping[str, str]) -> bool:
    key, operator, values = expression.get("key"), expression.get("operator"), expression.get("values") or []
    value = labels.get(str(key))
    if operator == "In":
        return value is not None and value in values
    if operator == "NotIn":
        return value is None or value not in values
    if operator == "Exists":
        return value is not None
    if operator == "DoesNotExist":
        return value is None
    return True
