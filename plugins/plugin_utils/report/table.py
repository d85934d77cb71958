# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Columns of text that line up."""

from __future__ import annotations

from collections.abc import Collection, Sequence


def table(headings: Sequence[str], rows: Sequence[Sequence[str]], *, right: Collection[str] = (), total: Sequence[str] = ()) -> list[str]:
    """Lines of a table. Columns named in C(right) are set right, columns without any content are left out, C(total) stands under a rule."""
    every = [list(row) for row in rows] + ([list(total)] if total else [])
    shown = [index for index in range(len(headings)) if any(row[index] for row in every)]
    widths = {index: max(len(headings[index]), *(len(row[index]) for row in every)) for index in shown}

    def line(cells: Sequence[str]) -> str:
        parts = [cells[i].rjust(widths[i]) if headings[i] in right else cells[i].ljust(widths[i]) for i in shown]
        return "  ".join(parts).rstrip()

    lines = [line(headings), *(line(row) for row in rows)]
    if total:
        lines += ["-" * len("  ".join("-" * widths[index] for index in shown)), line(total)]
    return lines
