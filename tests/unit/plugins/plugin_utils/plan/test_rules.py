# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Readiness and checks of a plan."""

from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.rules import row_faults
from ansible_collections.kubeflow.platform.plugins.plugin_utils.plan import rules
from ansible_collections.kubeflow.platform.plugins.plugin_utils.plan.model import Request
from ansible_collections.kubeflow.platform.plugins.plugin_utils.plan.planner import plan
from ansible_collections.kubeflow.platform.plugins.plugin_utils.records.condition import ALWAYS
from ansible_collections.kubeflow.platform.plugins.plugin_utils.records.library import collection_root, load
from ansible_collections.kubeflow.platform.plugins.plugin_utils.records.model import Check

RULE = {"kind": "Experiment", "group": "kubeflow.org", "expression": "`true`", "message": "it is not"}
RECORDED = Check("Experiment", "kubeflow.org", "", "", "", "status.seen", "nobody saw it", ALWAYS)
OTHER = Check("Trial", "kubeflow.org", "", "", "", "status.seen", "nobody saw it", ALWAYS)


@pytest.fixture(scope="module")
def library():
    found = load(collection_root())
    katib = replace(found.components["katib"], ready=(RECORDED, OTHER), checks=(RECORDED,))
    return replace(found, components={**found.components, "katib": katib})


def made(library, **values):
    return plan(library, Request("26.03.1", only=("katib",), values=values))


def test_records_say_when_objects_of_their_component_are_ready(library):
    found = rules.ready(made(library))
    assert [(row["component"], row["kind"], row["message"]) for row in found] == [
        ("katib", "Experiment", "nobody saw it"),
        ("katib", "Trial", "nobody saw it"),
    ]


def test_inventory_stands_in_for_the_record_kind_by_kind(library):
    found = rules.ready(made(library, katib_ready=[RULE]))
    assert [(row["kind"], row["message"]) for row in found] == [("Trial", "nobody saw it"), ("Experiment", "it is not")]
    assert {row["component"] for row in found} == {"katib"}


def test_what_is_out_of_scope_says_nothing(library):
    found = plan(library, Request("26.03.1", only=("dex",), values={"katib_ready": [RULE]}))
    assert rules.ready(found) == []


def test_checks_of_the_inventory_come_beside_those_of_the_records(library):
    found = rules.checks(made(library, kubeflow_checks=[{**RULE, "at_least": 2}]))
    assert [(row["message"], row.get("component"), row.get("at_least")) for row in found] == [
        ("nobody saw it", "katib", None),
        ("it is not", None, 2),
    ]


def test_every_wrong_entry_is_told_with_its_variable(library):
    wrong = [{**RULE, "expression": "status.["}, {**RULE, "component": "katip"}]
    told = rules.faults(made(library, katib_ready=[{**RULE, "kind": "experiment"}], kubeflow_checks=wrong))
    assert len(told) == 3
    assert told[0].startswith("katib_ready, entry 1: `kind: experiment` is no kind")
    assert told[1].startswith("kubeflow_checks, entry 1: `expression`: 'status.[' is no JMESPath expression")
    assert told[2] == "kubeflow_checks, entry 2: the component katip is not in the selection"
    assert rules.faults(made(library)) == []


def test_no_record_has_a_wrong_expression():
    components = load(collection_root()).components.values()
    found = [(item.name, option, entry) for item in components for option in ("ready", "checks") for entry in getattr(item, option)]
    assert [(name, fault) for name, option, entry in found for fault in row_faults(entry.as_dict(), option)] == []
