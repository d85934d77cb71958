# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The pure core on the objects of the real 26.03.1: no false alarm, and the figures that were counted by hand."""

from __future__ import annotations

import time
from typing import Any

import pytest
from ansible_collections.kubeflow.platform.plugins.module_utils.apply import probes
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.readiness import ReadinessContext, has_predicate, state
from ansible_collections.kubeflow.platform.plugins.module_utils.objects import schema
from ansible_collections.kubeflow.platform.plugins.module_utils.objects.crd_safety import breaches
from ansible_collections.kubeflow.platform.plugins.module_utils.objects.identity import identify, split_api_version
from ansible_collections.kubeflow.platform.plugins.module_utils.objects.normalise import desired
from ansible_collections.kubeflow.platform.plugins.plugin_utils import partsfile
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.cache import Cache
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.parts import from_options
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.render import Request, render

from tests.conftest import Distributions, cache_root
from tests.testbed.bed.build import binaries

pytestmark = pytest.mark.distribution

Object = dict[str, Any]
# What the profile controller puts on the namespace that it makes and that matters here.
PROFILE_LABELS = {"istio-injection": "enabled", "app.kubernetes.io/part-of": "kubeflow-profile"}


@pytest.fixture(scope="module")
def objects(distributions: Distributions) -> list[Object]:
    """The 727 objects of upstream's `example`, as they are sent."""
    folder = str(distributions.tree("26.03.1"))
    wanted = Request(
        parts=from_options([{"name": "example", "component": "example", "path": "example"}], folder),
        root=folder,
        remote_bases=str(distributions.remote_bases_archive()),
        kustomize_path=str(binaries(["kustomize-5.8.1"])["kustomize-5.8.1"]),
    )
    (part,) = partsfile.read(render(wanted, Cache(cache_root() / "work")).path.read_bytes())["parts"]
    return [desired(row["object"], True) for row in part["objects"]]


@pytest.fixture(scope="module")
def crds(objects: list[Object]) -> dict[tuple[str, str], Object]:
    found = [obj for obj in objects if obj["kind"] == "CustomResourceDefinition"]
    return {(obj["spec"]["group"], obj["spec"]["names"]["kind"]): obj for obj in found}


def kind_of(obj: Object) -> tuple[str, str]:
    return split_api_version(obj["apiVersion"])[0], obj["kind"]


def test_no_custom_resource_of_the_release_is_blamed(objects: list[Object], crds: dict[tuple[str, str], Object]) -> None:
    rows = [obj for obj in objects if kind_of(obj) in crds]
    assert len(rows) == 99
    started = time.process_time()
    found = {str(identify(obj, True)): schema.problems(obj, crds[kind_of(obj)], split_api_version(obj["apiVersion"])[1]) for obj in rows}
    spent = time.process_time() - started
    assert {name: texts for name, texts in found.items() if texts} == {}
    assert spent < 0.5


def test_a_misspelled_field_of_any_custom_resource_is_found(objects: list[Object], crds: dict[tuple[str, str], Object]) -> None:
    for obj in objects:
        crd = crds.get(kind_of(obj))
        if crd is None:
            continue
        version = split_api_version(obj["apiVersion"])[1]
        assert schema.problems({**obj, "sepc": {}}, crd, version) == ["sepc: unknown field"], identify(obj, True)


def test_every_served_version_of_every_crd_has_a_minimal_object(crds: dict[tuple[str, str], Object]) -> None:
    versions = [(crd, row["name"]) for crd in crds.values() for row in crd["spec"]["versions"] if row["served"]]
    assert len(versions) > 79
    missing = [(crd["metadata"]["name"], version) for crd, version in versions if schema.minimal(crd, version, "n", "probe") is None]
    assert missing == []


def test_a_crd_of_the_release_breaks_nothing_of_itself(crds: dict[tuple[str, str], Object]) -> None:
    for crd in crds.values():
        versions = [row["name"] for row in crd["spec"]["versions"]]
        live = {**crd, "status": {"storedVersions": versions}}
        assert breaches(live, crd, versions) == []


