# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import base64
import copy
from typing import Any

import pytest
from ansible_collections.kubeflow.platform.plugins.module_utils.objects.normalise import (
    canonical,
    comparable,
    desired,
    digest,
    with_label,
)
from hypothesis import given
from hypothesis import strategies as st

PEM = base64.b64encode(b"-----BEGIN CERTIFICATE-----\nabc\n-----END CERTIFICATE-----\n").decode()
KINDS = [
    ("v1", "Secret"),
    ("v1", "Service"),
    ("v1", "Pod"),
    ("v1", "ConfigMap"),
    ("apps/v1", "Deployment"),
    ("apps/v1", "StatefulSet"),
    ("batch/v1", "CronJob"),
    ("rbac.authorization.k8s.io/v1", "ClusterRole"),
    ("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration"),
    ("apiextensions.k8s.io/v1", "CustomResourceDefinition"),
    ("apiregistration.k8s.io/v1", "APIService"),
    ("example.org/v1", "Thing"),
]
FIELDS = [
    "spec",
    "metadata",
    "data",
    "stringData",
    "rules",
    "aggregationRule",
    "webhooks",
    "clientConfig",
    "caBundle",
    "ports",
    "containers",
    "initContainers",
    "template",
    "jobTemplate",
    "status",
    "annotations",
    "labels",
    "namespace",
    "creationTimestamp",
    "uid",
    "protocol",
    "port",
    "containerPort",
    "conversion",
    "webhook",
    "volumeClaimTemplates",
    "name",
    "kubectl.kubernetes.io/last-applied-configuration",
]
scalars = st.none() | st.booleans() | st.integers(-3, 9) | st.sampled_from(["", "x", "TCP", "UDP", "Cg==", PEM])
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(FIELDS), inner, max_size=4), max_leaves=25
)


@st.composite
def objects(draw: st.DrawFn) -> dict[str, Any]:
    api_version, kind = draw(st.sampled_from(KINDS))
    body = draw(st.dictionaries(st.sampled_from(FIELDS), values, max_size=5))
    return {"apiVersion": api_version, "kind": kind, **body}


def obj(api_version: str, kind: str, **body: Any) -> dict[str, Any]:
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": "x"}, **body}


@given(objects(), st.booleans())
def test_desired_is_idempotent(source: dict[str, Any], namespaced: bool) -> None:
    once = desired(source, namespaced)
    assert canonical(desired(once, namespaced)) == canonical(once)


@given(objects(), st.booleans())
def test_desired_never_changes_its_argument(source: dict[str, Any], namespaced: bool) -> None:
    before = copy.deepcopy(source)
    desired(source, namespaced)
    assert source == before


@given(st.dictionaries(st.sampled_from(FIELDS), values, max_size=5))
def test_desired_changes_nothing_in_the_body_of_a_kind_it_does_not_know(body: dict[str, Any]) -> None:
    source = {"apiVersion": "example.org/v1", "kind": "Thing", **body}
    result = desired(source, True)
    assert {k: v for k, v in result.items() if k != "metadata"} == {k: v for k, v in source.items() if k not in ("metadata", "status")}


@given(objects())
def test_comparable_is_idempotent(source: dict[str, Any]) -> None:
    assert comparable(comparable(source)) == comparable(source)


def test_desired_drops_what_the_server_owns() -> None:
    source = obj("v1", "ConfigMap", status={"a": 1})
    source["metadata"] |= {
        "uid": "u",
        "resourceVersion": "1",
        "generation": 2,
        "managedFields": [],
        "selfLink": "/x",
        "creationTimestamp": None,
        "annotations": {"kubectl.kubernetes.io/last-applied-configuration": "{}", "keep": "me"},
    }
    assert desired(source, True) == {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "x", "annotations": {"keep": "me"}},
    }


def test_desired_drops_annotations_when_last_applied_was_the_only_one() -> None:
    source = obj("v1", "ConfigMap")
    source["metadata"]["annotations"] = {"kubectl.kubernetes.io/last-applied-configuration": "{}"}
    assert desired(source, True)["metadata"] == {"name": "x"}


def test_desired_drops_the_namespace_when_the_kind_is_cluster_scoped() -> None:
    source = obj("v1", "Thing")
    source["metadata"]["namespace"] = "kubeflow"
    assert "namespace" not in desired(source, False)["metadata"]
    assert desired(source, True)["metadata"]["namespace"] == "kubeflow"


@pytest.mark.parametrize("aggregation", [{}, {"clusterRoleSelectors": []}])
def test_desired_drops_rules_when_the_role_is_aggregated(aggregation: dict[str, Any]) -> None:
    source = obj("rbac.authorization.k8s.io/v1", "ClusterRole", rules=[], aggregationRule=aggregation)
    assert "rules" not in desired(source, False)


def test_desired_keeps_rules_when_the_role_is_plain() -> None:
    source = obj("rbac.authorization.k8s.io/v1", "ClusterRole", rules=[])
    assert desired(source, False)["rules"] == []


def test_desired_moves_string_data_into_data_when_both_are_given() -> None:
    source = obj("v1", "Secret", data={"a": "QQ==", "b": "Qg=="}, stringData={"b": "ü"})
    result = desired(source, True)
    assert "stringData" not in result
    assert result["data"] == {"a": "QQ==", "b": base64.b64encode("ü".encode()).decode()}


