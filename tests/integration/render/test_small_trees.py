# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rendering small trees with the real kustomize: what is cached, what is refused, what is said."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.kubeflow.platform.plugins.plugin_utils import partsfile
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize import build
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.cache import Cache
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.errors import RenderError
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.parts import from_options
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.render import Rendering, Request, render

pytestmark = pytest.mark.bed  # for kustomize, which is built with the programs of the test bed

Render = Callable[..., Rendering]
BOTH: list[dict[str, Any]] = [{"name": "one", "path": "one"}, {"name": "two", "path": "two", "requires": ["one"]}]
DEPLOYMENT = """apiVersion: apps/v1
kind: Deployment
metadata: {name: server, labels: {app: server}}
spec:
  selector: {matchLabels: {app: server}}
  template:
    metadata: {labels: {app: server}}
    spec: {containers: [{name: main, image: example.org/server:1}]}
"""
FILES = {
    "one/kustomization.yaml": "namespace: a\nresources: [deployment.yaml]\nconfigMapGenerator:\n- {name: settings, literals: [x=1]}\n",
    "one/deployment.yaml": DEPLOYMENT,
    "two/kustomization.yaml": "namePrefix: my-\nresources: [config.yaml]\nvars: []\n",
    "two/config.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: config, namespace: b}\ndata: {mode: '0644'}\n",
    "component/kustomization.yaml": "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\n"
    "patches:\n- target: {kind: Deployment}\n  patch: '- {op: add, path: /spec/replicas, value: 3}'\n",
}


