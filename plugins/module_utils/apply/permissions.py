# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""From all refusals of a run, the one ClusterRole that would mend them."""

from __future__ import annotations

from collections.abc import Iterable

from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.errors import Failure

NAME = "kubeflow-platform-missing-permissions"
# Server-side apply of an absent object is a PATCH that creates (KEP 555): it needs both verbs, and comparing needs get.
APPLY_VERBS = ("create", "get", "list", "patch")


def role_text(failures: Iterable[Failure]) -> str:
    """A ClusterRole as YAML with every verb and resource that was refused; "" when none was."""
    wanted: dict[tuple[str, str], set[str]] = {}
    for failure in failures:
        if failure.rbac is not None:
            verb, group, resource = failure.rbac[0], failure.rbac[1], failure.rbac[2]
            verbs = wanted.setdefault((group, resource), set())
            verbs.add(verb)
            if verb in APPLY_VERBS:
                verbs.update(APPLY_VERBS)
    if not wanted:
        return ""
    lines = ["apiVersion: rbac.authorization.k8s.io/v1", "kind: ClusterRole", "metadata:", f"  name: {NAME}", "rules:"]
    for (group, resource), verbs in sorted(wanted.items()):
        lines += [f'  - apiGroups: ["{group}"]', f"    resources: [{resource}]", f"    verbs: [{', '.join(sorted(verbs))}]"]
    return "\n".join(lines) + "\n"
