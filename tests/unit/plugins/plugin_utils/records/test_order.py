# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import random

import pytest
from ansible_collections.kubeflow.platform.plugins.plugin_utils.records.order import ordered
from hypothesis import given
from hypothesis import strategies as st


def test_without_requirements_the_rank_decides():
    assert ordered({"b": [], "a": [], "c": []}, {"a": (2,), "b": (3,), "c": (1,)}) == ["c", "a", "b"]


def test_a_requirement_goes_before_the_rank():
    assert ordered({"a": ["b"], "b": [], "c": []}, {"a": (1,), "b": (3,), "c": (2,)}) == ["c", "b", "a"]


def test_requirements_outside_do_not_count():
    assert ordered({"a": ["elsewhere"]}, {"a": (1,)}) == ["a"]


def test_a_circle_is_named():
    with pytest.raises(ValueError, match="a, b"):
        ordered({"a": ["b"], "b": ["a"], "c": []}, {"a": (1,), "b": (2,), "c": (3,)})


@given(st.integers(0, 12), st.randoms(use_true_random=False))
def test_every_name_follows_what_it_requires_and_the_order_of_the_input_does_not_matter(count: int, chance: random.Random):
    names = [f"n{index}" for index in range(count)]
    requires = {name: [other for other in names[:index] if chance.random() < 0.3] for index, name in enumerate(names)}
    rank = {name: (chance.randrange(5), index) for index, name in enumerate(names)}
    result = ordered(requires, rank)
    assert sorted(result) == sorted(names)
    assert all(result.index(need) < result.index(name) for name in names for need in requires[name])
    shuffled = list(requires)
    chance.shuffle(shuffled)
    assert ordered({name: requires[name] for name in shuffled}, rank) == result