def test_webhooks_are_read_as_they_were_counted(objects: list[Object]) -> None:
    hooks = [hook for obj in objects if obj["kind"].endswith("WebhookConfiguration") for hook in probes.webhooks_of(obj)]
    conversions = [hook for obj in objects if obj["kind"] == "CustomResourceDefinition" for hook in probes.webhooks_of(obj)]
    assert len(hooks) == len({hook.key for hook in hooks}) == 44
    assert sum(hook.fails_closed for hook in hooks) == 42
    assert len({hook.service[:2] for hook in hooks if hook.service}) == 14
    assert not any(hook.ca_bundle for hook in hooks)
    assert len(conversions) == 4


def test_every_service_of_a_webhook_has_a_workload_behind_it(objects: list[Object]) -> None:
    services = {(obj["metadata"]["namespace"], obj["metadata"]["name"]): obj for obj in objects if kind_of(obj) == ("", "Service")}
    workloads = [obj for obj in objects if split_api_version(obj["apiVersion"])[0] == "apps"]
    hooks = [hook for obj in objects for hook in probes.webhooks_of(obj)]
    backends = {hook.service[:2] for hook in hooks if hook.service}
    assert [place for place in sorted(backends) if not probes.service_backends(services[place], workloads)] == []


def injected(objects: list[Object], configuration: str) -> int:
    """How many workloads have pods that a configuration's webhooks see."""
    namespaces = {obj["metadata"]["name"]: obj["metadata"].get("labels") for obj in objects if obj["kind"] == "Namespace"}
    namespaces["kubeflow-user-example-com"] = PROFILE_LABELS
    hooks = [hook for obj in objects if obj["metadata"]["name"] == configuration for hook in probes.webhooks_of(obj)]
    count = 0
    for obj in objects:
        if split_api_version(obj["apiVersion"])[0] != "apps":
            continue
        namespace = obj["metadata"]["namespace"]
        labels = (probes.pod_template(obj).get("metadata") or {}).get("labels")
        where = probes.namespace_labels(namespace, namespaces.get(namespace))
        count += any(hook.matches("", "v1", "pods", "CREATE", where, labels, True) for hook in hooks)
    return count


def test_pods_behind_the_injector_are_found_by_namespace_and_label(objects: list[Object]) -> None:
    assert injected(objects, "istio-sidecar-injector") == 36
    assert injected(objects, "poddefaults-webhook-mutating-webhook-configuration") == 3


def test_custom_resources_behind_webhooks_of_the_release_are_found(objects: list[Object], crds: dict[tuple[str, str], Object]) -> None:
    hooks = [hook for obj in objects for hook in probes.webhooks_of(obj) if hook.fails_closed and hook.configuration_kind != probes.CRD]
    guarded: dict[str, int] = {}
    for obj in objects:
        crd = crds.get(kind_of(obj))
        if crd is None:
            continue
        group, version = split_api_version(obj["apiVersion"])
        plural, namespaced = crd["spec"]["names"]["plural"], crd["spec"]["scope"] == "Namespaced"
        if any(hook.matches(group, version, plural, "CREATE", {}, obj["metadata"].get("labels"), namespaced) for hook in hooks):
            guarded[obj["kind"]] = guarded.get(obj["kind"], 0) + 1
    assert guarded.pop("Certificate") + guarded.pop("Issuer") + guarded.pop("ClusterIssuer", 0) >= 13
    assert guarded == {"ClusterServingRuntime": 12, "ClusterTrainingRuntime": 8}


def test_nothing_counts_as_ready_by_its_rendered_form_when_a_controller_has_to_work_on_it(objects: list[Object]) -> None:
    waiting = {
        "Deployment",
        "StatefulSet",
        "DaemonSet",
        "PersistentVolumeClaim",
        "Certificate",
        "Issuer",
        "CustomResourceDefinition",
        "Profile",
    }
    context = ReadinessContext(namespaces=frozenset(), owner_bindings=frozenset())
    for obj in objects:
        if has_predicate(*kind_of(obj)):
            metadata = {**obj["metadata"], "generation": 1}
            answer = state({**obj, "metadata": metadata}, now=0, since=0, context=context)
            assert (answer.status == "progressing") == (obj["kind"] in waiting or kind_of(obj) == ("cert-manager.io", "ClusterIssuer"))
