# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Quantities of Kubernetes: whether two texts are the same amount. The API server rewrites "1000m" as "1" in its own kinds."""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

_PATTERN = re.compile(r"([+-]?(?:\d+\.?\d*|\.\d+))(?:([KMGTPE]i)|([numkMGTPE]?)|[eE]([+-]?\d{1,3}))")
_BINARY = {"Ki": 1, "Mi": 2, "Gi": 3, "Ti": 4, "Pi": 5, "Ei": 6}
_DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}


def amount(text: Any) -> Decimal | None:
    """Return what a quantity is worth; None where it is none."""
    if isinstance(text, bool):
        return None
    match = _PATTERN.fullmatch(str(text).strip())
    if match is None:
        return None
    number, binary, suffix, exponent = match.groups()
    if binary:
        return Decimal(number) * Decimal(1024 ** _BINARY[binary])
    return Decimal(number).scaleb(int(exponent) if exponent else _DECIMAL[suffix or ""])


# What a ResourceQuota may count (ValidateResourceQuotaResourceName of Kubernetes), beside extended resources, which have a slash.
_COUNTED = frozenset(
    {
        *(prefix + name for prefix in ("", "requests.", "limits.") for name in ("cpu", "memory", "ephemeral-storage")),
        *("requests.storage", "pods", "services", "services.nodeports", "services.loadbalancers", "secrets", "configmaps"),
        *("persistentvolumeclaims", "replicationcontrollers", "resourcequotas"),
    }
)


def can_be_counted(resource: str) -> bool:
    """Tell whether a quota can be on ``resource``. The Profile's CRD takes any name, and the controller then fails in silence."""
    huge = resource.removeprefix("requests.").startswith("hugepages-")
    return resource in _COUNTED or huge or ("/" in resource and all(resource.split("/", 1)))


def same(one: Any, other: Any) -> bool:
    """Tell whether two quantities are equal; texts that are none are compared as texts."""
    first, second = amount(one), amount(other)
    return str(one) == str(other) if first is None or second is None else first == second


def same_amounts(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Tell whether two maps of quantities have the same names with equal amounts."""
    return one.keys() == other.keys() and all(same(value, other[name]) for name, value in one.items())
