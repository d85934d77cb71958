# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Following a kustomization's references: what it reaches, and what it would fetch."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path

import pytest
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize import graph
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.cache import Cache
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.errors import RenderError
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.fileindex import FileIndex


def tree(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return root


def walk(tmp_path: Path, files: dict[str, str], *folders: str) -> tuple[graph.Reach, set[str]]:
    root = tree(tmp_path / "tree", files)
    reach = graph.walk(FileIndex(Cache(tmp_path / "cache"), root), [str(root / folder) for folder in folders])
    return reach, {str(Path(path).relative_to(root)) for path in reach.files}


EVERY_FIELD = """
resources: [deployment.yaml, ../base]
bases: [../old]
components: [../component]
crds: [crd.yaml]
configurations: [config.yaml]
patchesStrategicMerge:
- merge.yaml
- |-
  apiVersion: v1
  kind: ConfigMap
  metadata: {name: inline}
patchesJson6902:
- target: {kind: Deployment, name: a, version: v1}
  path: six.yaml
patches:
- path: patch.yaml
- patch: |-
    - {op: remove, path: /data}
  target: {kind: ConfigMap}
replacements:
- path: replacement.yaml
- source: {kind: Service, name: a}
configMapGenerator:
- name: a
  files: [plain.txt, key.txt=named.txt]
  envs: [a.env]
secretGenerator:
- name: b
  env: b.env
  literals: [user=https://not-a-reference]
generators: [generator.yaml]
transformers:
- |-
  apiVersion: builtin
  kind: PatchTransformer
  metadata: {name: x}
  path: inner.yaml
validators: [../validators]
openapi: {path: schema.json}
"""


def test_every_field_that_names_a_file_is_followed(tmp_path: Path) -> None:
    names = ["deployment.yaml", "crd.yaml", "config.yaml", "merge.yaml", "six.yaml", "patch.yaml", "replacement.yaml", "plain.txt"]
    names += ["named.txt", "a.env", "b.env", "inner.yaml", "schema.json", "made.txt"]
    files = {f"part/{name}": "" for name in names}
    files["part/generator.yaml"] = "apiVersion: builtin\nkind: ConfigMapGenerator\nmetadata: {name: g}\nfiles: [made.txt]\n"
    files["part/kustomization.yaml"] = EVERY_FIELD
    for folder in ("base", "old", "component", "validators"):
        files[f"{folder}/kustomization.yml"] = "resources: [object.yaml]\n"
        files[f"{folder}/object.yaml"] = ""
    reach, found = walk(tmp_path, files, "part")
    assert reach.missing == []
    assert found == set(files)


REMOTE = """
apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources:
- https://github.com/kubernetes-sigs/jobset/releases/download/v0.11.0/manifests.yaml
- github.com/argoproj/argo-workflows//manifests/base?ref=v3.7.3
components:
- git@github.com:owner/repository.git//component?ref=v1
# - https://commented.example/out
"""


def test_remote_references_are_listed_with_file_and_line_when_nothing_is_vendored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_process(*_arguments: object, **_options: object) -> None:
        raise AssertionError("a process was started")

    monkeypatch.setattr(subprocess, "Popen", no_process)
    started = time.monotonic()
    reach, _found = walk(tmp_path, {"part/kustomization.yaml": "resources: [../deep]", "deep/kustomization.yaml": REMOTE}, "part")
    with pytest.raises(RenderError) as error:
        graph.refuse(reach, [])
    assert time.monotonic() - started < 1
    file = tmp_path / "tree/deep/kustomization.yaml"
    assert f"{file}:5: https://github.com/kubernetes-sigs/jobset/releases/download/v0.11.0/manifests.yaml" in str(error.value)
    assert f"{file}:6: github.com/argoproj/argo-workflows//manifests/base?ref=v3.7.3" in str(error.value)
    assert f"{file}:8: git@github.com:owner/repository.git//component?ref=v1" in str(error.value)
    assert "commented" not in str(error.value)
    assert "Set `remote_bases`" in str(error.value)


def test_allowed_remote_references_pass_when_named_whole_or_by_prefix(tmp_path: Path) -> None:
    reach, _found = walk(tmp_path, {"part/kustomization.yaml": REMOTE}, "part")
    argo = "github.com/argoproj/argo-workflows//manifests/base?ref=v3.7.3"
    allowed = ["https://github.com/kubernetes-sigs/", argo, "git@github.com:owner/"]
    graph.refuse(reach, allowed)
    with pytest.raises(RenderError, match="1 remote reference"):
        graph.refuse(reach, allowed[:2])
    # A prefix that does not end in "/" is no prefix: "https://github.com/kubernetes" is not all that begins like it.
    with pytest.raises(RenderError, match="2 remote reference"):
        graph.refuse(reach, ["https://github.com/kubernetes-sigs", *allowed[1:2]])


def test_helm_charts_are_refused_with_file_and_line(tmp_path: Path) -> None:
    reach, _found = walk(tmp_path, {"part/kustomization.yaml": "helmCharts:\n- name: minio\n"}, "part")
    with pytest.raises(RenderError, match="kustomization.yaml:2: helmCharts"):
        graph.refuse(reach, [])


def test_references_that_lead_nowhere_are_collected(tmp_path: Path) -> None:
    files = {"part/kustomization.yaml": "resources: [gone.yaml, ../empty]\npatches: [{path: lost.yaml}]\n", "empty/readme": ""}
    reach, _found = walk(tmp_path, files, "part", "nowhere")
    text = "\n".join(reach.missing)
    assert "kustomization.yaml:1: gone.yaml does not exist" in text
    assert "kustomization.yaml:2: lost.yaml does not exist" in text
    assert "empty has no kustomization.yaml" in text
    assert "nowhere has no kustomization.yaml" in text


def test_circles_end(tmp_path: Path) -> None:
    _reach, found = walk(tmp_path, {"a/kustomization.yaml": "resources: [../b]", "b/kustomization.yaml": "resources: [../a]"}, "a")
    assert found == {"a/kustomization.yaml", "b/kustomization.yaml"}


def test_broken_yaml_names_file_and_line(tmp_path: Path) -> None:
    with pytest.raises(RenderError, match=r"part/kustomization.yaml: it is not valid YAML: line 2"):
        walk(tmp_path, {"part/kustomization.yaml": "resources: [a.yaml\nkind: x\n"}, "part")


def linked(root: Path, **links: str) -> None:
    for name, leads_to in links.items():
        (root / name).symlink_to(leads_to)


@pytest.mark.parametrize("field", ["resources", "components", "bases"])
def test_circle_of_folders_is_told_once_with_both_ends(tmp_path: Path, field: str) -> None:
    reach, _files = walk(tmp_path, {"a/kustomization.yaml": f"{field}: [../b]", "b/kustomization.yaml": "\nresources: [../a]"}, "a")
    root = tmp_path / "tree"
    assert reach.missing == [f"{root}/b/kustomization.yaml:2: ../a leads in a circle, back to {root}/a"]


def test_link_to_a_folder_above_is_a_circle_and_no_endless_path(tmp_path: Path) -> None:
    root = tree(tmp_path / "tree", {"a/kustomization.yaml": "resources: [loop]"})
    linked(root / "a", loop=".")
    reach, _files = walk(tmp_path, {}, "a")
    assert reach.missing == [f"{root}/a/kustomization.yaml:1: loop leads in a circle, back to {root}/a"]


def test_links_in_a_circle_are_told_as_such(tmp_path: Path) -> None:
    root = tree(tmp_path / "tree", {"a/kustomization.yaml": "resources: [x.yaml, gone.yaml]", "b/x": ""})
    linked(root / "a", **{"x.yaml": "y.yaml", "y.yaml": "x.yaml", "gone.yaml": "nothing.yaml"})
    linked(root / "b", **{"kustomization.yaml": "z", "z": "kustomization.yaml"})
    reach, _files = walk(tmp_path, {}, "a", "b")
    assert sorted(reach.missing) == [
        f"{root}/a/kustomization.yaml:1: gone.yaml is a link that leads nowhere",
        f"{root}/a/kustomization.yaml:1: x.yaml is a link that leads in a circle",
        f"{root}/b/kustomization.yaml is a link that leads in a circle",
    ]


def test_two_ways_to_one_folder_are_no_circle(tmp_path: Path) -> None:
    files = {"a/kustomization.yaml": "resources: [../b, ../c]", "b/kustomization.yaml": "resources: [../c]", "c/kustomization.yaml": ""}
    reach, found = walk(tmp_path, files, "a")
    assert (reach.missing, len(found)) == ([], 3)
