# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The draft of a release's record, on the real trees: each as if it were the newest, after the one before it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.cache import Cache
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.fileindex import FileIndex
from ansible_collections.kubeflow.platform.plugins.plugin_utils.records.fingerprint import mismatches
from ansible_collections.kubeflow.platform.plugins.plugin_utils.records.library import collection_root, load
from ansible_collections.kubeflow.platform.plugins.plugin_utils.records.model import Library
from ansible_collections.kubeflow.platform.plugins.plugin_utils.records.problems import Problem
from ansible_collections.kubeflow.platform.plugins.plugin_utils.records.reading import parse
from ansible_collections.kubeflow.platform.plugins.plugin_utils.records.release import read_release

from tests.conftest import Distributions, cache_root
from tests.tools.release import compare, tree
from tests.tools.release.draft import draft

LIBRARY = load(collection_root())
NAMES = list(LIBRARY.releases)
STEPS = list(zip(NAMES, NAMES[1:], strict=False))


@dataclass(frozen=True)
class Step:
    """A release drafted after the one before it."""

    previous: str
    name: str
    text: str
    decisions: list[str]

    @property
    def record(self) -> Mapping[str, Any]:
        record: Mapping[str, Any] = yaml.safe_load(self.text)
        return record


def up_to(name: str) -> Library:
    return replace(LIBRARY, releases={known: LIBRARY.releases[known] for known in NAMES[: NAMES.index(name) + 1]})


def drafted(distributions: Distributions, previous: str, name: str) -> Step:
    found, library = tree.read(distributions.tree(name)), up_to(previous)
    known = compare.spots(library, library.releases[previous])
    index = FileIndex(Cache(cache_root() / "work"), found.root)
    text = draft(found, known, library.releases[previous], name, index)
    return Step(previous, name, text, list(compare.decisions(library, library.releases[previous], found, known, name)))


@pytest.fixture(scope="module", params=STEPS, ids="-".join)
def step(request: pytest.FixtureRequest, distributions: Distributions) -> Step:
    return drafted(distributions, *request.param)


@pytest.fixture(scope="module")
def newest(distributions: Distributions) -> Step:
    return drafted(distributions, *STEPS[-1])


def told(step: Step, *words: str) -> list[str]:
    return [text for text in step.decisions if all(word in text for word in words)]


def test_a_draft_is_a_valid_record(step):
    problems: list[Problem] = []
    node = parse(f"releases/{step.name}.yml", step.text, problems)
    assert node is not None
    read_release(step.name, node)
    assert problems == []


def test_the_drafted_fingerprint_tells_the_tree_from_the_one_before(step, distributions):
    problems: list[Problem] = []
    node = parse("", step.text, problems)
    assert node is not None
    release = read_release(step.name, node)
    assert mismatches(release, distributions.tree(step.name)) == []
    assert mismatches(release, distributions.tree(step.previous)) != []


def test_drafted_versions_and_remote_bases_are_those_of_the_record(step):
    real = LIBRARY.releases[step.name]
    corrected = {"istio", "dex", "oauth2_proxy"}  # the README and the images of some releases disagree
    for component, version in step.record["versions"].items():
        if component in real.versions and component not in corrected and not told(step, f"version of {component}"):
            assert version == real.versions[component], component
    drafted = {base["url"]: (base["path"], set(base["components"])) for base in step.record.get("remote_bases", [])}
    for base in real.remote_bases:
        if set(base.components) & set(step.record["selections"]["default"]):
            path, components = drafted[base.url]
            assert path == base.path
            assert set(base.components) <= components


def test_the_drafted_selection_is_the_releases_but_for_components_that_moved(step):
    real = LIBRARY.releases[step.name].selections["default"]
    drafted = step.record["selections"]["default"]
    assert set(drafted) <= set(real)
    for component in set(real) - set(drafted):
        paths = [
            part.place(step.name, LIBRARY.defaults).path for part in LIBRARY.components[component].parts_at(step.name, LIBRARY.defaults)
        ]
        assert any(told(step, f"{path} is new in example (on)") for path in paths), component


def test_every_part_that_moved_is_a_decision_with_the_line_to_add(newest):
    (moved,) = told(newest, "dashboard/dashboard: applications/centraldashboard/overlays/oauth2-proxy is gone")
    assert "applications/dashboard/overlays/istio may be its new place" in moved
    assert moved.endswith('Add to roles/dashboard/meta/component.yml: {since: "26.03.1", path: applications/dashboard/overlays/istio}')
    assert told(newest, "notebooks/jupyter_web_app: applications/jupyter/jupyter-web-app/upstream/overlays/istio is gone")


def test_an_entry_that_no_part_lies_at_is_a_decision_naming_the_likely_component(newest):
    assert told(newest, "common/cert-manager/base is new in example (on), perhaps a part of cert_manager")
    assert told(newest, "applications/hub/overlays/model-registry is new in example (on), perhaps a component that has no role yet")


def test_what_example_switched_off_is_a_decision(distributions):
    step = drafted(distributions, "1.10.2", "1.11.0")
    assert told(step, "applications/training-operator/upstream/overlays/kubeflow is commented out in example")


def test_a_kustomize_component_of_example_is_a_decision(distributions):
    assert told(drafted(distributions, "1.10.2", "1.11.0"), "kustomize component common/security/PSS/dynamic/baseline")


def test_windows_quirks_and_versions_without_a_source_are_decisions(newest):
    assert told(newest, "the window of Kubernetes is that of 26.03 (1.34 to 1.35)")
    assert told(newest, "the README names no version of dashboard; the draft keeps 1.10.0")
    assert told(newest, "quirks and differences are those of 26.03")


def test_an_older_fingerprint_that_fits_the_new_tree_is_a_decision(distributions):
    found, library = tree.read(distributions.tree("26.03.1")), up_to("26.03.1")
    known = compare.spots(library, library.releases["26.03.1"])
    decisions = list(compare.decisions(library, library.releases["26.03.1"], found, known, "26.09"))
    assert [text for text in decisions if "the fingerprint of 26.03.1 fits this tree too" in text]
    assert not [text for text in decisions if "is gone" in text or "new in example" in text]


def test_a_folder_without_an_example_is_refused(tmp_path: Path):
    with pytest.raises(ValueError, match="has no example/kustomization.yaml"):
        tree.read(tmp_path)
