# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The file between controller and host."""

from __future__ import annotations

import gzip
import hashlib
import json

import pytest
from ansible_collections.kubeflow.platform.plugins.module_utils.objects import normalise
from ansible_collections.kubeflow.platform.plugins.plugin_utils import partsfile
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.parse import rendered

OBJECT = {"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": "ü", "namespace": "a"}, "data": {"b": "1", "a": 'x"\n'}}
HEADING = {"name": "p", "component": "c", "layer": None, "requires": ["q"]}


def test_what_is_composed_is_read_back() -> None:
    found = rendered(OBJECT)
    data = partsfile.compose("26.03.1", [(HEADING, [found, found]), ({**HEADING, "name": "empty"}, [])], ["mind the gap"])
    entry = {"object": OBJECT, "sha256": found.sha256}
    assert partsfile.read(data) == {
        "format": 1,
        "release": "26.03.1",
        "parts": [{**HEADING, "objects": [entry, entry]}, {**HEADING, "name": "empty", "objects": []}],
        "warnings": ["mind the gap"],
    }


def test_the_hash_is_that_of_the_canonical_json_in_the_contract() -> None:
    text = json.dumps(OBJECT, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    assert rendered(OBJECT).sha256 == hashlib.sha256(text.encode()).hexdigest() == normalise.digest(OBJECT)


def test_the_same_parts_give_the_same_bytes() -> None:
    assert partsfile.compose(None, [(HEADING, [rendered(OBJECT)])], []) == partsfile.compose(None, [(HEADING, [rendered(OBJECT)])], [])


def test_another_format_is_refused() -> None:
    with pytest.raises(ValueError, match="not a parts file"):
        partsfile.read(gzip.compress(b'{"format": 2}'))
