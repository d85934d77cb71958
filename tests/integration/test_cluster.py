# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Connections to a real API server, and ownership of fields as a real API server keeps it."""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Callable
from typing import Any

import pytest
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.connection import from_params
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.discovery import Discovery
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.errors import Unreachable, classify, classify_transport
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.issuer import read_issuer
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.requests import Client
from ansible_collections.kubeflow.platform.plugins.module_utils.objects.normalise import comparable, desired, with_label
from ansible_collections.kubeflow.platform.plugins.module_utils.objects.ownership import (
    absent_own_paths,
    drop_path,
    entry_key,
    human_entries,
    own_entry,
    own_fields,
    parse_conflicts,
    rename_patch,
)

from tests.testbed.fixtures import Bed

pytestmark = pytest.mark.bed
Object = dict[str, Any]
APP: Object = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "app", "labels": {"stale": "yes"}, "annotations": {"example.org/dotted.key": "1"}},
    "spec": {
        "replicas": 0,
        "selector": {"matchLabels": {"a": "x"}},
        "template": {
            "metadata": {"labels": {"a": "x"}, "creationTimestamp": None},
            "spec": {"containers": [{"name": "m", "image": "i", "env": [{"name": "A", "value": "1"}], "ports": [{"containerPort": 80}]}]},
        },
    },
}


def client_of(bed: Bed, who: str = "") -> Client:
    return Client(from_params({"kubeconfig": str(bed.kubeconfig_of(who) if who else bed.kubeconfig)}), "kubeflow.platform/test", 4)


@pytest.fixture
def namespace(shared_bed: Bed, request: pytest.FixtureRequest) -> str:
    name = f"owner-{abs(hash(request.node.name)) % 10**8}"
    shared_bed.kubectl("create", "namespace", name)
    return name


def test_discovery_of_a_real_server_knows_kinds_scopes_and_version(shared_bed: Bed) -> None:
    discovery = Discovery(client_of(shared_bed))
    assert discovery.refresh() is True
    for group, version, kind, namespaced in [("", "v1", "Pod", True), ("apps", "v1", "Deployment", True), ("", "v1", "Namespace", False)]:
        resource = discovery.find(group, version, kind)
        assert resource is not None
        assert (resource.namespaced, resource.version) == (namespaced, version)
        assert discovery.preferred(group, kind) == resource
    assert discovery.server_version.startswith("v1.")
    names = [metadata["name"] for metadata in client_of(shared_bed).list_metadata("/api/v1/namespaces")]
    assert "kube-system" in names


@pytest.mark.parametrize(
    ("who", "path", "expected"),
    [
        ("token", "/api/v1/namespaces", "ok"),
        ("badtoken", "/api/v1/namespaces", "auth"),
        ("readonly", "/api/v1/namespaces", "ok"),
        ("wrongca", "/api", "tls"),
    ],
)
def test_kubeconfigs_that_work_and_that_do_not(shared_bed: Bed, who: str, path: str, expected: str) -> None:
    try:
        response = client_of(shared_bed, who).get(path)
    except Unreachable as error:
        assert classify_transport(error).error_class == expected
    else:
        assert ("ok" if response.ok else classify(response).error_class) == expected


def test_a_reader_may_not_write_and_the_missing_permission_is_named(shared_bed: Bed) -> None:
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}
    response = client_of(shared_bed, "readonly").apply("/api/v1/namespaces/default/configmaps/a", body, dry_run=True, force=False)
    assert classify(response).rbac == ("patch", "", "configmaps", "default")


