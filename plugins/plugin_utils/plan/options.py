# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Values of the roles' options, checked with Ansible's own validator."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ansible.module_utils.common.arg_spec import ArgumentSpecValidator
from ansible_collections.kubeflow.platform.plugins.plugin_utils.plan.names import nearest
from ansible_collections.kubeflow.platform.plugins.plugin_utils.records.option import Spec


def typed(specs: Mapping[str, Spec], values: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """The given values (templated) as their types say, and what is wrong with them, each with its role.

    Of a role with a wrong value none is given: what else is wrong with the choice can then be told in the same run.
    """
    found: list[str] = []
    right: dict[str, Any] = {}
    for role, spec in specs.items():
        given = {name: values[name] for name in spec if name in values}
        if not given:
            continue
        checked = ArgumentSpecValidator(dict(spec)).validate(given, validate_role_argument_spec=True)
        if checked.error_messages:
            secret = [name for name, option in spec.items() if option.get("no_log")]
            found.extend(f"{role}: {_without_values(message, secret, given)}" for message in checked.error_messages)
        else:
            right |= {name: checked.validated_parameters[name] for name in given}
    return right, found


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
    # Comparing letters is slow, and a host may have hundreds of variables.
    meant = nearest(name, {other for other in known if abs(len(other) - len(name)) <= 2 and other[:2] == name[:2]})
    return meant if meant is not None and sorted(meant)[:4] == sorted(name)[:4] else None


def _without_values(message: str, secret: Iterable[str], given: Mapping[str, Any]) -> str:
    for name in secret:
        value = str(given.get(name, ""))
        if value:
            message = message.replace(value, "********")
    return message
