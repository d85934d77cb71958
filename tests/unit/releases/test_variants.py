# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every optional component and every option on the real distributions: it joins the whole, and stands alone with what it requires."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest
from ansible_collections.kubeflow.platform.plugins.plugin_utils.plan.model import SelectionError

from tests.unit.releases.needs import Thing, missing
from tests.unit.releases.podsecurity import breaches
from tests.unit.releases.variants import ALONE, DATABASE, EKS, OWN_KATIB, STORE, Objects, Workshop, key

pytestmark = pytest.mark.distribution


@dataclass(frozen=True)
class Variant:
    """A component, or options of one, with the change in the number of objects at 26.03.1 and the first release that has it."""

    component: str
    more: int
    since: str = "1.8"
    values: Mapping[str, Any] = field(default_factory=dict)
    foreign: frozenset[Thing] = frozenset()  # what it needs and the user brings

    @property
    def name(self) -> str:
        return " ".join([self.component, *(f"{name}={value}" for name, value in self.values.items())])


GATEWAY_API: frozenset[Thing] = frozenset({("kind", "gateway.networking.k8s.io", "Gateway")})
VARIANTS = [
    Variant("kuberay", 17, "1.10"),
    Variant("training_operator", 16),
    Variant("training_operator", 16, values={"training_operator_source": "repository"}),
    Variant("mpi_operator", 9),
    Variant("workspaces", 36, "26.03.1", {"workspaces_accept_pre_ga": True}),
    Variant("knative", 103, "1.8", {"knative_eventing": "base"}),
    Variant("knative", 105, "26.03.1", {"knative_eventing": "security"}),
    Variant("knative", 0, "1.8", {"knative_skip_tag_resolution": ["registry.example.com:5000", "other.example.com"]}),
    Variant("kserve", -80, "1.8", {"kserve_mode": "Standard"}),
    Variant("pipelines", 6, "1.11", {"pipelines_mode": "kubernetes"}),
    Variant("pipelines", -7, "1.8", DATABASE, frozenset({("Secret", "kubeflow", "kfp-db")})),
    Variant("pipelines", -8, "1.8", STORE, frozenset({("Secret", "kubeflow", "kfp-s3")})),
    Variant("pipelines", 0, "1.8", {"pipelines_database_storage_class": "fast", "pipelines_object_store_storage_class": "big"}),
    Variant("katib", -4, "1.8", OWN_KATIB, frozenset({("Secret", "kubeflow", "katib-db")})),
    Variant("katib", 0, "1.8", {"katib_database_storage_class": "fast"}),
    Variant("trainer", 22, "1.11", {"trainer_data_cache": True}),
    Variant("hub", 1, "1.10", {"hub_csi": True}),
    Variant(
        "hub",
        0,
        "1.10",
        {"hub_registry_namespace": "team-a"},
        frozenset({("namespace", "team-a"), ("ServiceAccount", "team-a", "default")}),
    ),
    Variant("hub", 0, "1.11", {"hub_registry_storage_class": "fast", "hub_catalog_storage_class": "slow"}),
    Variant("istio", 0, "1.11", {"istio_platform": "gke"}),
    Variant("istio", 0, "1.10", {"istio_cni_bin_dir": "/var/cni/bin", "istio_cni_conf_dir": "/var/cni/conf"}),
    Variant("istio", -1, "1.8", {"istio_mode": "no_cni"}),
    Variant("istio", 7, "1.11", {"istio_mode": "ambient"}, GATEWAY_API),
    Variant("istio", 7, "1.11", {"istio_mode": "ambient", "istio_platform": "gke"}, GATEWAY_API),
    Variant("istio", 6, "1.11", {"istio_local_gateway_m2m": True, "oauth2_proxy_m2m": "cluster"}),
    Variant("oauth2_proxy", 4, "1.10", {"oauth2_proxy_m2m": "cluster"}),
    Variant("oauth2_proxy", 1, "1.10", EKS),
    Variant("notebooks", 0, "1.8", {"kubeflow_secure_cookies": False}),
    Variant("notebooks", 0, "1.8", {"notebooks_tensorboard_image": "registry.example.com/tensorboard:2.20"}),
    Variant("notebooks", 0, "1.8", {"notebooks_tensorboard_security_context": {"runAsUser": 65532, "runAsGroup": 65534}}),
]
WORKLOADS = ("Deployment", "StatefulSet", "DaemonSet")
# A slip of upstream's: the subject of a RoleBinding that nobody makes.
GIVEN: set[Thing] = {("ServiceAccount", "kubeflow", "jupyter-notebook")}


def lacking(made: Objects) -> set[Thing]:
    """What the objects need and none of them defines."""
    return set(missing(made.all)) - GIVEN


def reached(made: Objects) -> dict[tuple[str, str], set[str]]:
    """The workloads whose pods each Service reaches."""
    pods = [(obj, obj["spec"]["template"]["metadata"].get("labels", {})) for obj in made.all if obj["kind"] in WORKLOADS]
    return {
        (obj["metadata"]["namespace"], obj["metadata"]["name"]): {
            workload["metadata"]["name"]
            for workload, labels in pods
            if workload["metadata"]["namespace"] == obj["metadata"]["namespace"] and obj["spec"]["selector"].items() <= labels.items()
        }
        for obj in made.all
        if obj["kind"] == "Service" and obj["spec"].get("selector")
    }


