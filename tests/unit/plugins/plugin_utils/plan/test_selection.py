# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import pytest
from ansible_collections.kubeflow.platform.plugins.plugin_utils.plan.model import Request, SelectionError
from ansible_collections.kubeflow.platform.plugins.plugin_utils.plan.planner import plan
from ansible_collections.kubeflow.platform.plugins.plugin_utils.records.library import load

from tests.unit.small_records import KATIB, RELEASE

OPTIONS = {
    "kserve_mode": {"choices": ["Serverless", "Standard"], "default": "Serverless"},
    "knative_eventing": {"choices": ["none", "base", "security"], "default": "none"},
    "kserve_namespace": {"default": "kubeflow"},
    "kserve_class": {},
    "mpi_accepted": {"type": "bool", "default": False},
}
ISTIO = """
title: Istio
layer: infrastructure
parts: [{name: crds, paths: [{since: "26.03", path: common/istio}]}]
"""
KNATIVE = """
title: Knative
layer: infrastructure
parts:
  - {name: serving, requires: [istio], paths: [{since: "26.03", path: s}]}
  - name: eventing
    when: {knative_eventing: [base, security]}
    paths: [{since: "26.03", path: e}, {since: "26.03", path: es, when: {knative_eventing: security}}]
"""
KSERVE = """
title: KServe
layer: applications
parts:
  - name: kserve
    requires: [{needs: knative/serving, because: KServe runs Serverless, when: {kserve_mode: Serverless}}]
    paths: [{since: "26.03", path: k}]
    namespace: {option: kserve_namespace}
    components: [{path: c}, {path: d, when: {kserve_mode: Standard}}]
    patches:
      - because: x
        given: [kserve_class]
        target: {kind: PersistentVolumeClaim, namespace: {option: kserve_namespace}}
        patch: [{op: add, path: /spec/storageClassName, value: {option: kserve_class}}]
    omit: [{kind: Deployment, name: d, namespace: {option: kserve_namespace}, when: {kserve_mode: Standard}}]
experimental: [{when: {kserve_mode: Standard}, because: nobody has proved it}]
"""
MPI = """
title: MPI
layer: applications
parts: [{name: mpi, requires: [], paths: [{since: "26.03", path: m, source: own}]}]
sources: {own: {repository: "https://example.org/m", ref: v1, path: git/m/v1}}
conflicts: [{component: katib, because: both define trials}]
accept: [{option: mpi_accepted, value: true, because: it is not finished}]
"""
CHOSEN = {"release": "26.03", "selection": "default"}


@pytest.fixture
def library(records):
    components = {"katib": KATIB, "istio": ISTIO, "knative": KNATIVE, "kserve": KSERVE, "mpi": MPI}
    return load(records({"26.03": RELEASE}, options=OPTIONS, **components))


def made(library, **choice):
    return plan(library, Request(**{**CHOSEN, **choice}))


def findings(library, **choice):
    with pytest.raises(SelectionError) as caught:
        made(library, **choice)
    return list(caught.value.findings)


def names(found):
    return [part.name for part in found.parts]


def test_a_requirement_that_a_value_drops_is_not_selected(library):
    assert "knative/serving" in names(made(library, added=("kserve",)))
    assert "knative/serving" not in names(made(library, added=("kserve",), values={"kserve_mode": "Standard"}))


def test_what_a_value_no_longer_needs_stays_when_it_is_asked_for(library):
    found = made(library, added=("kserve", "knative"), values={"kserve_mode": "Standard"})
    assert {item.component.name: item.because for item in found.selected}["knative"] == "added"


def test_it_can_be_removed_with_that_value_only(library):
    assert names(made(library, added=("kserve",), removed=("knative",), values={"kserve_mode": "Standard"}))
    (finding,) = findings(library, added=("kserve",), removed=("knative",))
    assert "knative is required by kserve (KServe runs Serverless)" in finding


def test_a_part_is_there_for_its_values_only_and_takes_their_path(library):
    assert "knative/eventing" not in names(made(library, added=("knative",)))
    paths = {
        value: next(
            part.path for part in made(library, added=("knative",), values={"knative_eventing": value}).parts if "eventing" in part.name
        )
        for value in ("base", "security")
    }
    assert paths == {"base": "e", "security": "es"}


def test_what_is_laid_over_a_part_holds_the_values(library):
    values = {"kserve_class": "fast", "kserve_namespace": "team", "kserve_mode": "Standard"}
    (part,) = (part for part in made(library, added=("kserve",), values=values).parts if part.component == "kserve")
    row = part.as_dict()
    assert row["namespace"] == "team"
    assert row["components"] == ["c", "d"]
    assert row["patches"] == [
        {
            "target": {"kind": "PersistentVolumeClaim", "namespace": "team"},
            "patch": [{"op": "add", "path": "/spec/storageClassName", "value": "fast"}],
        }
    ]
    assert row["omit"] == [{"kind": "Deployment", "name": "d", "namespace": "team"}]


