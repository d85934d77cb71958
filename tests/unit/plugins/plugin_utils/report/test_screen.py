# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest
from ansible_collections.kubeflow.platform.plugins.plugin_utils.plan.model import Request
from ansible_collections.kubeflow.platform.plugins.plugin_utils.plan.planner import plan
from ansible_collections.kubeflow.platform.plugins.plugin_utils.plan.result import as_result
from ansible_collections.kubeflow.platform.plugins.plugin_utils.records.library import collection_root, load
from ansible_collections.kubeflow.platform.plugins.plugin_utils.report.screen import Situation, screen


def action(word, kind, name, component, **more):
    return {"action": word, "kind": kind, "namespace": "kubeflow", "name": name, "component": component, **more}


def counts(**named):
    return {name: {"objects": objects, "workloads": workloads, "ready": ready} for name, (objects, workloads, ready) in named.items()}


@pytest.fixture(scope="module")
def planned():
    return as_result(plan(load(collection_root()), Request("26.03.1", only=("katib", "dex"))), "/tree")


def text(planned, result, **situation):
    return "\n".join(screen(planned, result, Situation(**{"host": "demo", **situation})))


def row(shown, title):
    return next(line.split() for line in shown.splitlines() if line.startswith(title))


def test_a_run_shows_each_component_with_its_objects_and_readiness(planned):
    result = {"actions": [action("create", "Service", "a", "katib")], "components": counts(katib=(30, 4, 4), dex=(13, 1, 1))}
    shown = text(planned, result)
    assert shown.startswith("\ndex, katib 26.03.1 on demo: 1 object changed\n")
    assert row(shown, "Katib") == ["Katib", "0.19.0", "30", "4/4", "1", "changed"]
    assert row(shown, "Dex") == ["Dex", "2.45.1", "13", "1/1", "unchanged"]
    assert row(shown, "total") == ["total", "43", "5/5"]
    assert "Istio" not in shown.split("Reach it", maxsplit=1)[0]


def test_a_run_with_nothing_to_do_says_so(planned):
    assert "nothing had to change" in text(planned, {"actions": [], "components": counts(katib=(30, 4, 4), dex=(13, 1, 1))})


def test_a_component_whose_workloads_are_not_ready_is_told(planned):
    assert row(text(planned, {"components": counts(katib=(30, 4, 3))}), "Katib")[-2:] == ["not", "ready"]


def test_a_plan_shows_what_would_be_done_and_to_which_objects(planned):
    result = {
        "actions": [
            action("create", "Service", "a", "katib"),
            action("create", "Service", "b", "katib"),
            action("configure", "Deployment", "c", "katib", paths=["spec.replicas", "metadata.labels.a", "x", "y"]),
            action("recreate", "Job", "d", "dex", reason="spec.selector cannot be changed"),
        ],
        "components": counts(katib=(30, 4, 4), dex=(13, 1, 1)),
    }
    shown = text(planned, result, check=True)
    assert "demo: 4 objects would change" in shown
    assert "COMPONENT  VERSION  CREATE  CONFIGURE  RECREATE  UNCHANGED" in shown
    assert row(shown, "Katib") == ["Katib", "0.19.0", "2", "1", "27"]
    assert row(shown, "total") == ["total", "2", "1", "1", "39"]
    assert "  configure  Deployment kubeflow/c: spec.replicas, metadata.labels.a, x and 1 more" in shown
    assert "  recreate   Job kubeflow/d: spec.selector cannot be changed" in shown
    assert "create     Service" not in shown
    assert "kubeflow.platform.site -i INVENTORY --limit demo" in shown


def test_a_plan_without_changes_says_so(planned):
    assert "nothing would change" in text(planned, {"components": counts(katib=(30, 4, 4))}, check=True)


def test_objects_of_a_component_that_is_taken_out_have_a_line_of_their_own(planned):
    shown = text(planned, {"actions": [action("prune", "Service", "a", "trainer")]}, check=True)
    assert row(shown, "trainer") == ["trainer", "1", "no", "longer", "selected"]


def test_a_failed_run_names_what_failed_why_and_what_to_do(planned):
    failed = {"kind": "Deployment", "namespace": "kubeflow", "name": "a", "component": "katib", "class": "quota"}
    skipped = {**failed, "name": "b", "class": "skipped", "reason": "", "what_to_do": ""}
    result = {
        "failed_objects": [{**failed, "reason": "exceeded quota", "what_to_do": "Raise it."}, skipped],
        "findings": ["somebody added a container"],
        "components": counts(katib=(30, 4, 3)),
    }
    shown = text(planned, result)
    assert "not everything could be applied" in shown
    assert row(shown, "Katib")[-2:] == ["1", "failed"]
    assert "  Deployment kubeflow/a: exceeded quota. Raise it." in shown
    assert "  Skipped because of these: 1 object." in shown
    assert "  somebody added a container" in shown
    assert "Reach it" not in shown


def test_a_long_list_is_cut_and_says_so(planned):
    many = [action("configure", "ConfigMap", f"c{index}", "katib") for index in range(50)]
    assert "... and 10 more, in the result of kustomize_apply" in text(planned, {"actions": many})


def test_the_way_to_the_dashboard_names_kubeconfig_and_context(planned):
    shown = text(planned, {}, kubeconfig="/k", context="c")
    assert "kubectl --kubeconfig /k --context c --namespace istio-system port-forward service/istio-ingressgateway 8080:80" in shown
    assert "Kubeconfig: /k" in shown


def test_secrets_with_public_values_are_told_at_every_run(planned):
    for check in (True, False):
        shown = text(planned, {}, check=check)
        assert "WARNING: 3 Secrets applied as upstream ships them" in shown
        assert "auth/dex-passwords            the login of user@example.com, password 12341234" in shown
