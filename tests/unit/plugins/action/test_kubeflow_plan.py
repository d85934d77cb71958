# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The two actions of the platform role, run by ansible-playbook as a user would run them; no cluster is there."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest
import yaml

from tests.tools.reference.files import ROOT

DEMO = ROOT / "tests" / "distribution"


@pytest.fixture
def play(tmp_path):
    """Runs tasks on a host `one`, with variables; gives the exit code and everything that was printed."""

    def run(tasks: list[dict], **variables: object) -> tuple[int, str]:
        book = tmp_path / "book.yml"
        book.write_text(yaml.safe_dump([{"hosts": "all", "gather_facts": False, "tasks": tasks}]))
        command = [sys.executable, "-m", "ansible", "playbook", str(book), "-i", "one,", "-e", json.dumps(variables)]
        environment = {**os.environ, "ANSIBLE_NOCOLOR": "1", "ANSIBLE_LOCALHOST_WARNING": "0"}
        done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=tmp_path, check=False)
        return done.returncode, done.stdout + done.stderr

    return run


def planning(**options: object) -> dict:
    return {"kubeflow.platform.kubeflow_plan": {"release": "26.03.1", **options}, "register": "plan"}


SHOW = {"ansible.builtin.copy": {"content": "{{ plan | to_json }}", "dest": "{{ out }}"}, "delegate_to": "localhost", "connection": "local"}


def test_the_plan_is_what_the_engine_takes(play, tmp_path):
    tasks = [planning(distribution=str(DEMO), only=["dex"]), SHOW]
    code, text = play(tasks, out=str(tmp_path / "plan.json"), ansible_python_interpreter=sys.executable)
    assert code == 0, text
    plan = json.loads((tmp_path / "plan.json").read_text())
    assert plan["changed"] is False
    assert [part["name"] for part in plan["parts"]] == ["dex/dex"]
    assert plan["distribution"] == str(DEMO)
    assert plan["scope"] == ["dex"]


def test_what_was_found_out_counts_when_the_inventory_does_not_say_it(play, tmp_path):
    tasks = [planning(found={"oauth2_proxy_m2m_issuer": "https://found", "istio_platform": ""}), SHOW]
    for given, expected in (({}, "https://found"), ({"oauth2_proxy_m2m_issuer": "https://given"}, "https://given")):
        out = tmp_path / "plan.json"
        code, text = play(tasks, out=str(out), ansible_python_interpreter=sys.executable, oauth2_proxy_m2m="eks", **given)
        assert code == 0, text
        (part,) = (part for part in json.loads(out.read_text())["parts"] if part["name"] == "oauth2_proxy/oauth2_proxy")
        assert [entry["patch"][0]["value"] for entry in part["patches"]] == [expected]
    code, text = play([planning(found={"oauth2_proxy_m2m_isuer": "https://found"})])
    assert code != 0 and "found: no role has an option oauth2_proxy_m2m_isuer" in text


def test_all_mistakes_of_the_choice_are_told_and_the_run_ends(play):
    code, text = play([planning(components_added=["kativ"], components_removed=["dexx"])])
    assert code != 0
    assert "did you mean 'katib'?" in text and "did you mean 'dex'?" in text


def test_wrong_values_of_the_role_variables_end_the_run(play):
    code, text = play([planning()], kubeflow_adopt="perhaps", kubeflow_workers="{{ 'ma' ~ 'ny' }}")
    assert code != 0
    assert "value of kubeflow_adopt must be one of: report, allow" in text
    assert "kubeflow_workers" in text and "many" in text


def test_a_misspelt_variable_is_a_warning(play):
    code, text = play([planning()], kubeflow_component_removed=["dex"])
    assert code == 0
    assert "did you mean kubeflow_components_removed?" in " ".join(text.split())


def test_the_tree_of_another_release_ends_the_run(play, tmp_path):
    for path in ("applications/centraldashboard", "common/istio/istio-crds"):
        (tmp_path / "tree" / path).mkdir(parents=True)
    code, text = play([planning(distribution=str(tmp_path / "tree"))])
    assert code != 0
    assert "It looks like release 26.03: set kubeflow_release to that" in text


