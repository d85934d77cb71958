# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import pytest
from ansible_collections.kubeflow.platform.plugins.plugin_utils.records.version import Window, numbers


def test_releases_are_compared_by_number():
    names = ["26.03.1", "1.10.2", "26.03", "1.8", "1.11.0"]
    assert sorted(names, key=numbers) == ["1.8", "1.10.2", "1.11.0", "26.03", "26.03.1"]


def test_trailing_zeros_do_not_count():
    assert numbers("1.8") == numbers("1.8.0") == numbers("v1.8")


@pytest.mark.parametrize("text", ["", "latest", "vv1"])
def test_what_is_no_version_is_refused(text):
    with pytest.raises(ValueError):
        numbers(text)


@pytest.mark.parametrize(
    ("version", "inside"),
    [("5.5.0", True), ("v5.8.1", True), ("5.8", True), ("5.4.3", False), ("5.9.0", False), ("6.0.0", False), ("5.10.1", False)],
)
def test_a_window_takes_both_ends_with_all_their_patch_releases(version, inside):
    assert Window("5.5.0", "5.8").contains(version) is inside


def test_a_kubernetes_version_with_a_suffix_counts_by_its_numbers():
    assert Window("1.34", "1.36").contains("v1.36.1-eks-1a2b3c")
    assert not Window("1.34", "1.36").contains("v1.37.0")
