# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.rbac import mending_role


def test_role_is_none_when_nothing_was_refused() -> None:
    assert mending_role([]) is None


def test_role_covers_all_that_was_refused_in_the_cluster() -> None:
    role = mending_role([("patch", "apps", "deployments", "a"), ("create", "apps", "statefulsets", "b"), ("delete", "", "secrets", "")])
    assert role == {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole",
        "metadata": {"name": "kubeflow-platform-missing"},
        "rules": [
            {"apiGroups": [""], "resources": ["secrets"], "verbs": ["delete", "get"]},
            {"apiGroups": ["apps"], "resources": ["deployments", "statefulsets"], "verbs": ["create", "get", "patch"]},
        ],
    }


def test_role_stays_in_the_namespace_when_all_refusals_are_in_one() -> None:
    role = mending_role([("patch", "", "configmaps", "a"), ("list", "", "pods", "a")])
    assert role is not None
    assert (role["kind"], role["metadata"]["namespace"]) == ("Role", "a")
