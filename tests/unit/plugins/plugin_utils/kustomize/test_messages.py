# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""kustomize's words, shortened. The texts are those of kustomize 5.8.1."""

from __future__ import annotations

import pytest
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize import messages

NESTED = (
    "Error: accumulating resources: accumulation err='accumulating resources from '../b': '/t/b' must resolve to a file': recursed "
    "accumulation of path '/t/b': accumulating resources: accumulating resources from 'y.yaml': MalformedYAMLError: yaml: line 4: did not "
    "find expected key in File: y.yaml"
)


def test_warnings_come_once_and_deprecations_in_one_sentence() -> None:
    deprecated = (
        "# Warning: '{}' is deprecated. Please use 'x' instead. Run 'kustomize edit fix' to update your Kustomization automatically.\n"
    )
    one = deprecated.format("vars") + "2026/11/30 19:16:05 well-defined vars that were never replaced: a,b\n"
    two = deprecated.format("bases") + deprecated.format("vars") + "2026/11/30 19:17:11 well-defined vars that were never replaced: b,a\n"
    assert messages.warnings([one, two, ""]) == [
        "kustomize: well-defined vars that were never replaced: a,b",
        "kustomize: the manifests use deprecated fields, which still work: bases, vars",
    ]


def test_broken_yaml_names_the_file_in_full_when_there_is_one_of_that_name() -> None:
    assert messages.failure(NESTED, ["/t/a/x.yaml", "/t/b/y.yaml"]) == "/t/b/y.yaml is not valid YAML: line 4: did not find expected key"
    assert messages.failure(NESTED, ["/t/a/y.yaml", "/t/b/y.yaml"]).startswith("y.yaml is not valid YAML")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('Error: invalid Kustomization: json: unknown field "resourcez"', 'a kustomization is not valid: json: unknown field "resourcez"'),
        (
            "Error: accumulating resources: accumulation err='merging resources from 'y.yaml': may not add resource with an already "
            "registered id: ConfigMap.v1.[noGrp]/x.[noNs]': must build at directory: '/t/e/y.yaml': file is not directory",
            "merging resources from 'y.yaml': may not add resource with an already registered id: ConfigMap.v1.[noGrp]/x.[noNs]",
        ),
        (
            "Error: accumulating resources: accumulation err='accumulating resources from '../a/x.yaml': security; file '/t/a/x.yaml' "
            "is not in or below '/t/h'': must build at directory: '/t/a/x.yaml': file is not directory",
            "accumulating resources from '../a/x.yaml': security; file '/t/a/x.yaml' is not in or below '/t/h'",
        ),
        ("# Warning: x\nError: no matches for Id ConfigMap.v1", "no matches for Id ConfigMap.v1"),
        ("", "it gave no reason"),
    ],
)
def test_the_cause_is_taken_out_of_its_wrapping(text: str, reason: str) -> None:
    assert messages.failure(text, []) == reason


COMPONENT = (
    "accumulating components: accumulateDirectory: \"recursed accumulation of path '/t/c': accumulating resources: accumulating resources "
    "from 'o.yaml': MalformedYAMLError: yaml: line 2: mapping values are not allowed in this context in File: o.yaml\""
)


@pytest.mark.parametrize(
    "prefix", ["Error: ", "error: ", "2026/11/30 19:16:05 Error: ", "E1130 19:16:05.123456   12345 kustomize.go:74] error: "]
)
@pytest.mark.parametrize("files", [["/t/c/o.yaml"], []])
def test_broken_file_of_a_component_is_named_without_debris(prefix: str, files: list[str]) -> None:
    name = files[0] if files else "o.yaml"
    assert (
        messages.failure(prefix + COMPONENT, files) == f"{name} is not valid YAML: line 2: mapping values are not allowed in this context"
    )


def test_component_inside_a_component_is_unwrapped_too() -> None:
    inner = COMPONENT.replace('"', '\\"')
    text = f"Error: accumulating components: accumulateDirectory: \"recursed accumulation of path '/t/b': {inner}\""
    assert messages.failure(text, ["/t/c/o.yaml"]).startswith("/t/c/o.yaml is not valid YAML: line 2")


def test_prefixes_of_logs_are_no_part_of_a_warning() -> None:
    text = "2026/11/30 19:16:05 one\nW1130 19:16:05.123456   12345 kustomize.go:74] two\n"
    assert messages.warnings([text]) == ["kustomize: one", "kustomize: two"]
