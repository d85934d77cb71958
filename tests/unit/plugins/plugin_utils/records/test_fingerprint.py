# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import pytest
from ansible_collections.kubeflow.platform.plugins.plugin_utils.plan.model import Request
from ansible_collections.kubeflow.platform.plugins.plugin_utils.plan.planner import plan
from ansible_collections.kubeflow.platform.plugins.plugin_utils.records.fingerprint import recognise, refusal
from ansible_collections.kubeflow.platform.plugins.plugin_utils.records.library import collection_root, load


@pytest.fixture(scope="module")
def library():
    return load(collection_root())


def grow(tree, *paths):
    for path in paths:
        (tree / path).mkdir(parents=True)
        (tree / path / "kustomization.yaml").touch()
    return tree


def test_a_tree_of_the_release_is_taken(library, tmp_path):
    tree = grow(tmp_path, "applications/dashboard", "common/istio/istio-crds", "a")
    assert recognise(library, tree) == ["26.03.1"]
    assert refusal(library, library.releases["26.03.1"], tree, ["a"]) is None


def test_a_tree_of_another_release_is_refused_naming_the_release_it_looks_like(library, tmp_path):
    tree = grow(tmp_path, "applications/centraldashboard", "common/istio/istio-crds")
    text = refusal(library, library.releases["26.03.1"], tree, [])
    assert "applications/dashboard is missing; applications/centraldashboard should not be there" in text
    assert "It looks like release 26.03: set kubeflow_release to that" in text


def test_a_folder_that_is_no_distribution_is_refused(library, tmp_path):
    text = refusal(library, library.releases["26.03"], tmp_path, [])
    assert "applications/centraldashboard is missing" in text
    assert "Look whether it is complete" in text


def test_a_tree_that_lacks_a_part_of_the_plan_is_refused(library, tmp_path):
    tree = grow(tmp_path, "applications/dashboard", "common/istio/istio-crds")
    told = refusal(library, library.releases["26.03.1"], tree, ["applications/dashboard", "b", "c"])
    assert "lacks the kustomization of b, c" in told
    assert told.endswith("Give a complete one as kubeflow_distribution_source.")


def test_each_real_tree_is_recognised_as_its_own_release_only(library, distributions):
    for name in library.releases:
        assert recognise(library, distributions.tree(name)) == [name]


def test_each_real_tree_has_every_part_of_its_default_selection(library, distributions):
    for name, release in library.releases.items():
        paths = [part.path for part in plan(library, Request(name)).parts]
        assert refusal(library, release, distributions.tree(name), paths) is None


def test_each_real_tree_is_refused_for_every_other_release(library, distributions):
    for name in library.releases:
        for other, release in library.releases.items():
            text = refusal(library, release, distributions.tree(name), [])
            assert (text is None) == (name == other)
            assert text is None or f"It looks like release {name}: set kubeflow_release to that" in text


def test_our_own_distribution_has_every_part_of_the_default_selection(library):
    made = plan(library, Request("26.03.1"))
    assert refusal(library, made.release, collection_root() / "tests" / "distribution", [part.path for part in made.parts]) is None
