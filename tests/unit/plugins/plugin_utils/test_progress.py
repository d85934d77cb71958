# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Progress is shown as it comes, each line once."""

from __future__ import annotations

import time
from pathlib import Path

from ansible_collections.kubeflow.platform.plugins.plugin_utils.progress import LONGEST, Follower, fitting


def test_lines_are_shown_while_they_come_and_the_rest_at_the_end(tmp_path: Path) -> None:
    file = tmp_path / "progress"
    file.touch()
    shown: list[tuple[float, str]] = []
    with Follower(str(file), lambda seconds, text: shown.append((seconds, text)), interval=0.01), file.open("a") as stream:
        stream.write('{"t": 1.5, "text": "one"}\n{"t": 2, "text": "tw')
        stream.flush()
        limit = time.monotonic() + 10
        while not shown and time.monotonic() < limit:
            time.sleep(0.01)
        assert shown == [(1.5, "one")]
        stream.write('o"}\nnot json\n{"t": 3}\n')
        stream.write('{"t": 4, "text": "three"}\n')
    assert shown == [(1.5, "one"), (2.0, "two"), (4.0, "three")]


def test_a_file_that_never_comes_is_no_error(tmp_path: Path) -> None:
    with Follower(str(tmp_path / "none"), lambda _seconds, _text: None, interval=0.01):
        pass


def test_a_long_line_is_cut_in_the_middle_since_the_end_says_why() -> None:
    line = fitting(f"waiting for {'x' * 500}: connection refused, gives up in 5 s")
    assert len(line) <= LONGEST
    assert line.startswith("waiting for x") and " ... " in line and line.endswith("connection refused, gives up in 5 s")


def test_a_line_stays_one_line() -> None:
    assert fitting("one\n  two") == "one two"
