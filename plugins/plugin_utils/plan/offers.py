# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which values of options a release offers. Pure: told by the records, C(options) first, then the paths, then what is laid over them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

from ansible_collections.kubeflow.platform.plugins.plugin_utils.records.condition import Condition, Values, is_given
from ansible_collections.kubeflow.platform.plugins.plugin_utils.records.model import Library, Offer, Release
from ansible_collections.kubeflow.platform.plugins.plugin_utils.records.part import Part, Place

# Whether a release has what a record says under a condition.
Mention = tuple[Condition, Callable[[str], bool]]


def not_offered(library: Library, release: Release, values: Values) -> Iterator[str]:
    """One finding for each value that is not the default and that the release does not offer, with the releases that do."""
    levels = [list(_by_paths(library)), list(_by_content(library))]
    for name in sorted(values):
        option = library.options.get(name)
        value = values[name]
        if option is None or value == option.default or not (is_given(value) or is_given(option.default)):
            continue
        finding = _by_offers(library, release, name, value)
        if finding is None and option.is_scalar and not any(_names(offer, value) for offer in _offers(library, name)):
            finding = _by_mentions(library, release, levels, name, value)
        if finding:
            yield finding


def _by_offers(library: Library, release: Release, name: str, value: Any) -> str | None:
    """Entries for the option as a whole, and those for this value: of either, if there are any, one must cover the release."""
    offers = _offers(library, name)
    whole = [offer for offer in offers if not offer.has_value]
    for what, entries in ((name, whole), (f"{name}: {shown(value)}", [offer for offer in offers if _names(offer, value)])):
        if entries and not any(offer.condition.covers(release.name) for offer in entries):
            with_it = [other for other in library.releases if any(offer.condition.covers(other) for offer in entries)]
            return f"{what} is not offered in {release.name} ({_range(library, with_it)}): {entries[0].because}"
    return None


def _names(offer: Offer, value: Any) -> bool:
    return offer.has_value and bool(offer.value == value)


def _by_mentions(library: Library, release: Release, levels: Iterable[Iterable[Mention]], name: str, value: Any) -> str | None:
    """The first level at which records name the value decides. Where none does, nothing depends on it and it is free."""
    for mentions in levels:
        naming = [has for condition, has in mentions if condition.allows(name, value)]
        if any(has(release.name) for has in naming):
            return None
        if naming:
            with_it = [other for other in library.releases if any(has(other) for has in naming)]
            return f"{name}: {shown(value)} is not offered in {release.name} ({_range(library, with_it)})"
    return None


def _offers(library: Library, name: str) -> list[Offer]:
    return [offer for component in library.components.values() for offer in component.offers if offer.option == name]


def _by_paths(library: Library) -> Iterator[Mention]:
    """Where a value brings another path, another part, or a kustomize component."""
    for part in _parts(library):
        yield part.condition, part.exists
        for place in part.places:
            yield place.condition, partial(_is_there, part, place)
        for entry in part.extras:
            yield entry.condition, partial(_counts, part, entry.condition)


def _by_content(library: Library) -> Iterator[Mention]:
    """Where a value changes objects only."""
    for part in _parts(library):
        for condition in (*(entry.condition for entry in part.patches), *(entry.condition for entry in part.omit)):
            yield condition, partial(_counts, part, condition)


def _parts(library: Library) -> Iterator[Part]:
    for component in library.components.values():
        yield from component.parts


def _is_there(part: Part, place: Place, release: str) -> bool:
    return place.path is not None and place in part.places_at(release)


def _counts(part: Part, condition: Condition, release: str) -> bool:
    return part.exists(release) and condition.covers(release)


def _range(library: Library, names: list[str]) -> str:
    """In words, which releases these are."""
    known = list(library.releases)
    if not names:
        return "no release of this collection offers it"
    if names == known[known.index(names[0]) :]:
        return f"from {names[0]} on"
    return f"in {', '.join(names)}"


def shown(value: Any) -> str:
    """A value as one writes it in YAML."""
    return "true" if value is True else "false" if value is False else str(value)
