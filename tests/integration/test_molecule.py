# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The Molecule scenarios on test beds: with the real distribution where there is one, else with the small one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.conftest import Distributions
from tests.testbed.bed.build import binaries
from tests.testbed.fixtures import Bed

CHECKOUT = Path(__file__).resolve().parent.parent.parent
SCENARIOS = sorted(path.parent.name for path in CHECKOUT.glob("molecule/*/molecule.yml"))
# The others take their time, and come with `make soak`.
ALWAYS = {"default", "component"}
# What they install is in the real distribution only.
REAL = {"ambient", "optional"}
RELEASE = "26.03.1"


def settings(scenario: str, distributions: Distributions) -> dict[str, str]:
    """The variables of molecule/README.md for a test bed."""
    variables = {"kubeflow_kustomize_path": str(binaries(["kustomize-5.8.1"])["kustomize-5.8.1"])}
    tree = CHECKOUT / "tests" / "distribution"
    if distributions.folder is not None or scenario in REAL:
        tree = distributions.tree(RELEASE)
        variables["kubeflow_remote_bases"] = str(distributions.remote_bases())
    return {"MOLECULE_RELEASE": RELEASE, "MOLECULE_DISTRIBUTION": str(tree), "MOLECULE_VARIABLES": json.dumps(variables), "NO_COLOR": "1"}


@pytest.mark.parametrize("scenario", [pytest.param(name, marks=[] if name in ALWAYS else [pytest.mark.soak]) for name in SCENARIOS])
def test_scenario_converges_and_changes_nothing_the_second_time(scenario: str, bed: Bed, distributions: Distributions) -> None:
    words = [f"{name}={value}" for name, value in settings(scenario, distributions).items()]
    done = bed.run("env", "--chdir", CHECKOUT, *words, "molecule", "test", "--scenario-name", scenario, timeout=1200, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_scenario_is_told_of() -> None:
    page = (CHECKOUT / "molecule" / "README.md").read_text(encoding="utf-8")
    assert [name for name in SCENARIOS if f"| `{name}` |" not in page] == []
