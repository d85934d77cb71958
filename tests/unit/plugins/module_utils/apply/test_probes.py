# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which webhook is called for which object."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.kubeflow.platform.plugins.module_utils.apply import probes
from ansible_collections.kubeflow.platform.plugins.module_utils.objects.identity import Identity
from hypothesis import given
from hypothesis import strategies as st


def configuration(**webhook: Any) -> dict[str, Any]:
    rule = {
        "apiGroups": ["serving.kserve.io"],
        "apiVersions": ["v1alpha1"],
        "resources": ["clusterservingruntimes"],
        "operations": ["CREATE"],
    }
    entry = {"name": "a.b.c", "clientConfig": {"service": {"namespace": "kubeflow", "name": "hook"}}, "rules": [rule], **webhook}
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingWebhookConfiguration",
        "metadata": {"name": "checks"},
        "webhooks": [entry],
    }


def rule(**changes: Any) -> dict[str, Any]:
    return {"apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"], "operations": ["CREATE"], **changes}


def pod_hook(**webhook: Any) -> probes.Webhook:
    return probes.webhooks_of(configuration(**{"rules": [rule()], **webhook}))[0]


def calls(
    webhook: probes.Webhook, *, group: str = "", version: str = "v1", resource: str = "pods", operation: str = "CREATE", **more: Any
) -> bool:
    arguments: dict[str, Any] = {"namespace_labels": {}, "object_labels": {}, "namespaced": True, **more}
    return webhook.matches(group, version, resource, operation, **arguments)


def test_webhook_has_the_server_defaults_when_little_is_given() -> None:
    (webhook,) = probes.webhooks_of(configuration())
    assert webhook.key == ("ValidatingWebhookConfiguration", "checks", "a.b.c")
    assert webhook.fails_closed
    assert webhook.service == ("kubeflow", "hook", 443, "")
    assert not webhook.ca_bundle
    assert not webhook.match_conditions
    assert webhook.operations == {"CREATE"}


def test_webhooks_of_gives_nothing_for_other_objects_and_for_configurations_without_webhooks() -> None:
    assert probes.webhooks_of({"apiVersion": "v1", "kind": "ConfigMap"}) == []
    assert probes.webhooks_of({**configuration(), "webhooks": None}) == []


def test_webhook_without_rules_matches_nothing_as_knative_renders_them() -> None:
    assert not calls(pod_hook(rules=None))


@pytest.mark.parametrize(
    ("pattern", "matched"),
    [("pods", True), ("*", True), ("*/*", True), ("pods/*", True), ("pods/status", False), ("*/scale", False), ("deployments", False)],
)
def test_resources_match_the_main_resource_when_the_subresource_is_empty_or_any(pattern: str, matched: bool) -> None:
    assert calls(pod_hook(rules=[rule(resources=[pattern])])) is matched


def test_any_rule_suffices_when_there_are_several() -> None:
    assert calls(pod_hook(rules=[rule(operations=["DELETE"]), rule(operations=["*"])]), operation="UPDATE")


def test_version_matters_only_when_the_match_policy_is_exact() -> None:
    rules = [rule(apiVersions=["v1beta1"])]
    assert calls(pod_hook(rules=rules))
    assert not calls(pod_hook(rules=rules, matchPolicy="Exact"))


@pytest.mark.parametrize(
    ("scope", "namespaced", "matched"),
    [("Cluster", True, False), ("Cluster", False, True), ("Namespaced", False, False), ("*", True, True)],
)
def test_scope_is_compared_when_a_rule_has_one(scope: str, namespaced: bool, matched: bool) -> None:
    assert calls(pod_hook(rules=[rule(scope=scope)]), namespaced=namespaced) is matched


def test_namespace_selector_is_ignored_for_cluster_scoped_objects() -> None:
    webhook = pod_hook(rules=[rule(resources=["*"])], namespaceSelector={"matchLabels": {"istio-injection": "enabled"}})
    assert calls(webhook, resource="nodes", namespaced=False)
    assert not calls(webhook)
    assert calls(webhook, namespace_labels={"istio-injection": "enabled"})


def test_namespace_is_matched_by_its_own_labels() -> None:
    webhook = pod_hook(rules=[rule(resources=["namespaces"])], namespaceSelector={"matchLabels": {"a": "b"}})
    assert not calls(webhook, resource="namespaces", namespaced=False)
    assert calls(webhook, resource="namespaces", namespaced=False, object_labels={"a": "b"})


def test_object_selector_decides_when_the_namespace_matches() -> None:
    webhook = pod_hook(objectSelector={"matchExpressions": [{"key": "sidecar.istio.io/inject", "operator": "NotIn", "values": ["false"]}]})
    assert calls(webhook)
    assert not calls(webhook, object_labels={"sidecar.istio.io/inject": "false"})


def test_name_label_of_a_namespace_is_known_before_the_namespace_exists() -> None:
    webhook = pod_hook(
        namespaceSelector={"matchExpressions": [{"key": "kubernetes.io/metadata.name", "operator": "In", "values": ["kubeflow"]}]}
    )
    assert calls(webhook, namespace_labels=probes.namespace_labels("kubeflow", None))
    assert not calls(webhook, namespace_labels=probes.namespace_labels("auth", {"a": "b"}))


def test_match_conditions_are_flagged_and_count_as_matching() -> None:
    webhook = pod_hook(matchConditions=[{"name": "x", "expression": "false"}])
    assert webhook.match_conditions
    assert calls(webhook)


