# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from ansible_collections.kubeflow.platform.plugins.plugin_utils.report.table import table


def test_columns_line_up_and_numbers_stand_right():
    assert table(("NAME", "COUNT"), [("a", "1"), ("longer", "1000")], right={"COUNT"}) == [
        "NAME    COUNT",
        "a           1",
        "longer   1000",
    ]


def test_a_column_without_content_is_left_out():
    assert table(("NAME", "EMPTY", "WHY"), [("a", "", "b")]) == ["NAME  WHY", "a     b"]


def test_a_total_stands_under_a_rule():
    assert table(("N", "C"), [("a", "1")], total=("total", "1")) == ["N      C", "a      1", "--------", "total  1"]
