# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A platform that upstream's loop made is reported first, then taken over without touching a pod; one journey, in the file's order."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Distributions
from tests.integration.site import ROOT, Ran, Site
from tests.testbed.bed.build import binaries
from tests.testbed.fixtures import Bed

LOOP_TIMEOUT = 600.0
PAUSE = 10.0

pytestmark = [pytest.mark.bed, pytest.mark.xdist_group("adoption")]


@pytest.fixture(scope="module", params=["small", pytest.param("26.03.1", marks=[pytest.mark.soak, pytest.mark.distribution])])
def site(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A cluster on which the loop has made the small distribution, in `make soak` the real one too."""
    variables: dict[str, Any] = {"kubeflow_release": "26.03.1"}
    if request.param == "small":
        variables["kubeflow_distribution_source"] = str(ROOT / "tests" / "distribution")
    else:
        real: Distributions = request.getfixturevalue("distributions")
        variables |= {
            "kubeflow_distribution_source": str(real.tree(request.param)),
            "kubeflow_remote_bases": str(real.remote_bases()),
        }
    with Bed.up(tmp_path_factory.mktemp("bed")) as bed:
        made = Site(bed, tmp_path_factory.mktemp("site"), variables)
        loop(made, rendered(made))
        yield made


def rendered(site: Site) -> Path:
    """Upstream's `example`, built from the tree that the collection renders too (its remote bases are vendored)."""
    assert site.run("--check", kubeflow_adopt="allow").result, "the tree could not be prepared"
    trees = [path.parent.parent for path in (site.folder / "work").rglob("example/kustomization.yaml")]
    tree = trees[0] if trees else Path(str(site.variables["kubeflow_distribution_source"]))
    done = subprocess.run(
        [str(binaries(["kustomize-5.8.1"])["kustomize-5.8.1"]), "build", str(tree / "example")], check=True, capture_output=True
    )
    path = site.folder / "example.yaml"
    path.write_bytes(done.stdout)
    return path


def loop(site: Site, manifests: Path) -> None:
    """Upstream's way to install, until it succeeds."""
    until = time.monotonic() + LOOP_TIMEOUT
    while site.bed.kubectl("apply", "--server-side", "--force-conflicts", "-f", manifests, check=False, timeout=600).returncode != 0:
        assert time.monotonic() < until, "upstream's loop did not succeed in time"
        time.sleep(PAUSE)


def workloads(site: Site) -> dict[str, tuple[int, str]]:
    """Generation and uid of everything that makes pods: a changed pod template would move a generation."""
    items = site.bed.get("deployment,statefulset,daemonset,replicaset", "-A")["items"]
    return {
        f"{row['kind']} {row['metadata']['namespace']}/{row['metadata']['name']}": (row["metadata"]["generation"], row["metadata"]["uid"])
        for row in items
    }


@pytest.fixture(scope="module")
def reported(site: Site) -> Ran:
    """A run that was not told to adopt anything."""
    return site.run()


@pytest.fixture(scope="module")
def adopted(site: Site, reported: Ran) -> tuple[dict[str, tuple[int, str]], Ran]:
    """The workloads before, and the run that adopts."""
    return workloads(site), site.run(kubeflow_adopt="allow")


def test_run_reports_and_writes_nothing_when_another_tool_applied_the_objects(site: Site, reported: Ran) -> None:
    assert reported.failed == 1
    assert "were applied by another tool" in reported.output
    assert "adopt: allow" in reported.output
    ours = [row for row in site.bed.audit().by(agent="kubeflow.platform").writes() if "kubeflow-platform" not in (row.namespace, row.name)]
    assert ours == []


def test_objects_are_adopted_and_no_pod_template_changes_when_adoption_is_allowed(
    site: Site, adopted: tuple[dict[str, tuple[int, str]], Ran]
) -> None:
    before, ran = adopted
    assert (ran.code, ran.failed) == (0, 0), ran.output
    # "configure" where the other tool had sent something that we leave to controllers, such as empty rules or data.
    assert set(ran.result["counts"]) <= {"adopt", "configure", "unchanged"}
    configured = [name for name, action in ran.actions().items() if action == "configure"]
    assert not [name for name in configured if name.split()[0] in ("Deployment", "StatefulSet", "DaemonSet")], configured
    assert workloads(site) == before


def test_next_run_changes_nothing(site: Site, adopted: tuple[dict[str, tuple[int, str]], Ran]) -> None:
    again = site.run()
    assert (again.code, again.changed) == (0, 0), again.output
    assert set(again.result["counts"]) == {"unchanged"}
