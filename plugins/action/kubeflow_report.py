# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Controller side of C(kubeflow_report): prints the closing table line by line, as no callback would."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path
from typing import Any

from ansible import constants as C
from ansible import context
from ansible.plugins.action import ActionBase
from ansible.utils.vars import load_extra_vars
from ansible_collections.kubeflow.platform.plugins.plugin_utils.report.screen import ALARM, screen
from ansible_collections.kubeflow.platform.plugins.plugin_utils.report.situation import Situation

ARGUMENTS = {
    "plan": {"type": "dict", "required": True},
    "result": {"type": "dict", "required": True},
    "kubeconfig": {"type": "str"},
    "context": {"type": "str"},
    "demo": {"type": "bool", "default": False},
}
# Set by the tool that runs commands in a checkout's own environment, tests/tools/run.
LAUNCHER = "KUBEFLOW_PLATFORM_LAUNCHER"
SECRETIVE = re.compile(r"password|secret|token|credential|key", re.IGNORECASE)
# Folders that are on everybody's PATH.
USUAL = ("/bin", "/sbin", "/usr/bin", "/usr/sbin", "/usr/local/bin", "/snap/bin", "/opt/homebrew/bin", "~/bin", "~/.local/bin")


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
        shown = screen(arguments["plan"], arguments["result"], self._situation(arguments, task_vars or {}))
        red = str(C.config.get_config_value("COLOR_ERROR"))
        for line in shown:
            self._display.display(line, color=red if line.startswith(ALARM) else None)
        outcome.update(changed=False, lines=shown)
        return outcome

    def _situation(self, arguments: dict[str, Any], task_vars: dict[str, Any]) -> Situation:
        inventories = context.CLIARGS.get("inventory")
        launcher = os.environ.get(LAUNCHER)
        local = self._connection.transport == "local"
        return Situation(
            host=task_vars.get("inventory_hostname", "localhost"),
            kubeconfig=arguments["kubeconfig"] or "",
            context=arguments["context"] or "",
            check=bool(self._task.check_mode),
            demo=arguments["demo"],
            diff=bool(self._task.diff),
            launcher=near(launcher) if launcher else "",
            inventories=tuple(near(given) for given in inventories or ()),
            extra=repeated(load_extra_vars(self._loader)),
            program=kubectl() if local else "kubectl",
        )


def near(path: str) -> str:
    """A path as one would type it here; a list of hosts stays as it is."""
    if "," in path or not Path(path).is_absolute():
        return path
    return os.path.relpath(path) if Path(path).is_relative_to(Path.cwd()) else path


def repeated(extra: Any) -> dict[str, Any]:
    """The variables of the command line that another run needs too: those of the platform that give nothing away."""
    ours = {name: value for name, value in extra.items() if name.startswith("kubeflow_") and not SECRETIVE.search(name)}
    return {name: value for name, value in ours.items() if not re.search(r"://[^/\s]*@", str(value))}


def kubectl() -> str:
    """The kubectl that is found, in full where not everybody would find it."""
    found = shutil.which("kubectl")
    usual = {os.path.expanduser(folder) for folder in USUAL}
    return "kubectl" if found is None or os.path.dirname(found) in usual else found
