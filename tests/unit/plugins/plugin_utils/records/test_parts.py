# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import pytest
from ansible_collections.kubeflow.platform.plugins.plugin_utils.records.library import load
from ansible_collections.kubeflow.platform.plugins.plugin_utils.records.problems import RecordError

from tests.unit.small_records import ISTIO, KATIB

OPTIONS = {
    "istio_mode": {"choices": ["cni", "ambient"], "default": "cni"},
    "istio_platform": {"choices": ["generic", "gke"], "default": "generic"},
    "katib_host": {},
    "katib_port": {"type": "int", "default": 3306},
    "katib_password": {"no_log": True},
    "katib_flag": {"type": "bool", "default": False},
    "katib_list": {"type": "list", "elements": "str", "default": []},
}


def install(records, paths, more=""):
    text = f"title: Istio\nlayer: infrastructure\nparts:\n  - name: crds\n    paths: {paths}\n{more}"
    return load(records(istio=text, katib=KATIB, options=OPTIONS)).components["istio"].part("crds")


def where(part, release, **values):
    place = part.place(release, {"istio_mode": "cni", "istio_platform": "generic", **values})
    return place and place.path


AMBIENT = (
    '[{since: "1.8", path: a}, {since: "1.11", path: b, when: {istio_mode: ambient}},'
    ' {since: "26.03", path: c}, {since: "26.03.1", path: null, when: {istio_mode: ambient}}]'
)


@pytest.mark.parametrize(
    ("release", "mode", "path"),
    [("1.8.1", "cni", "a"), ("1.8.1", "ambient", "a"), ("1.11.0", "cni", "a"), ("1.11.0", "ambient", "b"), ("26.03", "cni", "c")],
)
def test_a_place_with_a_when_counts_from_its_release_on_for_its_values(records, release, mode, path):
    assert where(install(records, AMBIENT), release, istio_mode=mode) == path


def test_a_default_that_moves_does_not_end_a_variant(records):
    assert where(install(records, AMBIENT), "26.03", istio_mode="ambient") == "b"


def test_a_null_with_a_when_ends_that_variant_only(records):
    part = install(records, AMBIENT)
    assert where(part, "26.03.1", istio_mode="ambient") is None
    assert where(part, "26.03.1") == "c"


def test_a_null_without_a_when_ends_all_variants_before_it(records):
    ambient = '{since: "1.8", path: a, when: {istio_mode: ambient}}'
    part = install(records, f'[{ambient}, {{since: "1.10", path: null}}, {{since: "26.03", path: b}}]')
    assert where(part, "1.8.1", istio_mode="ambient") == "a"
    assert where(part, "1.11.0", istio_mode="ambient") is None
    assert where(part, "26.03", istio_mode="ambient") == "b"
    assert not part.exists("1.11.0")


def test_the_place_that_asks_for_most_is_chosen(records):
    part = install(
        records,
        '[{since: "1.8", path: a, when: {istio_mode: ambient, istio_platform: gke}}, {since: "1.8", path: b, when: {istio_mode: ambient}},'
        ' {since: "1.8", path: c, when: {istio_platform: gke}}, {since: "1.10", path: d}]',
    )
    assert where(part, "26.03", istio_mode="ambient", istio_platform="gke") == "a"
    assert where(part, "26.03", istio_mode="ambient") == "b"
    assert where(part, "26.03", istio_platform="gke") == "c"
    assert where(part, "26.03") == "d"


def test_a_part_with_a_when_is_left_out_unless_it_holds(records):
    part = install(records, '[{since: "1.8", path: a}]', more="    when: {istio_platform: gke}\n")
    assert where(part, "26.03") is None
    assert where(part, "26.03", istio_platform="gke") == "a"


def test_a_requirement_with_a_when_counts_only_then(records):
    text = KATIB.replace("[istio/crds]", "[{needs: istio/crds, because: waypoints, when: {istio_mode: ambient}}]")
    part = load(records(katib=text, istio=ISTIO, options=OPTIONS)).components["katib"].part("katib")
    assert part.needs("26.03", {"istio_mode": "cni"}) == ()
    assert [need.because for need in part.needs("26.03", {"istio_mode": "ambient"})] == ["waypoints"]
    assert len(part.all_needs("26.03")) == 1


COMPLETE = (
    KATIB
    + """
    namespace: {option: katib_host}
    components: [{path: c, when: {katib_flag: true}}]
    patches:
      - because: x
        given: [katib_host]
        target: {kind: Secret, name: s}
        patch: [{op: add, path: /a, value: {text: "{katib_host}:{katib_port}"}}]
    omit: [{kind: Deployment, name: d, absent: [katib_host]}]
conflicts: [{component: istio, because: x}]
accept: [{option: katib_flag, value: true, because: x}]
experimental: [{when: {istio_mode: ambient}, because: x}]
options: [{name: istio_mode, value: ambient, since: "1.11", because: x}, {name: katib_host, follows: istio_mode, because: x}]
sources: {own: {repository: "https://example.org/r", ref: v1, path: git/r/v1}}
ready: [{kind: Trial, group: kubeflow.org, expression: a, message: m}]
checks: [{kind: Pod, selector: app=x, expression: a, message: m}]
"""
)


