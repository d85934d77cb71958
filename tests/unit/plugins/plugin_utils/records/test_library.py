# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from pathlib import Path

import pytest
from ansible_collections.kubeflow.platform.plugins.plugin_utils.records.library import collection_root, load
from ansible_collections.kubeflow.platform.plugins.plugin_utils.records.problems import RecordError

from tests.unit.small_records import ISTIO, KATIB, RELEASE


def problems(root: Path) -> list[str]:
    with pytest.raises(RecordError) as caught:
        load(root)
    return [str(problem) for problem in caught.value.problems]


def test_the_last_place_that_is_not_newer_than_the_release_counts(records):
    part = load(records(katib=KATIB, istio=ISTIO)).components["istio"].part("crds")
    assert part.place("1.8.1", {}).path == "common/istio-1-17/crds"
    assert part.place("1.10.2", {}).path == "common/istio/crds"
    assert part.place("26.03.1", {}).path == "common/istio/crds"
    assert part.place("1.7", {}) is None


def test_a_null_path_says_that_a_release_no_longer_has_the_part(records):
    text = KATIB.replace("path: applications/katib}", 'path: applications/katib}, {since: "26.09", path: null}')
    katib = load(records(katib=text, istio=ISTIO)).components["katib"]
    assert [part.name for part in katib.parts_at("26.03.1", {})] == ["katib"]
    assert katib.parts_at("26.09", {}) == ()


def test_a_place_can_have_requirements_of_its_own(records):
    text = KATIB.replace("path: applications/katib}", 'path: applications/katib}, {since: "26.09", path: k, requires: []}')
    part = load(records(katib=text, istio=ISTIO)).components["katib"].part("katib")
    assert [str(need) for need in part.needs("26.03", {})] == ["istio/crds"]
    assert part.needs("26.09", {}) == ()


def test_all_mistakes_of_all_files_are_told_at_once(records):
    found = problems(
        records(
            {"26.03": RELEASE.replace('min: "5.5.0"', "min: newest"), "latest": RELEASE},
            katib=KATIB.replace("title", "titel").replace("applications\n", "apps\n"),
            istio=ISTIO.replace("1.10", "1.7"),
        )
    )
    assert found == [
        "roles/istio/meta/component.yml: parts[0].paths: must go from the oldest release to the newest, each once for one `when`",
        "roles/katib/meta/component.yml: titel: unknown key (known: accept, addresses, checks, conflicts, credentials, experimental,"
        " layer, options, parts, ready, sources, spare, title)",
        "roles/katib/meta/component.yml: layer: must be one of infrastructure, applications",
        "roles/katib/meta/component.yml: title: is missing",
        "releases/26.03.yml: kustomize.min: must be a version",
        "releases/latest.yml: the file must be named by the release, such as 26.03.1.yml",
    ]


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("requires: [istio/crds]", "requires: istio/crds", "parts[0].requires: must be a list"),
        ("requires: [istio/crds]", "requires: [3]", "parts[0].requires[0]: must be component, component/part, or {needs, because}"),
        ("requires: [istio/crds]", "requires: [Istio]", "parts[0].requires[0]: must be component or component/part"),
        ("requires: [istio/crds]", "requires: [{needs: istio}]", "parts[0].requires[0].because: is missing"),
        ("requires: [istio/crds]", "requires: [istoi]", "parts[0].requires: there is no istoi"),
        ("requires: [istio/crds]", "requires: [istio/crd]", "parts[0].requires: there is no istio/crd"),
        ('since: "26.03"', "since: 26.03", "parts[0].paths[0].since: must be a text (quote it if it looks like a number)"),
        ("path: applications/katib", "path: /etc", "parts[0].paths[0].path: must lie below the root of the distribution"),
        ("path: applications/katib", "path: a/../../b", "parts[0].paths[0].path: must lie below the root of the distribution"),
        ("  - name: katib", "  - name: ka-tib", "parts[0].name: must be lower-case letters, digits and underscores"),
        ("title: Katib", "title: Katib\ntitle: Again", "line 3: the key title is given twice"),
        ("title: Katib", "title: '{{ x }}'", "line 2: Jinja is not allowed in records"),
        ("title: Katib", "title: ''", "title: must not be empty"),
        ("layer: applications", "layer: [", "not valid YAML"),
    ],
)
def test_a_mistake_is_told_with_its_file_and_key(records, old, new, told):
    found = problems(records(katib=KATIB.replace(old, new), istio=ISTIO))
    assert len(found) == 1
    assert found[0].startswith(f"roles/katib/meta/component.yml: {told}")


