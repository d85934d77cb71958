# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every optional component and every option on the real distributions: what it changes, and that it changes nothing else."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest
import yaml
from ansible_collections.kubeflow.platform.plugins.plugin_utils.plan.model import SelectionError

from tests.conftest import Distributions
from tests.unit.releases.needs import Thing, missing
from tests.unit.releases.variants import ALONE, Objects, Workshop, container, environment, key

pytestmark = pytest.mark.distribution
OLDER = [pytest.param(release, marks=pytest.mark.soak) for release in ("1.8.1", "1.10.2", "1.11.0", "26.03")]


@pytest.fixture(scope="module", params=["26.03.1", *OLDER])
def shop(request: pytest.FixtureRequest, distributions: Distributions) -> Workshop:
    """Every release that the collection knows; the newest one only in a short run."""
    return Workshop.of(request.param, distributions)


@pytest.fixture(scope="module")
def newest(distributions: Distributions) -> Workshop:
    """The newest release."""
    return Workshop.of("26.03.1", distributions)


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


DATABASE = {"pipelines_database_host": "db.example.com", "pipelines_database_secret": "kfp-db"}
STORE = {"pipelines_object_store_host": "s3.example.com", "pipelines_object_store_secret": "kfp-s3"}
OWN_KATIB = {"katib_database_host": "db.example.com", "katib_database_secret": "katib-db"}
EKS = {"oauth2_proxy_m2m": "eks", "oauth2_proxy_m2m_issuer": "https://oidc.example.com/id/1"}
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
    Variant("kserve", 0, "1.8", {"kserve_mode": "Standard"}),
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
CLUSTER_WIDE = {"ClusterRole", "ClusterRoleBinding", "ClusterStorageContainer"}
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


def test_versions_of_optional_components_are_those_of_their_images(shop):
    usual = {item.component.name for item in shop.planned().selected}
    for component, version in shop.library.releases[shop.release].versions.items():
        if component not in usual and component != "training_operator":  # its image is tagged by a commit
            objects = shop.made(component, selection=ALONE, workspaces_accept_pre_ga=True).parts
            text = json.dumps([found for name, found in objects.items() if name.startswith(f"{component}/")])
            assert f":{version}" in text or f":v{version}" in text, component


def test_a_component_that_another_one_excludes_is_refused_with_the_reason(newest):
    with pytest.raises(SelectionError, match=r"(?s)mpi_operator.*training_operator.*mpijobs\.kubeflow\.org"):
        newest.planned("mpi_operator", "training_operator")


def test_workspaces_are_refused_until_their_state_is_accepted(newest):
    with pytest.raises(SelectionError, match=r"(?s)workspaces_accept_pre_ga.*alpha"):
        newest.planned("workspaces")


def test_the_dashboard_gets_the_menu_of_workspaces_with_them_only(newest):
    made = newest.made("workspaces", workspaces_accept_pre_ga=True)
    assert "/workspaces/" in made.find("ConfigMap", "dashboard-config")["data"]["links"]
    assert "/workspaces/" not in newest.made(workspaces_accept_pre_ga=True).find("ConfigMap", "dashboard-config")["data"]["links"]


def test_eventing_is_as_in_upstreams_example_unless_it_is_asked_for(shop):
    usual = shop.made()
    assert ("knative/eventing" in usual.parts) is (shop.release == "1.8.1")
    assert "knative/eventing" not in shop.made(knative_eventing="none").parts


def test_tags_of_some_registries_are_left_as_they_are(newest):
    made = newest.made(knative_skip_tag_resolution=["registry.example.com:5000", "other.example.com"])
    data = made.find("ConfigMap", "config-deployment")["data"]
    assert data["registries-skipping-tag-resolving"] == "registry.example.com:5000,other.example.com"


def test_kserve_in_standard_mode_needs_no_knative(shop):
    made = shop.made("kserve", selection=ALONE, kserve_mode="Standard")
    assert "knative" not in {item.component.name for item in made.plan.selected}
    assert "knative" in {item.component.name for item in shop.planned("kserve", selection=ALONE).selected}
    word = "Standard" if shop.release in ("26.03", "26.03.1") else "RawDeployment"
    config = json.loads(made.find("ConfigMap", "inferenceservice-config")["data"]["deploy"])
    usual = json.loads(shop.made().find("ConfigMap", "inferenceservice-config")["data"]["deploy"])
    assert config == {**usual, "defaultDeploymentMode": word}


def test_pipelines_as_objects_keep_what_the_distribution_adds(newest):
    made = newest.made(pipelines_mode="kubernetes")
    assert "--pipelinesStoreKubernetes=true" in container(made.find("Deployment", "ml-pipeline"), "ml-pipeline-api-server")["args"]
    assert made.find("ConfigMap", "pipeline-install-config") == newest.made().find("ConfigMap", "pipeline-install-config")


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


