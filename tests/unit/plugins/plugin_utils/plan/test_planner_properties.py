# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What holds of every plan, whatever is asked for."""

from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.kubeflow.platform.plugins.plugin_utils.plan.model import Plan, Request, SelectionError
from ansible_collections.kubeflow.platform.plugins.plugin_utils.plan.planner import plan
from ansible_collections.kubeflow.platform.plugins.plugin_utils.plan.result import as_result
from ansible_collections.kubeflow.platform.plugins.plugin_utils.records.library import collection_root, load
from hypothesis import assume, given, settings
from hypothesis import strategies as st

LIBRARY = load(collection_root())
# Options that a plan can depend on, with values that are not the default; texts stand for whatever people write.
VALUES = {
    name: [value for value in option.choices or ((True, False) if option.type == "bool" else ("some-text",)) if value != option.default]
    for name, option in LIBRARY.options.items()
    if option.is_scalar
}
# A plan takes some hundredths of a second, and most of these make two.
some = settings(max_examples=settings.default.max_examples // 4)


@st.composite
def requests(draw: st.DrawFn) -> Request:
    release = draw(st.sampled_from(list(LIBRARY.releases)))
    names = st.sampled_from(list(LIBRARY.components))
    options = draw(st.lists(st.sampled_from(sorted(VALUES)), unique=True, max_size=3))
    return Request(
        release,
        selection=draw(st.sampled_from(list(LIBRARY.releases[release].selections))),
        added=tuple(draw(st.lists(names, unique=True, max_size=4))),
        removed=tuple(draw(st.lists(names, unique=True, max_size=2))),
        values={name: draw(st.sampled_from(VALUES[name])) for name in options},
    )


def planned(request: Request) -> Plan:
    """The plan, for requests that can be met; a refusal has findings and says what to do."""
    try:
        return plan(LIBRARY, request)
    except SelectionError as error:
        assert error.findings and all(len(finding) > 30 for finding in error.findings)
        assume(False)
        raise


@some
@given(requests())
def test_every_part_comes_once_and_after_what_it_requires(request):
    seen: set[str] = set()
    for part in planned(request).parts:
        assert part.name not in seen
        assert set(part.requires) <= seen
        seen.add(part.name)


@some
@given(requests())
def test_a_selection_is_closed_and_holds_nothing_that_was_removed(request):
    made = planned(request)
    names = {item.component.name: item.because for item in made.selected}
    assert not set(names) & set(request.removed)
    assert set(request.added) <= set(names)
    for item in made.selected:
        for part in item.component.parts_at(request.release, made.values):
            assert {need.component for need in part.needs(request.release, made.values)} <= set(names)
    assert all(names.values())


@some
@given(requests())
def test_nothing_is_selected_without_being_asked_for_or_required(request):
    made = planned(request)
    for item in made.selected:
        name = item.component.name
        asked = name in request.added or name in LIBRARY.releases[request.release].selections[request.selection]
        required = any(
            need.component == name
            for other in made.selected
            if other is not item
            for part in other.component.parts_at(request.release, made.values)
            for need in part.needs(request.release, made.values)
        )
        assert asked or required


@some
@given(requests(), st.randoms(use_true_random=False))
def test_the_order_of_what_is_asked_for_does_not_matter(request, chance):
    added, removed = list(request.added), list(request.removed)
    chance.shuffle(added)
    chance.shuffle(removed)
    other = replace(request, added=tuple(added), removed=tuple(removed))
    assert [part.as_dict() for part in planned(request).parts] == [part.as_dict() for part in planned(other).parts]


@some
@given(requests())
def test_asking_for_all_that_came_of_it_changes_nothing(request):
    made = planned(request)
    again = planned(replace(request, added=tuple(item.component.name for item in made.selected)))
    assert again.parts == made.parts


@some
@given(requests(), st.data())
def test_a_narrowed_plan_is_a_piece_of_the_whole_and_names_the_rest_that_it_needs(request, data):
    made = planned(request)
    only = data.draw(st.sampled_from([item.component.name for item in made.selected]))
    piece = planned(replace(request, only=(only,)))
    whole = {part.name: part for part in made.parts}
    assert [part.name for part in piece.parts] == [name for name, part in whole.items() if part.component == only]
    elsewhere = {found.part for found in piece.requirements}
    for part in piece.parts:
        assert replace(part, requires=()) == replace(whole[part.name], requires=())
        assert set(whole[part.name].requires) - set(part.requires) <= elsewhere


@some
@given(requests())
def test_values_that_are_the_defaults_change_nothing(request):
    made = planned(request)
    given_again = {**LIBRARY.defaults, **request.values}
    assert planned(replace(request, values=given_again)).parts == made.parts


@some
@given(requests())
def test_no_reference_to_an_option_is_left_in_a_plan(request):
    for row in as_result(planned(request), None)["parts"]:
        assert not any(set(found) in ({"option"}, {"text"}) for found in mappings([row["patches"], row["namespace"], row["omit"]]))


def mappings(value: object) -> list[dict[str, object]]:
    if isinstance(value, dict):
        return [value, *(found for item in value.values() for found in mappings(item))]
    return [found for item in value for found in mappings(item)] if isinstance(value, list) else []


@pytest.mark.parametrize("release", LIBRARY.releases)
def test_every_value_of_every_option_is_planned_or_refused_by_its_name(release):
    for name, values in VALUES.items():
        for value in values:
            try:
                plan(LIBRARY, Request(release, values={name: value}))
            except SelectionError as error:
                assert any(name in finding for finding in error.findings) or all("only planned with" in text for text in error.findings)
