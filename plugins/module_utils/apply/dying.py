# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Objects that are being deleted: an apply to one of them is answered with 200 and worth nothing. They are waited for, then made again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ansible_collections.kubeflow.platform.plugins.module_utils.apply.model import Item
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.errors import Failure
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.wording import ADVICE, cut
from ansible_collections.kubeflow.platform.plugins.module_utils.objects.identity import Identity

# Conditions that say what holds a Namespace or a CustomResourceDefinition (kubernetes/api, core/v1 and apiextensions/v1).
_HOLDING = frozenset(
    {
        "NamespaceContentRemaining",
        "NamespaceDeletionContentFailure",
        "NamespaceDeletionDiscoveryFailure",
        "NamespaceDeletionGroupVersionParsingFailure",
        "NamespaceFinalizersRemaining",
        "Terminating",
    }
)


def dying(item: Item, live: Mapping[str, Any]) -> Failure | None:
    """The failure of an object whose live counterpart is being deleted, with what holds it; None when it is not."""
    metadata = live.get("metadata") or {}
    if not metadata.get("deletionTimestamp"):
        return None
    finalizers = ", ".join(map(str, metadata.get("finalizers") or ())) or "none"
    held = [f"finalizers: {finalizers}", *_conditions(live)]
    reason = f"it is being deleted ({'; '.join(held)})"
    return Failure("terminating", f"Failed to apply {item.identity}: {reason}", ADVICE["terminating"], reason=reason)


def _conditions(live: Mapping[str, Any]) -> list[str]:
    rows = (live.get("status") or {}).get("conditions") or []
    return [cut(str(row.get("message")), 300) for row in rows if row.get("type") in _HOLDING and row.get("status") == "True"]


def dying_namespaces(live: Mapping[Identity, Mapping[str, Any]]) -> frozenset[str]:
    """The names of namespaces that are being deleted, of metadata by identity."""
    return frozenset(
        identity.name
        for identity, metadata in live.items()
        if (identity.group, identity.kind) == ("", "Namespace") and metadata.get("deletionTimestamp")
    )


def doomed(item: Item, namespaces: Iterable[str]) -> Failure | None:
    """The failure of an object whose namespace is being deleted: it goes with it, sooner or later."""
    name = item.identity.namespace
    if not name or name not in namespaces:
        return None
    reason = f"namespace {name} is being deleted"
    return Failure("ns_terminating", f"Failed to apply {item.identity}: {reason}", ADVICE["ns_terminating"], namespace=name, reason=reason)