def write(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    write(tmp_path / "tree", FILES)
    return tmp_path / "tree"


@pytest.fixture
def rendered(tree: Path, work_dir: Path, kustomize: str) -> Render:
    def run(*rows: dict[str, Any], **options: Any) -> Rendering:
        wanted: list[dict[str, Any]] = list(rows) or BOTH
        parts = from_options(wanted, str(tree))
        arguments: dict[str, Any] = {"parts": parts, "root": str(tree), "kustomize_path": kustomize, **options}
        return render(Request(**arguments), Cache(work_dir))

    return run


def objects(rendering: Rendering) -> dict[str, dict[str, Any]]:
    parts = partsfile.read(rendering.path.read_bytes())["parts"]
    return {
        f"{entry['object']['kind']}/{entry['object']['metadata']['name']}": entry["object"] for part in parts for entry in part["objects"]
    }


def test_parts_are_rendered_once_and_found_again(rendered: Render, tree: Path) -> None:
    first = rendered()
    assert (first.built, first.cached, first.count) == (("one", "two"), (), 3)
    assert objects(first)["ConfigMap/my-config"]["data"] == {"mode": "0644"}
    second = rendered()
    assert (second.built, second.cached, second.path) == ((), ("one", "two"), first.path)
    write(tree, {"two/config.yaml": FILES["two/config.yaml"].replace("0644", "0600")})
    third = rendered()
    assert (third.built, third.cached) == (("two",), ("one",))
    assert objects(third)["ConfigMap/my-config"]["data"]["mode"] == "0600"
    write(tree, {"two/config.yaml": FILES["two/config.yaml"]})
    assert (rendered().built, rendered().path) == ((), first.path)


def test_a_file_that_no_part_reaches_changes_nothing(rendered: Render, tree: Path) -> None:
    first = rendered()
    write(tree, {"one/readme.md": "x", "three/kustomization.yaml": "resources: [none.yaml]"})
    assert rendered().digest == first.digest


def test_two_copies_of_a_tree_share_their_render(rendered: Render, tree: Path, work_dir: Path, kustomize: str, tmp_path: Path) -> None:
    first = rendered()
    write(tmp_path / "copy", FILES)
    parts = from_options(BOTH, str(tmp_path / "copy"))
    again = render(Request(parts=parts, root=str(tmp_path / "copy"), kustomize_path=kustomize), Cache(work_dir))
    assert (again.built, again.path) == ((), first.path)


def test_a_part_is_changed_on_its_way_without_touching_the_tree(rendered: Render) -> None:
    found = objects(
        rendered(
            {
                "name": "one",
                "path": "one",
                "namespace": "elsewhere",
                "images": [{"name": "example.org/server", "newName": "mirror.example.org/server", "newTag": "2"}],
                "patches": [{"target": {"kind": "ConfigMap", "name": "settings"}, "patch": "- {op: add, path: /data/y, value: '2'}"}],
                "components": ["component"],
            }
        )
    )
    deployment = found["Deployment/server"]
    assert deployment["metadata"]["namespace"] == "elsewhere"
    assert deployment["spec"]["replicas"] == 3
    assert deployment["spec"]["template"]["spec"]["containers"][0]["image"] == "mirror.example.org/server:2"
    (settings,) = (entry for name, entry in found.items() if name.startswith("ConfigMap/settings-"))
    assert settings["data"] == {"x": "1", "y": "2"}


def test_a_patch_whose_target_matches_nothing_is_an_error(rendered: Render) -> None:
    patches: list[dict[str, Any]] = [{"target": {"kind": "Deployment"}, "patch": [{"op": "add", "path": "/spec/paused", "value": True}]}]
    patches.append({"target": {"kind": "Deployment", "name": "servre"}, "patch": "- {op: remove, path: /spec/replicas}"})
    with pytest.raises(
        RenderError, match=r"patch 2 of part one: its target \(kind Deployment, name servre\) matches nothing; there is Deployment"
    ):
        rendered({"name": "one", "path": "one", "patches": patches})


def test_a_patch_that_deletes_or_uses_a_name_before_its_prefix_matches(rendered: Render) -> None:
    delete = {
        "target": {"kind": "Deployment"},
        "patch": "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: server}\n$patch: delete\n",
    }
    found = objects(rendered({"name": "one", "path": "one", "patches": [delete]}))
    assert [name.partition("/")[0] for name in found] == ["ConfigMap"]
    patch = {"target": {"kind": "ConfigMap", "name": "config"}, "patch": "- {op: add, path: /data/z, value: '3'}"}
    assert objects(rendered({"name": "two", "path": "two", "patches": [patch]}))["ConfigMap/my-config"]["data"]["z"] == "3"


def test_omitted_objects_are_not_in_the_file(rendered: Render) -> None:
    found = objects(rendered({"name": "one", "path": "one", "omit": [{"kind": "ConfigMap", "name": "settings"}]}))
    assert list(found) == ["Deployment/server"]


def test_warnings_of_kustomize_are_passed_on_once(rendered: Render, tree: Path) -> None:
    write(tree, {"two/kustomization.yaml": "commonLabels: {a: b}\nresources: [config.yaml]\n"})
    assert rendered().warnings == ("kustomize: the manifests use deprecated fields, which still work: commonLabels",)


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({"two/kustomization.yaml": None}, "two has no kustomization.yaml"),
        ({"two/kustomization.yaml": "resources: [config.yaml"}, "two/kustomization.yaml: it is not valid YAML"),
        ({"two/config.yaml": "a: [1\nb: 2\n"}, "two/config.yaml is not valid YAML"),
        ({"two/config.yaml": "kind: ConfigMap\nmetadata: {name: x}\n"}, "part two: document 1 is not a Kubernetes object"),
        ({"two/config.yaml": "apiVersion: v1\nkind: ConfigMap\n"}, "Failed to render part two"),
        ({"two/kustomization.yaml": "resources: [lost.yaml]"}, "two/kustomization.yaml:1: lost.yaml does not exist"),
        ({"two/kustomization.yaml": "resourcez: [config.yaml]"}, 'a kustomization is not valid: json: unknown field "resourcez"'),
        ({"two/kustomization.yaml": "resources: [../one]"}, "Deployment a/server is in the parts one and two"),
        ({"two/config.yaml": FILES["two/config.yaml"].replace("name: config", "name: $(mode)")}, "metadata.name is 'my-$(mode)'"),
        ({"two/kustomization.yaml": "resources: [config.yaml]\nhelmCharts: [{name: x}]"}, "inflate Helm charts"),
    ],
)
def test_bad_input_is_one_clear_message(rendered: Render, tree: Path, files: dict[str, str | None], words: str) -> None:
    for name, text in files.items():
        if text is None:
            (tree / name).unlink()
        else:
            write(tree, {name: text})
    started = time.monotonic()
    with pytest.raises(RenderError) as error:
        rendered()
    assert words in str(error.value)
    assert time.monotonic() - started < 20


def test_failures_of_several_parts_are_told_together(rendered: Render, tree: Path) -> None:
    write(tree, {"one/deployment.yaml": "a: [1\nb: 2\n", "two/config.yaml": "a: [1\nb: 2\n"})
    with pytest.raises(RenderError, match="(?s)Failed to render 2 parts.*one/deployment.yaml is not valid.*two/config.yaml is not valid"):
        rendered()


