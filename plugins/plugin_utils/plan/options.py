# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Options of the roles, read from their argument specs and checked with Ansible's own validator."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import yaml
from ansible.module_utils.common.arg_spec import ArgumentSpecValidator
from ansible_collections.kubeflow.platform.plugins.plugin_utils.plan.names import nearest

_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
Spec = Mapping[str, Mapping[str, Any]]


def read_spec(root: Path, role: str) -> Spec:
    """The options of a role's main entry point; empty when it has no specs."""
    path = root / "roles" / role / "meta" / "argument_specs.yml"
    if not path.is_file():
        return {}
    document = yaml.load(path.read_text(encoding="utf-8"), Loader=_Loader) or {}  # noqa: S506 - a safe loader
    options: Spec = document.get("argument_specs", {}).get("main", {}).get("options") or {}
    return options


def findings(specs: Mapping[str, Spec], values: Mapping[str, Any]) -> list[str]:
    """What is wrong with the given values of the roles' options, each with its role. C(values) are templated."""
    found = []
    for role, spec in specs.items():
        given = {name: values[name] for name in spec if name in values}
        checked = ArgumentSpecValidator(dict(spec)).validate(given, validate_role_argument_spec=True)
        secret = [name for name, option in spec.items() if option.get("no_log")]
        for message in checked.error_messages:
            found.append(f"{role}: {_without_values(message, secret, given)}")
    return found


def misspelt(specs: Mapping[str, Spec], names: Iterable[str]) -> list[str]:
    """Variables that look like a misspelt option: they begin like those of a role and are one or two letters off."""
    known = {option for spec in specs.values() for option in spec}
    prefixes = {option.split("_")[0] + "_" for option in known}
    found = []
    for name in sorted(set(names) - known):
        if any(name.startswith(prefix) for prefix in prefixes):
            meant = _one_slip(name, known)
            if meant:
                found.append(f"the variable {name} is not one of this collection's; did you mean {meant}?")
    return found


def _one_slip(name: str, known: set[str]) -> str | None:
    meant = nearest(name, known)
    alike = meant is not None and abs(len(meant) - len(name)) <= 2 and sorted(meant)[:4] == sorted(name)[:4]
    return meant if alike else None


def _without_values(message: str, secret: Iterable[str], given: Mapping[str, Any]) -> str:
    for name in secret:
        value = str(given.get(name, ""))
        if value:
            message = message.replace(value, "********")
    return message
