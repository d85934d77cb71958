# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What taking an object over from another tool removes from it."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.taking import lost, owned_paths, without

OURS = {"metadata": {"name": "a"}, "data": {"key": "1"}}


def live(*entries: tuple[str, dict[str, Any]], **data: str) -> dict[str, Any]:
    rows = [{"manager": manager, "operation": "Apply", "fieldsV1": fields} for manager, fields in entries]
    return {"metadata": {"name": "a", "managedFields": rows}, "data": data}


def fields(*names: str) -> dict[str, Any]:
    return {"f:data": {".": {}, **{f"f:{name}": {} for name in names}}}


def test_field_that_only_the_tool_holds_is_lost() -> None:
    assert lost(live(("kubectl", fields("key", "stale")), key="1", stale="2"), OURS, ()) == [".data.stale"]


def test_field_that_somebody_else_holds_too_is_not_lost() -> None:
    assert lost(live(("kubectl", fields("stale")), ("operator", fields("stale")), stale="2"), OURS, ()) == []


def test_field_with_a_longer_name_of_somebody_else_does_not_save_it() -> None:
    assert lost(live(("kubectl", fields("stale")), ("operator", fields("stale2")), stale="2", stale2="3"), OURS, ()) == [".data.stale"]


def test_field_that_is_not_live_cannot_be_lost() -> None:
    assert lost(live(("kubectl", fields("stale"))), OURS, ()) == []


@pytest.mark.parametrize(("extra", "expected"), [((), []), (("mine",), [".data.stale"])])
def test_managers_named_by_the_user_count_as_tools(extra: tuple[str, ...], expected: list[str]) -> None:
    assert lost(live(("mine", fields("stale")), stale="2"), OURS, extra) == expected


def test_item_of_a_list_is_lost_as_a_whole() -> None:
    item = {"f:spec": {"f:containers": {'k:{"name":"extra"}': {".": {}, "f:image": {}, "f:name": {}}}}}
    found = {
        "metadata": {"managedFields": [{"manager": "kubectl", "fieldsV1": item}]},
        "spec": {"containers": [{"name": "extra", "image": "i"}]},
    }
    assert lost(found, {"spec": {"containers": [{"name": "main"}]}}, ()) == ['.spec.containers[name="extra"]']


def test_paths_are_those_of_owned_fields() -> None:
    assert list(owned_paths({"f:a": {".": {}, "f:b": {}}, "f:c": {"f:d": {}}})) == [".a", ".a.b", ".c.d"]


def test_object_is_left_without_what_is_lost_and_the_original_stays() -> None:
    state = {"data": {"key": "1", "stale": "2"}}
    assert without(state, [".data.stale"]) == {"data": {"key": "1"}}
    assert state == {"data": {"key": "1", "stale": "2"}}
