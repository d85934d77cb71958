# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The benchmark's judge, and upstream's loop on the small distribution: the one tells when the other is done."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
import yaml

from tests.bench import audit
from tests.bench.cluster import Cluster
from tests.bench.meter import measure
from tests.bench.ready import Judge
from tests.bench.ways import LOOP, ROOT
from tests.testbed.bed.build import binaries
from tests.testbed.fixtures import Bed

TREE = ROOT / "tests" / "distribution"

pytestmark = pytest.mark.bed


def judge_of(bed: Bed) -> Judge:
    rendered = bed.run(binaries(["kustomize-5.8.1"])["kustomize-5.8.1"], "build", TREE / "example").stdout
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return Judge(Cluster(bed.kubeconfig), [thing for thing in yaml.load_all(rendered, loader) if thing])


def until(judge: Judge, text: str) -> None:
    deadline = time.monotonic() + 30
    while text not in judge.look().text():
        assert time.monotonic() < deadline, judge.look().text()
        time.sleep(0.3)


def test_upstreams_loop_installs_the_small_distribution_and_the_judge_tells_when_it_stands(bed: Bed) -> None:
    bed.fault("webhooks", "late", 3)
    judge = judge_of(bed)
    assert not judge.look().ready
    end = audit.size(bed.folder / "audit.log")

    programs = {name: str(binaries([full])[full]) for name, full in (("KUSTOMIZE", "kustomize-5.8.1"), ("KUBECTL", "kubectl"))}
    environment = {**bed.environment, **programs, "TREE": str(TREE)}
    log = bed.folder / "loop.log"
    cost = measure(["/bin/sh", "-c", LOOP.replace("sleep 20", "sleep 2")], environment, log, ROOT)
    judge.wait(60)

    assert cost.code == 0
    assert 0 < cost.cpu < cost.wall * (os.cpu_count() or 1)
    assert cost.largest > 20
    text = log.read_text(encoding="utf-8")
    assert "no matches for kind" in text, "the loop is expected to fail at first"
    counted = audit.requests(bed.folder / "audit.log", end)
    assert counted["PATCH"] > 305
    assert set(counted) <= {"PATCH", "GET", "LIST", "POST", "discovery"}

    _nothing_stands_without_a_webhook(bed, judge)
    _nothing_stands_without_a_pod(bed, judge)


def _nothing_stands_without_a_webhook(bed: Bed, judge: Judge) -> None:
    bed.fault("kubeflow/katib-controller", "down")
    until(judge, "mutating katib.kubeflow.org: mutator.pod.katib.kubeflow.org does not answer")
    bed.clear_faults()
    judge.wait(30)


def _nothing_stands_without_a_pod(bed: Bed, judge: Judge) -> None:
    bed.kubectl("delete", "configmap", "katib-config", "--namespace", "kubeflow")
    until(judge, "ConfigMap kubeflow/katib-config does not exist")
    bed.kubectl("set", "image", "deployment/katib-ui", "katib-ui=registry.example.com/none", "--namespace", "kubeflow")
    bed.kubectl(
        "patch", "deployment", "katib-ui", "--namespace", "kubeflow", "--patch", '{"spec": {"template": {"spec": {"nodeName": "none"}}}}'
    )
    until(judge, "deployment kubeflow/katib-ui is not ready")


def test_costs_count_what_a_command_starts(tmp_path: Path) -> None:
    script = "python3 -c 'import time; x = bytearray(200_000_000); sum(range(3_000_000)); time.sleep(1)' & wait; sleep 0.5"
    cost = measure(["/bin/sh", "-c", script], os.environ, tmp_path / "log", tmp_path)
    assert cost.code == 0
    assert cost.wall > 0.5
    assert cost.cpu > 0.05
    assert cost.largest > 190
    assert cost.programs["sh"] < 50 < cost.programs["-c"]
