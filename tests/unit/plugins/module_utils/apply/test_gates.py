# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which objects wait for what, beyond the objects of the set: kinds, namespaces, webhooks and the infrastructure's workloads."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.gates import (
    Gates,
    Surroundings,
    all_namespace_labels,
    derive,
    intercepts,
    webhook_gates,
)
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.model import Item, Part
from ansible_collections.kubeflow.platform.plugins.module_utils.objects.identity import Identity
from ansible_collections.kubeflow.platform.tests.unit.api_double.objects import (
    APPLICATIONS,
    config,
    crd,
    custom,
    deployment,
    documents,
    items,
    sets,
    thing,
    webhook,
)
from hypothesis import given

NOTHING = Surroundings()


def behind(found: Gates, rows: Sequence[Item]) -> dict[str, set[str]]:
    """The kinds of the gates, and the names of webhooks, that each item waits behind."""
    return {str(item.identity): set(found.behind[item.index]) for item in rows if found.behind[item.index]}


def live(configuration: dict[str, Any]) -> dict[str, Any]:
    """A webhook configuration as the cluster has it."""
    return copy.deepcopy(configuration)


def test_custom_resource_waits_until_its_own_version_is_served() -> None:
    rows = items(crd("Widget"), custom("Widget", "w", "default"), config("c"))
    found = derive(rows, NOTHING)
    assert behind(found, rows) == {"Widget default/w": {"kind:example.com/v1/Widget"}}
    gate = found.by_key["kind:example.com/v1/Widget"]
    assert (gate.needs, gate.group_version_kind) == ({0}, ("example.com", "v1", "Widget"))


def test_object_waits_for_the_namespace_when_a_profile_of_the_set_makes_it() -> None:
    profile = [crd("Profile", namespaced=False, group="kubeflow.org"), custom("Profile", "team", group="kubeflow.org")]
    rows = items(*profile, config("c", "team"))
    found = derive(rows, NOTHING)
    assert behind(found, rows)["ConfigMap team/c"] == {"namespace:team"}
    assert found.by_key["namespace:team"].needs == {1}
    rendered = items(*profile, thing("Namespace", "team"), config("c", "team"))
    assert "namespace:team" not in derive(rendered, NOTHING).by_key


def test_workloads_of_applications_wait_for_all_infrastructure_that_they_require_however_far_down() -> None:
    far, near = Part("far", "far", "infrastructure", ()), Part("near", "near", "infrastructure", ("far", "unknown"))
    apps = Part("apps", "apps", "applications", ("near",))
    rows = items(
        *documents(deployment("a"), part=far),
        *documents(deployment("b"), config("x"), part=near),
        *documents(deployment("c"), config("y"), part=apps),
    )
    found = derive(rows, NOTHING)
    assert behind(found, rows) == {"Deployment default/c": {"ready:far", "ready:near"}}
    assert found.by_key["ready:near"].needs == {1} and found.by_key["ready:near"].backends == (rows[1].identity,)


def test_parts_that_require_each_other_end_the_search() -> None:
    one, other = Part("one", "x", "infrastructure", ("other",)), Part("other", "x", "applications", ("one",))
    rows = items(*documents(deployment("a"), part=one), *documents(deployment("b"), part=other))
    assert behind(derive(rows, NOTHING), rows) == {"Deployment default/b": {"ready:one"}}


def test_objects_wait_for_a_fail_closed_webhook_of_the_set_and_it_needs_what_stands_behind_it() -> None:
    rows = items(crd("Widget"), custom("Widget", "w", "default"), *webhook("guard", ["widgets"]), config("c"))
    found = derive(rows, NOTHING)
    (key,) = found.behind[1] - {"kind:example.com/v1/Widget"}
    assert key == "webhook:MutatingWebhookConfiguration/guard/guard.example.com"
    assert found.by_key[key].needs == {2, 3, 4} and found.backing == {4}
    assert found.by_key[key].backends == (Identity("apps", "Deployment", "default", "guard"),)
    assert not found.behind[5]


def test_nothing_waits_for_a_webhook_that_may_be_ignored() -> None:
    rows = items(crd("Widget"), custom("Widget", "w", "default"), *webhook("guard", ["widgets"], policy="Ignore"))
    assert not any(key.startswith("webhook:") for key in derive(rows, NOTHING).by_key)


