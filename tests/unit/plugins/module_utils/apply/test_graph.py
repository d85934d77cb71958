# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What comes before what, and who goes first among those that may."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.graph import Edges, crds_by_kind, edges, named_by, ranks
from ansible_collections.kubeflow.platform.plugins.module_utils.objects.identity import Identity
from ansible_collections.kubeflow.platform.tests.unit.api_double.kinds import RBAC
from ansible_collections.kubeflow.platform.tests.unit.api_double.objects import config, crd, custom, deployment, items, sets, thing, webhook
from hypothesis import given


def test_object_waits_for_its_namespace_and_its_definition_when_the_set_has_them() -> None:
    rows = items(custom("Widget", "w", "one"), thing("Namespace", "one"), crd("Widget"), config("c", "elsewhere"))
    assert edges(rows) == [Edges(frozenset({1, 2})), Edges(), Edges(), Edges()]


def test_nothing_is_waited_for_when_the_set_does_not_have_it() -> None:
    assert edges(items(config("c", "one"), deployment("d", configs=["missing"]))) == [Edges(), Edges()]


@pytest.mark.parametrize(
    ("spec", "named"),
    [
        ({"serviceAccountName": "a"}, {("ServiceAccount", "a")}),
        ({"volumes": [{"name": "v", "configMap": {"name": "a"}}]}, {("ConfigMap", "a")}),
        ({"volumes": [{"name": "v", "secret": {"secretName": "a"}}]}, {("Secret", "a")}),
        ({"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "a"}}]}, {("PersistentVolumeClaim", "a")}),
        (
            {"initContainers": [{"envFrom": [{"configMapRef": {"name": "a"}}, {"secretRef": {"name": "b"}}]}]},
            {("ConfigMap", "a"), ("Secret", "b")},
        ),
        ({"containers": [{"env": [{"name": "E", "valueFrom": {"secretKeyRef": {"name": "a", "key": "k"}}}]}]}, {("Secret", "a")}),
        (
            {"containers": [{"env": [{"name": "E", "value": "x"}]}], "volumes": [{"name": "v", "emptyDir": {}}], "initContainers": None},
            set(),
        ),
        ({"volumes": [{"name": "v", "configMap": None}]}, set()),
        (None, set()),
    ],
)
def test_workload_names_what_its_pods_need(spec: Any, named: set[tuple[str, str]]) -> None:
    workload = deployment("d")
    workload["spec"]["template"]["spec"] = spec
    assert named_by(items(workload)[0]) == {Identity("", kind, "default", name) for kind, name in named}


def test_workload_waits_softly_for_what_it_names_and_hard_for_its_namespace() -> None:
    rows = items(thing("Namespace", "one"), config("c", "one"), deployment("d", "one", configs=["c"]))
    assert edges(rows)[2] == Edges(frozenset({0}), frozenset({1}))


@pytest.mark.parametrize(("kind", "where"), [("Role", "default"), ("ClusterRole", "")])
def test_binding_names_its_role_where_it_lives(kind: str, where: str) -> None:
    binding = thing("RoleBinding", "b", "default", f"{RBAC}/v1", roleRef={"kind": kind, "name": "r"}, subjects=[])
    assert named_by(items(binding)[0]) == {Identity(RBAC, kind, where, "r")}


def test_definitions_are_found_by_what_they_define() -> None:
    rows = items(config("c"), crd("Widget"), crd("Gadget", group="other.org"))
    assert {kind: item.index for kind, item in crds_by_kind(rows).items()} == {("example.com", "Widget"): 1, ("other.org", "Gadget"): 2}


def test_namespaces_go_first_and_unused_definitions_last() -> None:
    rows = items(
        crd("Unused"),
        crd("Widget"),
        crd("Certificate", group="cert-manager.io"),
        deployment("plain"),
        deployment("backend"),
        config("c"),
        webhook("hook", ["widgets"])[0],
        thing("Namespace", "one"),
        custom("Widget", "w", "default"),
    )
    turns = ranks(rows, frozenset({4}))
    order = [rows[index].identity.name for index in sorted(range(len(rows)), key=lambda index: (turns[index], index))]
    assert order == [
        "one",
        "hook",
        "c",
        "w",
        "backend",
        "plain",
        "certificates.cert-manager.io",
        "widgets.example.com",
        "unuseds.example.com",
    ]


def test_definitions_whose_objects_are_converted_go_before_other_unused_ones() -> None:
    client = {"service": {"namespace": "default", "name": "converter"}}
    converted = crd("Converted")
    converted["spec"]["conversion"] = {"strategy": "Webhook", "webhook": {"clientConfig": client, "conversionReviewVersions": ["v1"]}}
    unused, moved, used = ranks(items(crd("Unused"), converted, crd("Widget"), custom("Widget", "w", "default")), frozenset())[:3]
    assert used < moved < unused


@given(sets())
def test_hard_edges_have_no_cycle_and_lead_to_namespaces_and_definitions_only(rows: list[Any]) -> None:
    found = items(*rows)
    for before in edges(found):
        assert all(found[need].is_crd or found[need].identity.kind == "Namespace" for need in before.hard)
        assert not before.hard & before.soft
    assert all(not edges(found)[need].hard for before in edges(found) for need in before.hard)
