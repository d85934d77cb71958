# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Entry point of `tests/testbed/testbed`."""

from __future__ import annotations

import sys

from .bed.commands import main

sys.exit(main())