def test_every_key_of_a_record_is_read(records):
    text = COMPLETE.replace("path: applications/katib}", 'path: applications/katib}, {since: "26.09", path: p, source: own}')
    component = load(records(katib=text, istio=ISTIO, options=OPTIONS)).components["katib"]
    part = component.part("katib")
    assert (part.namespace, part.extras[0].path, part.omit[0].name) == ({"option": "katib_host"}, "c", "d")
    assert part.places[1].source == "own" and component.sources["own"].ref == "v1"
    assert (component.conflicts[0].component, component.accept[0].value, component.offers[0].value) == ("istio", True, "ambient")
    assert component.following[0].follows == "istio_mode"
    assert (component.ready[0].kind, component.checks[0].selector) == ("Trial", "app=x")


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("when: {katib_flag: true}", "when: {katib_flg: true}", "parts[0].components[0].when.katib_flg: no role declares this option"),
        ("when: {katib_flag: true}", "when: {katib_flag: yes please}", "parts[0].components[0].when.katib_flag: katib_flag is of type"),
        ("when: {istio_mode: ambient}", "when: {istio_mode: ambiant}", "experimental[0].when.istio_mode: istio_mode has no value"),
        ("when: {istio_mode: ambient}", "when: {istio_mode: []}", "experimental[0].when.istio_mode: must be a value or a list of values"),
        ("when: {istio_mode: ambient}", "when: {}", "experimental[0].when: names no option; leave it out"),
        ("when: {istio_mode: ambient}", "when: {katib_list: a}", "experimental[0].when.katib_list: katib_list is a list: only texts"),
        ("given: [katib_host]", "given: [katib_hots]", "parts[0].patches[0].given[0]: no role declares the option katib_hots"),
        ("given: [katib_host]", "given: []", "parts[0].patches[0].patch: refers to katib_host, which has no default: list it under given"),
        ("{katib_host}:", "{katib_hots}:", "parts[0].patches[0].patch: refers to katib_hots, which no role declares"),
        ("{katib_host}:", "{katib_password}:", "parts[0].patches[0].patch: refers to katib_password, which is secret"),
        ("patch: [{op: add", "patches: [{op: add", "parts[0].patches[0].patches: unknown key"),
        ("target: {kind", "target: {knd", "parts[0].patches[0].target.knd: unknown key"),
        ("namespace: {option: katib_host}", "namespace: {option: katib}", "parts[0].namespace: refers to katib, which no role declares"),
        ("{component: istio", "{component: istoi", "conflicts[0].component: there is no other component istoi"),
        ("option: katib_flag", "option: katib_flg", "accept[0].option: no role declares this option"),
        ("value: true", "value: maybe", "accept[0].value: katib_flag is of type bool"),
        ("follows: istio_mode", "follows: istio", "options[1].follows: no role declares this option"),
        ("name: katib_host, follows", "name: katib_port, follows", "options[1].name: has a default, so it never follows another option"),
        ('since: "1.11"', "since: newest", "options[0].since: must be a release, such as 26.03"),
        ("{path: c,", "{path: ../c,", "parts[0].components[0].path: must lie below the root of the distribution"),
        ("path: applications/katib}", "path: a, source: foreign}", "parts[0].paths[0].source: there is no foreign under sources"),
        ("sources: {own", "sources: {collection", "sources.collection: must be lower-case letters"),
    ],
)
def test_a_mistake_is_told_with_its_key(records, old, new, told):
    assert old in COMPLETE
    with pytest.raises(RecordError) as caught:
        load(records(katib=COMPLETE.replace(old, new, 1), istio=ISTIO, options=OPTIONS))
    assert f"roles/katib/meta/component.yml: {told}" in str(caught.value.problems[0])


def test_broken_argument_specs_are_told_with_their_file(records):
    root = records(katib=KATIB, istio=ISTIO)
    (root / "roles/katib/meta/argument_specs.yml").write_text("argument_specs: {}")
    with pytest.raises(RecordError) as caught:
        load(root)
    assert str(caught.value.problems[0]).startswith("roles/katib/meta/argument_specs.yml: not argument specs with the entry point main")


def test_one_release_twice_for_one_when_is_refused(records):
    twice = '[{since: "1.8", path: a, when: {istio_mode: ambient}}, {since: "1.8", path: b, when: {istio_mode: ambient}}]'
    with pytest.raises(RecordError, match="each once for one `when`"):
        install(records, twice)


def test_a_requirement_of_a_part_that_only_some_values_have_is_known(records):
    text = ISTIO.replace("path: common/istio/crds}", "path: common/istio/crds, when: {istio_mode: ambient}}")
    assert load(records(katib=KATIB, istio=text, options=OPTIONS))
