# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Istio's modes on the real distributions: each guards the platform as the others do, and has what it needs to work."""

from __future__ import annotations

from typing import Any

import jmespath
import pytest
import yaml
from ansible_collections.kubeflow.platform.plugins.plugin_utils.plan import rules

from tests.conftest import Distributions
from tests.unit.releases.conftest import NEWEST
from tests.unit.releases.variants import Object, Objects, Workshop, environment, key

pytestmark = pytest.mark.distribution
RELEASES = [NEWEST, *(pytest.param(release, marks=pytest.mark.soak) for release in ("26.03", "1.11.0"))]
MODES = ["cni", "no_cni", "ambient"]
# What says who may pass the gateways, and who may reach a workload.
GUARDS = ("AuthorizationPolicy", "RequestAuthentication", "PeerAuthentication")
BEHIND_THE_WAYPOINT = {"ml-pipeline", "ml-pipeline-ui"}


@pytest.fixture(scope="module", params=RELEASES)
def shop(request: pytest.FixtureRequest, distributions: Distributions) -> Workshop:
    if request.param == NEWEST:
        return request.getfixturevalue("newest")
    return Workshop.of(request.param, distributions)


def guards(made: Objects) -> dict[Any, Object]:
    return {key(obj): obj["spec"] for obj in made.all if obj["kind"] in GUARDS}


@pytest.mark.parametrize("platform", ["generic", "gke"])
@pytest.mark.parametrize("mode", MODES[1:])
def test_every_mode_guards_the_gateway_alike(shop, mode, platform):
    usual, made = shop.made(), shop.made(istio_mode=mode, istio_platform=platform)
    before, after = guards(usual), guards(made)
    at_the_gateway = {name for name in before if name[2] == "istio-system"}
    assert {name: after[name] for name in at_the_gateway} == {name: before[name] for name in at_the_gateway}
    assert {name for name in after if name[2] == "istio-system"} == at_the_gateway
    providers = [yaml.safe_load(one.find("ConfigMap", "istio")["data"]["mesh"])["extensionProviders"] for one in (usual, made)]
    assert providers[0] == providers[1]
    refresh = [environment(one.find("Deployment", "istiod"), "discovery")["PILOT_JWT_PUB_KEY_REFRESH_INTERVAL"] for one in (usual, made)]
    assert refresh == ["1m", "1m"]


@pytest.mark.parametrize("mode", MODES[1:])
def test_every_mode_lets_the_same_in_behind_the_gateway(shop, mode):
    before, after = guards(shop.made()), guards(shop.made(istio_mode=mode))
    changed = {name[3] for name in before if before[name] != after.get(name)}
    added = {name[3] for name in after if name not in before}
    if mode == "no_cni":
        assert not changed | added
        return
    assert changed == BEHIND_THE_WAYPOINT
    assert added == {f"{name}-waypoint" for name in BEHIND_THE_WAYPOINT}
    for name in before:
        if name[3] in BEHIND_THE_WAYPOINT:
            assert after[name]["rules"] == before[name]["rules"]
            assert after[name]["targetRefs"] == [{"kind": "Service", "group": "", "name": name[3]}]


def test_no_policy_about_requests_is_left_to_ztunnel(shop):
    """ztunnel sees connections only: it would drop a rule that allows by header, path or method."""
    for obj in shop.made(istio_mode="ambient").all:
        if obj["kind"] == "AuthorizationPolicy" and obj["metadata"]["namespace"] == "kubeflow" and "targetRefs" not in obj["spec"]:
            for rule in obj["spec"].get("rules") or []:
                assert not [entry["key"] for entry in rule.get("when", []) if entry["key"].startswith("request.")]
                for target in rule.get("to", []):
                    assert not {"paths", "methods", "hosts"} & set(target["operation"])


def test_what_a_waypoint_guards_is_reached_through_it_alone(shop):
    made = shop.made(istio_mode="ambient")
    waypoint = made.find("Gateway", "waypoint")
    assert waypoint["spec"]["gatewayClassName"] == "istio-waypoint"
    for name in BEHIND_THE_WAYPOINT:
        labels = made.find("Service", name)["metadata"]["labels"]
        assert labels["istio.io/use-waypoint"] == waypoint["metadata"]["name"]
        assert labels["istio.io/ingress-use-waypoint"] == "true"
        behind = made.find("AuthorizationPolicy", f"{name}-waypoint")["spec"]
        pods = made.find("Deployment", name)["spec"]["template"]["metadata"]["labels"]
        assert behind["selector"]["matchLabels"].items() <= pods.items()
        assert behind["rules"][0]["from"][0]["source"]["principals"] == ["cluster.local/ns/kubeflow/sa/waypoint"]


