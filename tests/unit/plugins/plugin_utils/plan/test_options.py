# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from ansible_collections.kubeflow.platform.plugins.plugin_utils.plan.options import misspelt, typed

SPECS = {
    "istio": {"istio_mode": {"type": "str", "choices": ["cni", "no_cni"]}, "istio_pin": {"type": "int", "no_log": True}},
    "kubeflow": {"kubeflow_components_added": {"type": "list", "elements": "str"}},
}


def test_values_that_fit_are_given_as_their_types_say():
    values, found = typed(SPECS, {"istio_mode": "cni", "istio_pin": "12", "kubeflow_components_added": "katib", "other": 1})
    assert values == {"istio_mode": "cni", "istio_pin": 12, "kubeflow_components_added": ["katib"]}
    assert found == []


def test_values_that_nobody_sets_are_not_given():
    assert typed(SPECS, {}) == ({}, [])


def test_of_a_role_with_a_wrong_value_none_is_given():
    values, found = typed(SPECS, {"istio_mode": "cnni", "istio_pin": 1, "kubeflow_components_added": ["katib"]})
    assert values == {"kubeflow_components_added": ["katib"]}
    assert len(found) == 1


def test_every_wrong_value_is_told_with_its_role():
    _values, found = typed(SPECS, {"istio_mode": "cnni", "kubeflow_components_added": {"a": 1}})
    assert len(found) == 2
    assert found[0].startswith("istio: ") and "istio_mode" in found[0] and "cnni" in found[0]
    assert found[1].startswith("kubeflow: ") and "kubeflow_components_added" in found[1]


def test_a_secret_value_is_not_told():
    _values, (found,) = typed(SPECS, {"istio_pin": "hunter22"})
    assert "istio_pin" in found
    assert "hunter22" not in found


def test_a_misspelt_variable_is_told_with_the_one_that_was_meant():
    assert misspelt(SPECS, ["kubeflow_component_added", "kubeflow_components_added", "kubeflow_region", "inventory_hostname"]) == [
        "the variable kubeflow_component_added is not one of this collection's; did you mean kubeflow_components_added?"
    ]
