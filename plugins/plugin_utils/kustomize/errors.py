# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The one kind of error that rendering raises; its text is meant for the user."""

from __future__ import annotations

from collections.abc import Iterable


class RenderError(Exception):
    """Rendering cannot go on. The message says what is wrong and what to do."""


def listing(lines: Iterable[str]) -> str:
    """Lay findings out below a sentence, one a line."""
    return "".join(f"\n  {line}" for line in lines)
