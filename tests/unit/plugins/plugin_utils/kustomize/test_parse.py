# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""From a build's output to objects."""

from __future__ import annotations

import hashlib
import json

import pytest
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.errors import RenderError
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.parse import Rendered, objects

CONFIG_MAP = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  namespace: b\ndata:\n  ü: yes\n"


def test_an_object_is_kept_as_canonical_json_with_its_hash() -> None:
    (found,) = objects(CONFIG_MAP.encode(), "part")
    text = '{"apiVersion":"v1","data":{"ü":true},"kind":"ConfigMap","metadata":{"name":"a","namespace":"b"}}'
    assert found == Rendered("v1", "ConfigMap", "b", "a", hashlib.sha256(text.encode()).hexdigest(), text)
    assert Rendered.from_row(json.loads(json.dumps(found.row()))) == found


def test_lists_are_taken_apart_and_empty_documents_left_out() -> None:
    stream = """---
---
apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: Secret, metadata: {name: s}}
- apiVersion: v1
  kind: ConfigMapList
  items:
  - metadata: {name: c}
---
"""
    assert [(found.kind, found.name) for found in objects(stream.encode(), "part")] == [("Secret", "s"), ("ConfigMap", "c")]


def test_an_object_with_items_that_is_no_list_is_left_whole() -> None:
    stream = "apiVersion: example.org/v1\nkind: Basket\nmetadata: {name: b}\nitems: [apple]\n"
    assert [found.kind for found in objects(stream.encode(), "part")] == ["Basket"]


@pytest.mark.parametrize(
    "first",
    [
        "2026/11/30 19:16:05 well-defined vars that were never replaced: kfp-app-name\n",
        "Warning: something\n---\n",
        "just words\n---\n",
        "# Warning: a comment\nlevel=info msg=starting\n---\n",
    ],
)
def test_a_log_line_in_the_stream_is_named_as_no_object(first: str) -> None:
    with pytest.raises(RenderError, match="part knative: document 1 is not a Kubernetes object") as error:
        objects((first + CONFIG_MAP).encode(), "knative")
    assert "writes messages to its standard output" in str(error.value)


def test_broken_yaml_names_the_document_and_its_start() -> None:
    with pytest.raises(RenderError, match=r"document 2 is not a Kubernetes object; it starts with 'kind: \[x'"):
        objects((CONFIG_MAP + "---\nkind: [x\n").encode(), "part")


def test_an_object_without_a_name_is_refused() -> None:
    with pytest.raises(RenderError, match=r"document 1 \(Job\) has no metadata.name"):
        objects(b"apiVersion: batch/v1\nkind: Job\nmetadata: {generateName: x-}\n", "part")


def test_variables_that_kustomize_left_in_are_noted() -> None:
    stream = """apiVersion: kubeflow.org/v1
kind: Profile
metadata: {name: $(profile-name)}
---
apiVersion: kubeflow.org/v1
kind: Profile
metadata: {name: ok}
spec: {owner: {kind: User, name: $(user)}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: args, namespace: $(namespace)}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: args}
data: {command: echo $(HOME)}
"""
    assert [found.unreplaced for found in objects(stream.encode(), "part")] == [
        "metadata.name is '$(profile-name)'",
        "spec.owner.name is '$(user)'",
        "metadata.namespace is '$(namespace)'",
        "",
    ]


def test_a_definition_says_what_it_defines() -> None:
    stream = """apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: jobs.example.org}
spec: {group: example.org, scope: Cluster, names: {kind: Job}}
"""
    (found,) = objects(stream.encode(), "part")
    assert found.defines == ("example.org", "Job", "Cluster")