def test_a_folder_that_is_not_there_ends_the_run(play, tmp_path):
    code, text = play([planning(distribution=str(tmp_path / "nothing"))])
    assert code != 0
    assert "nothing is not a folder on the controller" in text


def test_the_report_is_printed_as_plain_lines(play):
    report = {"kubeflow.platform.kubeflow_report": {"plan": "{{ plan }}", "result": {"actions": []}, "kubeconfig": "~/k"}}
    code, text = play([planning(only=["dex"]), report])
    assert code == 0, text
    assert "\nDex 2.45.1 on one: nothing had to change\n" in text
    assert "\nKubeconfig: ~/k\n" in text


def test_the_report_of_check_mode_is_a_plan(play):
    report = {"kubeflow.platform.kubeflow_report": {"plan": "{{ plan }}", "result": {"actions": []}}, "check_mode": True}
    code, text = play([planning(only=["dex"]), report])
    assert code == 0, text
    assert "\nDex 2.45.1 on one: nothing would change\n" in text


def test_the_report_suggests_commands_that_can_be_typed_as_they_stand(play, monkeypatch):
    monkeypatch.delenv("KUBEFLOW_PLATFORM_LAUNCHER", raising=False)
    report = {"kubeflow.platform.kubeflow_report": {"plan": "{{ plan }}", "result": {"actions": []}}}
    code, text = play([planning(only=["dex"]), report], kubeflow_workers=4, kubeflow_token="canary", other=1)
    assert code == 0, text
    assert """  ansible-playbook kubeflow.platform.plan -i one, --limit one -e '{"kubeflow_workers": 4}'\n""" in text
    assert "INVENTORY" not in text and "canary" not in text


@pytest.mark.parametrize("path", ["/nowhere/kustomize", "nowhere/kustomize"])
def test_a_wrong_kustomize_ends_the_run_before_anything_is_fetched(play, path):
    code, text = play([planning(find_kustomize=True, kustomize_path=path)])
    assert code != 0
    assert "nowhere/kustomize: No such file or directory" in text and "Failed to find a kustomize for release 26.03.1" in text


def test_messages_name_the_variables_of_the_role_when_the_role_asks(play):
    role = {"ansible.builtin.include_role": {"name": "kubeflow.platform.kubeflow"}}
    code, text = play([role], kubeflow_only=["kativ"], kubeflow_kustomize_path="/nowhere/kustomize")
    assert code != 0 and "kubeflow_only: " in text
    code, text = play([role], kubeflow_only=["katib"], kubeflow_kustomize_path="/nowhere/kustomize")
    assert code != 0
    assert "`kubeflow_kustomize_path`" in text and "`kustomize_path`" not in text
    assert "Bring the distribution" not in text


def test_options_of_the_host_are_templated_and_planned(play, tmp_path):
    tasks = [planning(only=["katib", "kserve"]), SHOW]
    patch = {"target": {"kind": "Deployment", "name": "{{ which }}"}, "patch": [{"op": "add", "path": "/spec/replicas", "value": 2}]}
    code, text = play(
        tasks,
        out=str(tmp_path / "plan.json"),
        ansible_python_interpreter=sys.executable,
        which="katib-ui",
        katib_patches=[patch],
        kserve_mode="{{ 'Stand' ~ 'ard' }}",
    )
    assert code == 0, text
    plan = json.loads((tmp_path / "plan.json").read_text())
    (katib,) = (part for part in plan["parts"] if part["name"] == "katib/katib")
    assert katib["patches"] == [{**patch, "target": {"kind": "Deployment", "name": "katib-ui"}, "of": "katib_patches[0]"}]
    assert "knative" not in plan["selection"]


def test_mistakes_of_options_and_of_the_choice_are_told_together(play):
    code, text = play([planning(components_added=["kativ"])], istio_mode="ambiant", katib_patches=[{"patch": []}], kserve_mode="Raw")
    assert code != 0
    for told in ("value of istio_mode must be one of", "value of kserve_mode must be one of", "did you mean 'katib'?"):
        assert told in text, text


def test_a_value_that_the_release_does_not_offer_ends_the_run(play):
    code, text = play([planning(release="1.10.2")], istio_mode="ambient")
    assert code != 0
    assert "istio_mode: ambient is not offered in 1.10.2 (from 1.11.0 on)" in " ".join(text.split())
