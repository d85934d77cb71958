# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Controller side of C(distribution): everything happens on the controller, the host is never touched."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase
from ansible_collections.kubeflow.platform.plugins.module_utils.objects.redaction import Redactor
from ansible_collections.kubeflow.platform.plugins.plugin_utils.distribution import fetch, source
from ansible_collections.kubeflow.platform.plugins.plugin_utils.distribution.access import Access
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.cache import Cache
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.errors import RenderError
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.parts import plain
from ansible_collections.kubeflow.platform.plugins.plugin_utils.wording import translated, variables

ARGUMENTS = {
    "source": {"type": "raw"},
    "release": {"type": "dict", "default": {}},
    "remote_bases": {"type": "path"},
    "work_dir": {"type": "path"},
    "proxy": {"type": "str"},
    "ca_cert": {"type": "path"},
    "username": {"type": "str"},
    "password": {"type": "str", "no_log": True},
    "fetch_timeout": {"type": "int", "default": 600},
}


class ActionModule(ActionBase):
    """Fetches on the controller; filling its cache is no change of a host and so allowed in check mode."""

    TRANSFERS_FILES = False
    _requires_connection = False
    _supports_check_mode = True
    _supports_async = False

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Return the folder of the distribution."""
        result: dict[str, Any] = super().run(tmp, task_vars)
        check: Any = self.validate_argument_spec  # ansible-core does not type it
        _validation, arguments = check(ARGUMENTS, required_by={"username": "password"})
        access = Access(
            arguments["proxy"],
            self._absolute(arguments["ca_cert"]),
            arguments["username"],
            arguments["password"],
            float(arguments["fetch_timeout"]),
        )
        try:
            cache = Cache(Path(self._absolute(arguments["work_dir"]) or "") if arguments["work_dir"] else None)
            wanted = source.read(plain(arguments["source"]), plain(arguments["release"]), lambda path: self._absolute(path) or path)
            found = fetch.fetch(cache, wanted, access, self._absolute(arguments["remote_bases"]))
        except RenderError as error:
            # Addresses can hold a token of their own.
            raise AnsibleActionFail(translated(Redactor().text(str(error)), variables(task_vars))) from None
        result.update(
            changed=found.changed,
            path=found.path,
            fingerprint=found.fingerprint,
            source=Redactor().text(found.origin),
            commit=found.commit,
            unresolved=list(found.unresolved),
        )
        if found.warnings:
            result["warnings"] = translated(found.warnings, variables(task_vars))
        return result

    def _absolute(self, path: str | None) -> str | None:
        return os.path.normpath(self._loader.path_dwim(os.path.expanduser(path))) if path else None
