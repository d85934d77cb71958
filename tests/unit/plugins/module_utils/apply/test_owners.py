# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whose a webhook is that a run does not bring: told from labels, the ledger and names."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.kubeflow.platform.plugins.module_utils.apply import probes
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.gates import Surroundings, culprit, webhook_gates
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.model import SET_LABEL
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.owners import Owner, Reach, Records, named_after, orphan_row, outside
from ansible_collections.kubeflow.platform.plugins.module_utils.objects.identity import Identity
from ansible_collections.kubeflow.platform.tests.unit.api_double.objects import config, items, webhook

REACH = Reach(frozenset({"katib"}), frozenset({"kubeflow"}))


def owner(name: str, *, namespace: str = "kubeflow", labels: dict[str, str] | None = None, **components: str) -> Owner | None:
    configuration = webhook(name, ["widgets"], namespace=namespace)[0]
    configuration["metadata"]["labels"] = labels or {}
    (hook,) = probes.webhooks_of(configuration)
    group, kind = "admissionregistration.k8s.io", "MutatingWebhookConfiguration"
    records = Records("kubeflow", {Identity(group, kind, "", entry): component for entry, component in components.items()})
    return outside(configuration, hook, REACH, records)


def test_label_of_another_set_names_it() -> None:
    assert owner("x", labels={SET_LABEL: "monitoring"}) == Owner(set_name="monitoring")
    assert owner("x", labels={SET_LABEL: "kubeflow"}, namespace="elsewhere") == Owner()


def test_ledger_names_the_component_whatever_the_name_says() -> None:
    assert owner("katib", katib="istio") == Owner("istio")


def test_name_names_the_component_when_the_ledger_does_not_have_the_configuration() -> None:
    assert owner("webhook-istio-injector", other="istio") == Owner("istio", guessed=True)


def test_webhook_may_be_of_this_run_when_its_name_or_its_namespace_says_so() -> None:
    assert owner("katib-more", namespace="elsewhere") is None
    assert owner("x") is None


@pytest.mark.parametrize(
    ("name", "component"),
    [
        ("istio-sidecar-injector", "istio"),
        ("cert-manager-webhook", "cert_manager"),
        ("webhook.serving.knative.dev", "knative"),
        ("github", ""),
        ("hub-two", "hub"),
    ],
)
def test_component_is_named_by_whole_words_only(name: str, component: str) -> None:
    assert named_after(name, ["istio", "cert_manager", "knative", "hub", "manager"]) == component


def test_row_says_whose_it_is_and_what_to_do() -> None:
    (hook,) = probes.webhooks_of(webhook("guard", ["widgets"])[0])
    row = orphan_row(hook, Owner("istio"), "Service a/b does not exist")
    assert (row.component, row.action) == ("istio", "not_ready") and row.failure is not None
    assert str(row.failure) == (
        "Webhook guard.example.com of MutatingWebhookConfiguration guard cannot answer: Service a/b does not exist; it belongs to the "
        "component istio, so nothing in this run brings that back. Apply istio first (`scope: [istio]`), or together with this run "
        "(leave `scope` empty); or delete MutatingWebhookConfiguration guard if nothing needs it any more."
    )


def gates(*configurations: dict[str, Any]) -> list[Any]:
    return webhook_gates(items(config("c")), Surroundings(webhook_configurations=configurations))


def test_webhook_is_found_by_its_service_when_two_bear_one_name() -> None:
    one, two = webhook("one", ["widgets"])[0], webhook("two", ["widgets"])[0]
    for row in (one, two):
        row["webhooks"][0]["name"] = "same.example.com"
    found = gates(one, two)
    told = 'webhook "same.example.com" does not answer: https://two.default.svc:443/: connection refused'
    named = culprit(found, "same.example.com", told)
    assert named is found[1] and culprit(found, "same.example.com", "no words") is found[0]
    assert culprit(found, "other.example.com", told) is None