def test_webhook_configurations_are_never_intercepted_themselves() -> None:
    everything = pod_hook(rules=[{"apiGroups": ["*"], "apiVersions": ["*"], "resources": ["*/*"], "operations": ["*"]}])
    assert not calls(everything, group="admissionregistration.k8s.io", resource="mutatingwebhookconfigurations", namespaced=False)
    assert calls(everything, group="apps", resource="deployments")


def crd(stored: list[str] | None = None, strategy: str = "Webhook") -> dict[str, Any]:
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "things.x.io"},
        "spec": {
            "group": "x.io",
            "names": {"kind": "Thing", "plural": "things"},
            "conversion": {
                "strategy": strategy,
                "webhook": {
                    "clientConfig": {"caBundle": "eA==", "service": {"namespace": "x", "name": "hook", "path": "/convert", "port": 9443}}
                },
            },
            "versions": [{"name": "v1", "served": True, "storage": True}, {"name": "v1beta1", "served": True, "storage": False}],
        },
        "status": {"storedVersions": stored or ["v1"]},
    }


def test_conversion_webhook_is_called_for_versions_that_are_not_stored() -> None:
    webhook = probes.conversion_webhook(crd())
    assert webhook is not None
    assert webhook.key == ("CustomResourceDefinition", "things.x.io", "things.x.io")
    assert webhook.service == ("x", "hook", 9443, "/convert")
    assert webhook.ca_bundle
    assert calls(webhook, group="x.io", version="v1beta1", resource="things")
    assert not calls(webhook, group="x.io", version="v1", resource="things")
    assert probes.webhooks_of(crd()) == [webhook]


def test_conversion_webhook_is_called_for_every_version_when_old_ones_are_stored() -> None:
    webhook = probes.conversion_webhook(crd(stored=["v1beta1", "v1"]))
    assert webhook is not None
    assert calls(webhook, group="x.io", version="v1", resource="things")


def test_crd_without_conversion_has_no_webhook() -> None:
    assert probes.webhooks_of(crd(strategy="None")) == []


def test_service_backends_are_workloads_of_its_namespace_whose_pods_it_selects() -> None:
    def workload(kind: str, namespace: str, labels: dict[str, str]) -> dict[str, Any]:
        return {
            "apiVersion": "apps/v1",
            "kind": kind,
            "metadata": {"name": "w", "namespace": namespace, "labels": {"app": "other"}},
            "spec": {"template": {"metadata": {"labels": labels}}},
        }

    service = {"kind": "Service", "metadata": {"name": "s", "namespace": "n"}, "spec": {"selector": {"app": "x"}}}
    rows = [
        workload("Deployment", "n", {"app": "x", "more": "y"}),
        workload("Deployment", "other", {"app": "x"}),
        workload("StatefulSet", "n", {"app": "z"}),
        {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": "n", "labels": {"app": "x"}}},
    ]
    assert probes.service_backends(service, rows) == [Identity("apps", "Deployment", "n", "w"), Identity("", "Pod", "n", "p")]
    assert probes.service_backends({**service, "spec": {}}, rows) == []


def test_probe_pod_has_the_labels_of_the_template_and_satisfies_pod_security_restricted() -> None:
    annotations = {"proxy.istio.io/config": "x", "container.apparmor.security.beta.kubernetes.io/main": "runtime/default"}
    pod = probes.probe_pod("kubeflow", {"app": "x"}, annotations, "probe-1")
    (container,) = pod["spec"]["containers"]
    assert pod["metadata"] == {
        "name": "probe-1",
        "namespace": "kubeflow",
        "labels": {"app": "x"},
        "annotations": {"proxy.istio.io/config": "x"},
    }
    assert pod["spec"]["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
    assert container["securityContext"]["allowPrivilegeEscalation"] is False
    assert set(container["resources"]) == {"requests", "limits"}


words = st.sampled_from(["a", "b", "c"])
label_maps = st.dictionaries(words, words)
expressions = st.fixed_dictionaries(
    {
        "key": words,
        "operator": st.sampled_from(["In", "NotIn", "Exists", "DoesNotExist"]),
        "values": st.lists(words, min_size=1, max_size=2),
    }
)
OPPOSITE = {"In": "NotIn", "NotIn": "In", "Exists": "DoesNotExist", "DoesNotExist": "Exists"}


@given(label_maps, expressions)
def test_an_expression_and_its_opposite_never_agree(labels: dict[str, str], expression: dict[str, Any]) -> None:
    opposite = {**expression, "operator": OPPOSITE[expression["operator"]]}
    assert probes.selector_matches({"matchExpressions": [expression]}, labels) != probes.selector_matches(
        {"matchExpressions": [opposite]}, labels
    )


@given(label_maps, label_maps, st.lists(expressions, max_size=3))
def test_a_selector_is_the_conjunction_of_its_parts(labels: dict[str, str], wanted: dict[str, str], rows: list[dict[str, Any]]) -> None:
    parts = [{"matchLabels": {key: value}} for key, value in wanted.items()] + [{"matchExpressions": [row]} for row in rows]
    whole = {"matchLabels": wanted, "matchExpressions": rows}
    assert probes.selector_matches(whole, labels) is all(probes.selector_matches(part, labels) for part in parts)


@given(label_maps)
def test_an_empty_selector_selects_everything(labels: dict[str, str]) -> None:
    assert probes.selector_matches({}, labels)
    assert probes.selector_matches(None, labels)