def test_pipelines_speak_to_a_database_of_the_user(shop):
    made = shop.made(**DATABASE, pipelines_database_port=3307)
    assert not [
        obj for obj in made.all if "mysql" in obj["metadata"]["name"] and "katib" not in obj["metadata"]["name"] and part_of(made, obj)
    ]
    data = made.find("ConfigMap", "pipeline-install-config")["data"]
    assert (data["dbHost"], data["dbPort"], data["mysqlHost"], data["mysqlPort"]) == ("db.example.com", "3307") * 2
    assert "mysql-secret" not in json.dumps(made.parts["pipelines/pipelines"])
    assert "kubeflow/mysql-secret" not in {str(item) for item in shipped(made)}


def test_pipelines_keep_artifacts_in_a_store_of_the_user(shop):
    made = shop.made(**STORE, pipelines_object_store_bucket="kfp")
    assert not any(made.has("Deployment", name) for name in ("seaweedfs", "minio"))
    server = environment(made.find("Deployment", "ml-pipeline"), "ml-pipeline-api-server")
    assert (server["OBJECTSTORECONFIG_HOST"], server["OBJECTSTORECONFIG_PORT"]) == ("s3.example.com", "443")
    assert server["OBJECTSTORECONFIG_SECURE"] == "true"
    pages = environment(made.find("Deployment", "ml-pipeline-ui"), "ml-pipeline-ui")
    assert (pages["MINIO_HOST"], pages["MINIO_SSL"], pages["MINIO_NAMESPACE"]) == ("s3.example.com", "true", "")
    for reader in (server["OBJECTSTORECONFIG_ACCESSKEY"], pages["MINIO_SECRET_KEY"]):
        assert reader["secretKeyRef"]["name"] == "kfp-s3"
    data = made.find("ConfigMap", "workflow-controller-configmap")["data"]
    usual = yaml.safe_load(shop.made().find("ConfigMap", "workflow-controller-configmap")["data"]["artifactRepository"])
    store = yaml.safe_load(data["artifactRepository"])["s3"]
    assert store["keyFormat"] == usual["s3"]["keyFormat"]
    assert (store["endpoint"], store["bucket"], store["insecure"]) == ("s3.example.com:443", "kfp", False)
    assert made.find("ConfigMap", "pipeline-install-config")["data"]["bucketName"] == "kfp"


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ({"pipelines_database_host": "db"}, "pipelines_database_secret"),
        ({"pipelines_object_store_host": "s3"}, "pipelines_object_store_secret"),
        ({"katib_database_host": "db"}, "katib_database_secret"),
        ({"oauth2_proxy_m2m": "eks"}, "oauth2_proxy_m2m_issuer"),
        ({"istio_local_gateway_m2m": True}, "oauth2_proxy_m2m"),
    ],
)
def test_an_option_that_needs_another_one_is_refused_without_it(newest, given, wanted):
    with pytest.raises(SelectionError, match=wanted):
        newest.planned(**given)


def test_katib_speaks_to_a_database_of_the_user(shop):
    made = shop.made(katib_database_host="db.example.com", katib_database_secret="katib-db", katib_database_name="hpo")
    assert not [obj for obj in made.all if obj["metadata"]["name"].startswith("katib-mysql")]
    values = environment(made.find("Deployment", "katib-db-manager"), "katib-db-manager")
    assert (values["KATIB_MYSQL_DB_HOST"], values["KATIB_MYSQL_DB_PORT"], values["KATIB_MYSQL_DB_DATABASE"]) == (
        "db.example.com",
        "3306",
        "hpo",
    )
    assert values["DB_PASSWORD"] == {"secretKeyRef": {"name": "katib-db", "key": "password"}}
    assert values["DB_NAME"] == "mysql"


def test_every_claim_takes_a_storage_class(shop):
    options = {
        "pipelines_database_storage_class": "a",
        "pipelines_object_store_storage_class": "b",
        "katib_database_storage_class": "c",
        "oauth2_proxy_storage_class": "d",
        "hub_registry_storage_class": "e",
        "hub_catalog_storage_class": "f",
    }
    there = {name: value for name, value in options.items() if shop.release != "1.8.1" or not name.startswith("hub_")}
    if shop.release == "1.10.2":
        there.pop("hub_catalog_storage_class")
    if shop.release != "1.8.1":
        there.pop("oauth2_proxy_storage_class")
    made = shop.made(*(["hub"] if shop.release != "1.8.1" else []), **there)
    claims = [obj for obj in made.all if obj["kind"] == "PersistentVolumeClaim"]
    assert sorted(obj["spec"].get("storageClassName", "") for obj in claims) == sorted(there.values())


