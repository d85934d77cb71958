# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Names that nobody knows, answered by the nearest one that is known."""

from __future__ import annotations

from collections.abc import Iterable


def unknown(what: str, name: str, known: Iterable[str], option: str) -> str:
    """One sentence: that there is no such thing, and what may have been meant."""
    names = sorted(known)
    text = f"{option}: there is no {what} {name!r}"
    near = nearest(name, names)
    return f"{text}; did you mean {near!r}?" if near else f"{text} (known: {', '.join(names)})"


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that takes the fewest edits to reach, else one that holds the given name or is held by it."""
    names = sorted(known)
    plain = name.lower().replace("-", "_").replace(" ", "_")
    edits = {candidate: _edits(plain.replace("_", ""), candidate.replace("_", "")) for candidate in names}
    best = min(names, key=edits.__getitem__, default=None)
    if best is not None and edits[best] <= max(1, min(len(plain), len(best)) // 3):
        return best
    holding = [candidate for candidate in names if len(plain) >= 3 and (candidate in plain or plain in candidate)]
    return max(holding, key=len) if holding else None


def _edits(one: str, other: str) -> int:
    """Letters to insert, drop, change or swap with a neighbour to come from one word to the other."""
    rows = [list(range(len(other) + 1))]
    for i, left in enumerate(one, start=1):
        row = [i]
        for j, right in enumerate(other, start=1):
            cost = min(rows[-1][j] + 1, row[j - 1] + 1, rows[-1][j - 1] + (left != right))
            if i > 1 and j > 1 and left == other[j - 2] and one[i - 2] == right:
                cost = min(cost, rows[-2][j - 2] + 1)
            row.append(cost)
        rows.append(row)
    return rows[-1][-1]
