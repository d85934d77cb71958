# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What records say, as frozen data. C(roles/*/meta/component.yml) gives components, C(releases/*.yml) gives releases."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ansible_collections.kubeflow.platform.plugins.plugin_utils.records.version import Window, numbers

LAYERS = ("infrastructure", "applications")


@dataclass(frozen=True, slots=True)
class Need:
    """Something that must be there first: a whole component, or one part of it."""

    component: str
    part: str | None
    because: str

    def __str__(self) -> str:
        return f"{self.component}/{self.part}" if self.part else self.component


@dataclass(frozen=True, slots=True)
class Place:
    """Where a part lies from one release on. C(path) None: that release no longer has it. C(requires) None: those of the part."""

    since: str
    path: str | None
    requires: tuple[Need, ...] | None


@dataclass(frozen=True, slots=True)
class Part:
    """One kustomization of a component, through the releases."""

    component: str
    name: str
    requires: tuple[Need, ...]
    places: tuple[Place, ...]

    @property
    def full_name(self) -> str:
        """C(component/part), the name under which plans and messages know it."""
        return f"{self.component}/{self.name}"

    def place(self, release: str) -> Place | None:
        """The last place whose C(since) is not newer than the release; None when the release has no such part."""
        wanted = numbers(release)
        known = [place for place in self.places if numbers(place.since) <= wanted]
        return known[-1] if known and known[-1].path is not None else None

    def needs(self, release: str) -> tuple[Need, ...]:
        """What the part requires at a release."""
        place = self.place(release)
        if place is None:
            return ()
        return self.requires if place.requires is None else place.requires


@dataclass(frozen=True, slots=True)
class Credential:
    """A Secret that upstream ships in git with a value that everybody knows. A content hash at the end of the name is left out."""

    namespace: str
    name: str
    keys: tuple[str, ...]
    purpose: str

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}"


@dataclass(frozen=True, slots=True)
class Address:
    """A Service through which people reach something."""

    title: str
    namespace: str
    service: str
    port: int


@dataclass(frozen=True, slots=True)
class Component:
    """What a user selects, and one role."""

    name: str
    title: str
    layer: str
    parts: tuple[Part, ...]
    credentials: tuple[Credential, ...]
    addresses: tuple[Address, ...]

    def part(self, name: str) -> Part | None:
        """The part of that short name, whatever the release."""
        return next((part for part in self.parts if part.name == name), None)

    def parts_at(self, release: str) -> tuple[Part, ...]:
        """The parts that a release has, in the order of the record."""
        return tuple(part for part in self.parts if part.place(release) is not None)


@dataclass(frozen=True, slots=True)
class Source:
    """Where upstream keeps the release."""

    repository: str
    ref: str
    commit: str


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """Paths that tell the tree of one release from those of the others."""

    present: tuple[str, ...]
    absent: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RemoteBase:
    """What a kustomization of the release fetches from the network: the URL as written, and its place among vendored bases."""

    url: str
    path: str
    components: tuple[str, ...]
    sha256: str | None


@dataclass(frozen=True, slots=True)
class Quirk:
    """Fields that a part-wise render gets wrong, as RFC 6901 pointers that are dropped from the object."""

    kind: str
    name: str
    drop: tuple[str, ...]
    because: str


@dataclass(frozen=True, slots=True)
class Release:
    """A version of the distribution, and the facts about it that its manifests do not state."""

    name: str
    source: Source
    fingerprint: Fingerprint
    kustomize: Window
    kubernetes: Window
    selections: Mapping[str, tuple[str, ...]]
    versions: Mapping[str, str]
    remote_bases: tuple[RemoteBase, ...]
    quirks: tuple[Quirk, ...]


@dataclass(frozen=True, slots=True)
class Library:
    """All records of a collection, validated."""

    components: Mapping[str, Component]
    releases: Mapping[str, Release]
