# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The figures as a table in Markdown."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

_TITLES = {"install": "fresh install", "again": "nothing to do", "changed": "one object changed"}
_HEAD = ("", "run", "ready after", "command ends", "client CPU", "largest process", "all processes", "server CPU", "requests")


def table(results: dict[str, Any]) -> str:
    """One line for each way and run."""
    rows = [_HEAD, *_rows(results["ways"])]
    widths = [max(len(row[column]) for row in rows) for column in range(len(_HEAD))]
    lines = ["| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |" for row in rows]
    lines.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return "\n".join(lines)


def _rows(ways: dict[str, Any]) -> Iterator[tuple[str, ...]]:
    for name, phases in ways.items():
        for phase, figures in phases.items():
            requests = figures["requests"]
            kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(requests.items(), key=lambda pair: -pair[1]))
            yield (
                name,
                _TITLES[phase],
                f"{figures['ready']:.1f} s",
                f"{figures['wall']:.1f} s",
                f"{figures['cpu']:.1f} s",
                f"{figures['largest']} MiB ({_largest(figures)})",
                f"{figures['together']} MiB",
                f"{figures['server_cpu']:.1f} s",
                f"{sum(requests.values())}: {kinds}",
            )


def _largest(figures: dict[str, Any]) -> str:
    return max(figures["programs"].items(), key=lambda pair: pair[1], default=("?", 0))[0]
