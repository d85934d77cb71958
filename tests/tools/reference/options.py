# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the files of a role say about it, read as they stand: argument specs, record, and the names of the releases."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from ansible_collections.kubeflow.platform.plugins.plugin_utils.records.model import LAYERS
from ansible_collections.kubeflow.platform.plugins.plugin_utils.records.version import numbers


@dataclass(frozen=True, slots=True)
class Option:
    """A variable or one of its keys; C(name) of a key is dotted, with C([]) after a list."""

    name: str
    spec: Mapping[str, Any]

    @property
    def sentences(self) -> list[str]:
        """What it is, one sentence each, in Ansible's markup."""
        return listed(self.spec.get("description"))

    @property
    def kind(self) -> str:
        """Its type in words."""
        return f"list of {self.spec['elements']}" if self.spec.get("elements") else str(self.spec.get("type", "str"))

    @property
    def choices(self) -> list[str]:
        """The allowed values."""
        return [literal(choice) for choice in self.spec.get("choices") or []]

    @property
    def default(self) -> str | None:
        """The default as one would write it in YAML, None when there is none."""
        return literal(self.spec["default"]) if "default" in self.spec else None

    @property
    def required(self) -> bool:
        """Whether it has to be given."""
        return bool(self.spec.get("required"))

    @property
    def keys(self) -> list[Option]:
        """The keys of a mapping, or of each mapping of a list."""
        prefix = f"{self.name}[]" if self.spec.get("type") == "list" else self.name
        return [Option(f"{prefix}.{key}", spec) for key, spec in (self.spec.get("options") or {}).items()]

    def with_keys(self) -> Iterator[Option]:
        """This one and everything below it."""
        yield self
        for key in self.keys:
            yield from key.with_keys()


@dataclass(frozen=True, slots=True)
class Role:
    """A role; C(record) is empty for one that is no component."""

    name: str
    spec: Mapping[str, Any]
    record: Mapping[str, Any]

    @property
    def title(self) -> str:
        """What people call it."""
        return str(self.record.get("title") or self.name)

    @property
    def options(self) -> list[Option]:
        """Its variables, in the order of the specs."""
        return [Option(name, spec) for name, spec in (self.spec.get("options") or {}).items()]

    def limits(self, option: str) -> list[str]:
        """Where the record says that an option, or one of its values, exists only in some releases."""
        found = []
        for row in self.record.get("options") or []:
            if row["name"] == option and "follows" not in row:
                what = f"V({literal(row['value'])})" if "value" in row else "The variable exists"
                found.append(f"{what} only{span(row)}: {row['because']}.")
        return found


def roles(root: Path) -> dict[str, Role]:
    """All roles: those around the platform first, then the components by layer."""
    found = [_role(path.parents[1]) for path in sorted(root.glob("roles/*/meta/argument_specs.yml"))]
    rank = {"kubeflow": -2, "distribution": -1}

    def place(role: Role) -> tuple[int, str]:
        layer = role.record.get("layer")
        return (LAYERS.index(layer) + 1 if layer in LAYERS else rank.get(role.name, 0), role.name)

    return {role.name: role for role in sorted(found, key=place)}


def _role(folder: Path) -> Role:
    specs = _read(folder / "meta" / "argument_specs.yml")
    record = folder / "meta" / "component.yml"
    return Role(folder.name, specs["argument_specs"]["main"], _read(record) if record.exists() else {})


def releases(root: Path) -> list[str]:
    """Names of the known releases, oldest first."""
    return sorted((path.stem for path in root.glob("releases/*.yml")), key=numbers)


def shared_by_components(found: Mapping[str, Role]) -> dict[str, Option]:
    """Variables that every component has, by the rest of their name; texts speak of "the component"."""
    components = [role for role in found.values() if role.record]
    by_rest: dict[str, list[Option]] = {}
    for role in components:
        for option in role.options:
            by_rest.setdefault(option.name.removeprefix(f"{role.name}_"), []).append(_of_no_role(option, role))
    return {
        rest: options[0] for rest, options in by_rest.items() if len(options) == len(components) and all(o == options[0] for o in options)
    }


def _of_no_role(option: Option, role: Role) -> Option:
    def without(value: Any) -> Any:
        if isinstance(value, str):
            text = re.sub(rf"\b{role.name}_", "<role>_", value)
            return re.sub(rf"\b{re.escape(role.title)}(?!\w)", "the component", text)
        if isinstance(value, Mapping):
            return {key: without(item) for key, item in value.items()}
        return [without(item) for item in value] if isinstance(value, list) else value

    return Option(without(option.name), without(option.spec))


def literal(value: Any) -> str:
    """A value as one would write it in YAML on one line."""
    return value if isinstance(value, str) and value else json.dumps(value, ensure_ascii=False)


def span(row: Mapping[str, Any]) -> str:
    """The releases for which an entry of a record counts in words, with a space before them; "" when it counts for all."""
    since = f" from {row['since']} on" if row.get("since") else ""
    return since + (f" before {row['until']}" if row.get("until") else "")


def listed(value: Any) -> list[str]:
    """A text or a list of texts as a list."""
    return [value] if isinstance(value, str) else [str(item) for item in value or []]


def _read(path: Path) -> dict[str, Any]:
    return dict(yaml.safe_load(path.read_text(encoding="utf-8")) or {})
