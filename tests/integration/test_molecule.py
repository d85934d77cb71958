"""The Molecule scenarios: check, converge, idempotence and verify on a test bed."""

from __future__ import annotations

from pathlib import Path

from tests.testbed.bed.build import binaries
from tests.testbed.fixtures import Bed

CHECKOUT = Path(__file__).resolve().parent.parent.parent


def test_the_default_scenario_converges_and_changes_nothing_the_second_time(bed: Bed) -> None:
    kustomize = binaries(["kustomize-5.8.1"])["kustomize-5.8.1"]
    settings = ["--chdir", CHECKOUT, f"KUBEFLOW_KUSTOMIZE={kustomize}", "NO_COLOR=1"]
    done = bed.run("env", *settings, "molecule", "test", "--scenario-name", "default", timeout=900, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
