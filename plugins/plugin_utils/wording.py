# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is set in a role's variables is named by them: one table from options to variables, and one place that applies it.

Messages name options in backquotes, with or without a value (C(`prune: delete`)), or at the beginning of a line
(C(components_added: there is no component x)), so that here the words need not be understood.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

PLATFORM = "kubeflow.platform.kubeflow"
DISTRIBUTION = "kubeflow.platform.distribution"

# What the roles pass on, by role: option of a module -> variable of the inventory.
_PLATFORM = {
    "adopt": "kubeflow_adopt",
    "allow_remote": "kubeflow_allow_remote",
    "allow_untested_kubernetes": "kubeflow_allow_untested_kubernetes",
    "components_added": "kubeflow_components_added",
    "components_removed": "kubeflow_components_removed",
    "context": "kubeflow_context",
    "credentials.given": "kubeflow_credentials_given",
    "demo": "kubeflow_credentials",
    "distribution": "kubeflow_distribution_source",
    "given": "kubeflow_credentials_given",
    "kubeconfig": "kubeflow_kubeconfig",
    "kustomize_path": "kubeflow_kustomize_path",
    "lease_timeout": "kubeflow_lease_timeout",
    "mode": "kubeflow_credentials",
    "only": "kubeflow_only",
    "prune": "kubeflow_prune",
    "recreate": "kubeflow_recreate",
    "release": "kubeflow_release",
    "remote_bases": "kubeflow_remote_bases",
    "removed": "kubeflow_components_removed",
    "run_timeout": "kubeflow_run_timeout",
    "scope": "kubeflow_only",
    "selection": "kubeflow_selection",
    "source": "kubeflow_distribution_source",
    "work_dir": "kubeflow_work_dir",
    "workers": "kubeflow_workers",
}
_DISTRIBUTION = {
    name: f"distribution_{name}"
    for name in ("ca_cert", "fetch_timeout", "password", "proxy", "release", "remote_bases", "source", "username", "work_dir")
}


def variables(task_vars: Mapping[str, Any] | None) -> Mapping[str, str]:
    """The table for a task, from the variables that Ansible gives to it: its role's, {} for a task of the user's own."""
    known = task_vars or {}
    role = known.get("ansible_role_name")
    if role == PLATFORM:
        return _PLATFORM
    if role != DISTRIBUTION:
        return {}
    # Included by the platform's role, which has variables of its own for some options.
    shared = ("release", "remote_bases", "source", "work_dir") if PLATFORM in (known.get("ansible_parent_role_names") or ()) else ()
    return {**_DISTRIBUTION, **{option: _PLATFORM[option] for option in shared}}


def translated(value: Any, table: Mapping[str, str]) -> Any:
    """A text, or all texts in lists and in the values of mappings, with the table's options replaced by their variables."""
    if not table:
        return value
    if isinstance(value, str):
        return _pattern(table).sub(lambda found: f"{found['before']}{table[found['option']]}", value)
    if isinstance(value, Mapping):
        return {key: translated(entry, table) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [translated(entry, table) for entry in value]
    return value


def _pattern(table: Mapping[str, str]) -> re.Pattern[str]:
    options = "|".join(sorted(table, key=len, reverse=True))
    return re.compile(rf"(?P<before>`|^[ ]*)(?P<option>{options})(?=`|: )", re.MULTILINE)
