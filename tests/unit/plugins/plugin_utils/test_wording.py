# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Options are named as the user set them, and the table holds what the roles pass on."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible_collections.kubeflow.platform.plugins.plugin_utils.wording import DISTRIBUTION, PLATFORM, translated, variables

ROOT = Path(__file__).parents[4]
ROLES = pytest.mark.parametrize(
    ("role", "known"), [("kubeflow", {"ansible_role_name": PLATFORM}), ("distribution", {"ansible_role_name": DISTRIBUTION})]
)
INSIDE = {"ansible_role_name": DISTRIBUTION, "ansible_parent_role_names": [PLATFORM]}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("set `prune: delete` to delete it", "set `kubeflow_prune: delete` to delete it"),
        ("Add Deployment to `recreate` to", "Add Deployment to `kubeflow_recreate` to"),
        ("(`scope: [istio]`), or leave `scope` empty", "(`kubeflow_only: [istio]`), or leave `kubeflow_only` empty"),
        ("components_added: there is no x", "kubeflow_components_added: there is no x"),
        ("2 mistakes:\n  only: a\n  release: b", "2 mistakes:\n  kubeflow_only: a\n  kubeflow_release: b"),
        ("prune it with `kubectl delete`, or `git`", "prune it with `kubectl delete`, or `git`"),
        ("the context: none", "the context: none"),
        ("`kubeflow_prune: delete`", "`kubeflow_prune: delete`"),
    ],
)
def test_options_become_variables_when_the_platforms_role_asks(text: str, expected: str) -> None:
    assert translated(text, variables({"ansible_role_name": PLATFORM})) == expected


def test_all_texts_of_a_result_are_translated_and_nothing_else() -> None:
    table = variables({"ansible_role_name": PLATFORM})
    result = {"prune": [{"reason": "`prune: delete`", "count": 3}], "more": ("`adopt`", None)}
    assert translated(result, table) == {"prune": [{"reason": "`kubeflow_prune: delete`", "count": 3}], "more": ["`kubeflow_adopt`", None]}


@pytest.mark.parametrize("known", [None, {}, {"ansible_role_name": "my.own.role"}])
def test_options_stay_options_in_a_task_of_the_users_own(known: dict[str, Any] | None) -> None:
    assert translated("set `prune: delete`", variables(known)) == "set `prune: delete`"


def test_the_distributions_role_has_variables_of_its_own_unless_the_platforms_includes_it() -> None:
    alone, inside = variables({"ansible_role_name": DISTRIBUTION}), variables(INSIDE)
    assert translated("`source`, `proxy`, `ca_cert`", alone) == "`distribution_source`, `distribution_proxy`, `distribution_ca_cert`"
    assert translated("`source`, `proxy`", inside) == "`kubeflow_distribution_source`, `distribution_proxy`"


@ROLES
def test_every_option_that_a_role_passes_on_is_in_the_table(role: str, known: dict[str, Any]) -> None:
    tasks = (ROOT / "roles" / role / "tasks" / "main.yml").read_text(encoding="utf-8")
    passed = re.findall(rf"^\s+(\w+): \"{{{{ ({role}_\w+)", tasks, re.MULTILINE)
    wanted = {option: name for option, name in passed if not option.startswith("distribution_")}
    assert wanted and wanted.items() <= dict(variables(known)).items()


@ROLES
def test_every_variable_in_the_table_is_one_of_the_roles(role: str, known: dict[str, Any]) -> None:
    spec = yaml.safe_load((ROOT / "roles" / role / "meta" / "argument_specs.yml").read_text(encoding="utf-8"))
    assert set(variables(known).values()) <= set(spec["argument_specs"]["main"]["options"])
