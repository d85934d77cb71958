# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible_collections.kubeflow.platform.plugins.plugin_utils.records.library import load

from tests.tools.role_options import defaults, specs

ROOT = Path(__file__).parents[3]
LIBRARY = load(ROOT)
ROLES = sorted(path.parents[1].name for path in ROOT.glob("roles/*/meta/argument_specs.yml"))


def document(role: str, *parts: str) -> Any:
    path = ROOT.joinpath("roles", role, *parts)
    return (yaml.safe_load(path.read_text(encoding="utf-8")) if path.exists() else None) or {}


def options(role: str) -> dict[str, Any]:
    return document(role, "meta", "argument_specs.yml")["argument_specs"]["main"].get("options") or {}


@pytest.mark.parametrize("role", ROLES)
def test_defaults_repeat_the_defaults_of_the_argument_specs(role):
    assert document(role, "defaults", "main.yml") == {
        name: option["default"] for name, option in options(role).items() if "default" in option
    }


@pytest.mark.parametrize("role", ROLES)
def test_every_variable_begins_with_the_name_of_its_role_and_is_described(role):
    for name, option in options(role).items():
        assert name.startswith(f"{role}_")
        assert option["type"] and option["description"]
        assert option["type"] != "list" or option["elements"]


@pytest.mark.parametrize("role", LIBRARY.components)
def test_a_component_role_is_the_platform_role_with_itself_as_scope(role):
    (task,) = document(role, "tasks", "main.yml")
    assert task["ansible.builtin.include_role"] == {"name": "kubeflow.platform.kubeflow"}
    assert task["vars"] == {"kubeflow_only": [role]}


@pytest.mark.parametrize("role", LIBRARY.components)
def test_a_component_role_has_the_options_that_all_have(role):
    written = (ROOT / "roles" / role / "meta" / "argument_specs.yml").read_text(encoding="utf-8")
    assert written == specs(ROOT, role), "run tests/tools/role_options.py"
    assert (ROOT / "roles" / role / "defaults" / "main.yml").read_text(encoding="utf-8") == defaults(written, role)


def test_the_platform_role_uses_every_variable_that_it_declares():
    used = set(re.findall(r"(?<![\w.])kubeflow_[a-z_]+", (ROOT / "roles/kubeflow/tasks/main.yml").read_text(encoding="utf-8")))
    used -= {"kubeflow_plan", "kubeflow_report"}  # actions
    used |= {"kubeflow_checks", "kubeflow_initial_user_email", "kubeflow_secure_cookies"}  # what the planner reads for itself
    assert used == set(options("kubeflow"))


def test_every_example_inventory_uses_known_variables_only():
    known = {name for role in ROLES for name in options(role)}
    for path in ROOT.glob("inventory/*/group_vars/kubeflow.yml"):
        text = path.read_text(encoding="utf-8")
        named = set(yaml.safe_load(text)) | set(re.findall(r"^# (kubeflow_\w+):", text, flags=re.MULTILINE))
        assert {name for name in named if not name.startswith("ansible_")} <= known, path


def test_stages_are_the_only_tags():
    stages = {"preflight", "plan", "apply", "tenants", "verify"}
    for path in ROOT.glob("roles/*/tasks/*.yml"):
        tags = re.findall(r"tags: \[([^\]]*)\]", path.read_text(encoding="utf-8"))
        assert {tag.strip() for group in tags for tag in group.split(",")} <= stages, path
