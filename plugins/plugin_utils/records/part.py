# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Parts of components as frozen data: where they lie, what they require and what is laid over them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ansible_collections.kubeflow.platform.plugins.plugin_utils.records.condition import ALWAYS, Condition, Values
from ansible_collections.kubeflow.platform.plugins.plugin_utils.records.version import numbers

# What a patch of kustomize can name its objects by.
TARGET = frozenset({"group", "version", "kind", "name", "namespace", "labelSelector", "annotationSelector"})


@dataclass(frozen=True, slots=True)
class Need:
    """Something that must be there first: a whole component, or one part of it."""

    component: str
    part: str | None
    because: str
    condition: Condition = ALWAYS

    def __str__(self) -> str:
        return f"{self.component}/{self.part}" if self.part else self.component


@dataclass(frozen=True, slots=True)
class Place:
    """Where a part lies from one release on, for some values of options. C(path) None: from there on it is nowhere.

    C(requires) None: what the part requires. C(source) names a tree of the component's own; None is the distribution.
    """

    since: str
    path: str | None
    requires: tuple[Need, ...] | None
    condition: Condition = ALWAYS
    source: str | None = None


@dataclass(frozen=True, slots=True)
class Extra:
    """A kustomize component that is laid over a part; C(path) is below the part's tree."""

    path: str
    condition: Condition


@dataclass(frozen=True, slots=True)
class Patch:
    """A change that upstream's manifests need: a JSON patch (list) or a strategic merge (mapping); leaves may be references."""

    because: str
    condition: Condition
    target: Mapping[str, Any]
    patch: Any


@dataclass(frozen=True, slots=True)
class Omission:
    """An object of a part that is left out. C(namespace) may be a reference."""

    kind: str
    name: str
    namespace: Any
    condition: Condition


@dataclass(frozen=True, slots=True)
class Part:
    """One kustomization of a component, through the releases. C(namespace) is a text, a reference, or None.

    C(outside) is for what people have to bring themselves: it is looked for in the cluster, and never applied.
    """

    component: str
    name: str
    requires: tuple[Need, ...]
    places: tuple[Place, ...]
    condition: Condition = ALWAYS
    namespace: Any = None
    extras: tuple[Extra, ...] = ()
    patches: tuple[Patch, ...] = ()
    omit: tuple[Omission, ...] = ()
    outside: bool = False

    @property
    def full_name(self) -> str:
        """C(component/part), the name under which plans and messages know it."""
        return f"{self.component}/{self.name}"

    def places_at(self, release: str) -> tuple[Place, ...]:
        """The places that count at a release, one for each C(when), the last one written last; those that are null included.

        A place counts until a later one with the same C(when). A null without C(when) ends all that came before it.
        """
        wanted = numbers(release)
        counting: dict[Condition, Place] = {}
        for place in self.places:
            if numbers(place.since) <= wanted:
                if place.path is None and place.condition == ALWAYS:
                    counting.clear()
                counting.pop(place.condition, None)
                counting[place.condition] = place
        return tuple(counting.values())

    def exists(self, release: str) -> bool:
        """Whether the release has the part for any values at all."""
        return any(place.path is not None for place in self.places_at(release))

    def place(self, release: str, values: Values) -> Place | None:
        """The place for these values: of those whose C(when) holds the one that asks for most, then the one written last."""
        if not self.condition.holds(release, values):
            return None
        best: Place | None = None
        for place in self.places_at(release):
            if place.condition.fits(values) and (best is None or len(place.condition.when) >= len(best.condition.when)):
                best = place
        return best if best is not None and best.path is not None else None

    def needs(self, release: str, values: Values) -> tuple[Need, ...]:
        """What the part requires at a release with these values."""
        place = self.place(release, values)
        if place is None:
            return ()
        named = self.requires if place.requires is None else place.requires
        return tuple(need for need in named if need.condition.holds(release, values))

    def all_needs(self, release: str) -> tuple[Need, ...]:
        """What the part can require at a release, whatever the values."""
        found: dict[Need, None] = {}
        for place in self.places_at(release):
            if place.path is not None:
                for need in self.requires if place.requires is None else place.requires:
                    if need.condition.covers(release):
                        found[need] = None
        return tuple(found)
