# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Words for several findings in one message."""

from __future__ import annotations

from collections.abc import Sequence


def in_one_message(errors: Sequence[str]) -> str:
    """Return one text with every finding, numbered; the order is that of the data."""
    if len(errors) == 1:
        return f"Nothing was written: {errors[0]}"
    listed = "\n".join(f"{number}. {text}" for number, text in enumerate(errors, 1))
    return f"Nothing was written, since {len(errors)} things are wrong:\n{listed}"
