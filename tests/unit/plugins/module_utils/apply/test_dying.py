# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Objects and namespaces that are being deleted."""

from __future__ import annotations

from typing import Any

from ansible_collections.kubeflow.platform.plugins.module_utils.apply.dying import doomed, dying, dying_namespaces
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.model import Item, Part
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.discovery import Resource
from ansible_collections.kubeflow.platform.plugins.module_utils.objects.identity import Identity

NAMESPACE = Identity("", "Namespace", "", "home")
ENDING = {"deletionTimestamp": "2026-01-01T00:00:00Z"}


def item(identity: Identity) -> Item:
    resource = Resource("", "v1", identity.kind, f"{identity.kind.lower()}s", bool(identity.namespace))
    return Item(0, identity, "v1", {}, "", Part("p", "p", None, ()), resource)


def test_object_that_lives_is_not_dying() -> None:
    assert dying(item(NAMESPACE), {"metadata": {}}) is None


def test_what_holds_an_object_is_named() -> None:
    conditions: list[dict[str, Any]] = [
        {"type": "NamespaceContentRemaining", "status": "True", "message": "Some resources are remaining: pods. has 1 resource instances"},
        {"type": "NamespaceDeletionDiscoveryFailure", "status": "False", "message": "All resources successfully discovered"},
    ]
    failure = dying(item(NAMESPACE), {"metadata": {**ENDING, "finalizers": ["a/b"]}, "status": {"conditions": conditions}})
    assert failure is not None
    assert failure.error_class == "terminating"
    assert "finalizers: a/b" in failure.reason
    assert "pods. has 1 resource instances" in failure.reason
    assert "successfully" not in failure.reason
    assert failure.message.startswith("Failed to apply Namespace home: it is being deleted")


def test_object_in_a_namespace_that_ends_is_doomed() -> None:
    live: dict[Identity, dict[str, Any]] = {NAMESPACE: ENDING, Identity("", "Namespace", "", "other"): {}}
    assert dying_namespaces(live) == frozenset({"home"})
    failure = doomed(item(Identity("", "ConfigMap", "home", "a")), dying_namespaces(live))
    assert failure is not None
    assert (failure.error_class, failure.namespace) == ("ns_terminating", "home")
    assert doomed(item(Identity("", "ConfigMap", "other", "a")), dying_namespaces(live)) is None
    assert doomed(item(NAMESPACE), dying_namespaces(live)) is None
