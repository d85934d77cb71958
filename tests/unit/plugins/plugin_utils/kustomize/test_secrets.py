# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a build's sources keep secret is masked in whatever kustomize says of them."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest
from ansible_collections.kubeflow.platform.plugins.module_utils.objects.redaction import MASK
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize import messages, secrets

VALUE = "canary-4711-zebra"
ENCODED = base64.b64encode(VALUE.encode()).decode()

SOURCES = {
    "secret": f"apiVersion: v1\nkind: Secret\nmetadata:\n  name: x\nstringData:\n  any: {VALUE}\n",
    "encoded": f"apiVersion: v1\nkind: Secret\nmetadata:\n  name: x\ndata:\n  any: {ENCODED}\n",
    "second document": f"a: b\n---\nkind: Secret\nstringData: {{any: [{VALUE}]}}\n",
    "list": f"kind: List\nitems:\n- kind: Secret\n  stringData:\n    any: {VALUE}\n",
    "literal": f"secretGenerator:\n- name: x\n  literals:\n  - any={VALUE}\n",
    "quoted literal": f"secretGenerator:\n- name: x\n  literals:\n  - any='{VALUE}'\n",
    "literal without a name": f"secretGenerator:\n- name: x\n  literals:\n  - {VALUE}\n",
    "generator plugin": f"kind: SecretGenerator\nliterals: [any={VALUE}]\n",
    "inline patch": f"patches:\n- patch: |\n    kind: Secret\n    stringData:\n      any: {VALUE}\n",
    "inline JSON patch": f'patches:\n- target: {{kind: Secret}}\n  patch: \'[{{"op": "add", "path": "/x", "value": "{VALUE}"}}]\'\n',
    "JSON patch": f"- op: replace\n  path: /stringData/any\n  value: {VALUE}\n",
    "JSON patch of data": f"- op: replace\n  path: /data/any\n  value: {ENCODED}\n",
    "old patch": f"patchesStrategicMerge:\n- |-\n  kind: Secret\n  data:\n    any: {ENCODED}\n",
    "broken": f"kind: Secret\nstringData:\n  any: {VALUE}\n bad: : x\n",
    "broken literal": f"secretGenerator:\n- literals: [\n  - any={VALUE}\n",
    "broken block": f"kind: Secret\nstringData:\n  any: |\n    {VALUE}\n bad: : x\n",
}


@pytest.mark.parametrize("source", SOURCES.values(), ids=SOURCES.keys())
def test_value_is_known_when_a_source_holds_it(tmp_path: Path, source: str) -> None:
    path = tmp_path / "kustomization.yaml"
    path.write_text(source, encoding="utf-8")
    for found in (secrets.redactor([str(path)]), secrets.redactor([], [source])):
        shown = found.text(f"Error: trouble with {VALUE} or {ENCODED}")
        assert VALUE not in shown and ENCODED not in shown


def test_value_is_known_when_a_generator_takes_it_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "kustomization.yaml"
    path.write_text("secretGenerator:\n- envs: [x.env]\n  files: [key=y.txt, z.txt, gone.txt]\n", encoding="utf-8")
    (tmp_path / "x.env").write_text(f"any={VALUE}1\n{VALUE}2\n", encoding="utf-8")
    (tmp_path / "y.txt").write_text(f"{VALUE}3\nmore\n", encoding="utf-8")
    (tmp_path / "z.txt").write_bytes(b"\xff\n" + f"{VALUE}4".encode())
    found = secrets.redactor([str(path), str(tmp_path / "gone.yaml")])
    for number in range(1, 5):
        assert f"{VALUE}{number}" not in found.text(f"Error: {VALUE}{number}")


def test_other_sources_teach_nothing(tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    path.write_text("kind: ConfigMap\ndata:\n  any: a-public-value\n", encoding="utf-8")
    assert secrets.redactor([str(path)]).text("Error: a-public-value") == "Error: a-public-value"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Error: invalid literal source pin4711, expected key=value", "a literal is not of the form key=value"),
        (
            'Error: unable to parse SM or JSON patch from [patch: "a: \\"pin4711\\n"]',
            "unable to parse SM or JSON patch from an inline patch",
        ),
        (
            "Error: trouble configuring builtin PatchTransformer with config: `\npatch: pin4711\n`: must specify one of patch and path "
            "in\npin4711",
            "trouble configuring builtin PatchTransformer: a patch needs either `patch` or `path`",
        ),
        ("Error: line [112 105] has invalid utf8 bytes : pin4711", "a line has invalid utf8 bytes"),
        (
            "Error: yaml: unmarshal errors: line 3: cannot unmarshal !!str `pin4711` into map",
            "yaml: unmarshal errors: line 3: cannot unmarshal !!str into map",
        ),
        ("Error: loading KV pairs: literal sources [pin4711 b]: x", "loading KV pairs: x"),
        ("Error: expected MappingNode but got ScalarNode: node contents:\npin4711\n", "expected MappingNode but got ScalarNode"),
        ('Error: "pin 4711" is not a valid key name for a Secret', "a key is not a valid key name for a Secret"),
    ],
)
def test_quotation_is_left_out_since_short_values_cannot_be_known(text: str, reason: str) -> None:
    assert messages.failure(text, []) == reason


def test_mask_is_what_stands_in_place_of_the_value() -> None:
    assert MASK in secrets.redactor([], [SOURCES["secret"]]).text(f"Error: {VALUE}")
