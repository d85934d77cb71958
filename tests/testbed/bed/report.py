# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How the test bed talks: progress to stderr, results to stdout, one kind of error."""

from __future__ import annotations

import sys


class BedError(Exception):
    """Something that the caller can read and mend."""


def say(text: str) -> None:
    """Progress, for people."""
    sys.stderr.write(f"testbed: {text}\n")
    sys.stderr.flush()


def result(text: str) -> None:
    """A result, for programs."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()
