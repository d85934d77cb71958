# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Patches and images that several parts share, and parts with a tree of their own, through the real kustomize."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.kubeflow.platform.plugins.plugin_utils import partsfile
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.cache import Cache
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.errors import RenderError
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.parts import from_options
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.render import Rendering, Request, render
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.sources import Trees

pytestmark = pytest.mark.bed  # for kustomize, which is built with the programs of the test bed

Render = Callable[..., Rendering]
DEPLOYMENT = """apiVersion: apps/v1
kind: Deployment
metadata: {{name: {name}, namespace: a}}
spec:
  selector: {{matchLabels: {{app: x}}}}
  template:
    metadata: {{labels: {{app: x}}}}
    spec: {{containers: [{{name: main, image: "example.org:5000/{name}:1"}}]}}
"""
SOURCE = {"repository": "https://git.invalid/o/r", "ref": "v1.0.0", "path": "git/o/r/v1.0.0"}
REPLICAS = [{"op": "add", "path": "/spec/replicas", "value": 3}]


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name in ("one", "two.x"):
        folder = tmp_path / "tree" / name
        folder.mkdir(parents=True)
        (folder / "kustomization.yaml").write_text("resources: [it.yaml]\n")
        (folder / "it.yaml").write_text(DEPLOYMENT.format(name=name))
    return tmp_path / "tree"


@pytest.fixture
def rendered(tree: Path, work_dir: Path, kustomize: str) -> Render:
    def run(*rows: dict[str, Any], **options: Any) -> Rendering:
        cache = Cache(work_dir)
        parts = from_options(rows, str(tree), Trees(cache, options.get("remote_bases")))
        return render(Request(parts=parts, root=str(tree), kustomize_path=kustomize, **options), cache)

    return run


def both(**shared: Any) -> list[dict[str, Any]]:
    return [{"name": name, "path": name, "component": "c", **shared} for name in ("one", "two.x")]


def replicas(rendering: Rendering) -> dict[str, Any]:
    parts = partsfile.read(rendering.path.read_bytes())["parts"]
    return {part["name"]: part["objects"][0]["object"]["spec"].get("replicas") for part in parts}


def test_a_shared_patch_goes_to_the_part_whose_render_it_matches(rendered: Render) -> None:
    patch = {"of": "c_patches[0]", "target": {"kind": "Deployment", "name": "one"}, "patch": REPLICAS}
    assert replicas(rendered(*both(patches=[patch]))) == {"one": 3, "two.x": None}


def test_a_shared_strategic_merge_patch_needs_no_target(rendered: Render) -> None:
    text = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: two.x}\nspec: {replicas: 2}\n"
    assert replicas(rendered(*both(patches=[{"of": "c_patches[0]", "patch": text}]))) == {"one": None, "two.x": 2}


def test_shared_patches_that_match_nowhere_are_told_all_at_once_each_time(rendered: Render) -> None:
    patches = [
        {"of": "c_patches[0]", "target": {"kind": "Deployment", "name": "on"}, "patch": REPLICAS},
        {"of": "c_patches[1]", "target": {"kind": "Deployment"}, "patch": REPLICAS},
        {"of": "c_patches[2]", "target": {"kind": "Secret"}, "patch": REPLICAS},
    ]
    for _again in range(2):
        with pytest.raises(RenderError) as caught:
            rendered(*both(patches=patches))
        told = str(caught.value)
        assert "c_patches[0]: its target (kind Deployment, name on) matches nothing; there is Deployment a/one, Deployment a/two.x" in told
        assert "c_patches[2]: its target (kind Secret) matches nothing\n" in told
        assert "c_patches[1]" not in told


def test_a_shared_patch_that_deletes_its_object_matched(rendered: Render) -> None:
    text = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: one}\n$patch: delete\n"
    rendering = rendered(*both(patches=[{"of": "c_patches[0]", "patch": text}]))
    assert rendering.count == 1


@pytest.mark.parametrize(
    ("patch", "told"),
    [
        ("spec: {replicas: 2}", "neither it nor a `target` says which object is meant"),
        ("kind: A\n---\nkind: B\n", "it is not one YAML document"),
    ],
)
def test_a_shared_patch_without_an_object_is_refused_by_its_name(rendered: Render, patch: str, told: str) -> None:
    with pytest.raises(RenderError, match=rf"Failed to read c_patches\[0\]: {told}"):
        rendered(*both(patches=[{"of": "c_patches[0]", "patch": patch}]))


def test_a_shared_image_is_replaced_where_it_is_and_told_where_it_is_nowhere(rendered: Render) -> None:
    image = {"of": "c_images[0]", "name": "example.org:5000/one", "newTag": "2"}
    found = partsfile.read(rendered(*both(images=[image])).path.read_bytes())["parts"]
    images = [part["objects"][0]["object"]["spec"]["template"]["spec"]["containers"][0]["image"] for part in found]
    assert images == ["example.org:5000/one:2", "example.org:5000/two.x:1"]
    with pytest.raises(
        RenderError, match=r"c_images\[0\]: no pod names the image two; there is example.org:5000/one, example.org:5000/two.x"
    ):
        rendered(*both(images=[{"of": "c_images[0]", "name": "two", "newName": "three"}]))


def test_a_part_with_a_source_is_rendered_from_the_remote_bases(rendered: Render, tree: Path, tmp_path: Path) -> None:
    bases = tmp_path / "bases"
    (bases / "git/o/r").mkdir(parents=True)
    (tree / "two.x").rename(bases / SOURCE["path"])
    rows = [{"name": "one", "path": "one"}, {"name": "own", "path": ".", "source": SOURCE}]
    assert set(replicas(rendered(*rows, remote_bases=str(bases)))) == {"one", "own"}


def test_a_source_that_the_remote_bases_lack_is_told(rendered: Render, tmp_path: Path) -> None:
    (tmp_path / "bases/git").mkdir(parents=True)
    with pytest.raises(RenderError, match="hold no git/o/r/v1.0.0. Add it there, or take its component out"):
        rendered({"name": "own", "path": ".", "source": SOURCE}, remote_bases=str(tmp_path / "bases"))


def test_an_absolute_path_outside_the_distribution_is_a_tree_of_its_own(rendered: Render, tree: Path, tmp_path: Path) -> None:
    (tree / "two.x").rename(tmp_path / "elsewhere")
    assert set(replicas(rendered({"name": "one", "path": "one"}, {"name": "ours", "path": str(tmp_path / "elsewhere")}))) == {"one", "ours"}
