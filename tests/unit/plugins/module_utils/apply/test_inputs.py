# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The input is taken whole or rejected whole, with every fault named at once."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.inputs import Document, InputRejected, read_parts, resolve
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.model import SET_LABEL, EngineError, Part
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.discovery import Resource
from ansible_collections.kubeflow.platform.plugins.module_utils.objects.identity import Identity
from ansible_collections.kubeflow.platform.tests.unit.api_double.objects import config, crd, custom, documents, items, served, sets, thing
from hypothesis import given
from hypothesis import strategies as st


def parts_file(path: Path, content: Any) -> str:
    path.write_bytes(gzip.compress(json.dumps(content).encode()))
    return str(path)


def rejected(*rows: Document, known: Any = None) -> list[str]:
    """What is found wrong with documents."""
    with pytest.raises(InputRejected) as caught:
        resolve(rows, served, "kubeflow", known)
    assert str(caught.value).startswith("The input was rejected and nothing was written: ")
    return caught.value.findings


def test_documents_keep_part_order_and_hash_when_a_parts_file_is_read(tmp_path: Path) -> None:
    one, two = config("b"), config("a")
    content = {
        "format": 1,
        "warnings": ["old field"],
        "parts": [
            {
                "name": "x/one",
                "component": "x",
                "layer": "applications",
                "requires": ["y"],
                "objects": [{"object": one, "sha256": "1"}, {"object": two, "sha256": "2"}],
            },
            {"name": "default", "component": "default", "layer": None, "objects": []},
        ],
    }
    rows, warnings = read_parts(parts_file(tmp_path / "parts", content))
    part = Part("x/one", "x", "applications", ("y",))
    assert rows == [Document(part, 1, one, "1"), Document(part, 2, two, "2")]
    assert rows[1].where == "part x/one, document 2"
    assert warnings == ["old field"]


@pytest.mark.parametrize(
    "content", [b"", b"not gzip", gzip.compress(b"{"), gzip.compress(b"[]"), gzip.compress(b'{"format": 2, "parts": []}')]
)
def test_parts_file_is_refused_with_advice_when_it_is_not_of_this_version(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "parts"
    path.write_bytes(content)
    with pytest.raises(EngineError, match="Failed to read the rendered parts"):
        read_parts(str(path))
    with pytest.raises(EngineError, match="Failed to read the rendered parts"):
        read_parts(str(tmp_path / "missing"))


def test_item_has_identity_label_and_place_when_its_kind_is_served() -> None:
    (item,) = items(config("a"))
    assert item.identity == Identity("", "ConfigMap", "default", "a")
    assert item.path == "/api/v1/namespaces/default/configmaps/a"
    assert item.desired["metadata"]["labels"] == {SET_LABEL: "kubeflow"}
    assert item.digest.startswith("1:")


def test_kind_is_resolved_from_the_sets_own_crd_when_the_cluster_does_not_serve_it_yet() -> None:
    found = items(custom("Widget", "w", "default"), crd("Widget"))[0]
    assert (found.path, found.resource.namespaced) == ("/apis/example.com/v1/namespaces/default/widgets/w", True)


def test_version_that_the_sets_crd_does_not_serve_is_rejected() -> None:
    definition = crd("Widget")
    definition["spec"]["versions"][0]["served"] = False
    (finding,) = rejected(*documents(definition, custom("Widget", "w", "default")))
    assert "the cluster does not serve example.com/v1 Widget" in finding and "document 2" in finding


@given(sets(), st.data())
def test_identities_are_the_same_when_a_cluster_scoped_object_carries_a_stray_namespace(rows: list[Document], data: st.DataObject) -> None:
    clean, stray = [], []
    for row in rows:
        bare = {**row.content, "metadata": {key: value for key, value in row.content["metadata"].items() if key != "namespace"}}
        scoped = row.content["kind"] in ("Gadget", "Namespace", "ClusterRole", "CustomResourceDefinition", "Profile")
        clean.append(Document(row.part, row.number, bare, row.sha256) if scoped else row)
        name = data.draw(st.sampled_from(["default", "elsewhere"]))
        stray.append(Document(row.part, row.number, {**bare, "metadata": {**bare["metadata"], "namespace": name}}, "") if scoped else row)
    one, other = resolve(clean, served, "kubeflow"), resolve(stray, served, "kubeflow")
    assert [(item.identity, item.desired) for item in one] == [(item.identity, item.desired) for item in other]


def test_all_faults_are_named_together_when_several_objects_are_wrong() -> None:
    loose = thing("ConfigMap", "loose")
    findings = rejected(*documents(loose, custom("Gizmo", "g"), config("twice"), config("twice")))
    assert len(findings) == 3
    assert "ConfigMap loose (part infra, document 1) has no metadata.namespace" in findings[0]
    assert "Gizmo g (part infra, document 2)" in findings[1] and "add the component that brings it" in findings[1]
    assert "ConfigMap default/twice is defined twice: in part infra, document 3 and in part infra, document 4" in findings[2]


def test_two_versions_of_one_object_are_one_identity_and_rejected() -> None:
    definition = crd("Widget")
    definition["spec"]["versions"].append({**definition["spec"]["versions"][0], "name": "v2", "storage": False})
    newer = {**custom("Widget", "w", "default"), "apiVersion": "example.com/v2"}
    (finding,) = rejected(*documents(definition, custom("Widget", "w", "default"), newer))
    assert "defined twice" in finding


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("a log line", "is not a Kubernetes object"),
        ({"kind": "ConfigMap"}, "is not a Kubernetes object"),
        ({"apiVersion": "v1", "kind": "ConfigMap"}, "has no metadata.name"),
        ({"apiVersion": "v1", "kind": "List", "items": []}, "is a List; render its items one by one"),
        ({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"generateName": "x-"}}, "generateName cannot be applied"),
        ({"apiVersion": "v1", "kind": "ConfigMap", "metadata": None}, "has no metadata.name"),
        ({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": 5}}, "has no metadata.name"),
    ],
)
def test_document_that_is_no_object_is_rejected_by_its_place(content: Any, words: str) -> None:
    (finding,) = rejected(Document(Part("p", "p", None, ()), 7, content, ""))
    assert "part p, document 7" in finding and words in finding


