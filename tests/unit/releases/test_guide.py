# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The guide on options: each of its examples can be planned, and each option of a component stands in a guide."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible_collections.kubeflow.platform.plugins.plugin_utils.plan.model import Request
from ansible_collections.kubeflow.platform.plugins.plugin_utils.plan.options import typed
from ansible_collections.kubeflow.platform.plugins.plugin_utils.plan.planner import plan
from ansible_collections.kubeflow.platform.plugins.plugin_utils.records.library import collection_root, load

GUIDES = Path(__file__).parents[3] / "docs" / "docsite" / "rst"
LIBRARY = load(collection_root())
COMMON = ("_patches", "_images", "_kustomize_components", "_ready")


def blocks(page: str) -> list[dict[str, Any]]:
    text = (GUIDES / page).read_text(encoding="utf-8")
    found = re.findall(r"^\.\. code-block:: yaml\n\n((?:    .*\n|\n)+)", text, re.M)
    return [yaml.safe_load(re.sub(r"^    ", "", body, flags=re.M)) for body in found]


@pytest.mark.parametrize("variables", blocks("guide_options.rst"), ids=" ".join)
def test_an_example_of_the_guide_can_be_planned(variables):
    values, wrong = typed(LIBRARY.specs, variables)
    issuer = {"oauth2_proxy_m2m_issuer": "https://found.example.com"}  # the cluster tells it
    request = Request(
        variables.get("kubeflow_release", "26.03.1"),
        selection=variables.get("kubeflow_selection", "default"),
        added=tuple(variables.get("kubeflow_components_added", ())),
        values={**issuer, **values},
    )
    assert wrong == [] and set(values) == set(variables)
    made = plan(LIBRARY, request)
    assert [note for note in made.notes if "nothing" in note or "no effect" in note] == []


def test_every_option_of_a_component_is_in_a_guide():
    shown = {name for page in ("guide_options.rst", "guide_sizing.rst") for block in blocks(page) for name in block}
    own = {option.name for option in LIBRARY.options.values() if option.role in LIBRARY.components and not option.name.endswith(COMMON)}
    assert {name for name in own - shown if not name.startswith("user_namespace_")} == set()  # that of the first Profile is a tenant's
