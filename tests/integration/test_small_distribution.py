# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The distribution of our own (tests/distribution): it builds, and has every hazard that its README promises."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
TREE = ROOT / "tests" / "distribution"
EXAMPLE = TREE / "example"
ANNOTATION_LIMIT = 262144
HASHED = re.compile(r"-[2456789bcdfghkmt]{10}$")
BUILT_IN = {"", "apps", "policy", "autoscaling"} | {
    f"{name}.k8s.io" for name in ("rbac.authorization", "networking", "apiextensions", "admissionregistration")
}
Object = dict[str, Any]
Key = tuple[str, str, str, str]

pytestmark = pytest.mark.bed  # for kustomize, which is built with the programs of the test bed


def group(thing: Object) -> str:
    return str(thing["apiVersion"]).rpartition("/")[0]


def key(thing: Object) -> Key:
    return group(thing), thing["kind"], thing["metadata"].get("namespace", ""), thing["metadata"]["name"]


@pytest.fixture(scope="module")
def kustomize() -> str:
    command = [str(ROOT / "tests" / "testbed" / "testbed"), "binaries", "kustomize-5.8.1"]
    done = subprocess.run(command, check=True, capture_output=True, text=True, env={**os.environ, "PYTHON": sys.executable})
    return done.stdout.strip().splitlines()[-1]


def build(kustomize: str, folder: Path) -> list[Object]:
    done = subprocess.run([kustomize, "build", str(folder)], check=True, capture_output=True)
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return [thing for thing in yaml.load_all(done.stdout, loader) if thing]


@pytest.fixture(scope="module")
def whole(kustomize: str) -> list[Object]:
    return build(kustomize, EXAMPLE)


@pytest.fixture(scope="module")
def crds(whole: list[Object]) -> dict[tuple[str, str], Object]:
    found = (thing["spec"] for thing in whole if thing["kind"] == "CustomResourceDefinition")
    return {(spec["group"], spec["names"]["kind"]): spec for spec in found}


def of_kind(things: list[Object], kind: str) -> list[Object]:
    return [thing for thing in things if thing["kind"] == kind]


def webhooks(things: list[Object]) -> list[Object]:
    return [hook for thing in things if thing["kind"].endswith("WebhookConfiguration") for hook in thing["webhooks"]]


def test_the_whole_is_the_sum_of_its_parts(kustomize: str, whole: list[Object]) -> None:
    paths = yaml.safe_load((EXAMPLE / "kustomization.yaml").read_text(encoding="utf-8"))["resources"]
    parts = [thing for path in paths for thing in build(kustomize, EXAMPLE / path)]
    assert len({key(thing) for thing in parts}) == len(parts) == len(whole)
    assert {key(thing): thing for thing in parts} == {key(thing): thing for thing in whole}


def test_it_builds_without_a_network() -> None:
    for path in TREE.rglob("kustomization.yaml"):
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
        for entry in [*content.get("resources", []), *content.get("components", [])]:
            assert (path.parent / entry).exists(), f"{path}: {entry}"


def test_kinds_are_defined_in_the_build_that_uses_them(whole: list[Object], crds: dict[tuple[str, str], Object]) -> None:
    custom = [thing for thing in whole if group(thing) not in BUILT_IN]
    kinds = {(group(thing), thing["kind"]) for thing in custom}
    assert kinds <= set(crds)
    assert {"Image", "DecoratorController", "ClusterTrainingRuntime", "ClusterServingRuntime", "ClusterIssuer"} <= {
        kind for unused, kind in kinds
    }
    for thing in custom:
        versions = [version["name"] for version in crds[group(thing), thing["kind"]]["versions"] if version["served"]]
        assert thing["apiVersion"].rpartition("/")[2] in versions, key(thing)


def test_objects_stand_behind_closed_webhooks_of_the_same_build(whole: list[Object]) -> None:
    closed = [hook for hook in webhooks(whole) if hook.get("failurePolicy", "Fail") == "Fail"]
    guarded = {
        (name, resource)
        for hook in closed
        for rule in hook.get("rules", [])
        for name in rule["apiGroups"]
        for resource in rule["resources"]
    }
    assert {
        ("cert-manager.io", "*/*"),
        ("serving.kserve.io", "clusterservingruntimes"),
        ("trainer.kubeflow.org", "clustertrainingruntimes"),
    } <= guarded
    services = {(thing["metadata"].get("namespace", ""), thing["metadata"]["name"]) for thing in of_kind(whole, "Service")}
    assert {(hook["clientConfig"]["service"]["namespace"], hook["clientConfig"]["service"]["name"]) for hook in closed} <= services


def test_one_object_is_too_large_for_a_client_side_apply(whole: list[Object]) -> None:
    large = [thing["metadata"]["name"] for thing in whole if len(json.dumps(thing, separators=(",", ":"))) > ANNOTATION_LIMIT]
    assert large == ["inferenceservices.serving.kserve.io"]


def test_cluster_scoped_objects_carry_namespaces(whole: list[Object], crds: dict[tuple[str, str], Object]) -> None:
    cluster = {kind for (unused, kind), spec in crds.items() if spec["scope"] == "Cluster"} | {"ClusterRole", "ClusterRoleBinding"}
    kinds = {thing["kind"] for thing in whole if thing["kind"] in cluster and thing["metadata"].get("namespace")}
    assert kinds == {"ClusterRole", "ClusterRoleBinding", "DecoratorController", "ClusterTrainingRuntime", "ClusterStorageContainer"}


