# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Selections by chance: what comes of them stands on its own feet, told by the objects and not by the records, or they are refused."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest
from ansible_collections.kubeflow.platform.plugins.plugin_utils.plan.model import Plan, Request, SelectionError
from ansible_collections.kubeflow.platform.plugins.plugin_utils.plan.planner import plan
from ansible_collections.kubeflow.platform.plugins.plugin_utils.records.library import collection_root, load
from ansible_collections.kubeflow.platform.plugins.plugin_utils.records.model import Library
from ansible_collections.kubeflow.platform.plugins.plugin_utils.records.option import Option

from tests.conftest import Distributions
from tests.unit.releases.needs import Thing, defined, missing, needed
from tests.unit.releases.variants import ALONE, Workshop, key

pytestmark = pytest.mark.distribution

RELEASES = tuple(load(collection_root()).releases)
# Named by upstream's own manifests and made by nobody; nothing comes of it.
UPSTREAM_LACKS: set[Thing] = {
    ("ServiceAccount", "kubeflow", "jupyter-notebook"),  # the subject of a RoleBinding of the Jupyter web app
}
# Values for options that take any text. What is called `own` is brought by whoever sets the option: a namespace, a Secret.
OWN = "own"
SAMPLES: dict[str, Any] = {
    "kubeflow_initial_user_email": "ada@example.org",
    "user_namespace_profile": "ada",
    "hub_registry_namespace": OWN,
}
# The share of a selection's seeds that must come to objects; else chance draws nothing but refusals.
AT_LEAST = 0.3


@pytest.fixture(scope="module", params=RELEASES)
def workshop(request: pytest.FixtureRequest, distributions: Distributions) -> Workshop:
    return Workshop.of(request.param, distributions)


def draw(workshop: Workshop, seed: int, thorough: bool) -> Request:
    """A selection of the release with components added and removed, and a few options set; thorough: options with any text too."""
    chance = random.Random(f"{workshop.release} {seed}")  # noqa: S311 - not for secrets
    library = workshop.library
    names = [name for name, component in library.components.items() if component.exists(workshop.release)]
    selection = chance.choice(sorted(library.releases[workshop.release].selections))
    options = [option for _name, option in sorted(library.options.items()) if others(option, library, thorough)]
    drawn = chance.sample(options, k=min(len(options), chance.randint(0, 3)))
    values = {option.name: chance.choice(others(option, library, thorough)) for option in drawn}
    added = chance.sample(names, k=chance.randint(1 if selection == ALONE else 0, 4))
    # What must be accepted before it is planned is accepted more often than not: a refusal tells little.
    for entry in (entry for component in library.components.values() for entry in component.accept):
        if entry.condition.holds(workshop.release, library.values(workshop.release, values)) and chance.random() < 0.8:
            values[entry.option] = OWN if entry.required else entry.value
    removable = [name for name in names if name not in added]
    return Request(
        workshop.release,
        selection=selection,
        added=tuple(added),
        removed=tuple(chance.sample(removable, k=chance.choice((0, 0, 1, 1, 2)))),
        values=values,
    )


def others(option: Option, library: Library, thorough: bool) -> list[Any]:
    """Values that are not the default; none for options of how a run goes."""
    if option.name in SAMPLES:
        return [SAMPLES[option.name]]
    if option.role not in library.components:
        return []
    if option.choices or option.type == "bool":
        return [value for value in option.choices or (True, False) if value != option.default]
    return [OWN] if thorough and option.type == "str" else []


def judged(workshop: Workshop, seed: int, *, thorough: bool = False) -> bool:
    """Whether the selection of a seed comes to objects. One that does lacks nothing and has nothing twice; a refusal says why."""
    request = draw(workshop, seed, thorough)
    try:
        made = plan(workshop.library, request)
    except SelectionError as error:
        assert all(len(finding.split()) > 5 for finding in error.findings), error.findings
        return False
    words = f"seed {seed}: {request}: {[item.component.name for item in made.selected]}"
    assert not lacking(workshop, made), words
    twice = [name for name, count in Counter(key(obj) for obj in workshop.rendered(made).all).items() if count > 1]
    assert not twice, words
    late = unordered(workshop, made)
    assert not late, words
    return True


def unordered(workshop: Workshop, made: Plan) -> dict[str, set[Thing]]:
    """Parts that name what another part of the plan defines without requiring it, so that it may come after them."""
    parts = workshop.rendered(made).parts
    there = {name: {thing for obj in objects for thing in defined(obj)} for name, objects in parts.items()}
    before: dict[str, set[Thing]] = {}
    found = {}
    for part in made.parts:  # each comes after what it requires
        before[part.name] = there[part.name].union(*(before[name] for name in part.requires))
        others = set().union(*there.values()) - before[part.name]
        late = {thing for obj in parts[part.name] for thing in needed(obj)} & others
        if late:
            found[part.name] = late
    return found


def lacking(workshop: Workshop, made: Plan) -> dict[Thing, list[str]]:
    """What the objects of a plan need and neither it nor whoever asked for it brings."""
    brought = UPSTREAM_LACKS | {thing for obj in workshop.outside(made) for thing in defined(obj)}
    return {thing: users for thing, users in missing(workshop.rendered(made).all).items() if thing not in brought and OWN not in thing}


def test_fifty_selections_by_chance_lack_nothing_or_are_refused_with_a_reason(workshop):
    resolved = sum(judged(workshop, seed) for seed in range(50))
    assert resolved >= 50 * AT_LEAST


@pytest.mark.soak
def test_a_thousand_selections_by_chance_lack_nothing_or_are_refused_with_a_reason(workshop):
    resolved = sum(judged(workshop, seed, thorough=True) for seed in range(50, 1050))
    assert resolved >= 1000 * AT_LEAST


@pytest.mark.parametrize("selection", ["minimal", "pipelines", "training", "serving", "all_stable"])
def test_every_named_selection_lacks_nothing(workshop, selection):
    if selection not in workshop.library.releases[workshop.release].selections:
        pytest.fail(f"{workshop.release} has no selection {selection}")
    assert not lacking(workshop, plan(workshop.library, Request(workshop.release, selection=selection)))


def test_every_component_alone_lacks_nothing_with_what_it_requires(workshop):
    for name, component in workshop.library.components.items():
        if component.exists(workshop.release):
            wanted = [entry for entry in component.accept if entry.condition.holds(workshop.release, workshop.library.defaults)]
            values = {entry.option: entry.value for entry in wanted}
            made = plan(workshop.library, Request(workshop.release, selection=ALONE, added=(name,), values=values))
            assert not lacking(workshop, made), name
