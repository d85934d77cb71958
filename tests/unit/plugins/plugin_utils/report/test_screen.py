# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import re

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
    return next(line.split() for line in shown.splitlines() if line.startswith(title) and " on demo" not in line)


def test_a_run_shows_each_component_with_its_objects_and_readiness(planned):
    result = {"actions": [action("create", "Service", "a", "katib")], "components": counts(katib=(30, 4, 4), dex=(13, 1, 1))}
    shown = text(planned, result)
    assert shown.startswith("\nDex 2.45.1, Katib 0.19.0 on demo: 1 object changed\n")
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
    listed = shown.partition("What would be done (--diff shows how):\n")[2].partition("\n\n")[0].splitlines()
    assert listed == [
        "  Dex 2.45.1:",
        "    recreate   Job kubeflow/d: spec.selector cannot be changed",
        "  Katib 0.19.0:",
        "    configure  Deployment kubeflow/c: spec.replicas, metadata.labels.a, x and 1 more",
        "    create     Service kubeflow/a, kubeflow/b",
    ]
    assert "kubeflow.platform.site -i INVENTORY --limit demo" in shown


def test_a_plan_names_the_first_objects_of_each_component_and_all_with_diff(planned):
    actions = [action("create", "Service", f"s{index}", "katib") for index in range(20)]
    actions += [action("configure", "ConfigMap", f"c{index}", "katib") for index in range(10)]
    actions += [action("create", "Secret", "x", "dex")]
    shown = text(planned, {"actions": actions}, check=True)
    assert shown.count("configure  ConfigMap") == 10
    assert "kubeflow/s4" in shown and "kubeflow/s5" not in shown
    assert "    ... and 15 more (--diff shows all)" in shown and "create     Secret kubeflow/x" in shown
    everything = text(planned, {"actions": actions}, check=True, diff=True)
    assert "kubeflow/s19" in everything and "more (--diff" not in everything
    assert all(len(line) <= 120 for line in everything.splitlines() if "Service" in line)


def test_the_title_of_the_whole_platform_names_the_release(planned):
    assert text({**planned, "scope": []}, {}).startswith("\nKubeflow 26.03.1 on demo: nothing had to change\n")


def test_a_plan_without_changes_says_so(planned):
    assert "nothing would change" in text(planned, {"components": counts(katib=(30, 4, 4))}, check=True)


def test_objects_of_a_component_that_is_taken_out_have_a_line_of_their_own(planned):
    gone = {**planned, "components": [row for row in planned["components"] if row["name"] != "trainer"]}
    shown = text(gone, {"actions": [action("prune", "Service", "a", "trainer")]}, check=True)
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
    assert "not everything could be applied" in shown and "\nFailed:\n" in shown and "Not ready:" not in shown
    assert row(shown, "Katib")[-2:] == ["1", "failed"]
    assert "  Deployment kubeflow/a: exceeded quota. Raise it." in shown
    assert "  Skipped because of these: 1 object." in shown
    assert "  somebody added a container" in shown
    assert "Reach it" not in shown


def test_objects_that_are_only_not_ready_are_not_called_failed(planned):
    late = {"kind": "Deployment", "namespace": "kubeflow", "name": "a", "component": "katib", "class": "not_ready"}
    hook = {**late, "kind": "MutatingWebhookConfiguration", "namespace": "", "name": "istio", "component": "istio", "class": "webhook_down"}
    waited = [action("not_ready", "Deployment", "a", "katib"), {**action("not_ready", hook["kind"], "istio", "istio"), "namespace": ""}]
    told = {"reason": "0 of 1 replicas", "what_to_do": "Look."}
    result = {
        "actions": [action("configure", "Deployment", "a", "katib"), *waited],
        "failed_objects": [{**late, **told}, {**hook, **told}],
        "components": counts(katib=(30, 4, 3)),
        "failed": True,
    }
    shown = text(planned, result)
    assert "on demo: 1 object changed, but not everything is ready\n" in shown
    assert "\nNot ready:\n  Deployment kubeflow/a: 0 of 1 replicas. Look.\n" in shown and "Failed:" not in shown
    assert row(shown, "Katib")[-3:] == ["1", "not", "ready"]
    assert row(shown, "Istio")[-6:] == ["1", "not", "ready", "outside", "this", "run"]


