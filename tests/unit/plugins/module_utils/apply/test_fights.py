# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Who is named when a field that a run has applied has another value at its end."""

from __future__ import annotations

from typing import Any

from ansible_collections.kubeflow.platform.plugins.module_utils.apply.fights import taken_back
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.model import Decision
from ansible_collections.kubeflow.platform.plugins.module_utils.objects import difference
from ansible_collections.kubeflow.platform.plugins.module_utils.objects.identity import Identity

MINE = Identity("", "ConfigMap", "default", "mine")


def judged(before: dict[str, Any], after: dict[str, Any], **managers: dict[str, Any]) -> str:
    """The sentence about ConfigMaps with these data, whose fields these managers hold."""
    entries = [{"manager": name, "operation": "Update", "fieldsV1": fields} for name, fields in managers.items()]
    live = {"metadata": {"managedFields": entries}, "data": before}
    return taken_back(MINE, Decision("configure", {}, live, difference.compare({"data": before}, {"data": after})))


def test_holder_of_the_changed_field_is_named_and_others_are_not() -> None:
    told = judged({"a": "x", "b": "1"}, {"a": "1", "b": "1"}, scaler={"f:data": {"f:a": {}}}, labeller={"f:metadata": {"f:labels": {}}})
    assert told.startswith("ConfigMap default/mine: scaler changed .data.a after this run") and "labeller" not in told


def test_somebody_is_named_when_a_field_is_gone_and_nobody_holds_it() -> None:
    assert "another program changed .data.a" in judged({"b": "1"}, {"a": "1", "b": "1"})


def test_nothing_is_told_when_the_object_is_as_desired_or_gone() -> None:
    assert judged({"a": "1"}, {"a": "1"}, scaler={"f:data": {"f:a": {}}}) == ""
    assert taken_back(MINE, Decision("create", {})) == ""
