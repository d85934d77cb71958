# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whose a live object is: nobody's object is taken over only because its maker is not on a list."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.ledger import Entry
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.makers import NOBODY, maker, ours
from ansible_collections.kubeflow.platform.plugins.module_utils.objects.identity import Identity

SPACE = Identity("", "Namespace", "", "kubeflow")
CONFIG = Identity("", "ConfigMap", "kubeflow", "settings")
OWN = {"manager": "kubeflow.platform", "operation": "Apply", "fieldsV1": {"f:data": {}}}


def held(*managers: str, **more: Any) -> dict[str, Any]:
    """Metadata with fields of these managers."""
    return {"name": "x", "managedFields": [{"manager": name, "operation": "Update", "fieldsV1": {}} for name in managers], **more}


@pytest.mark.parametrize(
    "manager",
    ["kubectl-create", "kubectl", "helm", "OpenAPI-Generator", "terraform-provider-x", "python-requests", "curl", "Mozilla", "argocd"],
)
def test_maker_is_named_when_it_is_no_controller_whether_anybody_knows_it_or_not(manager: str) -> None:
    assert maker(SPACE, held(manager)) == manager
    assert maker(SPACE, held("cainjector", manager)) == manager


@pytest.mark.parametrize("manager", ["kube-controller-manager", "cert-manager-certificates-issuing", "manager", "istiod"])
def test_nobody_is_asked_when_a_controller_made_the_object(manager: str) -> None:
    assert maker(CONFIG, held(manager)) == ""
    assert maker(CONFIG, held(manager, "kubectl-label")) == ""


def test_nobody_is_asked_when_a_controller_owns_the_object() -> None:
    assert maker(CONFIG, held("nobody-knows", ownerReferences=[{"uid": "1", "controller": True}])) == ""
    assert maker(CONFIG, held("nobody-knows", ownerReferences=[{"uid": "1"}])) == "nobody-knows"


@pytest.mark.parametrize(
    ("identity", "more"),
    [
        (Identity("", "Namespace", "", "default"), {}),
        (Identity("", "Namespace", "", "kube-system"), {}),
        (Identity("", "ServiceAccount", "kubeflow", "default"), {}),
        (Identity("", "ConfigMap", "kubeflow", "kube-root-ca.crt"), {}),
        (Identity("rbac.authorization.k8s.io", "ClusterRole", "", "edit"), {"labels": {"kubernetes.io/bootstrapping": "rbac-defaults"}}),
    ],
)
def test_nobody_is_asked_when_the_cluster_made_the_object(identity: Identity, more: dict[str, Any]) -> None:
    assert maker(identity, held("somebody", **more)) == ""
    assert maker(identity, {"name": "x", **more}) == ""


def test_unknown_maker_is_said_when_the_object_does_not_tell() -> None:
    assert maker(CONFIG, {"name": "x"}) == NOBODY
    status = {"manager": "kube-controller-manager", "operation": "Update", "subresource": "status", "fieldsV1": {}}
    assert maker(CONFIG, {"name": "x", "managedFields": [status]}) == NOBODY
    assert maker(CONFIG, held("kubectl-label")) == "kubectl-label"


def test_program_counts_as_a_person_when_takeover_names_it() -> None:
    assert maker(CONFIG, held("manager"), ("manager",)) == "manager"


def test_object_is_ours_when_it_carries_our_entry_or_is_recorded() -> None:
    assert ours(None, {"managedFields": [OWN]})
    assert not ours(None, held("kubectl"))
    assert ours(Entry("c", uid="1"), held("kubectl"))


def test_announcement_makes_an_object_ours_only_when_it_was_there_to_be_taken_over() -> None:
    assert ours(Entry("c", intent=True), held("kubectl"))
    assert not ours(Entry("c", intent=True, created=True), held("kubectl"))
    assert ours(Entry("c", intent=True, created=True), {"managedFields": [OWN]})
