# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""An order in which every part comes after what it requires. Pure; the same input always gives the same order."""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from typing import TypeVar

T = TypeVar("T", bound=tuple[int, ...])


def ordered(requires: Mapping[str, Sequence[str]], rank: Mapping[str, T]) -> list[str]:
    """The names sorted topologically, and by rank wherever the requirements leave a choice.

    Requirements that are not among the names do not count. ValueError names the parts of a circle.
    """
    waiting = {name: {need for need in needs if need in requires and need != name} for name, needs in requires.items()}
    followers: dict[str, list[str]] = {name: [] for name in requires}
    for name, needs in waiting.items():
        for need in needs:
            followers[need].append(name)
    ready = [(rank[name], name) for name, needs in waiting.items() if not needs]
    heapq.heapify(ready)
    result: list[str] = []
    while ready:
        _rank, name = heapq.heappop(ready)
        result.append(name)
        for follower in followers[name]:
            waiting[follower].discard(name)
            if not waiting[follower]:
                heapq.heappush(ready, (rank[follower], follower))
    if len(result) < len(requires):
        circle = sorted(set(requires) - set(result))
        raise ValueError(f"these require each other: {', '.join(circle)}")
    return result
