# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""`python -m faultproxy`: see standins/proxy.py."""

from __future__ import annotations

import sys
from importlib import import_module

if __name__ == "__main__":
    sys.exit(import_module("standins.proxy").main())
