# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.tools.reference.files import ROOT, wanted
from tests.tools.reference.markup import markdown, rst
from tests.tools.reference.options import Option, Role, roles, shared_by_components
from tests.tools.reference.page import page
from tests.tools.reference.readme import END, block, updated


def test_no_generated_page_says_something_else_than_the_code():
    stale = [
        str(path.relative_to(ROOT)) for path, text in wanted(ROOT).items() if not path.exists() or path.read_text(encoding="utf-8") != text
    ]
    assert stale == [], "run: make docs"


@pytest.mark.parametrize(
    ("given", "as_markdown", "as_rst"),
    [
        ("V(true) or C(x)", "`true` or `x`", "``true`` or ``x``"),
        ("O(kubeflow_prune=delete)", "`kubeflow_prune: delete`", "``kubeflow_prune: delete``"),
        ("O(kubeflow.platform.kubeflow#role:main:kubeflow_prune)", "`kubeflow_prune`", "``kubeflow_prune``"),
        (
            "the role P(kubeflow.platform.kubeflow#role)s",
            "the role `kubeflow.platform.kubeflow`s",
            "the role ``kubeflow.platform.kubeflow``\\ s",
        ),
        ("L(here,https://example.com/a)", "[here](https://example.com/a)", "`here <https://example.com/a>`__"),
        ("a | b * c_ <role>", "a &#124; b * c_ &lt;role>", r"a \| b \* c\_ <role>"),
        ("V(f(x\\))", "`f(x)`", "``f(x)``"),
        ("two\n  lines", "two lines", "two lines"),
    ],
)
def test_markup_becomes_what_the_page_is_written_in(given, as_markdown, as_rst):
    assert (markdown(given), rst(given)) == (as_markdown, as_rst)


def option(text: str = "What it is.", **more: Any) -> dict[str, Any]:
    return {"description": text, "type": "str", **more}


def component(name: str, variables: dict[str, Any], **record: Any) -> Role:
    return Role(
        name,
        {"short_description": "Install it", "options": variables},
        {"title": name.title(), "layer": "applications", "parts": [], **record},
    )


def test_what_people_wrote_below_the_block_is_kept():
    role = component("katib", {})
    first = updated("", block(role))
    written = first + "\nA word about databases.\n"
    assert updated(written, block(component("katib", {"katib_mode": option()}))).endswith(f"{END}\n\nA word about databases.\n")
    assert updated(first, block(role)) == first


def test_a_readme_tells_every_key_of_a_mapping():
    keys = {"kind": option("Its kind.", required=True), "at_least": option("How many.", type="int", default=1)}
    role = component("katib", {"katib_checks": option(type="list", elements="dict", options=keys)})
    text = block(role)
    assert "| `katib_checks` | list of dict | - | What it is. |" in text
    assert "| `katib_checks[].kind` | str | required | Its kind. |" in text
    assert "| `katib_checks[].at_least` | int | `1` | How many. |" in text


def test_a_readme_tells_in_which_releases_a_value_exists():
    limits = [
        {"name": "istio_mode", "value": "ambient", "since": "1.11", "because": "1.10.2 has no ambient overlay"},
        {"name": "istio_mode", "follows": "istio_platform", "since": "1.11", "because": "it is no limit"},
    ]
    role = component("istio", {"istio_mode": option(choices=["cni", "ambient"], default="cni")}, options=limits)
    assert "What it is. `ambient` only from 1.11 on: 1.10.2 has no ambient overlay. One of `cni`, `ambient`." in block(role)


def test_every_limit_of_the_records_is_told():
    found = roles(ROOT)
    limited = [(role, row["name"]) for role in found.values() for row in role.record.get("options") or [] if "follows" not in row]
    assert limited
    assert [name for role, name in limited if not role.limits(name)] == []