@pytest.mark.parametrize("options", [[], ["--server-side"]])
def test_adoption_renames_kubectl_keeps_hand_edits_and_drops_what_is_no_longer_sent(
    shared_bed: Bed, namespace: str, options: list[str]
) -> None:
    shared_bed.kubectl("apply", "-n", namespace, "-f", "-", *options, stdin=json.dumps(APP))
    shared_bed.kubectl("annotate", "-n", namespace, "deployment", "app", "by-hand=1")
    client, path = client_of(shared_bed), f"/apis/apps/v1/namespaces/{namespace}/deployments/app"
    for pause in (0.2, 0.5, 1.0, 2.0):  # the Deployment's controller may write between the look and the guarded patch
        live = client.get(path).body()
        patch = rename_patch(live["metadata"], [])
        assert patch is not None
        renamed = client.json_patch(path, patch)
        if renamed.ok:
            break
        time.sleep(pause)
    assert renamed.ok, renamed.text
    assert human_entries(renamed.body()["metadata"], []) == []
    assert not client.json_patch(path, patch).ok, "the guard lets the patch through only once"

    wanted = with_label(desired(APP, True), "kubeflow.platform/set", "kubeflow")
    wanted["metadata"] = {**wanted["metadata"], "namespace": namespace, "labels": {"kubeflow.platform/set": "kubeflow"}}
    applied = client.apply(path, wanted, dry_run=False, force=False)
    assert applied.ok, applied.text
    metadata = applied.body()["metadata"]
    assert metadata["labels"] == {"kubeflow.platform/set": "kubeflow"}
    assert metadata["annotations"]["by-hand"] == "1"
    assert "kubectl.kubernetes.io/last-applied-configuration" not in metadata["annotations"]
    assert applied.body()["spec"]["template"] == live["spec"]["template"]
    assert absent_own_paths(applied.body(), own_fields(metadata), wanted) == []

    again = client.apply(path, wanted, dry_run=False, force=False)
    assert comparable(again.body()) == comparable(applied.body())
    first, second = own_entry(metadata), own_entry(again.body()["metadata"])
    assert first is not None
    assert second is not None
    assert entry_key(first) == entry_key(second)


def edit_image(obj: Object) -> None:
    obj["spec"]["template"]["spec"]["containers"][0]["image"] = "hostile"


def edit_variable(obj: Object) -> None:
    obj["spec"]["template"]["spec"]["containers"][0]["env"][0]["value"] = "2"


def edit_port(obj: Object) -> None:
    obj["spec"]["template"]["spec"]["containers"][0]["ports"][0]["name"] = "web"


def edit_annotation(obj: Object) -> None:
    obj["metadata"]["annotations"]["example.org/dotted.key"] = "2"


@pytest.mark.parametrize("edit", [edit_image, edit_variable, edit_port, edit_annotation])
def test_paths_of_real_conflicts_are_found_and_dropped(shared_bed: Bed, namespace: str, edit: Callable[[Object], None]) -> None:
    client, path = client_of(shared_bed), f"/apis/apps/v1/namespaces/{namespace}/deployments/app"
    wanted = desired(json.loads(json.dumps(APP)), True)
    wanted["spec"]["template"]["spec"]["containers"][0]["ports"][0]["name"] = "http"
    before = client.apply(path, wanted, dry_run=False, force=False).body()
    edited = json.loads(json.dumps(wanted))
    edit(edited)
    assert client.apply(path, edited, dry_run=False, force=True, manager="somebody").ok

    refused = client.apply(path, wanted, dry_run=True, force=False)
    conflicts = parse_conflicts(refused.body())
    assert [one.manager for one in conflicts] == ["somebody"]
    yielded = drop_path(wanted, conflicts[0].field_path)
    assert yielded != wanted
    accepted = client.apply(path, yielded, dry_run=True, force=False)
    assert accepted.ok, accepted.text
    assert comparable(accepted.body()) != comparable(before)


def test_an_edit_takes_our_field_out_of_our_entry_so_that_a_list_of_metadata_shows_it(shared_bed: Bed, namespace: str) -> None:
    client, collection = client_of(shared_bed), f"/api/v1/namespaces/{namespace}/secrets"
    wanted = desired({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "stringData": {"a": "b"}}, True)
    assert client.apply(f"{collection}/s", wanted, dry_run=False, force=False).ok
    (before,) = client.list_metadata(collection)
    shared_bed.kubectl("patch", "-n", namespace, "secret", "s", "-p", '{"data":{"a":"eA=="}}')
    (after,) = client.list_metadata(collection)
    old, new = own_entry(before), own_entry(after)
    assert old is not None
    assert new is None or entry_key(old) != entry_key(new)


def test_the_issuer_is_the_one_that_stands_in_tokens_of_service_accounts(shared_bed: Bed, namespace: str) -> None:
    shared_bed.kubectl("-n", namespace, "create", "serviceaccount", "robot")
    payload = shared_bed.kubectl("-n", namespace, "create", "token", "robot").stdout.strip().split(".")[1]
    claims = json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
    found = read_issuer(client_of(shared_bed))
    assert found.issuer == claims["iss"]
    assert found.jwks_uri.endswith("/openid/v1/jwks")
