# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What we write is what upstream's own CRDs accept: every field is known to them, and nothing looks changed once it is stored."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from tests.conftest import Distributions
from tests.integration.tenancy.driver import Platform
from tests.integration.tenancy.test_profiles import EVERYTHING

pytestmark = pytest.mark.bed
NAMES = ("profiles.kubeflow.org", "poddefaults.kubeflow.org", "authorizationpolicies.security.istio.io")


def upstream_kinds(tree: Path) -> list[dict[str, object]]:
    """The CRDs of the tree that tenants are made of."""
    found: dict[str, dict[str, object]] = {}
    for path in {*tree.glob("*/**/*crd*/**/*.yaml"), *tree.glob("*/**/crd*.yaml")}:
        for text in path.read_text(encoding="utf-8").split("\n---\n"):
            # Parsing is slow, and most of these files are none of ours.
            name = next((name for name in NAMES if f"\n  name: {name}\n" in text), "")
            if name and "kind: CustomResourceDefinition" in text and "\nspec:" in text and "openAPIV3Schema" in text:
                found[name] = yaml.safe_load(text)
    return [found[name] for name in NAMES]


def test_upstreams_kinds_take_every_field_and_a_second_run_changes_nothing(platform: Platform, distributions: Distributions) -> None:
    for kind in upstream_kinds(distributions.tree("26.03.1")):
        # Larger than an annotation may be, so it is put in place of ours as a whole.
        platform.replace(kind)
    data = [{"name": "upstream-kinds", **EVERYTHING, "annotations": None}]
    assert platform.succeeds("profiles", profiles=data).changed
    assert platform.succeeds("profiles", profiles=data).actions() == []
    told = platform.succeeds("profile_info", names=["upstream-kinds"])
    assert platform.succeeds("profiles", profiles=told.json["profiles"], authoritative=True).actions() == []