def test_the_namespace_of_the_profile_is_nobodys_object(whole: list[Object]) -> None:
    (profile,) = of_kind(whole, "Profile")
    name = profile["metadata"]["name"]
    assert name not in {thing["metadata"]["name"] for thing in of_kind(whole, "Namespace")}
    assert [thing for thing in whole if thing["metadata"].get("namespace") == name]


def test_fields_that_others_rewrite_are_shipped_as_upstream_ships_them(whole: list[Object]) -> None:
    by_name = {hook["name"]: hook for hook in webhooks(whole)}
    assert by_name["poddefaults-webhook-deployment.kubeflow.org"]["clientConfig"]["caBundle"] == ""
    assert by_name["rev.validation.istio.io"]["failurePolicy"] == "Ignore"
    assert [name for name, hook in by_name.items() if "rules" not in hook]
    assert [role for role in of_kind(whole, "ClusterRole") if "aggregationRule" in role and role.get("rules") == []]
    assert [role for role in of_kind(whole, "ClusterRole") if "aggregationRule" in role and "rules" not in role]
    assert [secret for secret in of_kind(whole, "Secret") if not {"data", "stringData"} & set(secret)]
    assert [secret for secret in of_kind(whole, "Secret") if "stringData" in secret]
    assert [thing for thing in whole if "creationTimestamp" in thing["metadata"]]
    assert [
        thing
        for thing in of_kind(whole, "CustomResourceDefinition")
        if "status" in thing and thing["spec"]["preserveUnknownFields"] is False
    ]
    scaled = {
        (thing["metadata"]["namespace"], thing["spec"]["scaleTargetRef"]["name"]) for thing in of_kind(whole, "HorizontalPodAutoscaler")
    }
    assert scaled
    for thing in of_kind(whole, "Deployment"):
        if (thing["metadata"]["namespace"], thing["metadata"]["name"]) in scaled:
            assert "replicas" not in thing["spec"]


def test_pod_webhooks_come_before_the_programs_that_answer_them(whole: list[Object]) -> None:
    order = [key(thing)[1:] for thing in whole]
    for configuration, namespace, deployment in (
        ("istio-sidecar-injector", "istio-system", "istiod"),
        ("poddefaults-webhook-mutating-webhook-configuration", "kubeflow", "poddefaults-webhook-deployment"),
        ("katib.kubeflow.org", "kubeflow", "katib-controller"),
    ):
        assert order.index(("MutatingWebhookConfiguration", "", configuration)) < order.index(("Deployment", namespace, deployment))


def test_generated_names_end_in_a_hash(whole: list[Object]) -> None:
    assert [thing for thing in of_kind(whole, "Secret") if HASHED.search(thing["metadata"]["name"])]
    assert len([thing for thing in of_kind(whole, "ConfigMap") if HASHED.search(thing["metadata"]["name"])]) >= 5


def test_kinds_of_one_name_live_side_by_side(whole: list[Object], crds: dict[tuple[str, str], Object]) -> None:
    assert {name for name, kind in crds if kind == "Certificate"} == {"cert-manager.io", "networking.internal.knative.dev"}
    assert ("serving.knative.dev", "Service") in crds
    mutating = {thing["metadata"]["name"] for thing in of_kind(whole, "MutatingWebhookConfiguration")}
    assert len(mutating & {thing["metadata"]["name"] for thing in of_kind(whole, "ValidatingWebhookConfiguration")}) >= 3


def test_there_are_things_that_recreation_would_lose(whole: list[Object]) -> None:
    for kind in ("PersistentVolumeClaim", "StatefulSet", "DaemonSet", "Profile"):
        assert of_kind(whole, kind)


def test_a_network_policy_has_an_empty_list_of_peers(whole: list[Object]) -> None:
    assert [thing for thing in of_kind(whole, "NetworkPolicy") for rule in thing["spec"]["ingress"] if rule.get("from") == []]


def test_some_webhooks_are_unusual(whole: list[Object], crds: dict[tuple[str, str], Object]) -> None:
    assert [spec for spec in crds.values() if spec.get("conversion", {}).get("strategy") == "Webhook"]
    assert [hook for hook in webhooks(whole) if hook["clientConfig"]["service"].get("port", 443) != 443]
    assert [hook for hook in webhooks(whole) if "failurePolicy" not in hook]


def test_pods_keep_to_the_restricted_standard_where_it_is_enforced(whole: list[Object]) -> None:
    enforced = {
        thing["metadata"]["name"]
        for thing in of_kind(whole, "Namespace")
        if "pod-security.kubernetes.io/enforce" in thing["metadata"]["labels"]
    }
    for thing in [*of_kind(whole, "Deployment"), *of_kind(whole, "StatefulSet")]:
        if thing["metadata"]["namespace"] in enforced:
            spec = thing["spec"]["template"]["spec"]
            assert spec["securityContext"]["runAsNonRoot"] and spec["securityContext"]["seccompProfile"]
            assert all(container["securityContext"]["capabilities"] == {"drop": ["ALL"]} for container in spec["containers"])


def test_images_cannot_be_pulled_by_accident() -> None:
    for path in TREE.rglob("*.yaml"):
        for image in re.findall(r"image: *\"?([^\s\"]+)", path.read_text(encoding="utf-8")):
            assert image.startswith("registry.example.com/demo/"), f"{path}: {image}"