def test_live_webhook_counts_when_the_set_does_not_have_it() -> None:
    rows = items(config("c"))
    hook = live(webhook("foreign", ["configmaps"], group="")[0])
    found = derive(rows, Surroundings(webhook_configurations=[hook]))
    assert behind(found, rows) == {"ConfigMap default/c": {"webhook:MutatingWebhookConfiguration/foreign/foreign.example.com"}}
    assert found.by_key["webhook:MutatingWebhookConfiguration/foreign/foreign.example.com"].needs == frozenset()


def test_rules_of_a_live_webhook_count_beside_the_rendered_ones_when_a_controller_wrote_them() -> None:
    rendered = webhook("guard", [])
    filled = live(webhook("guard", ["configmaps"], group="")[0])
    rows = items(config("c"), *rendered)
    assert behind(derive(rows, NOTHING), rows) == {}
    found = derive(rows, Surroundings(webhook_configurations=[filled]))
    (key,) = found.behind[0]
    assert found.by_key[key].needs == {1, 2, 3}


def test_pods_of_a_workload_are_intercepted_when_the_webhook_sees_pods() -> None:
    (hook,) = (gate.webhook for gate in webhook_gates(items(*webhook("guard", ["pods"], group="")), NOTHING))
    assert hook is not None
    workload, job, plain = items(deployment("d"), deployment("e"), config("c"))
    job.desired["spec"]["template"]["metadata"]["labels"]["unguarded"] = "yes"
    assert [intercepts(hook, item, {}) for item in (workload, job, plain)] == [True, False, False]


@pytest.mark.parametrize(("labels", "seen"), [({"team": "yes"}, True), ({}, False)])
def test_namespace_labels_of_set_and_cluster_decide_whether_a_webhook_sees_an_object(labels: dict[str, str], seen: bool) -> None:
    configuration, *rest = webhook("guard", ["configmaps"], group="")
    configuration["webhooks"][0]["namespaceSelector"] = {"matchLabels": {"team": "yes"}}
    space = thing("Namespace", "one")
    space["metadata"]["labels"] = labels
    rows = items(configuration, *rest, config("c", "one"), space)
    assert bool(derive(rows, NOTHING).behind[3]) == seen
    rows = items(configuration, *rest, config("c", "one"))
    assert bool(derive(rows, Surroundings({"one": labels})).behind[3]) == seen


def test_labels_of_the_set_win_and_each_namespace_has_its_name() -> None:
    space = thing("Namespace", "one")
    space["metadata"]["labels"] = {"a": "set"}
    found = all_namespace_labels(items(space), Surroundings({"one": {"a": "live", "b": "live"}, "two": {}}))
    assert {key: value for key, value in found["one"].items() if key != "kubeflow.platform/set"} == {
        "a": "set",
        "b": "live",
        "kubernetes.io/metadata.name": "one",
    }
    assert found["two"] == {"kubernetes.io/metadata.name": "two"}


def test_workload_behind_a_webhook_never_waits_for_that_webhook() -> None:
    rows = items(*webhook("guard", ["pods", "deployments"], group="*"), deployment("other"))
    found = derive(rows, NOTHING)
    assert not found.behind[2] and found.behind[3]


def test_workloads_behind_two_webhooks_that_see_each_other_do_not_wait_in_a_ring() -> None:
    rows = items(*webhook("one", ["deployments"], group="apps"), *webhook("two", ["deployments"], group="apps"))
    found = derive(rows, NOTHING)
    assert not found.behind[2] or not found.behind[5]


@given(sets())
def test_gates_never_wait_for_each_other_in_a_ring(documents_: list[Any]) -> None:
    rows = items(*documents_, *documents(*webhook("pods", ["pods"], group=""), deployment("late"), part=replace(APPLICATIONS)))
    found = derive(rows, NOTHING)
    waits = {item.index: {need for key in found.behind[item.index] for need in found.by_key[key].needs} for item in rows}
    left = set(waits)
    while free := {index for index in left if not waits[index] & left}:
        left -= free
    assert not left
