# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Controller side of C(kubeflow_plan): records and the inventory's choice to ordered parts. It never asks a cluster."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase
from ansible_collections.kubeflow.platform.plugins.plugin_utils.plan.model import Plan, Request, SelectionError
from ansible_collections.kubeflow.platform.plugins.plugin_utils.plan.options import findings, misspelt, read_spec
from ansible_collections.kubeflow.platform.plugins.plugin_utils.plan.planner import plan
from ansible_collections.kubeflow.platform.plugins.plugin_utils.plan.result import as_result
from ansible_collections.kubeflow.platform.plugins.plugin_utils.records.fingerprint import refusal
from ansible_collections.kubeflow.platform.plugins.plugin_utils.records.library import collection_root, load
from ansible_collections.kubeflow.platform.plugins.plugin_utils.records.model import Library
from ansible_collections.kubeflow.platform.plugins.plugin_utils.records.problems import RecordError

ARGUMENTS = {
    "release": {"type": "str", "required": True},
    "selection": {"type": "str", "default": "default"},
    "components_added": {"type": "list", "elements": "str", "default": []},
    "components_removed": {"type": "list", "elements": "str", "default": []},
    "only": {"type": "list", "elements": "str", "default": []},
    "distribution": {"type": "path"},
}


class ActionModule(ActionBase):
    """Plans on the controller; the host is never touched."""

    TRANSFERS_FILES = False
    _requires_connection = False
    _supports_check_mode = True

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Return the plan, or fail with every finding."""
        result: dict[str, Any] = super().run(tmp, task_vars)
        validate: Any = self.validate_argument_spec  # ansible-core does not type it
        _validation, arguments = validate(ARGUMENTS)
        try:
            library = load(collection_root())
            made = plan(library, _request(arguments))
        except (RecordError, SelectionError) as error:
            raise AnsibleActionFail(str(error)) from error
        tree = arguments["distribution"]
        wrong, notes = self._check_options(made, task_vars or {})
        wrong.extend(_check_tree(library, made, tree))
        if wrong:
            raise AnsibleActionFail("\n".join(wrong))
        result.update(as_result(made, tree), changed=False)
        result["notes"] += notes
        if result["notes"]:
            result["warnings"] = result["notes"]
        return result

    def _check_options(self, made: Plan, task_vars: dict[str, Any]) -> tuple[list[str], list[str]]:
        """Findings and notes about the variables of the platform's role and of each component in scope."""
        root = collection_root()
        roles = ["kubeflow", *(item.component.name for item in made.in_scope)]
        specs = {role: read_spec(root, role) for role in roles}
        names = [name for spec in specs.values() for name in spec if name in task_vars]
        values = {name: self._templar.template(task_vars[name]) for name in names}
        return findings(specs, values), misspelt(specs, task_vars)


def _request(arguments: dict[str, Any]) -> Request:
    return Request(
        release=arguments["release"],
        selection=arguments["selection"],
        added=tuple(arguments["components_added"]),
        removed=tuple(arguments["components_removed"]),
        only=tuple(arguments["only"]),
    )


def _check_tree(library: Library, made: Plan, tree: str | None) -> list[str]:
    if tree is None:
        return []
    if not Path(tree).is_dir():
        return [f"distribution: {tree} is not a folder on the controller"]
    wrong = refusal(library, made.release, Path(tree), [part.path for part in made.parts])
    return [wrong] if wrong else []
