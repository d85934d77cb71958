# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""One role that would mend all refusals of a run."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.errors import Failure

# Server-side apply needs both: create where the object is absent, patch where it is not; and get to compare.
_TOGETHER = {
    "create": {"create", "get", "patch"},
    "patch": {"create", "get", "patch"},
    "delete": {"delete", "get"},
    "list": {"get", "list"},
}


def missing_permissions(failures: Iterable[Failure]) -> dict[str, Any]:
    """Return the part of a module's result that says which role was lacking; {} where nothing was forbidden."""
    role = mending_role(failure.rbac for failure in failures if failure.rbac is not None)
    return {"missing_permissions": role} if role is not None else {}


def mending_role(refusals: Iterable[Collection[str]], name: str = "kubeflow-platform-missing") -> dict[str, Any] | None:
    """Return the ClusterRole (a Role where all refusals concern one namespace) with what was refused; None where nothing was.

    ``refusals`` are the ``rbac`` tuples (verb, group, resource, namespace) of failures of class "rbac".
    """
    wanted = [tuple(one) for one in refusals]
    if not wanted:
        return None
    verbs: dict[tuple[str, str], set[str]] = {}
    for verb, group, resource, _namespace in wanted:
        verbs.setdefault((group, resource), set()).update(_TOGETHER.get(verb, {verb}))
    together: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for (group, resource), allowed in sorted(verbs.items()):
        together.setdefault((group, tuple(sorted(allowed))), []).append(resource)
    rules = [{"apiGroups": [group], "resources": resources, "verbs": list(allowed)} for (group, allowed), resources in together.items()]
    namespaces = {namespace for _verb, _group, _resource, namespace in wanted}
    kind, metadata = "ClusterRole", {"name": name}
    if len(namespaces) == 1 and namespaces != {""}:
        kind, metadata = "Role", {"name": name, "namespace": namespaces.pop()}
    return {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": kind, "metadata": metadata, "rules": rules}