def test_desired_leaves_string_data_when_a_value_is_no_string_so_that_the_server_names_it() -> None:
    source = obj("v1", "Secret", stringData={"b": 5})
    assert desired(source, True) == source


@pytest.mark.parametrize("bundle", ["", "Cg==", "not base64!", None, base64.b64encode(b"hello").decode()])
def test_desired_drops_a_ca_bundle_when_it_is_no_certificate(bundle: Any) -> None:
    hook = obj(
        "admissionregistration.k8s.io/v1", "MutatingWebhookConfiguration", webhooks=[{"name": "a", "clientConfig": {"caBundle": bundle}}]
    )
    crd = obj("apiextensions.k8s.io/v1", "CustomResourceDefinition")
    crd["spec"] = {"conversion": {"webhook": {"clientConfig": {"caBundle": bundle, "service": {}}}}}
    assert desired(hook, False)["webhooks"] == [{"name": "a", "clientConfig": {}}]
    assert desired(crd, False)["spec"]["conversion"]["webhook"]["clientConfig"] == {"service": {}}
    assert desired(obj("apiregistration.k8s.io/v1", "APIService", spec={"caBundle": bundle}), False)["spec"] == {}


def test_desired_keeps_a_ca_bundle_when_it_is_a_certificate() -> None:
    source = obj("apiregistration.k8s.io/v1", "APIService", spec={"caBundle": PEM})
    assert desired(source, False) == source


def test_desired_adds_tcp_when_a_port_names_no_protocol() -> None:
    service = obj("v1", "Service", spec={"ports": [{"port": 80}, {"port": 53, "protocol": "UDP"}]})
    assert desired(service, True)["spec"]["ports"] == [{"port": 80, "protocol": "TCP"}, {"port": 53, "protocol": "UDP"}]
    pod = {
        "containers": [{"name": "a", "ports": [{"containerPort": 1}]}],
        "initContainers": [{"name": "b", "ports": [{"containerPort": 2}]}],
    }
    deployment = obj("apps/v1", "Deployment", spec={"template": {"spec": pod}})
    sent = desired(deployment, True)["spec"]["template"]["spec"]
    assert sent["containers"][0]["ports"] == [{"containerPort": 1, "protocol": "TCP"}]
    assert sent["initContainers"][0]["ports"] == [{"containerPort": 2, "protocol": "TCP"}]


def test_desired_adds_no_protocol_when_ports_are_no_keyed_list() -> None:
    policy = obj("networking.k8s.io/v1", "NetworkPolicy", spec={"ingress": [{"ports": [{"port": 80}]}]})
    custom = obj(
        "example.org/v1", "Thing", spec={"ports": [{"port": 80}], "template": {"spec": {"containers": [{"ports": [{"containerPort": 1}]}]}}}
    )
    assert desired(policy, True) == policy
    assert desired(custom, True) == custom


def test_desired_drops_null_timestamps_when_they_stand_in_templates() -> None:
    source = obj(
        "apps/v1",
        "StatefulSet",
        spec={
            "template": {"metadata": {"creationTimestamp": None, "labels": {"a": "b"}}},
            "volumeClaimTemplates": [{"metadata": {"name": "v", "creationTimestamp": None}}],
        },
    )
    assert desired(source, True)["spec"] == {
        "template": {"metadata": {"labels": {"a": "b"}}},
        "volumeClaimTemplates": [{"metadata": {"name": "v"}}],
    }


def test_comparable_keeps_empty_lists_since_they_may_mean_the_opposite_of_absence() -> None:
    allow_nothing = obj("security.istio.io/v1", "AuthorizationPolicy", spec={"rules": []})
    allow_all = obj("security.istio.io/v1", "AuthorizationPolicy", spec={"rules": [{}]})
    assert comparable(allow_nothing)["spec"] == {"rules": []}
    assert comparable(allow_nothing) != comparable(allow_all)


def test_with_label_touches_object_metadata_only() -> None:
    source = obj("apps/v1", "Deployment", spec={"template": {"metadata": {"labels": {"a": "b"}}}})
    labelled = with_label(source, "kubeflow.platform/set", "kubeflow")
    assert labelled["metadata"]["labels"] == {"kubeflow.platform/set": "kubeflow"}
    assert labelled["spec"] is source["spec"]
    assert "labels" not in source["metadata"]


def test_digest_is_the_same_when_only_the_order_of_keys_differs() -> None:
    assert digest({"a": 1, "b": {"c": "ü", "d": []}}) == digest({"b": {"d": [], "c": "ü"}, "a": 1})
    assert digest({"a": []}) != digest({"a": {}})


@pytest.mark.parametrize("kind", ["Secret", "ConfigMap"])
def test_desired_sends_no_empty_data_since_a_controller_that_fills_it_would_take_it_from_us(kind: str) -> None:
    assert desired(obj("v1", kind, data={}, binaryData=None), True) == obj("v1", kind)
    assert desired(obj("v1", kind, data={"a": ""}), True)["data"] == {"a": ""}
