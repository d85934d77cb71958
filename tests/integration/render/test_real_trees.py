# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Real releases: parts make up upstream's `example`, vendoring changes no byte, a warm render reads nothing."""

from __future__ import annotations

import json
import resource
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible_collections.kubeflow.platform.plugins.plugin_utils import partsfile
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize import vendor
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.build import cores
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.cache import Cache
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.errors import RenderError
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.fileindex import FileIndex
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.parse import objects
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.parts import from_options
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.render import Rendering, Request, render
from ansible_collections.kubeflow.platform.plugins.plugin_utils.records.library import collection_root, load

from tests.conftest import Distributions

pytestmark = [pytest.mark.distribution, pytest.mark.bed]

QUIRKS = [
    {
        "kind": "CustomResourceDefinition",
        "name": "jobsets.jobset.x-k8s.io",
        "drop": ["/metadata/annotations/cert-manager.io~1inject-ca-from"],
    }
]
# In `example` names of one component leak into others (distribution.md 10.6): what parts give is right, what example gives is not.
LEAKS = {"jobsets.jobset.x-k8s.io", "serving-cert", "llmisvc-serving-cert", "localmodel-serving-cert"}
Identity = tuple[str, str, str, str]


def entries(tree: Path) -> list[str]:
    """The paths that upstream's example lists."""
    listed = yaml.safe_load((tree / "example" / "kustomization.yaml").read_text())["resources"]
    return [entry.removeprefix("../") for entry in listed]


def request(tree: Path, paths: list[str], program: str, bases: Path | None, **release: Any) -> Request:
    parts = from_options([{"name": path, "path": path} for path in paths], str(tree))
    return Request(parts=parts, root=str(tree), release=release, kustomize_path=program, remote_bases=str(bases) if bases else None)


def identity(obj: dict[str, Any]) -> Identity:
    return obj["apiVersion"], obj["kind"], obj["metadata"].get("namespace", ""), obj["metadata"]["name"]


def by_identity(rendering: Rendering) -> dict[Identity, Any]:
    document = partsfile.read(rendering.path.read_bytes())
    return {identity(entry["object"]): entry["object"] for part in document["parts"] for entry in part["objects"]}


def example(tree: Path, program: str, cache: Cache, bases: Path) -> bytes:
    """What kustomize prints for upstream's example."""
    copy = vendor.vendored(cache, FileIndex(cache, tree), str(tree), bases)
    return subprocess.run([program, "build", f"{copy.root}/example"], capture_output=True, check=True).stdout


def compare(rendering: Rendering, stream: bytes) -> None:
    parts = by_identity(rendering)
    whole = {identity(obj): obj for obj in (json.loads(found.text) for found in objects(stream, "example"))}
    assert parts.keys() == whole.keys()
    assert {key[3] for key in parts if parts[key] != whole[key]} <= LEAKS
    jobsets = next(obj for key, obj in parts.items() if key[3] == "jobsets.jobset.x-k8s.io")
    assert "cert-manager.io/inject-ca-from" not in jobsets["metadata"].get("annotations", {})


@dataclass(frozen=True)
class Real:
    """26.03.1, rendered once by parts and once whole."""

    wanted: Request
    work_dir: Path
    rendering: Rendering
    stream: bytes


@pytest.fixture(scope="module")
def real(distributions: Distributions, kustomize: str, tmp_path_factory: pytest.TempPathFactory) -> Real:
    tree, work_dir = distributions.tree("26.03.1"), tmp_path_factory.mktemp("work")
    wanted = request(tree, entries(tree), kustomize, distributions.remote_bases_archive(), name="26.03.1", quirks=QUIRKS)
    rendering = render(wanted, Cache(work_dir))
    return Real(wanted, work_dir, rendering, example(tree, kustomize, Cache(work_dir), distributions.remote_bases()))


def test_the_parts_are_exactly_the_objects_of_example(real: Real) -> None:
    assert real.rendering.count == 727
    compare(real.rendering, real.stream)


def test_a_warm_render_of_the_whole_release_takes_a_stat_pass(real: Real) -> None:
    started = time.process_time()
    second = render(real.wanted, Cache(real.work_dir))
    assert (second.built, second.path) == ((), real.rendering.path)
    # Processor time, so that a busy machine does not fail the test; 0.1 s when nothing else runs.
    assert time.process_time() - started < 0.8


def test_the_reader_of_yaml_agrees_with_the_reference_on_the_whole_release(real: Real) -> None:
    class Reference(yaml.CSafeLoader):
        yaml_implicit_resolvers = {
            first: [entry for entry in resolvers if not entry[0].endswith(":timestamp")]
            for first, resolvers in yaml.CSafeLoader.yaml_implicit_resolvers.items()
        }

    expected = [document for document in yaml.load_all(real.stream, Loader=Reference) if document]
    assert [json.loads(found.text) for found in objects(real.stream, "example")] == expected


def test_remote_references_of_the_release_are_listed_at_once_without_a_process(
    distributions: Distributions, work_dir: Path, kustomize: str
) -> None:
    tree = distributions.tree("26.03.1")
    started = time.process_time()
    with pytest.raises(RenderError, match=r"4 remote reference\(s\)") as error:
        render(request(tree, entries(tree), kustomize, None), Cache(work_dir))
    assert time.process_time() - started < 1
    file = tree / "applications/trainer/upstream/third-party/jobset/kustomization.yaml"
    assert f"{file}:5: https://github.com/kubernetes-sigs/jobset/releases/download/v0.11.0/manifests.yaml" in str(error.value)


@pytest.mark.parametrize("release", ["1.10.2", "1.11.0"])
def test_profiles_that_kustomize_mis_renders_in_silence_are_refused(
    distributions: Distributions, work_dir: Path, kustomize: str, release: str
) -> None:
    tree, window = distributions.tree(release), load(collection_root()).releases[release].kustomize.as_dict()
    with pytest.raises(RenderError, match=r"metadata.name is '\$\(profile-name\)'"):
        render(request(tree, ["common/user-namespace/base"], kustomize, None), Cache(work_dir))
    with pytest.raises(RenderError, match="Newer versions render this release wrongly"):
        render(request(tree, ["common/user-namespace/base"], kustomize, None, name=release, kustomize=window), Cache(work_dir))


@pytest.mark.soak
def test_a_cold_render_takes_little_more_than_the_machine_allows(distributions: Distributions, work_dir: Path, kustomize: str) -> None:
    """At most 1.15 times the longer of the slowest part and the processor time of all parts over the cores. Needs a quiet machine."""
    tree = distributions.tree("26.03.1")
    wanted = request(tree, entries(tree), kustomize, distributions.remote_bases_archive(), name="26.03.1")
    copy = vendor.vendored(Cache(work_dir), FileIndex(Cache(work_dir), tree), str(tree), distributions.remote_bases())
    slowest, used_before = 0.0, children_time()
    for path in entries(tree):
        started = time.monotonic()
        subprocess.run([kustomize, "build", f"{copy.root}/{path}"], capture_output=True, check=True)
        slowest = max(slowest, time.monotonic() - started)
    bound = max(slowest, (children_time() - used_before) / cores())
    assert render(wanted, Cache(work_dir)).seconds <= 1.15 * bound


def children_time() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
