# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# Documentation only: the work is done on the controller, by the action plugin of the same name.

from __future__ import annotations

DOCUMENTATION = r"""
module: kubeflow_report
short_description: Show what a run did, or would do, as a table
description:
  - >-
    Prints the components with their objects and readiness, how to reach the platform, which Secrets still hold public values, and what to
    try next.
  - In check mode it shows what would be done, component by component, and each object that exists already and would change.
  - Works on the controller alone. No cluster is asked and nothing is changed.
version_added: 0.1.0
author:
  - kubeflow.platform contributors (@kubeflow)
options:
  plan:
    description: What M(kubeflow.platform.kubeflow_plan) returned.
    type: dict
    required: true
  result:
    description: What M(kubeflow.platform.kustomize_apply) returned.
    type: dict
    required: true
  kubeconfig:
    description: The kubeconfig to name in the commands that are shown.
    type: str
  context:
    description: The context to name in the commands that are shown.
    type: str
  demo:
    description: Whether public passwords were asked for.
    type: bool
    default: false
attributes:
  check_mode:
    description: Can run in check mode; the table then says what would be done.
    support: full
  diff_mode:
    description: Returns details of what changed in diff mode.
    support: none
"""

EXAMPLES = r"""
- name: Show what came of it
  kubeflow.platform.kubeflow_report:
    plan: "{{ plan }}"
    result: "{{ applied }}"
"""

RETURN = r"""
lines:
  description: The table, line by line.
  returned: success
  type: list
  elements: str
"""
