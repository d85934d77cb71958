# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What an inventory lays over components reaches the objects of a real release, through kustomize."""

from __future__ import annotations

from pathlib import Path

import pytest
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.errors import RenderError

from tests.conftest import Distributions
from tests.unit.releases.variants import ALONE, Workshop, container

pytestmark = pytest.mark.distribution


@pytest.fixture(scope="module")
def workshop(distributions: Distributions) -> Workshop:
    return Workshop.of("26.03.1", distributions)


def test_a_patch_finds_its_object_among_the_parts_of_a_component(workshop):
    replicas = {"spec": {"replicas": 2}}
    named = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "cluster-local-gateway"}, **replicas}
    made = workshop.made("istio", selection=ALONE, istio_patches=[{"patch": named}])
    assert made.find("Deployment", "cluster-local-gateway")["spec"]["replicas"] == 2
    assert "replicas" not in made.find("Deployment", "istiod")["spec"]


def test_a_mapping_with_a_target_needs_nothing_but_what_it_changes(workshop):
    containers = [{"name": "katib-ui", "resources": {"requests": {"cpu": "50m"}}}]
    patch = {"target": {"kind": "Deployment", "name": "katib-ui"}, "patch": {"spec": {"template": {"spec": {"containers": containers}}}}}
    before = workshop.made("katib", selection=ALONE).find("Deployment", "katib-ui")
    after = workshop.made("katib", selection=ALONE, katib_patches=[patch]).find("Deployment", "katib-ui")
    assert container(after, "katib-ui") == {**container(before, "katib-ui"), "resources": {"requests": {"cpu": "50m"}}}
    assert (after["apiVersion"], after["kind"], after["metadata"]) == (before["apiVersion"], before["kind"], before["metadata"])


def test_a_patch_from_a_file_is_read(workshop, tmp_path: Path):
    file = tmp_path / "replicas.yml"
    file.write_text("- {op: replace, path: /spec/replicas, value: 3}\n")
    patch = {"target": {"kind": "Deployment", "name": "katib-ui"}, "path": str(file)}
    assert workshop.made("katib", selection=ALONE, katib_patches=[patch]).find("Deployment", "katib-ui")["spec"]["replicas"] == 3


def test_patches_and_images_that_match_nothing_are_told_together(workshop):
    idle = [{"target": {"kind": "Deployment", "name": name}, "patch": {"spec": {}}} for name in ("katib-iu", "katib-ui", "istiod")]
    with pytest.raises(RenderError) as caught:
        workshop.made("katib", selection=ALONE, katib_patches=idle)
    told = str(caught.value)
    assert "katib_patches[0]" in told and "katib_patches[2]" in told and "katib_patches[1]" not in told
    assert "there is Deployment kubeflow/katib-controller" in told


def test_an_image_is_replaced_wherever_pods_of_the_component_name_it(workshop):
    name = container(workshop.made("katib", selection=ALONE).find("Deployment", "katib-ui"), "katib-ui")["image"].rpartition(":")[0]
    image = {"name": name, "newName": "registry.example.org/katib-ui", "digest": "sha256:" + "0" * 64}
    made = workshop.made("katib", selection=ALONE, katib_images=[image])
    assert container(made.find("Deployment", "katib-ui"), "katib-ui")["image"] == f"registry.example.org/katib-ui@sha256:{'0' * 64}"
    with pytest.raises(RenderError, match=r"katib_images\[0\]: no pod names the image katib-ui"):
        workshop.made("katib", selection=ALONE, katib_images=[{"name": "katib-ui", "newTag": "1"}])


def test_a_kustomize_component_is_laid_over_its_part(workshop):
    path = "applications/workspaces/components/centraldashboard"
    made = workshop.made("dashboard", selection=ALONE, dashboard_kustomize_components=[path])
    assert "/workspaces/" in made.find("ConfigMap", "dashboard-config")["data"]["links"]
