# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""C(roles/<role>/meta/argument_specs.yml): the options of a role, declared there once with their defaults."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import yaml
from ansible_collections.kubeflow.platform.plugins.plugin_utils.records.problems import Problem

_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
# What Ansible calls a type, as the type that YAML gives. Others cannot be compared with a value in a record.
_TYPES: Mapping[str, type] = {"str": str, "path": str, "bool": bool, "int": int}
Spec = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Option:
    """A variable of a role: C(type) in Ansible's words, the allowed C(choices) if there are only some, and the default."""

    name: str
    role: str
    type: str
    choices: tuple[Any, ...]
    default: Any
    is_secret: bool

    @property
    def is_scalar(self) -> bool:
        """Whether a record can compare it with a value."""
        return self.type in _TYPES

    def refusal(self, value: Any) -> str | None:
        """Why the option can never have this value; None when it can. The value None is that of an option that nobody set."""
        if value is None and self.default is None:
            return None
        kind = _TYPES.get(self.type)
        if kind is None:
            return f"{self.name} is a {self.type}: only texts, numbers and booleans can be compared"
        if self.choices and value not in self.choices:
            return f"{self.name} has no value {value!r} (choices: {', '.join(str(choice) for choice in self.choices)})"
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            return f"{self.name} is of type {self.type}, {value!r} is not"
        return None


def parse_spec(file: str, text: str, problems: list[Problem]) -> Spec:
    """The options of a role's main entry point, as Ansible's validator takes them; empty when there are none."""
    try:
        document = yaml.load(text, Loader=_Loader) or {}  # noqa: S506 - a safe loader
        options: Spec = document["argument_specs"]["main"].get("options") or {}
    except (yaml.YAMLError, KeyError, TypeError, AttributeError) as error:
        problems.append(Problem(file, "", f"not argument specs with the entry point main: {' '.join(str(error).split())}"))
        return {}
    return options


def options_of(role: str, spec: Spec) -> dict[str, Option]:
    """The options of a role by name."""
    return {
        name: Option(
            name=name,
            role=role,
            type=str(option.get("type", "str")),
            choices=tuple(option.get("choices") or ()),
            default=option.get("default"),
            is_secret=bool(option.get("no_log")),
        )
        for name, option in spec.items()
    }