def test_a_readme_tells_which_tree_a_path_lies_in_and_for_which_releases_a_secret_is_there():
    places = [
        {"since": "1.8", "path": "p", "source": "collection"},
        {"since": "1.8", "path": "q", "when": {"mode": "a"}, "source": "own"},
    ]
    sources = {"own": {"repository": "https://example.com/own.git", "ref": "v1", "path": "git/own/v1"}}
    secret = {
        "namespace": "kubeflow",
        "name": "s",
        "keys": ["k"],
        "purpose": "the key",
        "until": "26.03",
        "absent": ["host"],
        "readers": ["Deployment d"],
    }
    needs = [{"needs": "katib", "because": "x", "since": "1.10", "same": ["one", "other"]}]
    text = block(
        component("istio", {}, parts=[{"name": "operator", "paths": places, "requires": needs}], sources=sources, credentials=[secret])
    )
    requires = "katib where `one` and `other` are the same from 1.10 on"
    assert f"| operator | 1.8 | `p` of this collection | {requires} |" in text
    assert f"|  | 1.8 with `mode: a` | `q` of https://example.com/own.git at v1 | {requires} |" in text
    assert "- `kubeflow/s` (k) without `host` before 26.03: the key; read by Deployment d" in text


def test_a_readme_tells_when_a_part_is_there_and_what_it_requires():
    parts = [
        {
            "name": "install",
            "when": {"mode": ["a", "b"]},
            "requires": ["istio/crds", {"needs": "knative", "when": {"kserve_mode": "Serverless"}}],
            "paths": [{"since": "1.8", "path": "old"}, {"since": "26.03", "when": {"platform": "gke"}, "path": None}],
        }
    ]
    text = block(component("istio", {}, parts=parts))
    requires = "istio/crds, knative with `kserve_mode: Serverless`"
    assert f"| install with `mode: a or b` | 1.8 | `old` | {requires} |" in text
    assert f"|  | 26.03 with `platform: gke` | no longer there | {requires} |" in text


def test_a_readme_tells_which_part_is_looked_for_and_which_depends_on_what_is_given_or_selected():
    place = {"since": "1.8", "path": "p"}
    parts = [
        {"name": "crd", "outside": True, "paths": [place]},
        {"name": "store", "given": ["host"], "absent": ["claim"], "selected": ["katib"], "paths": [place]},
    ]
    text = block(component("istio", {}, parts=parts))
    assert "| crd (looked for, not installed) | 1.8 | `p` | - |" in text
    assert "| store with `host` without `claim` together with `katib` | 1.8 | `p` | - |" in text


def test_the_page_tells_once_what_every_component_has():
    found = {name: component(name, {f"{name}_patches": option(), f"{name}_mode": option()}) for name in ("katib", "istio")}
    found["istio"].spec["options"]["istio_mode"]["description"] = "Another."
    for name, role in found.items():
        role.spec["options"][f"{name}_patches"]["description"] = f"Changes to {role.title}, see O({name}_patches)."
    text = page(found, ["26.03"])
    assert list(shared_by_components(found)) == ["patches"]
    assert text.count("_patches`` (") == 1
    assert "``<role>_patches`` (str)\n    Changes to the component, see ``<role>_patches``." in text
    assert "``katib_mode`` (str)" in text
    assert "``istio_mode`` (str)" in text


def test_the_page_has_every_variable_of_every_role():
    found = roles(ROOT)
    shared = shared_by_components(found)
    text = page(found, [])
    missing = [
        option.name
        for role in found.values()
        for option in role.options
        if f"``{option.name}`` (" not in text and not (role.record and option.name.removeprefix(f"{role.name}_") in shared)
    ]
    assert missing == []


def test_the_page_is_among_the_guides():
    listed = yaml.safe_load((ROOT / "docs" / "docsite" / "extra-docs.yml").read_text(encoding="utf-8"))
    assert "variables" in [name for section in listed["sections"] for name in section["toctree"]]


def test_every_sentence_of_a_variable_ends_as_one():
    wrong = [
        (name, sentence)
        for role in roles(Path(ROOT)).values()
        for top in role.options
        for name, sentence in ((row.name, text) for row in top.with_keys() for text in row.sentences)
        if not sentence.rstrip().endswith((".", ":", ")"))
    ]
    assert wrong == []


def test_keys_of_a_mapping_are_named_below_it():
    assert [row.name for row in Option("a", option(type="dict", options={"b": option()})).with_keys()] == ["a", "a.b"]