def offered(shop: Workshop, variant: Variant) -> bool:
    """Whether the release has the variant."""
    return tuple(map(int, shop.release.split("."))) >= tuple(map(int, variant.since.split(".")))


@pytest.mark.parametrize("variant", VARIANTS, ids=lambda variant: variant.name)
def test_a_variant_joins_the_whole_without_doubles_and_loose_ends(shop, variant):
    if not offered(shop, variant):
        with pytest.raises(SelectionError):
            shop.planned(variant.component, **variant.values)
        return
    usual, made = shop.made(), shop.made(variant.component, **variant.values)
    assert [name for name, count in Counter(key(obj) for obj in made.all).items() if count > 1] == []
    assert lacking(made) == variant.foreign
    before, after = reached(usual), reached(made)
    assert {name: after[name] for name in before if name in after} == {name: before[name] for name in before if name in after}
    if shop.release == "26.03.1":
        assert len(made.all) - len(usual.all) == variant.more


@pytest.mark.parametrize("variant", VARIANTS, ids=lambda variant: variant.name)
def test_a_variant_comes_with_its_requirements_when_it_is_all_that_is_asked_for(shop, variant):
    if offered(shop, variant):
        made = shop.made(variant.component, selection=ALONE, **variant.values)
        assert variant.component in {item.component.name for item in made.plan.selected}
        assert lacking(made) <= variant.foreign


@pytest.mark.parametrize("variant", VARIANTS, ids=lambda variant: variant.name)
def test_no_object_of_upstreams_folder_is_forgotten(newest, variant):
    """What patches and omissions take from a part is in another part, or what the option is there to take away."""
    usual, made = newest.made(), newest.made(variant.component, **variant.values)
    known = {part.name: (part.path, part.source) for part in usual.plan.parts}
    there = {name[1:] for name in made.keys}
    for part in made.plan.parts:
        if (part.path, part.source) != known.get(part.name) and not part.path.startswith("/"):
            raw = newest.raw(part.path, source=part.source.as_dict() if part.source else None)
            lost = {key(obj)[1:] for obj in raw} - there
            assert {entry for entry in lost if entry[0] != "ConfigMap"} <= {("Namespace", "", "kubeflow-user-example-com")}, part.name


@pytest.mark.parametrize("variant", VARIANTS, ids=lambda variant: variant.name)
def test_no_pod_of_a_variant_is_forbidden_by_its_namespace(shop, variant):
    if not offered(shop, variant):
        return
    made = shop.made(variant.component, **variant.values)
    labels = {obj["metadata"]["name"]: obj["metadata"].get("labels") or {} for obj in made.all if obj["kind"] == "Namespace"}
    closed = {name for name, there in labels.items() if there.get("pod-security.kubernetes.io/enforce") == "restricted"}
    for obj in made.all:
        if obj["kind"] in WORKLOADS and obj["metadata"]["namespace"] in closed:
            assert list(breaches(obj["spec"]["template"]["spec"])) == [], key(obj)


def test_what_an_option_brings_is_reached_by_the_api_server_through_network_policies(shop):
    """Upstream forgets the webhooks of two of KServe's controllers; what options bring adds none to them."""
    options = {"pipelines_mode": "kubernetes", "trainer_data_cache": True, "training_operator_source": "repository"}
    there = {name: value for name, value in options.items() if shop.release not in ("1.8.1", "1.10.2") or name.startswith("training")}
    assert shut_out(shop.made("training_operator", **there)) == shut_out(shop.made())


def shut_out(made: Objects) -> set[tuple[str, str]]:
    """Services of webhooks in namespaces that are closed but for what policies allow, where none allows it from anywhere."""
    policies = [obj for obj in made.all if obj["kind"] == "NetworkPolicy"]
    closed = {obj["metadata"]["namespace"] for obj in policies if not obj["spec"]["podSelector"]}
    found = set()
    for place, name in webhooks(made):
        selector = made.find("Service", name, place)["spec"]["selector"]
        workloads = [obj for obj in made.all if obj["kind"] == "Deployment" and obj["metadata"]["namespace"] == place]
        pods = [obj["spec"]["template"]["metadata"]["labels"] for obj in workloads]
        behind = [labels for labels in pods if selector.items() <= labels.items()]
        if place in closed and not any(
            is_open(obj) and selects(obj["spec"]["podSelector"], labels) for obj in policies for labels in behind
        ):
            found.add((place, name))
    return found


def webhooks(made: Objects) -> set[tuple[str, str]]:
    """The Services that the API server calls."""
    hooks = [hook for obj in made.all if obj["kind"].endswith("WebhookConfiguration") for hook in obj.get("webhooks") or []]
    services = [hook["clientConfig"].get("service") for hook in hooks]
    return {(service["namespace"], service["name"]) for service in services if service}


def is_open(policy: Mapping[str, Any]) -> bool:
    """Whether the policy lets something in from anywhere."""
    return any(not rule.get("from") for rule in policy["spec"].get("ingress") or [])


def selects(selector: Mapping[str, Any], labels: Mapping[str, str]) -> bool:
    """Whether a selector of pods takes these labels."""
    return all(labels.get(name) == value for name, value in (selector.get("matchLabels") or {}).items()) and all(
        labels.get(entry["key"]) in entry["values"] for entry in selector.get("matchExpressions") or []
    )
