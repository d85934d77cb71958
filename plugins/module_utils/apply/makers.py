# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Who made a live object: this set, the cluster and its controllers, or somebody who is asked before it is taken over.

The API keeps no maker, only who holds which fields. So everybody who is not known to be a controller counts, a program that nobody
has heard of as much as a person; a list of the tools that people use would let all others be taken over in silence.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any

from ansible_collections.kubeflow.platform.plugins.module_utils.apply.ledger import Entry, Ledger
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.model import SET_LABEL
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.errors import Failure
from ansible_collections.kubeflow.platform.plugins.module_utils.objects.identity import Identity
from ansible_collections.kubeflow.platform.plugins.module_utils.objects.ownership import manager_class, managers, own_entry

# What kube-apiserver and kube-controller-manager make in every cluster, or in every namespace.
_CLUSTER_MADE = frozenset({("ServiceAccount", "default"), ("ConfigMap", "kube-root-ca.crt")})
_CLUSTER_NAMESPACES = frozenset({"default", "kube-node-lease", "kube-public", "kube-system"})
# Commands of kubectl that only change what is there already.
_CHANGES = re.compile(r"kubectl-(annotate|cordon|drain|edit|label|patch|rollout|scale|set|taint|uncordon)")
NOBODY = "somebody unknown"


def cluster_made(identity: Identity, metadata: Mapping[str, Any]) -> bool:
    """Say whether every cluster has such an object by itself."""
    if "kubernetes.io/bootstrapping" in (metadata.get("labels") or {}):
        return True
    if (identity.group, identity.kind) == ("", "Namespace"):
        return identity.name in _CLUSTER_NAMESPACES
    return identity.group == "" and (identity.kind, identity.name) in _CLUSTER_MADE


def ours(entry: Entry | None, metadata: Mapping[str, Any]) -> bool:
    """Say whether a live object is this collection's business already: it carries our entry, or the ledger has it.

    What an interrupted run created carries our entry. A creation that was announced and never confirmed proves nothing about an
    object without it: somebody else made that one.
    """
    if own_entry(dict(metadata)) is not None:
        return True
    return entry is not None and (bool(entry.uid) or not entry.created)


def maker(identity: Identity, metadata: Mapping[str, Any], takeover: Collection[str] = ()) -> str:
    """Return who made a live object that is not ours, "" where nobody need be asked about it.

    That is so where the cluster or a controller made it: somebody's label on such an object does not make it theirs.
    """
    if cluster_made(identity, metadata) or any(row.get("controller") for row in metadata.get("ownerReferences") or []):
        return ""
    names = managers(metadata)
    makers = [name for name in names if not _CHANGES.fullmatch(name)]
    others = [name for name in makers if manager_class(name, takeover) in ("human", "unknown")]
    if makers:
        return others[0] if others else ""
    return names[0] if names else NOBODY


def stranger(ledger: Ledger, identity: Identity, metadata: Mapping[str, Any], takeover: Collection[str] = ()) -> str:
    """Return who has to be asked before a live object is taken over, "" where it is ours or nobody has to be."""
    return "" if ours(ledger.entries.get(identity), metadata) else maker(identity, metadata, takeover)


def applied_by_set(metadata: Mapping[str, Any], set_name: str) -> bool:
    """Say whether a set applied a live object. All sets write under one name, so the label tells them apart."""
    return (metadata.get("labels") or {}).get(SET_LABEL, "") == set_name and own_entry(dict(metadata)) is not None


def another_set(identity: Identity, metadata: Mapping[str, Any], set_name: str) -> Failure | None:
    """Return the failure of an object that another set applies."""
    owner = (metadata.get("labels") or {}).get(SET_LABEL)
    if owner in (None, set_name):
        return None
    return Failure(
        "foreign_set",
        f"Failed to apply {identity}: it belongs to the set {owner}",
        f"Remove it from one of the two sets, or remove its label {SET_LABEL} to hand it over.",
    )
