# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Custom resources and the CRDs that they need change in the same run."""

from __future__ import annotations

import copy
from typing import Any

from . import objects
from .conftest import Place
from .driver import persisted


def rows(place: Place, *versions: str, api: str = "v1", **spec: Any) -> list[objects.Object]:
    widget = objects.widget(place.group, place.name, **spec)
    widget["apiVersion"] = f"{place.group}/{api}"
    return [objects.namespace(place.name), widget, objects.crd(place.group, versions=versions)]


def with_field(content: list[objects.Object], **field: Any) -> list[objects.Object]:
    """The same with one more field in every version of the CRD."""
    content = copy.deepcopy(content)
    for version in content[-1]["spec"]["versions"]:
        version["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"].update(field)
    return content


def test_field_that_only_the_new_crd_knows_is_applied_after_it(place: Place) -> None:
    place.engine.succeeds(rows(place, "v1", size=1))
    newer = with_field(rows(place, "v1", size=1, shape="round"), shape={"type": "string"})
    expected = {f"CustomResourceDefinition widgets.{place.group}": "configure", "Widget first": "configure"}
    before = place.bed.audit().end
    plan = place.engine(newer, check=True, diff=True)
    assert not plan.failed, plan.message
    assert plan.actions() == expected
    assert persisted(place.bed.audit(before), ledger=True) == []
    assert place.engine.succeeds(newer).actions() == expected
    assert place.bed.get(f"widgets.{place.group}", "first", "-n", place.name)["spec"]["shape"] == "round"
    assert not place.engine.succeeds(newer).changed


def test_field_that_the_new_crd_does_not_know_either_fails_before_it_is_sent(place: Place) -> None:
    place.engine.succeeds(rows(place, "v1", size=1))
    newer = with_field(rows(place, "v1", size=1, shap="round"), shape={"type": "string"})
    for check in (True, False):
        result = place.engine(newer, check=check)
        assert result.failed
        assert result.failures()["Widget first"]["class"] == "schema"
        assert "shap" in result.failures()["Widget first"]["reason"]


def test_version_that_only_the_new_crd_serves_is_applied_after_it(place: Place) -> None:
    place.engine.succeeds(rows(place, "v1", size=1))
    newer = rows(place, "v1", "v2", api="v2", size=2)
    expected = {f"CustomResourceDefinition widgets.{place.group}": "configure", "Widget first": "configure"}
    plan = place.engine(newer, check=True)
    assert not plan.failed, plan.message
    assert plan.actions() == expected
    assert place.engine.succeeds(newer).actions() == expected
    assert place.bed.get(f"widgets.{place.group}", "first", "-n", place.name)["spec"]["size"] == 2
    assert not place.engine.succeeds(newer).changed


def test_field_that_the_new_crd_drops_goes_with_it(place: Place) -> None:
    older = with_field(rows(place, "v1", size=1, shape="round"), shape={"type": "string"})
    place.engine.succeeds(older)
    newer = rows(place, "v1", size=1)
    result = place.engine.succeeds(newer)
    assert result.action("Widget", "first")["action"] == "configure"
    assert "shape" not in place.bed.get(f"widgets.{place.group}", "first", "-n", place.name)["spec"]
    assert not place.engine.succeeds(newer).changed


def test_default_that_the_new_crd_brings_is_no_change_later(place: Place) -> None:
    place.engine.succeeds(rows(place, "v1", size=1))
    newer = with_field(rows(place, "v1", size=1), depth={"type": "integer", "default": 7})
    assert place.engine.succeeds(newer).changed
    assert not place.engine.succeeds(newer).changed
    assert place.bed.get(f"widgets.{place.group}", "first", "-n", place.name)["spec"]["depth"] == 7