def test_the_data_cache_brings_nothing_that_trainer_has(shop):
    if shop.release in ("1.8.1", "1.10.2"):
        return
    made = shop.made(trainer_data_cache=True)
    names = {obj["metadata"]["name"] for obj in made.parts["trainer/data_cache"]}
    assert {"torch-distributed-with-cache", "lws-controller-manager", "kubeflow-trainer-cache-initializer"} <= names
    assert not names & {obj["metadata"]["name"] for obj in made.parts["trainer/trainer"]}


def test_the_registry_moves_to_the_namespace_of_choice_with_every_address(shop):
    if shop.release == "1.8.1":
        return
    made = shop.made("hub", hub_registry_namespace="team-a", hub_csi=True)
    parts = [objects for name, objects in made.parts.items() if name.startswith("hub/") and name != "hub/model_catalog"]
    objects = [obj for part in parts for obj in part]
    spaces = {obj["metadata"].get("namespace") for obj in objects if obj["kind"] not in CLUSTER_WIDE}
    assert spaces == {"team-a"}
    assert "model-registry-service.team-a.svc" in json.dumps(objects)
    text = json.dumps(objects)
    assert "kubeflow-user-example-com" not in text
    assert ".kubeflow.svc" not in text
    for obj in objects:
        if obj["kind"] == "VirtualService":
            assert obj["spec"]["gateways"] == ["kubeflow/kubeflow-gateway"]
    assert "user_namespace" not in {
        item.component.name for item in shop.planned("hub", selection=ALONE, hub_registry_namespace="a").selected
    }


def test_models_are_loaded_from_the_registry_where_it_is(shop):
    if shop.release == "1.8.1":
        return
    home = "kubeflow-user-example-com" if shop.release == "26.03.1" else "kubeflow"
    (env,) = shop.made("hub", hub_csi=True).find("ClusterStorageContainer", "model-registry-storage-initializer")["spec"]["container"][
        "env"
    ]
    assert env["value"] == f"model-registry-service.{home}.svc.cluster.local:8080"


def test_the_cni_plugin_goes_where_the_nodes_look_for_it(newest):
    def folders(**values: Any) -> dict[str, str]:
        pod = newest.made(**values).find("DaemonSet", "istio-cni-node")["spec"]["template"]["spec"]
        return {volume["name"]: volume["hostPath"]["path"] for volume in pod["volumes"] if "hostPath" in volume}

    usual = folders()
    assert (usual["cni-bin-dir"], usual["cni-net-dir"]) == ("/opt/cni/bin", "/etc/cni/net.d")
    assert folders(istio_platform="gke") == {**usual, "cni-bin-dir": "/home/kubernetes/bin"}
    own = {"cni-bin-dir": "/var/cni/bin", "cni-net-dir": "/var/cni/conf"}
    assert folders(istio_cni_bin_dir="/var/cni/bin", istio_cni_conf_dir="/var/cni/conf") == {**usual, **own}


def test_machines_are_let_in_by_the_issuer_of_the_cluster(newest):
    def issuers(**values: Any) -> list[str]:
        made = newest.made(**values)
        return [rule["issuer"] for rule in made.find("RequestAuthentication", "m2m-token-issuer")["spec"]["jwtRules"]]

    assert issuers(**EKS) == ["https://oidc.example.com/id/1"]
    assert issuers(oauth2_proxy_m2m="cluster", oauth2_proxy_m2m_issuer="https://x") == ["https://x", "https://kubernetes.default.svc"]
    assert not newest.made().has("RequestAuthentication", "m2m-token-issuer")


def test_no_web_app_insists_on_secure_cookies_when_it_may_not(shop):
    made = shop.made(kubeflow_secure_cookies=False)
    apps = [obj for obj in made.all if obj["kind"] == "Deployment" and "web-app" in obj["metadata"]["name"]]
    assert len(apps) == 4
    for app in apps:
        (only,) = app["spec"]["template"]["spec"]["containers"]
        assert {entry["name"]: entry.get("value") for entry in only["env"]}["APP_SECURE_COOKIES"] == "false"


def test_tensorboard_has_the_image_and_its_controller_the_security_context_of_choice(shop):
    made = shop.made(notebooks_tensorboard_image="a/b:1", notebooks_tensorboard_security_context={"runAsUser": 65532})
    assert made.find("ConfigMap", "tensorboard-controller-config")["data"]["TENSORBOARD_IMAGE"] == "a/b:1"
    assert made.find("Deployment", "tensorboard-controller-deployment")["spec"]["template"]["spec"]["securityContext"]["runAsUser"] == 65532


def part_of(made: Objects, obj: Mapping[str, Any]) -> bool:
    """Whether the object is one of Pipelines'."""
    return any(obj is other for other in made.parts["pipelines/pipelines"])


def shipped(made: Objects) -> list[str]:
    """The credentials that the plan tells."""
    from ansible_collections.kubeflow.platform.plugins.plugin_utils.plan.result import as_result

    return [f"{row['namespace']}/{row['name']}" for row in as_result(made.plan, None)["credentials"]]
