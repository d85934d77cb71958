# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest
import yaml
from ansible_collections.kubeflow.platform.plugins.plugin_utils.plan.model import Request, SelectionError
from ansible_collections.kubeflow.platform.plugins.plugin_utils.plan.planner import plan
from ansible_collections.kubeflow.platform.plugins.plugin_utils.plan.result import as_result
from ansible_collections.kubeflow.platform.plugins.plugin_utils.records.library import collection_root, load

SELECTIONS = ("minimal", "pipelines", "training", "serving")
LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@pytest.fixture(scope="module")
def library():
    return load(collection_root())


def seconds(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def findings(library, **choice):
    with pytest.raises(SelectionError) as caught:
        plan(library, Request(**{"release": "26.03.1", **choice}))
    return list(caught.value.findings)


def reasons(made):
    return {item.component.name: item.because for item in made.selected}


@pytest.mark.parametrize("release", ["1.8.1", "1.10.2", "1.11.0", "26.03", "26.03.1"])
def test_every_part_comes_after_what_it_requires(library, release):
    names = [part.name for part in plan(library, Request(release)).parts]
    for part in plan(library, Request(release)).parts:
        assert all(names.index(need) < names.index(part.name) for need in part.requires)


def test_infrastructure_comes_before_applications(library):
    layers = [part.layer for part in plan(library, Request("26.03.1")).parts]
    assert layers == sorted(layers, reverse=True)


def test_a_part_of_one_release_only_is_left_out_of_the_others(library):
    of_26_03 = {part.name for part in plan(library, Request("26.03")).parts}
    of_26_03_1 = {part.name for part in plan(library, Request("26.03.1")).parts}
    assert {"dashboard/profiles", "notebooks/volumes_web_app"} <= of_26_03
    assert {"cert_manager/issuer", "notebooks/notebooks", "hub/model_catalog"} <= of_26_03_1 - of_26_03
    assert "dashboard/profiles" not in of_26_03_1


def test_a_selection_is_closed_over_what_it_requires_with_the_reason(library):
    told = reasons(plan(library, Request("26.03.1", selection="minimal", added=("kserve",))))
    assert told["dashboard"] == "in the selection minimal"
    assert told["kserve"] == "added"
    assert told["knative"] == "required by kserve: KServe runs Serverless"
    assert told["cert_manager"] == "required by dashboard"
    assert "katib" not in told


def test_a_removed_component_is_left_out(library):
    made = plan(library, Request("26.03.1", removed=("kserve", "knative")))
    assert not {"kserve", "knative"} & set(reasons(made))
    assert made.removed == ("kserve", "knative")


def test_removing_what_others_require_is_refused_naming_them_and_why(library):
    assert findings(library, removed=("knative",)) == [
        "kubeflow_components_removed: knative is required by kserve (KServe runs Serverless); remove it too, or keep knative"
    ]


def test_a_requirement_of_a_requirement_is_found_too(library):
    (finding,) = findings(library, selection="minimal", added=("hub",), removed=("kubeflow_namespace",))
    assert "istio (it puts two Sidecars into the namespace kubeflow)" in finding


@pytest.mark.parametrize(
    ("choice", "told"),
    [
        ({"added": ("kativ",)}, "kubeflow_components_added: there is no component 'kativ'; did you mean 'katib'?"),
        ({"removed": ("k-serve",)}, "kubeflow_components_removed: there is no component 'k-serve'; did you mean 'kserve'?"),
        ({"only": ("model_serving_kserve",)}, "kubeflow_only: there is no component 'model_serving_kserve'; did you mean 'kserve'?"),
        ({"selection": "minimum"}, "kubeflow_selection: there is no selection 'minimum'; did you mean 'minimal'?"),
        (
            {"release": "26.3.1"},
            "kubeflow_release: this collection does not know release '26.3.1' (known: 1.8.1, 1.10.2, 1.11.0, 26.03, 26.03.1)",
        ),
        (
            {"release": "26.03", "added": ("workspaces",)},
            "kubeflow_components_added: release 26.03 has no workspaces, or this collection does not know where",
        ),
        ({"selection": "minimal", "only": ("katib",)}, "kubeflow_only: katib is not in the selection; add it to kubeflow_components_added"),
        (
            {"added": ("katib",), "removed": ("katib",)},
            "katib is in kubeflow_components_added and in kubeflow_components_removed: take it out of one",
        ),
    ],
)
def test_a_wrong_choice_is_refused_with_what_to_do(library, choice, told):
    assert findings(library, **choice) == [told]


def test_a_name_like_none_is_answered_by_all_that_are_known(library):
    (finding,) = findings(library, added=("zeppelin",))
    assert "(known: cert_manager, dashboard, dex," in finding


def test_all_findings_of_a_choice_are_told_at_once(library):
    assert len(findings(library, selection="smal", added=("kativ",), removed=("dexx",), only=("hubb",))) == 4
    assert len(findings(library, removed=("istio", "dashboard"))) == 2


def test_a_narrowed_plan_holds_that_component_only_and_names_what_it_needs(library):
    made = plan(library, Request("26.03.1", only=("katib",)))
    assert [part.name for part in made.parts] == ["katib/katib"]
    assert made.parts[0].requires == ()
    assert made.scope == ("katib",)
    assert {"istio/crds", "cert_manager/issuer", "kubeflow_namespace/namespaces"} <= {item.part for item in made.requirements}
    assert "dashboard" in reasons(made)


def test_a_plan_can_be_narrowed_to_a_layer(library):
    halves = {layer: plan(library, Request("26.03.1", only=(layer,))) for layer in ("infrastructure", "applications")}
    assert halves["infrastructure"].scope == ("cert_manager", "istio", "kubeflow_namespace", "oauth2_proxy", "dex", "knative")
    assert halves["infrastructure"].requirements == ()
    parts = [part.name for half in halves.values() for part in half.parts]
    assert parts == [part.name for part in plan(library, Request("26.03.1")).parts]
    assert {requirement.component for requirement in halves["applications"].requirements} <= set(halves["infrastructure"].scope)


def test_what_a_narrowed_plan_needs_is_given_to_the_engine_to_look_for(library):
    made = plan(library, Request("26.03.1", only=("katib",)))
    found = as_result(made, "/tree")["required"]
    assert [row["name"] for row in found] == [requirement.part for requirement in made.requirements]
    assert {row["needed_by"] for row in found} == {"katib/katib"}
    assert all(row["path"] and row["requires"] == [] for row in found)


def test_what_is_odd_but_harmless_is_noted(library):
    made = plan(library, Request("26.03.1", selection="minimal", added=("dashboard",), removed=("katib",)))
    assert made.notes == (
        "kubeflow_components_removed: katib is not in the selection minimal anyway; where a platform has it, it goes",
        "kubeflow_components_added: dashboard is in the selection minimal anyway",
    )


def test_planning_costs_little_more_than_reading_the_records(library):
    """By ratio, so that no machine is too slow for it; `make bench-planning` tells the seconds."""
    files = [*collection_root().glob("roles/*/meta/*.yml"), *collection_root().glob("releases/*.yml")]

    def read() -> None:
        for path in files:
            yaml.load(path.read_text(encoding="utf-8"), Loader=LOADER)

    reading = min(seconds(read) for _time in range(3))
    for release in library.releases:
        planning = min(seconds(lambda release=release: plan(load(collection_root()), Request(release))) for _time in range(3))
        assert planning < 4 * reading


def test_the_result_holds_the_facts_that_the_engine_and_the_report_need(library):
    result = as_result(plan(library, Request("26.03.1", only=("dex", "katib"))), "/tree")
    assert result["distribution"] == "/tree"
    assert result["scope"] == ["dex", "katib"]
    assert result["release"]["kustomize"] == {"min": "5.5.0", "max": "5.8"}
    assert result["release"]["remote_bases"] == []
    assert [row["name"] for row in result["components"] if row["in_scope"]] == ["dex", "katib"]
    in_scope = {secret["name"] for secret in result["credentials"] if secret["component"] in result["scope"]}
    assert in_scope == {"dex-passwords", "dex-oidc-client", "katib-mysql-secrets"}
    # A Secret of another component can hold the copy of one of these.
    assert "oauth2-proxy" in {secret["name"] for secret in result["credentials"]}
    assert set(result["parts"][0]) == {
        *("name", "component", "layer", "path", "requires"),
        *("source", "namespace", "patches", "images", "components", "omit"),
    }


@pytest.mark.parametrize("selection", ["default", *SELECTIONS])
def test_every_release_offers_the_selection_and_it_needs_nothing_that_the_release_lacks(library, selection):
    for release in library.releases:
        made = plan(library, Request(release, selection=selection))
        assert made.parts
        assert {"dashboard", "istio", "dex", "oauth2_proxy", "user_namespace"} <= {item.component.name for item in made.selected}


def test_selections_hold_what_their_names_say_and_what_that_requires(library):
    for release in library.releases:
        chosen = {name: {item.component.name for item in plan(library, Request(release, selection=name)).selected} for name in SELECTIONS}
        assert "pipelines" in chosen["pipelines"] and "kserve" not in chosen["pipelines"]
        assert chosen["training"] & {"trainer", "training_operator"} and "katib" in chosen["training"]
        assert {"kserve", "knative"} <= chosen["serving"] and "katib" not in chosen["serving"]
        assert chosen["minimal"] == chosen["pipelines"] & chosen["training"] & chosen["serving"]


@pytest.mark.parametrize("release", ["1.10.2", "26.03.1"])
def test_models_without_serverless_leave_knative_out_and_say_so(library, release):
    made = plan(library, Request(release, values={"kserve_mode": "Standard"}))
    assert "knative" not in reasons(made)
    assert made.removed == ("knative",)
    assert (
        "knative is left out of the selection default: KServe runs without it (kserve_mode is Standard);"
        " kubeflow_components_added brings it back" in made.notes
    )


def test_knative_stays_when_something_else_needs_it_or_it_is_asked_for(library):
    standard = {"kserve_mode": "Standard"}
    assert reasons(plan(library, Request("26.03.1", values=standard, added=("knative",))))["knative"] == "added"
    assert "knative" in reasons(plan(library, Request("26.03.1", values={**standard, "knative_eventing": "base"})))
    assert "knative" in reasons(plan(library, Request("1.8.1", values=standard)))
