# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""YAML is read as Kubernetes reads it."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.yamlstream import StreamError, load_all
from hypothesis import given, settings
from hypothesis import strategies as st

_TIMESTAMP = "tag:yaml.org,2002:timestamp"


class Reference(yaml.CSafeLoader):
    """PyYAML's loader, without the timestamps that Kubernetes does not know."""

    yaml_implicit_resolvers = {
        first: [entry for entry in entries if entry[0] != _TIMESTAMP] for first, entries in yaml.CSafeLoader.yaml_implicit_resolvers.items()
    }


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("yes", True),
        ("Off", False),
        ("y", True),
        ("~", None),
        ("", None),
        ("null", None),
        ("0644", 420),
        ("0o644", 420),
        ("0x1F", 31),
        ("-0b11", -3),
        ("1_000", 1000),
        ("+7", 7),
        ("08", 8),
        ("1e3", 1000),
        ("1.5", 1.5),
        ("2.0", 2),
        (".5", 0.5),
        ("1.", 1),
        ("12:30:45", "12:30:45"),
        ("2026-03-21", "2026-03-21"),
        ("2026-03-21T10:00:00Z", "2026-03-21T10:00:00Z"),
        ("1.2.3", "1.2.3"),
        ("v1", "v1"),
        ("-x", "-x"),
        ("18446744073709551615", 18446744073709551615),
        ("18446744073709551616", 18446744073709551616.0),
        ("--flag", "--flag"),
        ("'yes'", "yes"),
        ('"012"', "012"),
        ("!!str 12", "12"),
        ("! 12", "12"),
        ("!!int '12'", 12),
        ("!!float 3", 3.0),
        ("!!binary aGFsbG8=", "hallo"),
        ("|\n  1\n  2\n", "1\n2\n"),
        (">-\n  yes\n", "yes"),
        ("nO", "nO"),
    ],
)
def test_scalars_have_the_type_that_kubernetes_gives_them(text: str, value: Any) -> None:
    (read,) = load_all(f"a: {text}\n")
    assert read == {"a": value}
    assert type(read["a"]) is type(value)


def test_keys_become_strings() -> None:
    assert load_all("1: a\ntrue: b\n0x10: c\n1.5: d\n") == [{"1": "a", "true": "b", "16": "c", "1.5": "d"}]


def test_merge_keys_give_way_to_what_stands_beside_them() -> None:
    text = "base: &b {a: 1, b: 2}\nother: &o {b: 3, c: 4}\none: {<<: *b, a: 5}\ntwo: {<<: [*b, *o]}\nz: {'<<': 1}\n"
    (read,) = load_all(text)
    assert read["one"] == {"a": 5, "b": 2}
    assert read["two"] == {"a": 1, "b": 2, "c": 4}
    assert read["z"] == {"<<": 1}


def test_documents_come_in_order_with_empty_ones_as_none() -> None:
    assert load_all("a: 1\n---\n---\n- x\n---\nplain\n") == [{"a": 1}, None, ["x"], "plain"]
    assert load_all("") == []


@pytest.mark.parametrize(
    ("text", "document", "reason"),
    [
        ("a: 1\n---\nb: [1\n", 2, "line"),
        ("a: 1\na: 2\n", 1, "key 'a' is given twice \\(line 2\\)"),
        ("a: *nothing\n", 1, "nothing"),
        ("a: .inf\n", 1, "JSON cannot hold"),
        ("a: !ruby/object x\n", 1, "tag !ruby/object is not known"),
        ("? [a]\n: 1\n", 1, "a key must be a scalar"),
        ("~: 1\n", 1, "a key must be a scalar"),
        ("a: !!int x\n", 1, "cannot be read as !!int"),
        ("log line\nkind: x\n", 1, "mapping values"),
    ],
)
def test_what_kubernetes_could_not_read_is_an_error_with_the_documents_number(text: str, document: int, reason: str) -> None:
    with pytest.raises(StreamError, match=reason) as error:
        load_all(text)
    assert error.value.document == document


class Quoting(yaml.SafeDumper):
    """Quotes every text: PyYAML leaves "y" and "1e3" bare, which Kubernetes reads as a truth value and a number."""


Quoting.add_representer(str, lambda dumper, text: dumper.represent_scalar("tag:yaml.org,2002:str", text, style='"'))
_TEXT = st.text(st.characters(exclude_categories=["Cs"]))
_LEAVES = st.none() | st.booleans() | st.integers(-(2**53), 2**53) | _TEXT
_VALUES = st.recursive(_LEAVES, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_TEXT, inner, max_size=4), max_leaves=20)


def _sorted(documents: list[Any]) -> str:
    return json.dumps(documents, sort_keys=True)


@settings(deadline=None)
@given(st.lists(_VALUES.filter(lambda value: value is not None), max_size=4))
def test_what_a_dumper_writes_is_read_back_unchanged(documents: list[Any]) -> None:
    text = yaml.dump_all(documents, Dumper=Quoting, allow_unicode=True)
    assert _sorted(load_all(text)) == _sorted(documents) == _sorted(list(yaml.load_all(text, Loader=Reference)))
