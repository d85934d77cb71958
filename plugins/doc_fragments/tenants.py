# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Options that the modules of Profiles share; ``module_utils/tenancy/options.py`` has their argument spec."""

from __future__ import annotations


class ModuleDocFragment:
    # How a run behaves.
    DOCUMENTATION = r"""
options:
  authoritative:
    description:
      - Remove contributors that the data does not name, where it names contributors at all. Otherwise they are reported.
    type: bool
    default: false
  reserved_namespaces:
    description: Further names that no Profile may have, beside the platform's and the cluster's own.
    type: list
    elements: str
    default: []
  wait:
    description:
      - Wait until the controllers have made everything of each Profile, and verify it.
      - Without it, the namespace of a new Profile is still waited for where something is to be put into it.
    type: bool
    default: true
  wait_timeout:
    description: Seconds to wait altogether. The controller that did not act is named then.
    type: int
    default: 300
  workers:
    description: Requests under way at once.
    type: int
    default: 8
"""

    # How people are named.
    USERS = r"""
options:
  user_format:
    description: How users are called. V(any) is for an identity provider that does not send e-mail addresses.
    type: str
    choices: [email, any]
    default: email
"""
