# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest
from ansible_collections.kubeflow.platform.plugins.plugin_utils.report.situation import Situation


def playbook(**known):
    return Situation("demo", **known).playbook("plan")


def test_the_command_names_the_inventories_of_the_run():
    assert playbook(inventories=("inventory/demo", "more")) == (
        "ansible-playbook kubeflow.platform.plan -i inventory/demo -i more --limit demo"
    )


def test_the_command_needs_no_inventory_when_the_configuration_names_it():
    assert playbook(inventories=()) == "ansible-playbook kubeflow.platform.plan --limit demo"


def test_the_command_has_a_placeholder_only_when_nothing_is_known():
    assert playbook() == "ansible-playbook kubeflow.platform.plan -i INVENTORY --limit demo"


def test_the_command_begins_as_the_checkout_demands():
    assert playbook(inventories=(), launcher="tests/tools/run").startswith("tests/tools/run ansible-playbook ")


@pytest.mark.parametrize(
    ("value", "words"),
    [("/bin/kustomize", "-e a=/bin/kustomize"), ("two words", """-e '{"a": "two words"}'"""), (["katib"], """-e '{"a": ["katib"]}'""")],
)
def test_the_command_repeats_the_variables_of_the_command_line(value, words):
    assert playbook(inventories=(), extra={"a": value}).endswith(f"--limit demo {words}")


def test_kubectl_is_quoted_but_for_a_tilde():
    assert Situation("h", kubeconfig="~/.kube/config").kubectl() == "kubectl --kubeconfig ~/.kube/config"
    assert Situation("h", kubeconfig="/a b", context="x y", program="/c/kubectl").kubectl() == (
        "/c/kubectl --kubeconfig '/a b' --context 'x y'"
    )
