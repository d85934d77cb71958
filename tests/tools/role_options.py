# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes what every component's role has in common: its last options, and the defaults of all of them.

    tests/tools/run python tests/tools/role_options.py

`ansible-doc -t role` reads a role's own argument specs and nothing else, so each has a copy; a unit test calls `common`, `specs` and
`defaults` and compares.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[2]
MARK = "      # common options: written by tests/tools/role_options.py\n"
DEFAULTS = """---
# Written by tests/tools/role_options.py. What each variable means: meta/argument_specs.yml, or
# `ansible-doc -t role kubeflow.platform.{role}`
"""


def components(root: Path) -> list[str]:
    """Names of the components' roles."""
    return sorted(path.parents[1].name for path in root.glob("roles/*/meta/component.yml"))


def common(root: Path, role: str) -> str:
    """The options that every component has, as lines of its argument specs."""
    title = yaml.safe_load((root / "roles" / role / "meta" / "component.yml").read_text(encoding="utf-8"))["title"]
    text = (root / "tests" / "tools" / "common_options.txt").read_text(encoding="utf-8")
    return text.replace("ROLE", role).replace("TITLE", title)


def specs(root: Path, role: str) -> str:
    """The role's argument specs, its own options first and the common ones behind them."""
    text = (root / "roles" / role / "meta" / "argument_specs.yml").read_text(encoding="utf-8")
    own = text.partition(MARK)[0]
    if own.endswith("    options: {}\n"):
        own = own.removesuffix(" {}\n") + "\n"
    return own + MARK + common(root, role)


def defaults(spec: str, role: str) -> str:
    """The role's defaults/main.yml for its argument specs."""
    options = yaml.safe_load(spec)["argument_specs"]["main"]["options"]
    rows: dict[str, Any] = {name: option["default"] for name, option in options.items() if "default" in option}
    return DEFAULTS.format(role=role) + yaml.safe_dump(rows, sort_keys=False, width=120)


def main() -> None:
    """Write them all."""
    for role in components(ROOT):
        folder = ROOT / "roles" / role
        text = specs(ROOT, role)
        (folder / "meta" / "argument_specs.yml").write_text(text, encoding="utf-8")
        (folder / "defaults").mkdir(exist_ok=True)
        (folder / "defaults" / "main.yml").write_text(defaults(text, role), encoding="utf-8")


if __name__ == "__main__":
    main()