def test_namespace_that_nobody_makes_is_rejected_before_anything_is_sent() -> None:
    (finding,) = rejected(*documents(config("a", "lost"), config("b", "lost"), config("c", "here")), known={"here"}.__contains__)
    assert "namespace lost does not exist and nothing in the set makes it, but ConfigMap lost/a and 1 more need it" in finding


def test_namespace_is_accepted_when_the_set_a_profile_or_the_cluster_has_it() -> None:
    rows = documents(
        thing("Namespace", "one"),
        config("a", "one"),
        crd("Profile", namespaced=False, group="kubeflow.org"),
        custom("Profile", "team", group="kubeflow.org"),
        config("b", "team"),
        config("c", "live"),
    )
    assert len(resolve(rows, served, "kubeflow", {"live"}.__contains__)) == len(rows)


@pytest.mark.parametrize("row", [config("ledger-other", "kubeflow-platform"), thing("Namespace", "kubeflow-platform")])
def test_what_holds_the_ledgers_of_all_sets_is_no_place_for_a_sets_objects(row: dict[str, Any]) -> None:
    (finding,) = rejected(*documents(row))
    assert "holds the ledgers and Leases of all sets" in finding


MALFORMED_VERSIONS = [
    (None, "spec.versions is missing"),
    ([], "spec.versions is missing"),
    ("v1", "spec.versions must be a list, not a text"),
    ({"name": "v1"}, "spec.versions must be a list, not a mapping"),
    (["v1"], "spec.versions[0] must be a mapping, not a text"),
    ([None], "spec.versions[0] must not be null"),
    ([{"served": True}], "spec.versions[0].name is missing"),
    ([{"name": 1, "served": True}], "spec.versions[0].name must be a text, not a number"),
    ([{"name": "v1", "served": "yes"}], "spec.versions[0].served must be true or false, not a text"),
]


@pytest.mark.parametrize(("versions", "words"), MALFORMED_VERSIONS)
def test_crd_with_malformed_versions_is_rejected_by_the_field(versions: Any, words: str) -> None:
    definition = crd("Widget")
    definition["spec"]["versions"] = versions
    (finding,) = rejected(*documents(config("a"), definition))
    assert finding == f"CustomResourceDefinition widgets.example.com (part infra, document 2): {words}; correct the manifest"


@pytest.mark.parametrize("spec", [None, [], "x", 5, {}, {"names": []}, {"versions": []}])
def test_crd_without_a_spec_is_rejected(spec: Any) -> None:
    (finding,) = rejected(*documents({**crd("Widget"), "spec": spec}))
    assert "spec" in finding and "CustomResourceDefinition widgets.example.com" in finding


@pytest.mark.parametrize(("group", "kind"), [("events.k8s.io", "Event"), ("extensions", "Ingress")])
def test_one_object_under_two_groups_is_one_object(group: str, kind: str) -> None:
    home = {"Event": "v1", "Ingress": "networking.k8s.io/v1"}[kind]
    rows = documents(thing(kind, "x", "default", api=home), thing(kind, "x", "default", api=f"{group}/v1"))
    with pytest.raises(InputRejected) as caught:
        resolve(rows, lambda group, version, kind: Resource(group, version, kind, f"{kind.lower()}s", True), "kubeflow")
    assert f"(as {home} and as {group}/v1, which is one object)" in caught.value.findings[0]