def test_what_was_built_stays_built_when_another_part_fails(rendered: Render, tree: Path) -> None:
    write(tree, {"two/config.yaml": "a: [1\nb: 2\n"})
    with pytest.raises(RenderError):
        rendered()
    write(tree, {"two/config.yaml": FILES["two/config.yaml"]})
    assert rendered().built == ("two",)


def program(path: Path, body: str) -> str:
    path.write_text(f"#!{Path(sys.executable).resolve()}\nimport os, sys, time\n{body}")
    path.chmod(0o755)
    return str(path)


VERSION = "if sys.argv[1] == 'version':\n  sys.exit('unknown flag') if '--client' in sys.argv else (print('v5.8.1'), sys.exit(0))\n"


def test_log_lines_in_the_stream_are_refused(rendered: Render, tmp_path: Path, kustomize: str) -> None:
    noisy = program(
        tmp_path / "noisy", f"{VERSION}print('Warning: something', flush=True)\nos.execv({kustomize!r}, [{kustomize!r}, *sys.argv[1:]])\n"
    )
    with pytest.raises(RenderError, match="part one: document 1 is not a Kubernetes object"):
        rendered(kustomize_path=noisy)


def test_a_build_that_hangs_is_ended(rendered: Render, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build, "BUILD_TIMEOUT", 1.0)
    with pytest.raises(RenderError, match="Failed to render part one: kustomize was ended after 1 s"):
        rendered({"name": "one", "path": "one"}, kustomize_path=program(tmp_path / "slow", f"{VERSION}time.sleep(60)\n"))


def test_nothing_can_be_fetched_even_by_a_reference_that_the_walk_does_not_know(rendered: Render, tmp_path: Path) -> None:
    report = tmp_path / "environment"
    spy = program(tmp_path / "spy", f"{VERSION}open({str(report)!r}, 'w').write(repr(dict(os.environ)))\n")
    rendered({"name": "one", "path": "one"}, kustomize_path=spy)
    environment = eval(report.read_text())
    assert "PATH" not in environment
    assert environment["HTTPS_PROXY"] == environment["http_proxy"] == "http://127.0.0.1:9"


def test_remote_references_are_refused_before_kustomize_runs(rendered: Render, tree: Path, tmp_path: Path) -> None:
    write(tree, {"two/kustomization.yaml": "resources:\n- https://example.org/a.yaml\n- github.com/o/r//x?ref=v1\n- git@e.org:o/r\n"})
    spy = program(tmp_path / "spy", f"{VERSION}open({str(tmp_path / 'ran')!r}, 'w')\n")
    with pytest.raises(RenderError) as error:
        rendered(kustomize_path=spy)
    for line, text in ((2, "https://example.org/a.yaml"), (3, "github.com/o/r//x?ref=v1"), (4, "git@e.org:o/r")):
        assert f"{tree}/two/kustomization.yaml:{line}: {text}" in str(error.value)
    assert not (tmp_path / "ran").exists()


def test_a_vendored_reference_builds_without_network_and_git(rendered: Render, tree: Path, tmp_path: Path) -> None:
    write(tree, {"two/kustomization.yaml": "resources:\n- github.com/o/r//x?ref=v1\n"})
    write(tmp_path / "remote/git/o/r/v1", {"x/kustomization.yaml": "resources: [../y]", "y/kustomization.yaml": "resources: [c.yaml]"})
    write(tmp_path / "remote/git/o/r/v1", {"y/c.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: far, namespace: b}\n"})
    first = rendered(remote_bases=str(tmp_path / "remote"))
    assert "ConfigMap/far" in objects(first)
    assert rendered(remote_bases=str(tmp_path / "remote")).built == ()


def test_of_parallel_runs_one_renders_and_the_others_find_it(rendered: Render) -> None:
    results: list[Rendering] = []
    threads = [threading.Thread(target=lambda: results.append(rendered())) for _number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(len(result.built) for result in results) == [0, 0, 0, 2]
    assert len({result.path for result in results}) == 1


def test_what_is_kept_is_for_the_user_alone(rendered: Render, work_dir: Path) -> None:
    rendering = rendered()
    assert work_dir.stat().st_mode & 0o777 == 0o700
    assert rendering.path.stat().st_mode & 0o777 == 0o600
    for folder, _folders, names in os.walk(work_dir):
        assert Path(folder).stat().st_mode & 0o077 == 0, folder
        assert all((Path(folder) / name).stat().st_mode & 0o077 == 0 for name in names), names
