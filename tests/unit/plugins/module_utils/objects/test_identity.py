# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from ansible_collections.kubeflow.platform.plugins.module_utils.objects.identity import Identity, bare_name, identify, split_api_version


def test_identity_ignores_the_version() -> None:
    old = {"apiVersion": "cert-manager.io/v1alpha2", "kind": "Issuer", "metadata": {"name": "a", "namespace": "b"}}
    assert identify(old, True) == identify({**old, "apiVersion": "cert-manager.io/v1"}, True)


def test_identity_ignores_a_stray_namespace_when_the_kind_is_cluster_scoped() -> None:
    role = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole",
        "metadata": {"name": "spark-operator-controller", "namespace": "kubeflow"},
    }
    assert identify(role, False) == Identity("rbac.authorization.k8s.io", "ClusterRole", "", "spark-operator-controller")


def test_identity_reads_as_kind_namespace_and_name() -> None:
    assert str(Identity("apps", "Deployment", "kubeflow", "ml-pipeline")) == "Deployment kubeflow/ml-pipeline"
    assert str(Identity("rbac.authorization.k8s.io", "ClusterRole", "", "admin")) == "ClusterRole admin"


def test_identity_of_a_broken_object_is_empty_when_parts_are_missing() -> None:
    assert identify({}, True) == Identity("", "", "", "")
    assert identify({"metadata": None, "kind": "Pod", "apiVersion": "v1"}, True) == Identity("", "Pod", "", "")


def test_api_version_splits_into_group_and_version() -> None:
    assert split_api_version("v1") == ("", "v1")
    assert split_api_version("networking.istio.io/v1beta1") == ("networking.istio.io", "v1beta1")


def test_a_name_is_bare_without_the_hash_of_its_content_and_no_other_end() -> None:
    assert bare_name("oauth2-proxy-h675gf55ht") == "oauth2-proxy"
    for name in ("oauth2-proxy", "oauth2-proxy-parameters", "a-h675gf55ht-b", "a-h675gf55hta"):
        assert bare_name(name) == name
