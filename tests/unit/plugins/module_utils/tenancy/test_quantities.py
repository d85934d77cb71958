# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Quantities as Kubernetes counts them."""

from __future__ import annotations

import pytest
from ansible_collections.kubeflow.platform.plugins.module_utils.tenancy.quantities import amount, same, same_amounts


@pytest.mark.parametrize(
    ("one", "other"),
    [("1", "1000m"), ("1Gi", "1024Mi"), ("1k", "1000"), ("0.5", "500m"), (2, "2"), ("1e3", "1k"), ("1E3", "1k"), ("1.50", "1.5")],
)
def test_two_quantities_are_the_same_when_their_amounts_are(one: object, other: object) -> None:
    assert same(one, other)


@pytest.mark.parametrize(("one", "other"), [("1", "1m"), ("1G", "1Gi"), ("1", "2"), ("x", "1"), ("1E", "1")])
def test_two_quantities_differ_when_their_amounts_do(one: str, other: str) -> None:
    assert not same(one, other)


@pytest.mark.parametrize("text", ["", "x", "1 Gi", "1gb", "1KiB", True, "--1", "1..2", None])
def test_a_text_is_no_quantity_when_kubernetes_refuses_it(text: object) -> None:
    assert amount(text) is None


def test_maps_differ_when_a_name_is_missing() -> None:
    assert same_amounts({"cpu": "1000m"}, {"cpu": 1})
    assert not same_amounts({"cpu": "1"}, {"cpu": "1", "memory": "1"})