def test_an_option_that_is_not_given_has_the_value_of_the_one_that_it_follows(records):
    text = KSERVE + "options: [{name: kserve_class, follows: kserve_namespace, because: x}]\n"
    library = load(records({"26.03": RELEASE}, options=OPTIONS, katib=KATIB, istio=ISTIO, knative=KNATIVE, kserve=text))
    assert made(library, values={"kserve_namespace": "team"}).values["kserve_class"] == "team"
    assert made(library, values={"kserve_namespace": "team", "kserve_class": "fast"}).values["kserve_class"] == "fast"


def test_a_patch_of_a_name_says_that_it_is_meant(records):
    text = KSERVE.replace("/spec/storageClassName", "/metadata/name")
    library = load(records({"26.03": RELEASE}, options=OPTIONS, katib=KATIB, istio=ISTIO, knative=KNATIVE, kserve=text))
    (part,) = (part for part in made(library, added=("kserve",), values={"kserve_class": "a"}).parts if part.component == "kserve")
    assert part.patches[0]["options"] == {"allowNameChange": True}


def test_what_does_not_count_is_not_laid_over_a_part(library):
    (part,) = (part for part in made(library, added=("kserve",)).parts if part.component == "kserve")
    assert (part.patches, part.extras, part.omit) == ((), ("c",), ())


def test_a_part_with_a_tree_of_its_own_says_where_it_is(library):
    found = made(library, removed=("katib",), added=("mpi",), values={"mpi_accepted": True})
    (part,) = found.parts
    assert part.as_dict()["source"] == {"repository": "https://example.org/m", "ref": "v1", "path": "git/m/v1"}
    assert not part.is_in_distribution


def test_components_that_exclude_each_other_are_refused_once_with_the_reason(library):
    assert findings(library, added=("mpi",), values={"mpi_accepted": True}) == [
        "mpi (added) and katib (in the selection default) cannot be selected together: both define trials;"
        " put one of them into kubeflow_components_removed"
    ]


def test_what_must_be_accepted_is_refused_until_it_is(library):
    assert findings(library, added=("mpi",), removed=("katib",)) == [
        "mpi (added) is only planned with mpi_accepted: true: it is not finished"
    ]


def test_all_of_these_are_told_at_once(library):
    assert len(findings(library, added=("mpi", "kserve"), removed=("knative",), only=("dashboard", "mpi"))) == 1  # dashboard is nothing
    assert len(findings(library, added=("mpi", "kserve"), removed=("knative",), only=("istio",))) == 3


def test_a_part_that_is_required_but_left_out_is_refused_with_the_option(library, records):
    text = KSERVE.replace("knative/serving", "knative/eventing")
    components = {"katib": KATIB, "istio": ISTIO, "knative": KNATIVE, "kserve": text}
    other = load(records({"26.03": RELEASE}, options=OPTIONS, **components))
    (finding,) = findings(other, added=("kserve",))
    assert finding == (
        "kserve requires knative/eventing (KServe runs Serverless), which is left out:"
        " set knative_eventing so that it is there, or take kserve out"
    )


def test_options_of_components_that_are_not_selected_are_told(library):
    values = {"kserve_mode": "Standard", "knative_eventing": "none"}
    assert made(library, values=values).notes == (
        "kserve_mode is set, but kserve is not selected; add it to kubeflow_components_added or leave the variable out",
    )


def test_experiments_are_told(library):
    found = made(library, added=("kserve",), values={"kserve_mode": "Standard"})
    assert found.notes == ("experimental: kserve with kserve_mode: Standard: nobody has proved it",)


def test_a_part_from_outside_is_looked_for_and_never_applied(records):
    outside = '  - {name: crds, outside: true, paths: [{since: "26.03", path: o}]}\n'
    text = KSERVE.replace("requires: [", "requires: [{needs: kserve/crds, because: they are not ours}, ").replace(
        "experimental:", outside + "experimental:"
    )
    library = load(records({"26.03": RELEASE}, options=OPTIONS, katib=KATIB, istio=ISTIO, knative=KNATIVE, kserve=text))
    found = made(library, added=("kserve",))
    assert "kserve/crds" not in names(found)
    (required,) = found.requirements
    assert (required.part, required.needed_by, required.outside) == ("kserve/crds", "kserve/kserve", True)
    assert found.notes == ("kserve/kserve requires crds, which no release holds: install it before (they are not ours)",)
    assert all("kserve/crds" not in part.requires for part in found.parts)
