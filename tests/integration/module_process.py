# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes a fork of the process that tests what Ansible starts on a host: a module's process, whose output is its answer."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from ansible.module_utils import _internal


def become_module(name: str, arguments: Path, output: Path) -> None:
    """Print to a file, know of no cluster but the arguments', and read these from the file that Ansible names."""
    sys.stdout = sys.stderr = output.open("w", encoding="utf-8", buffering=1)
    os.dup2(sys.stdout.fileno(), 1)
    os.dup2(sys.stdout.fileno(), 2)
    for variable in [variable for variable in os.environ if variable.startswith("K8S_AUTH_") or variable == "KUBECONFIG"]:
        del os.environ[variable]
    # A test of an action makes the process that tests a controller, which shows warnings itself; a module returns them.
    _internal.is_controller = False
    sys.argv = [name, str(arguments)]
