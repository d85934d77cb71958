# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Controller side of C(kustomize_apply): renders, brings the parts to where the cluster is reached, shows progress."""

from __future__ import annotations

import os
import uuid
from collections.abc import Mapping, Sequence
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import Any

from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.settings import faults
from ansible_collections.kubeflow.platform.plugins.module_utils.objects.redaction import Redactor
from ansible_collections.kubeflow.platform.plugins.modules.kustomize_apply import argument_spec
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize import validate
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.cache import Cache
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.errors import RenderError
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.parts import from_options, of_path, plain
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.planning import Request
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.render import Rendering, render
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.sources import Trees
from ansible_collections.kubeflow.platform.plugins.plugin_utils.plan.names import unknown
from ansible_collections.kubeflow.platform.plugins.plugin_utils.progress import Follower, fitting
from ansible_collections.kubeflow.platform.plugins.plugin_utils.wording import translated, variables

MODULE = "kubeflow.platform.kustomize_apply"
# What the action itself gives to the module.
INTERNAL = ("parts_file", "progress_file")
# The parts of the result that are words for the user.
TOLD = ("msg", "warnings", "findings", "failed_objects", "actions", "checks")
# What only rendering needs; where the cluster is reached these paths mean nothing.
CONTROLLER_ONLY = ("parts", "path", "distribution", "remote_bases", "kustomize_path", "work_dir", "allow_remote", "validate")


