# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.connection import from_params
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.discovery import Discovery, Resource, resource_from_crd
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.errors import ClusterError, Refused
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.requests import Client

from .conftest import Reply, Scripted, Seen


def entry(kind: str, plural: str, scope: str = "Namespaced") -> dict[str, Any]:
    return {"resource": plural, "responseKind": {"group": "", "version": "", "kind": kind}, "scope": scope, "verbs": ["list", "get"]}


def group(name: str, *versions: tuple[str, list[dict[str, Any]]], freshness: str = "Current") -> dict[str, Any]:
    listed = [{"version": version, "freshness": freshness, "resources": resources} for version, resources in versions]
    return {"metadata": {"name": name, "creationTimestamp": None}, "versions": listed}


class Served:
    """What the scripted server serves, with an ETag that moves with it."""

    def __init__(self, scripted: Scripted) -> None:
        self.groups: list[dict[str, Any]] = [group("apps", ("v1", [entry("Deployment", "deployments")]))]
        scripted.answer = self.answer
        self.discovery = Discovery(Client(from_params({"host": scripted.url, "api_key": "k"}), "x", 2))

    def answer(self, seen: Seen) -> Reply:
        if seen.path == "/version":
            return Reply(body={"gitVersion": "v1.36.1"})
        items = [group("", ("v1", [entry("Pod", "pods"), entry("Node", "nodes", "Cluster")]))] if seen.path == "/api" else self.groups
        etag = f'"{hash(str(items))}"'
        if seen.header("If-None-Match") == [etag]:
            return Reply(304, b"")
        return Reply(body={"kind": "APIGroupDiscoveryList", "items": items}, headers={"ETag": etag})


@pytest.fixture
def served(scripted: Scripted) -> Served:
    return Served(scripted)


def test_refresh_tells_whether_something_changed(served: Served, scripted: Scripted) -> None:
    assert served.discovery.refresh() is True
    assert served.discovery.refresh() is False
    served.groups = [*served.groups, group("a.io", ("v1", [entry("A", "as")]))]
    assert served.discovery.find("a.io", "v1", "A") is None
    assert served.discovery.refresh() is True
    assert served.discovery.find("a.io", "v1", "A") is not None
    assert all(seen.header("Accept-Encoding") == ["gzip"] for seen in scripted.seen)


def test_find_knows_exact_versions_and_preferred_takes_the_first(served: Served) -> None:
    served.groups = [
        group("a.io", ("v2", [entry("A", "as"), entry("New", "news")]), ("v1", [entry("A", "as"), entry("Old", "olds", "Cluster")]))
    ]
    served.discovery.refresh()
    assert served.discovery.find("a.io", "v1", "A") == Resource("a.io", "v1", "A", "as", True, ("get", "list"))
    assert served.discovery.find("a.io", "v3", "A") is None
    assert served.discovery.preferred("a.io", "A") == Resource("a.io", "v2", "A", "as", True, ("get", "list"))
    assert served.discovery.preferred("a.io", "Old") == Resource("a.io", "v1", "Old", "olds", False, ("get", "list"))
    assert served.discovery.preferred("b.io", "A") is None
    assert served.discovery.preferred("", "Node") == Resource("", "v1", "Node", "nodes", False, ("get", "list"))
    assert len(list(served.discovery.resources())) == 6


def test_a_group_is_stale_when_its_server_does_not_answer(served: Served) -> None:
    served.groups = [group("metrics.k8s.io", ("v1", []), freshness="Stale"), group("a.io", ("v1", []))]
    served.discovery.refresh()
    assert served.discovery.group_is_stale("metrics.k8s.io")
    assert not served.discovery.group_is_stale("a.io")
    assert not served.discovery.group_is_stale("unknown.io")


def test_a_kind_that_is_no_longer_served_is_forgotten(served: Served) -> None:
    served.discovery.refresh()
    served.groups = []
    served.discovery.refresh()
    assert served.discovery.find("apps", "v1", "Deployment") is None


def test_the_version_of_the_server_is_asked_for_once(served: Served, scripted: Scripted) -> None:
    assert served.discovery.server_version == "v1.36.1"
    assert served.discovery.server_version == "v1.36.1"
    assert len(scripted.seen) == 1


def test_refusals_are_errors_and_what_was_known_stays(served: Served, scripted: Scripted) -> None:
    served.discovery.refresh()
    scripted.script(Reply(503, b""))
    with pytest.raises(Refused):
        served.discovery.refresh()
    assert served.discovery.find("apps", "v1", "Deployment") is not None


def test_a_server_without_aggregated_discovery_is_refused_with_words(scripted: Scripted) -> None:
    scripted.script(Reply(body={"kind": "APIVersions", "versions": ["v1"]}))
    with pytest.raises(ClusterError, match=r"no Kubernetes 1\.27 or newer"):
        Discovery(Client(from_params({"host": scripted.url, "api_key": "k"}), "x", 2)).refresh()


def test_paths_follow_group_scope_and_name() -> None:
    deployment = Resource("apps", "v1", "Deployment", "deployments", True)
    assert deployment.path("a", "b") == "/apis/apps/v1/namespaces/a/deployments/b"
    assert deployment.collection() == "/apis/apps/v1/deployments"
    role = Resource("rbac.authorization.k8s.io", "v1", "ClusterRole", "clusterroles", False)
    assert role.path("ignored", "system:a/b") == "/apis/rbac.authorization.k8s.io/v1/clusterroles/system:a%2Fb"
    assert Resource("", "v1", "Namespace", "namespaces", False).path("", "a") == "/api/v1/namespaces/a"
    assert (deployment.api_version, Resource("", "v1", "Pod", "pods", True).api_version) == ("apps/v1", "v1")


def test_a_crd_tells_where_its_kind_will_live() -> None:
    crd = {"spec": {"group": "a.io", "scope": "Cluster", "names": {"kind": "A", "plural": "as"}}}
    assert resource_from_crd(crd, "v1").path("", "x") == "/apis/a.io/v1/as/x"
