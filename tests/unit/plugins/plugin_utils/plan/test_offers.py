# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import pytest
from ansible_collections.kubeflow.platform.plugins.plugin_utils.plan.offers import not_offered
from ansible_collections.kubeflow.platform.plugins.plugin_utils.records.library import load

from tests.unit.small_records import KATIB, RELEASE

OPTIONS = {
    "istio_mode": {"choices": ["cni", "ambient", "no_cni"], "default": "cni"},
    "istio_extra": {"type": "bool", "default": False},
    "katib_host": {},
    "katib_size": {"choices": ["small", "big"], "default": "small"},
}
ISTIO = """
title: Istio
layer: infrastructure
parts:
  - name: crds
    paths: [{since: "1.8", path: a}, {since: "1.11", path: b, when: {istio_mode: ambient}}]
    patches:
      - {because: x, when: {istio_mode: ambient}, target: {kind: A}, patch: [{op: remove, path: /a}]}
      - {because: x, since: "26.03", when: {istio_extra: true}, target: {kind: A}, patch: [{op: remove, path: /a}]}
options:
  - {name: istio_mode, value: no_cni, since: "1.10", until: "26.03", because: its overlay builds there only}
  - {name: katib_host, since: "26.03", because: Katib reads it from a Secret since then}
"""


@pytest.fixture
def findings(records):
    releases = {name: RELEASE.replace("[katib]", "[]") for name in ("1.8.1", "1.10.2", "1.11.0", "26.03")}
    library = load(records(releases, katib=KATIB, istio=ISTIO, options=OPTIONS))

    def asked(release, **values):
        return list(not_offered(library, library.releases[release], {**library.defaults, **values}))

    return asked


def test_defaults_are_always_offered(findings):
    assert findings("1.8.1") == []
    assert findings("1.8.1", istio_mode="cni", istio_extra=False) == []


def test_a_value_that_brings_a_path_is_offered_where_the_path_is(findings):
    assert findings("1.11.0", istio_mode="ambient") == []
    assert findings("1.10.2", istio_mode="ambient") == ["istio_mode: ambient is not offered in 1.10.2 (from 1.11.0 on)"]


def test_a_value_that_only_a_patch_names_is_offered_where_the_patch_counts(findings):
    assert findings("26.03", istio_extra=True) == []
    assert findings("1.11.0", istio_extra=True) == ["istio_extra: true is not offered in 1.11.0 (from 26.03 on)"]


def test_an_entry_under_options_decides_before_the_paths_and_says_why(findings):
    assert findings("1.11.0", istio_mode="no_cni") == []
    for release in ("1.8.1", "26.03"):
        assert findings(release, istio_mode="no_cni") == [
            f"istio_mode: no_cni is not offered in {release} (in 1.10.2, 1.11.0): its overlay builds there only"
        ]


def test_an_option_as_a_whole_can_be_missing(findings):
    assert findings("26.03", katib_host="db") == []
    assert findings("1.8.1", katib_host="") == []
    assert findings("1.8.1", katib_host="db") == [
        "katib_host is not offered in 1.8.1 (from 26.03 on): Katib reads it from a Secret since then"
    ]


def test_a_value_that_no_record_names_is_free(findings):
    assert findings("1.8.1", katib_size="big") == []


def test_all_are_told_at_once(findings):
    assert len(findings("1.8.1", istio_mode="ambient", istio_extra=True, katib_host="db")) == 3
