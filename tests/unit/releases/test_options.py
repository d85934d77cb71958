# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every option on the real distributions: what it changes in the objects."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
import yaml
from ansible_collections.kubeflow.platform.plugins.plugin_utils.plan.model import SelectionError
from ansible_collections.kubeflow.platform.plugins.plugin_utils.plan.result import as_result

from tests.unit.releases.variants import ALONE, DATABASE, EKS, STORE, Objects, container, environment

pytestmark = pytest.mark.distribution
CLUSTER_WIDE = {"ClusterRole", "ClusterRoleBinding", "ClusterStorageContainer"}


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


def test_the_login_is_that_of_the_person_whose_the_first_profile_is_and_nothing_else_of_dex_changes(shop):
    usual = yaml.safe_load(shop.made().find("ConfigMap", "dex")["data"]["config.yaml"])
    made = yaml.safe_load(shop.made(kubeflow_initial_user_email="ada@example.org").find("ConfigMap", "dex")["data"]["config.yaml"])
    (user,) = usual["staticPasswords"]
    assert made == {**usual, "staticPasswords": [{**user, "email": "ada@example.org"}]}


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
    ingress = json.loads(made.find("ConfigMap", "inferenceservice-config")["data"]["ingress"])
    assert made.find("IngressClass", ingress["ingressClassName"])["spec"]["controller"] == "istio.io/ingress-controller"


def test_pipelines_as_objects_keep_what_the_distribution_adds(newest):
    made = newest.made(pipelines_mode="kubernetes")
    assert "--pipelinesStoreKubernetes=true" in container(made.find("Deployment", "ml-pipeline"), "ml-pipeline-api-server")["args"]
    assert made.find("ConfigMap", "pipeline-install-config") == newest.made().find("ConfigMap", "pipeline-install-config")


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
    return [f"{row['namespace']}/{row['name']}" for row in as_result(made.plan, None)["credentials"]]