def test_a_run_waits_until_istiod_has_made_the_waypoint(shop):
    assert not [row for row in rules.ready(shop.planned()) if row["kind"] == "Gateway"]
    (row,) = (row for row in rules.ready(shop.planned(istio_mode="ambient")) if row["kind"] == "Gateway")
    told = {
        status: jmespath.search(row["expression"], {"status": {"conditions": [{"type": "Programmed", "status": status}]}})
        for status in ("True", "False", "Unknown")
    }
    assert told == {"True": True, "False": False, "Unknown": False}
    assert jmespath.search(row["expression"], {"spec": {}}) is False


def test_network_policies_let_the_mesh_in_where_they_let_others_in_by_port(shop):
    for obj in shop.made("hub", istio_mode="ambient").all:
        if obj["kind"] == "NetworkPolicy" and obj["metadata"]["namespace"] == "kubeflow":
            for rule in obj["spec"].get("ingress", []):
                if rule.get("from") and rule.get("ports"):
                    assert 15008 in [port["port"] for port in rule["ports"]], obj["metadata"]["name"]


def test_kubelets_reach_the_pods_that_they_probe(shop):
    policy = shop.made(istio_mode="ambient").find("NetworkPolicy", "ambient-health-probes", "kubeflow")["spec"]
    assert policy["podSelector"] == {}
    assert policy["ingress"] == [{"from": [{"ipBlock": {"cidr": "169.254.7.127/32"}}]}]


def test_gateways_speak_the_language_of_ambient_pods(shop):
    made = shop.made(istio_mode="ambient")
    for name in ("istio-ingressgateway", "cluster-local-gateway"):
        assert environment(made.find("Deployment", name), "istio-proxy")["ISTIO_META_ENABLE_HBONE"] == "true"


def test_ambient_has_one_proxy_for_each_node_and_enrols_kubeflow_only(shop):
    made = shop.made(istio_mode="ambient")
    assert made.has("DaemonSet", "ztunnel")
    enrolled = {obj["metadata"]["name"] for obj in made.all if obj["kind"] == "Namespace" and enrolment(obj) == "ambient"}
    assert enrolled == {"kubeflow"}
    labels = made.find("Namespace", "kubeflow")["metadata"]["labels"]
    assert "istio-injection" not in labels  # a pod with a sidecar is not taken
    usual = shop.made().find("Namespace", "kubeflow")["metadata"]["labels"]
    assert {**labels, "istio-injection": "enabled"} == {**usual, "istio.io/dataplane-mode": "ambient"}
    assert made.find("Namespace", "istio-system")["metadata"]["labels"]["pod-security.kubernetes.io/enforce"] == "privileged"


def enrolment(namespace: Object) -> str | None:
    found: str | None = namespace["metadata"].get("labels", {}).get("istio.io/dataplane-mode")
    return found


def test_without_a_cni_plugin_no_namespace_forbids_the_init_containers(shop):
    made = shop.made(istio_mode="no_cni")
    assert not made.has("DaemonSet", "istio-cni-node")
    for name in ("istio-system", "kubeflow", "auth", "oauth2-proxy", "knative-serving"):
        assert made.find("Namespace", name)["metadata"]["labels"]["pod-security.kubernetes.io/enforce"] == "privileged"
    (text,) = labels_of_profiles(made).values()
    (usual,) = labels_of_profiles(shop.made()).values()
    assert yaml.safe_load(text) == {**yaml.safe_load(usual), "pod-security.kubernetes.io/enforce": "privileged"}


def labels_of_profiles(made: Objects) -> dict[str, str]:
    (found,) = (obj for obj in made.all if obj["kind"] == "ConfigMap" and "namespace-labels-data" in obj["metadata"]["name"])
    return dict(found["data"])


def test_upstreams_namespaces_of_a_mode_say_what_ours_say(shop):
    """The overlays bring Namespaces of their own, which are left out: their labels count, but for injection in ambient mode."""
    for mode, folder in (("ambient", "ambient-oauth2-proxy"), ("no_cni", "insecure")):
        made = shop.made(istio_mode=mode)
        for obj in shop.raw(f"common/istio/istio-install/overlays/{folder}"):
            if obj["kind"] == "Namespace" and obj["metadata"]["name"] != "kubeflow-user-example-com":
                ours = made.find("Namespace", obj["metadata"]["name"])["metadata"]["labels"]
                theirs = {name: value for name, value in obj["metadata"]["labels"].items() if name != "istio-injection"}
                assert theirs.items() <= ours.items()