def test_an_object_is_named_once_when_its_reason_names_it(planned):
    failed = {"kind": "Job", "namespace": "a", "name": "b", "component": "katib", "class": "invalid", "what_to_do": "Mend it."}
    shown = text(planned, {"failed_objects": [{**failed, "reason": "Failed to apply Job a/b: no"}]})
    assert "\nFailed:\n  Failed to apply Job a/b: no. Mend it.\n" in shown


def test_a_component_that_was_taken_out_and_not_pruned_is_told_as_kept(planned):
    shown = text({**planned, "components": []}, {"actions": [action("keep", "Service", name, "hub") for name in "ab"]})
    assert row(shown, "hub") == ["hub", "2", "kept", "no", "longer", "selected"]


def test_a_run_that_was_cut_short_is_not_told_as_a_success(planned):
    assert "1 object changed, but the run ended early" in text(
        planned, {"actions": [action("create", "Job", "a", "katib")], "failed": True}
    )


def test_a_plan_tells_what_cannot_be_applied(planned):
    failed = {"kind": "Job", "namespace": "a", "name": "b", "component": "katib", "class": "invalid", "reason": "x", "what_to_do": "y"}
    assert "demo: nothing would change, 1 cannot be applied" in text(planned, {"failed_objects": [failed], "failed": True}, check=True)


def test_a_long_list_is_cut_and_says_so(planned):
    many = [action("configure", "ConfigMap", f"c{index}", "katib") for index in range(50)]
    assert "... and 10 more, in the result of kustomize_apply" in text(planned, {"actions": many})


def test_the_way_to_the_dashboard_names_kubeconfig_and_context(planned):
    shown = text(planned, {}, kubeconfig="/k", context="c")
    assert "kubectl --kubeconfig /k --context c --namespace istio-system port-forward service/istio-ingressgateway 8080:80" in shown
    assert "Kubeconfig: /k" in shown


def ensured(state, name="dex-passwords", key="K"):
    return {"namespace": "auth", "name": name, "key": key, "state": state, "purpose": f"what {name} is for"}


def test_secrets_that_everybody_can_read_are_an_alarm_in_every_run(planned):
    rows = [ensured("default"), ensured("default", "oauth2-proxy-h675gf55ht"), ensured("default", key="L"), ensured("kept", "fine")]
    for more in ({"check": True}, {}, {"demo": True}):
        shown = text(planned, {"credentials": rows}, **more)
        demo = "this is a demo: " if "demo" in more else ""
        assert f"WARNING: {demo}2 Secrets hold values that everybody can read upstream.\n" in shown
        assert "  auth/oauth2-proxy-h675gf55ht  what oauth2-proxy-h675gf55ht is for" in shown and "fine" not in shown


def test_nothing_is_alarming_where_all_values_are_the_platforms_own(planned):
    shown = text(planned, {"credentials": [ensured("made"), ensured("shared", "b"), ensured("kept", "c")]})
    assert "WARNING" not in shown and "2 Secrets of those that upstream ships got values of this platform alone." in shown
    assert "upstream ships" not in text(planned, {"credentials": [ensured("kept")]})


def test_the_secret_with_the_first_users_password_is_named_with_the_command_that_shows_it(planned):
    shown = text(planned, {"credentials": [], "first_user": "kubeflow-platform/initial-user"}, kubeconfig="/k")
    command = "kubectl --kubeconfig /k --namespace kubeflow-platform get secret initial-user --output jsonpath='{.data.password}'"
    assert f"{command} | base64 --decode" in shown
    assert "initial-user" not in text(planned, {"first_user": ""})


def test_the_guide_that_the_warning_names_is_there(planned):
    shown = text(planned, {"credentials": [ensured("default")]})
    (name,) = set(re.findall(r"guide_\w+", shown))
    assert (collection_root() / f"docs/docsite/rst/{name}.rst").is_file()