class ActionModule(ActionBase):
    """Renders once per content for all hosts, then runs the module of the same name on the host."""

    TRANSFERS_FILES = True
    _supports_check_mode = True
    _supports_async = False

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Render and apply; every error of the controller's side is one message, and options are named as the user set them."""
        result: dict[str, Any] = super().run(tmp, task_vars)
        self._host = str((task_vars or {}).get("inventory_hostname", ""))
        table = variables(task_vars)
        try:
            result.update(self._outcome(task_vars or {}))
        except AnsibleActionFail as error:
            raise AnsibleActionFail(translated(str(error.message), table)) from error
        told = {key: translated(result[key], table) for key in TOLD if key in result}
        if told.get("msg") != result.get("msg") and not isinstance(result.get("exception"), str):
            result.pop("exception", None)  # what newer versions of ansible-core show; without it they make it anew, from the message
        result.update(told)
        return result

    def _outcome(self, task_vars: dict[str, Any]) -> dict[str, Any]:
        arguments = self._arguments()
        try:
            cache = Cache(Path(arguments["work_dir"]) if arguments["work_dir"] else None)
            rendering = render(self._request(arguments, cache), cache)
            notes = self._validate(arguments, rendering, cache)
        except RenderError as error:
            # Without its causes, which Ansible would print too: a parser's error quotes what it read.
            raise AnsibleActionFail(Redactor().text(str(error))) from None
        if rendering.built:
            self._show(None, f"rendered {rendering.count} objects in {rendering.seconds:.1f} s")
            notes = [*notes, *rendering.warnings]
        result = self._apply(cache, rendering, task_vars)
        result["render"] = rendering.figures()
        if notes:
            result["warnings"] = [*(result.get("warnings") or []), *notes]
        return result

    def _arguments(self) -> dict[str, Any]:
        """The validated options, paths of the controller made absolute."""
        given = [name for name in INTERNAL if name in self._task.args]
        if given:
            raise AnsibleActionFail(f"Failed to read the options: {' and '.join(given)} cannot be set by hand. Remove them.")
        check: Any = self.validate_argument_spec  # ansible-core does not type it
        _validation, arguments = check(argument_spec(), mutually_exclusive=[("parts", "path")], required_one_of=[("parts", "path")])
        if arguments["path"] and not arguments["set"]:
            raise AnsibleActionFail("Failed to read the options: `path` needs `set`. Name the set that the objects belong to.")
        wrong = faults(arguments)
        if wrong:
            raise AnsibleActionFail(f"Failed to read the options: {'; '.join(wrong)}.")
        for name in ("path", "distribution", "remote_bases", "work_dir"):
            if arguments[name]:
                arguments[name] = os.path.normpath(self._loader.path_dwim(arguments[name]))
        if arguments["kustomize_path"] and os.sep in arguments["kustomize_path"]:
            arguments["kustomize_path"] = self._loader.path_dwim(arguments["kustomize_path"])
        return dict(arguments)

    def _request(self, arguments: Mapping[str, Any], cache: Cache) -> Request:
        root = arguments["distribution"] or arguments["path"] or self._loader.get_basedir()
        if arguments["path"]:
            parts = [of_path(arguments["path"])]
        else:
            rows = [_without_empty(row) for row in arguments["parts"]]
            parts = from_options(rows, arguments["distribution"], Trees(cache, arguments["remote_bases"]))
        wrong = unknown_scope(arguments["scope"], [part.component for part in parts], arguments["removed"])
        if wrong:
            raise RenderError(f"Failed to read the options: {'; '.join(wrong)}.")
        if arguments["distribution"] and not os.path.isdir(arguments["distribution"]):
            raise RenderError(
                f"Failed to render: there is no folder {arguments['distribution']}. Set `distribution` to the release's tree."
            )
        return Request(
            parts=parts,
            root=str(root),
            release=plain(arguments["release"]),
            remote_bases=arguments["remote_bases"],
            kustomize_path=arguments["kustomize_path"],
            allow_remote=tuple(arguments["allow_remote"]),
            patch_folder=self._loader.get_basedir(),
            tell=lambda text: self._show(None, text),
        )

    def _validate(self, arguments: Mapping[str, Any], rendering: Rendering, cache: Cache) -> list[str]:
        if not arguments["validate"]:
            return []
        window = (arguments["release"] or {}).get("kubernetes") or {}
        return validate.validate(rendering.path, rendering.digest, cache, window.get("max"))

    def _apply(self, cache: Cache, rendering: Rendering, task_vars: dict[str, Any]) -> dict[str, Any]:
        """Run the module, with live progress where its files can be read from here."""
        if self._connection.transport == "local" and not self._connection.become:
            progress = cache.path("progress", f"{uuid.uuid4().hex}.jsonl")
            progress.touch(mode=0o600)
            try:
                return self._run_module(str(rendering.path), str(progress), task_vars)
            finally:
                with suppress(OSError):
                    progress.unlink()
        shell = self._connection._shell
        if shell.tmpdir is None:
            self._make_tmp_path()
        # ansible-core types only some of its methods. It removes the folder itself when the task ends.
        base: Any = self
        target = shell.join_path(shell.tmpdir, "parts.json.gz")
        self._transfer_file(str(rendering.path), target)
        base._fixup_perms2((shell.tmpdir, target), execute=False)
        return self._run_module(target, None, task_vars)

    def _run_module(self, parts_file: str, progress_file: str | None, task_vars: dict[str, Any]) -> dict[str, Any]:
        arguments = {name: value for name, value in self._task.args.items() if name not in CONTROLLER_ONLY}
        arguments["parts_file"] = parts_file
        if progress_file is not None:
            arguments["progress_file"] = progress_file
        with Follower(progress_file, self._show) if progress_file else nullcontext():
            answer = self._execute_module(module_name=MODULE, module_args=arguments, task_vars=task_vars)
        return dict(answer)

    def _show(self, seconds: float | None, text: str) -> None:
        clock = "" if seconds is None else f"{seconds:6.1f} s  "
        self._display.display(f"[{self._host}] {clock}{fitting(text)}")


def unknown_scope(scope: Sequence[str], components: Sequence[str], removed: Sequence[str]) -> list[str]:
    """A sentence for each name in the scope that no part and no removed component has: it would be about nothing, in silence."""
    known = {*components, *removed}
    return [unknown("component", name, known, "`scope`") for name in scope if name not in known]


def _without_empty(row: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in row.items() if value is not None}