def test_anchors_are_refused(records):
    text = KATIB + "credentials: [&a {namespace: n, name: s, keys: [k], purpose: p}, *a]\n"
    assert problems(records(katib=text, istio=ISTIO)) == [
        "roles/katib/meta/component.yml: line 8: anchors and aliases are not allowed in records"
    ]


def test_two_parts_of_one_name_are_refused(records):
    again = '  - name: katib\n    paths: [{since: "26.03", path: b}]\n'
    assert "two parts are called katib" in problems(records(katib=KATIB + again, istio=ISTIO))[0]


def test_a_requirement_that_a_release_does_not_have_is_refused(records):
    text = ISTIO.replace('{since: "1.10", path: common/istio/crds}', '{since: "26.03", path: null}')
    other = '  - name: base\n    paths: [{since: "1.8", path: b}]\n'
    assert problems(records(katib=KATIB, istio=text + other)) == [
        "roles/katib/meta/component.yml: parts[0].requires: release 26.03 has no istio/crds"
    ]


def test_parts_that_require_each_other_are_refused(records):
    text = ISTIO.replace("  - name: crds", "  - name: crds\n    requires: [katib]")
    assert problems(records(katib=KATIB, istio=text)) == [
        "releases/26.03.yml: no order fits its parts: these require each other: istio/crds, katib/katib"
    ]


def test_a_credential_can_be_shipped_by_some_releases_only(records):
    text = ISTIO + "credentials: [{namespace: n, name: s, keys: [k], purpose: p, since: '1.9', until: '26.03'}]\n"
    istio = load(records(katib=KATIB, istio=text)).components["istio"]
    assert [len(istio.credentials_at(release, {})) for release in ("1.8.1", "1.9", "1.11.0", "26.03", "26.03.1")] == [0, 1, 1, 0, 0]


def test_a_credential_says_how_its_values_are_made_and_who_reads_them(records):
    value = "{key: k, make: hex, same: c, shipped: [0123456789abcdef], workload: db, starts: PASSWORD}"
    text = ISTIO + f"credentials: [{{namespace: n, name: s, keys: [k, l], purpose: p, values: [{value}], readers: [Deployment db]}}]\n"
    (found,) = load(records(katib=KATIB, istio=text)).components["istio"].credentials
    assert found.readers == ("Deployment db",)
    assert [value.as_dict() for value in found.values] == [
        {"key": "k", "make": "hex", "shipped": ["0123456789abcdef"], "same": "c", "workload": "db", "starts": "PASSWORD"}
    ]


def test_mistakes_in_the_values_of_a_credential_are_all_told(records):
    values = "[{key: m, make: dice, shipped: [minio123], workload: db}, {key: m, make: hex, shipped: [0123456789abcdef]}]"
    text = ISTIO + f"credentials: [{{namespace: n, name: s, keys: [k], purpose: p, values: {values}, readers: [db]}}]\n"
    found = [row.partition("credentials[0].")[2] for row in problems(records(katib=KATIB, istio=text))]
    assert sorted(found) == [
        "readers[0]: must be the kind and the name of a workload, such as Deployment dex",
        "values: has m twice",
        "values[0].key: is not among the keys of the Secret",
        "values[0].make: must be one of hex, cookie, bcrypt, none",
        "values[0].shipped[0]: must be the first 16 digits of the SHA-256 of the value",
        "values[0]: workload and starts belong together",
        "values[1].key: is not among the keys of the Secret",
    ]


