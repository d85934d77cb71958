# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A platform in steps: infrastructure, applications, one component, a role. One journey on one cluster, in the order of the file."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest

from tests.integration.site import ROOT, Ran, Site
from tests.testbed.fixtures import Bed

OURS = "kubeflow.platform"
HOME = "kubeflow-platform"
ROLE = """
- name: Update Katib by its role
  hosts: kubeflow
  gather_facts: false
  tasks:
    - name: Katib
      ansible.builtin.include_role:
        name: kubeflow.platform.katib
"""
# What a prune keeps: it holds what cannot be made again.
PROTECTED = {"CustomResourceDefinition", "Namespace", "PersistentVolumeClaim", "Profile"}
TWO_REPLICAS = [{"target": {"kind": "Deployment", "name": "katib-ui"}, "patch": [{"op": "add", "path": "/spec/replicas", "value": 2}]}]

pytestmark = [pytest.mark.bed, pytest.mark.xdist_group("component")]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A fresh cluster with late webhooks, so that a run takes its time, and the small distribution."""
    work = tmp_path_factory.mktemp("work")
    variables = {
        "kubeflow_release": "26.03.1",
        "kubeflow_distribution_source": str(ROOT / "tests" / "distribution"),
        "kubeflow_work_dir": str(work),
    }
    with Bed.up(tmp_path_factory.mktemp("bed"), fault={"webhooks": "late:10"}) as bed:
        yield Site(bed, tmp_path_factory.mktemp("site"), variables)


def written(site: Site, since: int) -> list[Any]:
    """Our persisted writes outside our own namespace since a point of the audit log."""
    return [row for row in site.bed.audit(since).by(agent=OURS).writes() if row.namespace != HOME and row.name != HOME]


def test_a_component_without_what_it_requires_is_refused_and_nothing_is_written(site: Site) -> None:
    ran = site.run("-e", "component=katib", playbook="component")
    assert ran.failed == 1
    assert "katib/katib requires" in ran.output and "CustomResourceDefinition" in ran.output, ran.output
    assert "Install " in ran.output and "cert_manager" in ran.output, ran.output
    assert site.bed.audit().by(agent=OURS).writes() == []


@pytest.mark.parametrize(("component", "told"), [("", "Say which component"), ("kativ", "did you mean 'katib'?")])
def test_a_component_that_is_not_named_or_unknown_is_told(site: Site, component: str, told: str) -> None:
    ran = site.run("-e", f"component={component}", playbook="component")
    assert ran.failed == 1 and told in ran.output, ran.output


def test_a_wrong_check_is_told_before_anything_is_written(site: Site) -> None:
    ran = site.run(kubeflow_checks=[{"kind": "Pod", "expression": "status.[", "message": "x"}])
    assert ran.failed == 1
    assert "kubeflow_checks, entry 1: `expression`: 'status.[' is no JMESPath expression" in ran.output
    assert site.bed.audit().by(agent=OURS).writes() == []


@pytest.fixture(scope="module")
def halves(site: Site, tmp_path_factory: pytest.TempPathFactory) -> tuple[Ran, Ran]:
    """The infrastructure's installation, and a run that began while it was under way."""
    first: list[Ran] = []
    thread = threading.Thread(target=lambda: first.append(site.run(playbook="infrastructure")))
    thread.start()
    until(lambda: site.bed.kubectl("get", "lease", "apply-kubeflow", "-n", HOME, check=False).returncode == 0)
    other = Site(site.bed, tmp_path_factory.mktemp("other"), site.variables)
    second = other.run(playbook="infrastructure", kubeflow_lease_timeout=3)
    thread.join()
    return first[0], second


def until(holds: Any) -> None:
    """Wait for the other run to have begun."""
    pause = threading.Event()
    for _attempt in range(600):
        if holds():
            return
        pause.wait(0.2)
    pytest.fail("the first run did not begin")


def test_a_second_run_waits_names_the_first_one_and_fails(halves: tuple[Ran, Ran]) -> None:
    first, second = halves
    assert (first.code, first.failed) == (0, 0), first.output
    assert second.failed == 1
    assert "waiting up to 3 s for another run of the set kubeflow to end: " in second.output
    assert "another run of the set kubeflow is under way (" in second.output


