# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The examples of the guide on sizing do on the real distribution what the guide says."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible_collections.kubeflow.platform.plugins.plugin_utils.plan.options import typed

from tests.unit.releases.variants import Object, Objects, Workshop, key

pytestmark = pytest.mark.distribution
GUIDE = Path(__file__).parents[3] / "docs" / "docsite" / "rst" / "guide_sizing.rst"
WORKLOADS = ("Deployment", "StatefulSet", "DaemonSet")
UNITS = {"Ki": 1 / 1024, "Mi": 1.0, "Gi": 1024.0}


def examples() -> dict[str, dict[str, Any]]:
    """The variables of each section of the guide, by the section's first word."""
    found: dict[str, dict[str, Any]] = {}
    for title, body in re.findall(r"^(\w[^\n]*)\n[-=]{4,}\n(.*?)(?=^\w[^\n]*\n[-=]{4,}\n|\Z)", GUIDE.read_text(), re.M | re.S):
        for block in re.findall(r"^\.\. code-block:: yaml\n\n((?:    .*\n|\n)+)", body, re.M):
            found[re.split(r"\W", title)[0]] = yaml.safe_load(re.sub(r"^    ", "", block, flags=re.M))
    return found


EXAMPLES = examples()


@pytest.fixture(scope="module")
def shop(newest: Workshop) -> Workshop:
    return newest


def made(shop: Workshop, name: str) -> Objects:
    values, wrong = typed(shop.library.specs, EXAMPLES[name])
    assert wrong == [] and set(values) == set(EXAMPLES[name])
    return shop.made(**values)


def requests(objects: Objects) -> tuple[float, float]:
    """CPUs and GiB that all pods of the platform ask for."""
    cpu = memory = 0.0
    for obj in objects.all:
        if obj["kind"] in WORKLOADS:
            for container in obj["spec"]["template"]["spec"]["containers"]:
                asked = container.get("resources", {}).get("requests", {})
                text = str(asked.get("cpu", 0))
                cpu += obj["spec"].get("replicas", 1) * (float(text[:-1]) / 1000 if text.endswith("m") else float(text))
                memory += obj["spec"].get("replicas", 1) * amount(str(asked.get("memory", "0Mi")))
    return cpu, memory / 1024


def amount(text: str) -> float:
    number, unit = re.fullmatch(r"([\d.]+)(\w\w)", text).groups()  # type: ignore[union-attr]
    return float(number) * UNITS[unit]


def test_the_guide_has_an_example_for_each_size():
    assert {"How", "Small", "Medium", "Large", "Claims"} <= set(EXAMPLES)


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_changes_what_it_names_and_no_identity(shop, name):
    usual, changed = shop.made(), made(shop, name)
    assert changed.keys == usual.keys
    before = {key(obj): obj for obj in usual.all}
    touched = [obj for obj in changed.all if obj != before[key(obj)]]
    components = {option.rpartition("_patches")[0] for option in EXAMPLES[name] if option.endswith("_patches")}
    assert touched and {obj["kind"] for obj in touched} <= {*WORKLOADS, "HorizontalPodAutoscaler", "PersistentVolumeClaim"}
    for component in components:
        assert any(obj in touched for part, objects in changed.parts.items() if part.startswith(f"{component}/") for obj in objects)


@pytest.mark.parametrize("name", EXAMPLES)
def test_no_container_is_added_by_an_example(shop, name):
    """A misspelt name of a container would add one that has no image."""
    for obj in made(shop, name).all:
        if obj["kind"] in WORKLOADS:
            assert all("image" in container for container in obj["spec"]["template"]["spec"]["containers"])


def test_the_figures_of_the_guide_are_those_of_the_objects(shop):
    text = " ".join(GUIDE.read_text().split())
    for figures, phrase in (
        (requests(shop.made()), r"asks for ([\d.]+) CPUs and ([\d.]+) GiB before"),
        (requests(made(shop, "Small")), r"half of it: ([\d.]+) CPUs and ([\d.]+) GiB"),
        (requests(shop.made(selection="minimal")), r"minimal`` asks for ([\d.]+) CPUs and ([\d.]+) GiB"),
    ):
        told = re.search(phrase, text)
        assert told, phrase
        assert (float(told[1]), float(told[2])) == tuple(round(figure, 1) for figure in figures)


def test_replicas_and_autoscalers_do_not_contradict_each_other(shop):
    """A Deployment that an autoscaler keeps must not be given replicas: the two would undo each other's work."""
    for name in EXAMPLES:
        objects = made(shop, name)
        scaled = {obj["spec"]["scaleTargetRef"]["name"] for obj in objects.all if obj["kind"] == "HorizontalPodAutoscaler"}
        assert not [obj["metadata"]["name"] for obj in objects.all if is_fixed(obj) and obj["metadata"]["name"] in scaled]


def is_fixed(obj: Object) -> bool:
    return obj["kind"] == "Deployment" and "replicas" in obj["spec"]
