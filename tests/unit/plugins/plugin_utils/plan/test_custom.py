# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import pytest
from ansible_collections.kubeflow.platform.plugins.plugin_utils.plan.custom import custom, mistakes

ONE = ["katib/katib"]
TWO = ["istio/crds", "istio/install"]
PATCH = [{"op": "add", "path": "/spec/replicas", "value": 2}]


def test_patches_and_images_carry_their_name_and_what_was_given():
    values = {
        "katib_patches": [{"target": {"kind": "Deployment"}, "patch": PATCH, "path": None}],
        "katib_images": [{"name": "a", "newTag": "2", "newName": None, "digest": None}],
    }
    found = custom("katib", ONE, values)
    assert found.patches == ({"of": "katib_patches[0]", "target": {"kind": "Deployment"}, "patch": PATCH},)
    assert found.images == ({"of": "katib_images[0]", "name": "a", "newTag": "2"},)


def test_kustomize_components_go_to_the_one_part_or_to_the_named_one():
    assert custom("katib", ONE, {"katib_kustomize_components": ["c"]}).extras_of("katib/katib") == ("c",)
    found = custom("istio", TWO, {"istio_kustomize_components": [{"path": "/c", "part": "install"}]})
    assert found.extras_of("istio/install") == ("/c",)
    assert found.extras_of("istio/crds") == ()


def test_nothing_given_is_nothing_laid_over():
    assert custom("katib", ONE, {"katib_patches": [], "katib_images": None}) == custom("katib", ONE, {})


@pytest.mark.parametrize(
    ("component", "option", "row", "told"),
    [
        ("katib", "patches", {"patch": PATCH, "path": "p.yml"}, "katib_patches[0]: give either patch or path"),
        ("katib", "patches", {"target": {"kind": "A"}}, "katib_patches[0]: give either patch or path"),
        ("katib", "patches", {"target": {"knd": "A"}, "patch": PATCH}, "katib_patches[0]: unknown key knd in target (known: "),
        ("katib", "images", {"name": "a"}, "katib_images[0]: say newName, newTag or digest"),
        ("katib", "images", {"name": "a", "newTag": "1", "digest": "sha256:a"}, "katib_images[0]: give either newTag or digest"),
        (
            "katib",
            "kustomize_components",
            {"part": "katib"},
            "katib_kustomize_components[0]: must be a path, or a mapping of path and part",
        ),
        ("katib", "kustomize_components", 3, "katib_kustomize_components[0]: must be a path, or a mapping of path and part"),
        ("istio", "kustomize_components", "c", "istio_kustomize_components[0]: istio has the parts crds, install; say which one"),
        ("istio", "kustomize_components", {"path": "c"}, "istio_kustomize_components[0]: part must be one of crds, install"),
        ("istio", "kustomize_components", {"path": "c", "part": "x"}, "istio_kustomize_components[0]: part must be one of crds, install"),
    ],
)
def test_what_the_types_leave_open_is_checked(component, option, row, told):
    (found,) = mistakes(component, TWO if component == "istio" else ONE, {f"{component}_{option}": [row]})
    assert found.startswith(told)
