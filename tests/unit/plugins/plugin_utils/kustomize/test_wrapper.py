# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The kustomization around a part, and which objects a patch target selects."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.cache import Cache
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.errors import RenderError
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.parts import Part, from_options
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.wrapper import Wrapper, selects

HEADER = {"apiVersion": "apps/v1", "kind": "Deployment", "namespace": "kubeflow", "name": "ml-pipeline"}


@pytest.mark.parametrize(
    ("target", "meant"),
    [
        ({"kind": "Deployment"}, True),
        ({"kind": "Deployment", "name": "ml-pipeline"}, True),
        ({"kind": "Deployment", "name": "ml-.*"}, True),
        ({"kind": "Deployment", "name": "ml"}, False),
        ({"group": "apps", "version": "v1"}, True),
        ({"group": "batch"}, False),
        ({"namespace": "kube"}, False),
        ({"name": "ml-pipeline", "labelSelector": "app=x"}, True),
        ({"name": "("}, False),
    ],
)
def test_targets_select_by_whole_match(target: dict[str, str], meant: bool) -> None:
    assert selects(target, HEADER) is meant


def test_a_target_selects_a_generated_name_by_its_bare_name() -> None:
    header = {"apiVersion": "v1", "kind": "Secret", "namespace": "oauth2-proxy", "name": "oauth2-proxy-h675gf55ht"}
    assert selects({"kind": "Secret", "name": "oauth2-proxy"}, header)


def test_the_wrapper_lies_outside_the_tree_and_leads_back_to_it(tmp_path: Path) -> None:
    folder = tmp_path / "tree" / "part"
    folder.mkdir(parents=True)
    (tmp_path / "linked").symlink_to(tmp_path / "tree")
    part = Part(
        "p",
        "p",
        str(tmp_path / "linked" / "part"),
        namespace="other",
        patches=({"target": {"kind": "Deployment"}, "patch": [{"op": "remove", "path": "/spec"}]}, {"patch": "kind: X"}),
        images=({"name": "a", "newName": "b"},),
        components=(str(folder),),
    )
    written = Path(Wrapper.of(part, str(tmp_path)).write(Cache(tmp_path / "cache"))) / "kustomization.yaml"
    content: dict[str, Any] = json.loads(written.read_text())
    assert (written.parent / content["resources"][0]).resolve() == folder
    assert (written.parent / content["components"][0]).resolve() == folder
    assert content["namespace"] == "other"
    assert content["images"] == [{"name": "a", "newName": "b"}]
    assert content["patches"] == [
        {"target": {"kind": "Deployment"}, "patch": '[{"op": "remove", "path": "/spec"}]'},
        {"patch": "kind: X"},
    ]


def test_a_patch_file_is_read_so_that_kustomize_need_not_leave_its_folder(tmp_path: Path) -> None:
    (tmp_path / "p.yaml").write_text("kind: Y\n")
    wrapper = Wrapper.of(Part("p", "p", "/x", patches=({"path": "p.yaml"},)), str(tmp_path))
    assert wrapper.patches == ({"patch": "kind: Y\n"},)
    before = wrapper.fingerprint()
    (tmp_path / "p.yaml").write_text("kind: Z\n")
    assert Wrapper.of(Part("p", "p", "/x", patches=({"path": "p.yaml"},)), str(tmp_path)).fingerprint() != before


@pytest.mark.parametrize("patch", [{}, {"target": {"kind": "X"}}, {"patch": "x", "path": "y"}, {"path": "none.yaml"}, "text"])
def test_a_patch_that_cannot_be_read_is_named(patch: Any, tmp_path: Path) -> None:
    with pytest.raises(RenderError, match="Failed to read patch 1 of part p"):
        Wrapper.of(Part("p", "p", "/x", patches=(patch,)), str(tmp_path))


def test_parts_are_read_with_their_folders_made_absolute() -> None:
    row = {"name": "istio/crds", "component": "istio", "path": "common/istio", "components": ["c"], "omit": [{"kind": "A", "name": "b"}]}
    (part,) = from_options([row], "/srv/tree")
    assert (part.folder, part.components, part.omit) == ("/srv/tree/common/istio", ("/srv/tree/c",), ({"kind": "A", "name": "b"},))
    assert part.heading() == {"name": "istio/crds", "component": "istio", "layer": None, "requires": []}
    assert from_options([{"name": "x", "path": "/abs"}], None)[0].component == "x"


def test_every_mistake_in_parts_is_told_at_once() -> None:
    rows: list[dict[str, Any]] = [
        {"name": "a", "path": "x", "patchs": []},
        {"path": "y"},
        {"name": "b", "path": "z", "omit": [{"kind": "K"}]},
        {"name": "b", "path": "z"},
    ]
    with pytest.raises(RenderError) as error:
        from_options(rows, None)
    for words in (
        "part a: unknown key 'patchs'",
        "part number 2 needs 'name'",
        "part b: an entry of omit needs 'kind' and 'name'",
        "part b is listed twice",
        "part a: its path x is relative and `distribution` is not set",
    ):
        assert words in str(error.value)
