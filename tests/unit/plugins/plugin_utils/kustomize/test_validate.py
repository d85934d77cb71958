# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Judging objects without a cluster."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.kubeflow.platform.plugins.plugin_utils import partsfile
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.cache import Cache
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.errors import RenderError
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.parse import rendered
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.validate import validate

WIDGETS: dict[str, Any] = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "widgets.example.org"},
    "spec": {
        "group": "example.org",
        "scope": "Namespaced",
        "names": {"kind": "Widget", "plural": "widgets"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "schema": {
                    "openAPIV3Schema": {
                        "type": "object",
                        "properties": {"spec": {"type": "object", "properties": {"size": {"type": "integer"}}}},
                    }
                },
            }
        ],
    },
}


def judge(tmp_path: Path, *objects: dict[str, Any], digest: str | None = None) -> list[str]:
    file = tmp_path / "parts.json.gz"
    heading: dict[str, Any] = {"name": "p", "component": "p", "layer": None, "requires": []}
    file.write_bytes(partsfile.compose(None, [(heading, [rendered(obj) for obj in objects])], []))
    return validate(file, digest, Cache(tmp_path / "cache"), "1.36")


def widget(spec: dict[str, Any]) -> dict[str, Any]:
    return {"apiVersion": "example.org/v1", "kind": "Widget", "metadata": {"name": "w", "namespace": "a"}, "spec": spec}


def test_custom_resources_are_judged_by_the_definitions_of_the_render(tmp_path: Path) -> None:
    judge(tmp_path, WIDGETS, widget({"size": 3}))
    with pytest.raises(RenderError) as error:
        judge(tmp_path, WIDGETS, widget({"size": "big"}), widget({"colour": "red"}))
    assert "Widget w (part p): spec.size" in str(error.value)
    assert "colour" in str(error.value)


def test_what_was_found_valid_is_not_judged_again(tmp_path: Path) -> None:
    judge(tmp_path, WIDGETS, widget({"size": 3}), digest="abc")
    judge(tmp_path, WIDGETS, widget({"size": "big"}), digest="abc")
    with pytest.raises(RenderError):
        judge(tmp_path, WIDGETS, widget({"size": "big"}), digest="def")


@pytest.mark.skipif(importlib.util.find_spec("kubernetes_validate") is None, reason="kubernetes-validate is not installed")
def test_built_in_kinds_are_judged_by_kubernetes_validate(tmp_path: Path) -> None:
    service = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "s", "namespace": "a"},
        "spec": {"ports": [{"port": "http"}], "prots": 1},
    }
    with pytest.raises(RenderError) as error:
        judge(tmp_path, service)
    assert "Service s (part p): spec.ports.0.port: must be integer" in str(error.value)
    assert "prots" in str(error.value)


@pytest.mark.skipif(importlib.util.find_spec("kubernetes_validate") is None, reason="kubernetes-validate is not installed")
def test_a_custom_kind_of_a_known_name_is_not_judged_as_the_built_in_one(tmp_path: Path) -> None:
    assert judge(tmp_path, {"apiVersion": "apps.example.org/v1", "kind": "Deployment", "metadata": {"name": "d"}, "anything": 1}) == []
