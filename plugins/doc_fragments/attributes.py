# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What modules that speak to a cluster support, in the words of their documentation."""

from __future__ import annotations


class ModuleDocFragment:
    # Of modules that write.
    DOCUMENTATION = r"""
options: {}
attributes:
  check_mode:
    description: Can run in check mode and say what would happen without changing anything; the API server is asked by dry runs.
    support: full
  diff_mode:
    description: Shows for each object what would change.
    support: full
"""

    # Of modules that only read.
    INFO = r"""
options: {}
attributes:
  check_mode:
    description: Changes nothing, so it runs the same in check mode.
    support: full
  diff_mode:
    description: There is nothing to show.
    support: none
"""