def test_infrastructure_comes_alone(site: Site, halves: tuple[Ran, Ran]) -> None:
    components = set(halves[0].result["components"])
    assert components == {"cert_manager", "istio", "kubeflow_namespace", "oauth2_proxy", "dex", "knative"}
    assert site.run(playbook="infrastructure").changed == 0


def test_applications_follow_and_leave_the_infrastructure_alone(site: Site, halves: tuple[Ran, Ran]) -> None:
    before = site.bed.audit().end
    ran = site.run(playbook="applications")
    assert (ran.code, ran.failed) == (0, 0), ran.output
    assert not {"cert_manager", "istio", "dex"} & set(ran.result["components"])
    assert {row.namespace for row in written(site, before)} & {"cert-manager", "auth"} == set()


def test_both_halves_are_the_whole(site: Site) -> None:
    before = site.bed.audit().end
    ran = site.run()
    assert (ran.failed, ran.changed) == (0, 0), ran.output
    assert written(site, before) == []


def test_one_component_is_updated_by_an_option_that_changed_and_nothing_else_is_touched(site: Site) -> None:
    before = site.bed.audit().end
    ran = site.run("-e", "component=katib", playbook="component", katib_patches=TWO_REPLICAS)
    assert (ran.code, ran.changed) == (0, 1), ran.output
    assert ran.actions() == {"Deployment kubeflow/katib-ui": "configure"}
    assert {row.name for row in written(site, before)} == {"katib-ui"}
    assert list(ran.result["components"]) == ["katib"]


def test_the_role_of_a_component_does_what_the_playbook_does(site: Site) -> None:
    ran = site.play(ROLE, katib_patches=TWO_REPLICAS)
    assert (ran.failed, ran.changed) == (0, 0), ran.output
    ran = site.play(ROLE)
    assert ran.actions() == {"Deployment kubeflow/katib-ui": "configure"}, ran.output


def test_a_check_that_does_not_hold_fails_the_run_and_names_the_object(site: Site) -> None:
    check = {"kind": "Deployment", "group": "apps", "namespace": "kubeflow", "name": "katib-ui", "message": "there is no spare"}
    right = {**check, "expression": "spec.replicas >= `1`", "component": "katib"}
    ran = site.run("-e", "component=katib", playbook="component", kubeflow_checks=[right])
    assert ran.code == 0, ran.output
    assert [(row["name"], row["state"]) for row in ran.result["checks"]] == [("katib-ui", "passed")]
    wrong = {**check, "expression": "spec.replicas >= `3`"}
    ran = site.run("-e", "component=katib", playbook="component", kubeflow_checks=[wrong], kubeflow_run_timeout=25)
    assert ran.failed == 1
    assert "A check of Deployment kubeflow/katib-ui does not hold: there is no spare" in ran.output


def test_taking_a_component_out_is_told_first_and_deletes_nothing(site: Site) -> None:
    before = site.bed.audit().end
    ran = site.run(kubeflow_components_removed=["katib"])
    assert (ran.code, ran.failed) == (0, 0), ran.output
    assert [row for row in written(site, before) if row.verb == "delete"] == []
    assert "katib" in ran.output


def test_it_is_a_prune_of_that_component_only_and_protected_kinds_stay(site: Site) -> None:
    before = site.bed.audit().end
    ran = site.run(kubeflow_components_removed=["katib"], kubeflow_prune="delete")
    assert (ran.code, ran.failed) == (0, 0), ran.output
    rows = [row for row in ran.result["actions"] if row["action"] in ("prune", "keep")]
    assert rows and {row["component"] for row in rows} == {"katib"}
    pruned = {row["kind"] for row in rows if row["action"] == "prune"}
    kept = {row["kind"] for row in rows if row["action"] == "keep"}
    assert "Deployment" in pruned and not pruned & PROTECTED
    assert kept and kept <= PROTECTED | {"Secret"}
    names = {(row["kind"], row["name"]) for row in rows if row["action"] == "prune"}
    changed = written(site, before)
    assert {row.verb for row in changed} == {"delete"}
    assert len(changed) == len(names)


def test_afterwards_the_platform_without_it_is_at_rest(site: Site) -> None:
    before = site.bed.audit().end
    ran = site.run(kubeflow_components_removed=["katib"], kubeflow_prune="delete")
    assert (ran.failed, ran.changed) == (0, 0), ran.output
    assert written(site, before) == []
