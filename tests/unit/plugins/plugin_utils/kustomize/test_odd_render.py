# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whatever a build prints and whatever options say, nothing but the one error of rendering comes out on the controller."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.kubeflow.platform.plugins.plugin_utils import partsfile
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize import checks, messages, secrets, validate, wrapper
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.cache import Cache
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.errors import RenderError
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.parse import objects
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.parts import Part
from ansible_collections.kubeflow.platform.tests.unit.api_double.objects import config, crd, custom, deployment, thing
from hypothesis import given, settings
from hypothesis import strategies as st

few = settings(max_examples=settings.default.max_examples // 5)
Place = tuple[Any, ...]
VALID = [
    crd("Widget"),
    custom("Widget", "w", "default"),
    config("c"),
    thing("Secret", "s", "default", data={"k": "eA=="}),
    deployment("d"),
    {"apiVersion": "v1", "kind": "List", "items": [config("e")]},
    custom("Profile", "p", group="kubeflow.org", owner={"kind": "User", "name": "u"}),
]


def places(value: Any, path: Place = ()) -> Iterator[Place]:
    if path:
        yield path
    rows = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in rows:
        yield from places(item, (*path, key))


def changed(value: Any, place: Place, odd: Any) -> Any:
    made = copy.deepcopy(value)
    holder = made
    for key in place[:-1]:
        holder = holder[key]
    holder[place[-1]] = odd
    return made


def nested(depth: int) -> Any:
    value: Any = "end"
    for _level in range(depth):
        value = {"a": value}
    return value


ODD = st.one_of(
    st.sampled_from([None, [], {}, "", "x", 5, 2**70, 1.5, True, [None], ["x"], [[]], {"x": None}, {"": 1}, {"name": 5}, "$(x)", "a/b"]),
    st.builds(nested, st.integers(1, 1500)),
)


def judged(rows: list[Any], folder: Path, *, whole: bool) -> None:
    stream = "\n---\n".join(json.dumps(row) for row in rows).encode()
    part = Part("p", "p", "/", omit=({"kind": "ConfigMap", "name": "c"},))
    found = checks.mend(checks.omit(part, objects(stream, "p")), [{"kind": "Widget", "name": "w", "drop": ["/spec/size/x", "/metadata/a"]}])
    checks.refuse_variables([(part, found)])
    checks.refuse_duplicates([(part, found)])
    checks.refuse_oversize([(part, found)])
    data = partsfile.compose("1", [(part.heading(), found)], [])
    partsfile.read(data)
    if whole:
        (folder / "parts.gz").write_bytes(data)
        validate.validate(folder / "parts.gz", None, Cache(folder / "cache"))


def test_what_is_right_is_taken(tmp_path: Path) -> None:
    judged(VALID, tmp_path, whole=True)


@given(st.sampled_from(list(places(VALID))), ODD)
def test_only_our_error_comes_out_of_reading_a_render(tmp_path_factory: pytest.TempPathFactory, place: Place, odd: Any) -> None:
    try:
        judged(changed(VALID, place, odd), tmp_path_factory.getbasetemp(), whole=False)
    except RenderError as error:
        assert str(error).startswith("Failed to ")


@few
@given(st.sampled_from(list(places(VALID))), ODD)
def test_only_our_error_comes_out_of_validation(tmp_path_factory: pytest.TempPathFactory, place: Place, odd: Any) -> None:
    try:
        judged(changed(VALID, place, odd), tmp_path_factory.getbasetemp(), whole=True)
    except RenderError as error:
        assert str(error).startswith("Failed to ")


@given(st.binary(max_size=200) | st.text(max_size=200).map(lambda text: text.encode("utf-8", "surrogatepass")))
def test_only_our_error_comes_out_when_the_stream_is_noise(stream: bytes) -> None:
    try:
        objects(stream, "p")
    except RenderError as error:
        assert str(error).startswith("Failed to ")
    assert isinstance(messages.failure(stream.decode("utf-8", "replace"), []), str)
    assert isinstance(messages.warnings([stream.decode("utf-8", "replace")]), list)


@given(st.text(max_size=300))
def test_sources_of_any_kind_can_be_read_for_their_secrets(text: str) -> None:
    secrets.redactor([], [text, f"kind: Secret\n{text}", f"secretGenerator:\n{text}"]).text(text)


@pytest.mark.parametrize("odd", [None, [], {}, "x", 5, True, [None], {"x": []}], ids=repr)
def test_only_our_error_comes_out_when_a_patch_is_odd(odd: Any) -> None:
    patch = {"patch": [{"op": "add", "path": "/x", "value": 1}], "target": {"kind": "A", "name": "b", "labelSelector": "a=b"}}
    for place in [(), *places(patch)]:
        part = Part("p", "p", "/", patches=(changed({"": patch}, ("", *place), odd)[""],))
        try:
            made = wrapper.Wrapper.of(part, "/")
        except RenderError as error:
            assert str(error).startswith("Failed to read patch 1 of part p")
            continue
        for row in made.patches:
            wrapper.selects(row.get("target") or {}, {"apiVersion": "v1", "kind": "A", "namespace": "", "name": "b"})


def test_what_is_nested_without_end_is_told_with_its_line() -> None:
    with pytest.raises(RenderError, match="it is nested deeper than 200 levels .line 3."):
        objects(b"apiVersion: v1\nkind: A\nx: " + b"[" * 500, "p")