def test_a_range_of_a_credential_must_be_of_releases(records):
    text = ISTIO + "credentials: [{namespace: n, name: s, keys: [k], purpose: p, since: old, until: '1.9'}]\n"
    (found,) = problems(records(katib=KATIB, istio=text))
    assert found == "roles/istio/meta/component.yml: credentials[0].since: must be a release, such as 26.03"


def test_a_quirk_drops_fields_or_the_whole_object(records):
    text = RELEASE + "quirks: [{kind: A, name: a, drop: [/x], because: b}, {kind: B, name: b, omit: true, because: b}]\n"
    release = load(records({"26.03": text}, katib=KATIB, istio=ISTIO)).releases["26.03"]
    assert [(quirk.drop, quirk.omit) for quirk in release.quirks] == [(("/x",), False), ((), True)]


def test_a_difference_from_upstreams_example_is_named_with_its_reason(records):
    text = RELEASE + "differences: [{kind: A, name: a, because: b}]\n"
    (difference,) = load(records({"26.03": text}, katib=KATIB, istio=ISTIO)).releases["26.03"].differences
    assert (difference.kind, difference.name, difference.because) == ("A", "a", "b")


@pytest.mark.parametrize(
    ("entry", "told"),
    [
        ("quirks: [{kind: A, name: a, because: b}]", "quirks[0]: must have either drop or omit: true"),
        ("quirks: [{kind: A, name: a, drop: [/x], omit: true, because: b}]", "quirks[0]: must have either drop or omit: true"),
        (
            "quirks: [{kind: A, name: a, drop: [x], because: b}]",
            "quirks[0].drop[0]: must be a JSON pointer such as /metadata/annotations/a~1b",
        ),
        ("quirks: [{kind: A, name: a, omit: all, because: b}]", "quirks[0].omit: must be true or false"),
        ("differences: [{kind: A, name: a}]", "differences[0].because: is missing"),
    ],
)
def test_a_mistake_in_what_a_release_renders_wrongly_is_told(records, entry, told):
    assert f"releases/26.03.yml: {told}" in problems(records({"26.03": RELEASE + entry + "\n"}, katib=KATIB, istio=ISTIO))


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("selections: {default: [katib]}", "selections: {small: [katib]}", "selections.default: is missing"),
        ("[katib]", "[katb]", "selections.default: there is no component katb"),
        ("fingerprint: {present: [common]}", "", "fingerprint: is missing"),
        ('max: "1.35"', 'max: "1.33"', "kubernetes: min is newer than max"),
    ],
)
def test_a_mistake_in_a_release_is_told_with_its_key(records, old, new, told):
    found = problems(records({"26.03": RELEASE.replace(old, new)}, katib=KATIB, istio=ISTIO))
    assert f"releases/26.03.yml: {told}" in found


def test_a_selection_can_only_name_what_the_release_has(records):
    found = problems(records({"1.8.1": RELEASE, "26.03": RELEASE}, katib=KATIB, istio=ISTIO))
    assert found == ["releases/1.8.1.yml: selections.default: katib has no part at this release"]


def test_a_collection_without_releases_is_refused(records):
    assert problems(records({}, istio=ISTIO)) == ["releases: there is no release"]


def test_the_records_of_the_collection_are_valid():
    library = load(collection_root())
    assert list(library.releases) == ["1.8.1", "1.10.2", "1.11.0", "26.03", "26.03.1"]


def test_every_component_of_a_default_selection_has_a_version_unless_it_is_kubeflows_own():
    library = load(collection_root())
    for release in library.releases.values():
        assert set(release.selections["default"]) - set(release.versions) == {"kubeflow_namespace", "user_namespace"}
