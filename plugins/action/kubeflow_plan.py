# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Controller side of C(kubeflow_plan): records and the inventory's choice to ordered parts. It never asks a cluster."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase
from ansible_collections.kubeflow.platform.plugins.plugin_utils import wording
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize import binary
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.cache import Cache
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.errors import RenderError
from ansible_collections.kubeflow.platform.plugins.plugin_utils.plan.model import Plan, Request, SelectionError
from ansible_collections.kubeflow.platform.plugins.plugin_utils.plan.options import misspelt, typed
from ansible_collections.kubeflow.platform.plugins.plugin_utils.plan.planner import plan
from ansible_collections.kubeflow.platform.plugins.plugin_utils.plan.result import as_result
from ansible_collections.kubeflow.platform.plugins.plugin_utils.plan.rules import faults
from ansible_collections.kubeflow.platform.plugins.plugin_utils.records.condition import is_given
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
    "found": {"type": "dict", "default": {}},
    "distribution": {"type": "path"},
    "find_kustomize": {"type": "bool", "default": False},
    "kustomize_path": {"type": "path"},
    "work_dir": {"type": "path"},
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
        except RecordError as error:
            raise AnsibleActionFail(str(error)) from error
        variables = task_vars or {}
        values, wrong = self._values(library, variables, arguments["found"])
        made, more = _planned(library, _request(arguments, values))
        tree = arguments["distribution"]
        wrong += more or _check_tree(library, made, tree)
        wrong += faults(made) if made else []
        wrong += self._check_kustomize(made, arguments)
        if wrong or made is None:
            raise AnsibleActionFail(wording.translated("\n".join(wrong), wording.variables(task_vars)))
        result.update(as_result(made, tree), changed=False)
        result["notes"] += misspelt(library.specs, variables)
        if result["notes"]:
            result["warnings"] = result["notes"]
        return result

    def _values(self, library: Library, variables: dict[str, Any], found: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
        """What the host sets of all roles' options, or what was found for those that it does not set; and findings about the values."""
        values = {name: self._templar.template(variables[name]) for name in library.options if name in variables}
        values |= {name: value for name, value in found.items() if is_given(value) and not is_given(values.get(name))}
        unknown = [f"found: no role has an option {name}" for name in sorted(set(found) - set(library.options))]
        right, wrong = typed(library.specs, values)
        return right, unknown + wrong

    def _check_kustomize(self, made: Plan | None, arguments: dict[str, Any]) -> list[str]:
        if made is None or not arguments["find_kustomize"]:
            return []
        given, work_dir = arguments["kustomize_path"], arguments["work_dir"]
        window = binary.Window.of_release({"name": made.release.name, "kustomize": made.release.kustomize.as_dict()})
        try:
            cache = Cache(Path(self._loader.path_dwim(work_dir)) if work_dir else None)
            binary.find(cache, self._loader.path_dwim(given) if given and os.sep in given else given, window)
        except RenderError as error:
            return [str(error)]
        return []


def _planned(library: Library, request: Request) -> tuple[Plan | None, list[str]]:
    try:
        return plan(library, request), []
    except SelectionError as error:
        return None, [str(error)]


def _request(arguments: dict[str, Any], values: dict[str, Any]) -> Request:
    return Request(
        release=arguments["release"],
        selection=arguments["selection"],
        added=tuple(arguments["components_added"]),
        removed=tuple(arguments["components_removed"]),
        only=tuple(arguments["only"]),
        values=values,
    )


def _check_tree(library: Library, made: Plan | None, tree: str | None) -> list[str]:
    if tree is None or made is None:
        return []
    if not Path(tree).is_dir():
        return [f"distribution: {tree} is not a folder on the controller"]
    wrong = refusal(library, made.release, Path(tree), [part.path for part in made.parts if part.is_in_distribution])
    return [wrong] if wrong else []
