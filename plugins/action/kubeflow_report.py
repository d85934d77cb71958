# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Controller side of C(kubeflow_report): prints the closing table line by line, as no callback would."""

from __future__ import annotations

from typing import Any

from ansible.plugins.action import ActionBase
from ansible_collections.kubeflow.platform.plugins.plugin_utils.report.screen import Situation, screen

ARGUMENTS = {
    "plan": {"type": "dict", "required": True},
    "result": {"type": "dict", "required": True},
    "kubeconfig": {"type": "str"},
    "context": {"type": "str"},
}


class ActionModule(ActionBase):
    """Shows; it never touches the host or the cluster."""

    TRANSFERS_FILES = False
    _requires_connection = False
    _supports_check_mode = True

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Print the table and return its lines."""
        outcome: dict[str, Any] = super().run(tmp, task_vars)
        validate: Any = self.validate_argument_spec  # ansible-core does not type it
        _validation, arguments = validate(ARGUMENTS)
        situation = Situation(
            host=(task_vars or {}).get("inventory_hostname", "localhost"),
            kubeconfig=arguments["kubeconfig"] or "",
            context=arguments["context"] or "",
            check=bool(self._task.check_mode),
        )
        shown = screen(arguments["plan"], arguments["result"], situation)
        self._display.display("\n".join(shown))
        outcome.update(changed=False, lines=shown)
        return outcome
