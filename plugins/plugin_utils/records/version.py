# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Release names compared by number: C(1.8) is older than C(1.10), C(26.03) older than C(26.03.1)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

_FORM = re.compile(r"v?(\d+(?:\.\d+)*)")


@cache
def numbers(text: str) -> tuple[int, ...]:
    """The numbers of a dotted version, without trailing zeros so that C(1.8) and C(1.8.0) are equal; ValueError when it is none."""
    found = _FORM.match(text)
    if not found:
        raise ValueError(f"{text!r} is not a version")
    parts = [int(part) for part in found.group(1).split(".")]
    while len(parts) > 1 and parts[-1] == 0:
        parts.pop()
    return tuple(parts)


def _exact(text: str) -> tuple[int, ...]:
    found = _FORM.match(text)
    return tuple(int(part) for part in found.group(1).split(".")) if found else ()


@dataclass(frozen=True, slots=True)
class Window:
    """Tool versions that a release is known to work with, both ends included.

    The upper end is a prefix: C(5.8) takes 5.8.0 and 5.8.1, and refuses 5.9.0.
    """

    minimum: str
    maximum: str

    def contains(self, version: str) -> bool:
        """Whether a version such as C(v1.36.1) lies within."""
        upper, given = _exact(self.maximum), _exact(version)
        padded = (given + (0,) * len(upper))[: len(upper)]
        return numbers(version) >= numbers(self.minimum) and padded <= upper

    def __str__(self) -> str:
        return f"{self.minimum} to {self.maximum}"

    def as_dict(self) -> dict[str, str]:
        """The shape in which windows travel: C({min, max})."""
        return {"min": self.minimum, "max": self.maximum}
