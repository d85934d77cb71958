# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What records say, as frozen data. C(roles/*/meta/component.yml) gives components, C(releases/*.yml) gives releases."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ansible_collections.kubeflow.platform.plugins.plugin_utils.records.condition import ALWAYS, Condition, Values, is_given
from ansible_collections.kubeflow.platform.plugins.plugin_utils.records.option import Option, Spec
from ansible_collections.kubeflow.platform.plugins.plugin_utils.records.part import Part
from ansible_collections.kubeflow.platform.plugins.plugin_utils.records.version import Window

LAYERS = ("infrastructure", "applications")


# How a value of a credential is made: 40 hexadecimal digits, what oauth2-proxy takes for its cookies, the bcrypt hash of the first
# user's password, or nothing where only the user can have one.
GENERATORS = ("hex", "cookie", "bcrypt", "none")


@dataclass(frozen=True, slots=True)
class SecretValue:
    """One key of a credential: how to make it, and by which fingerprints (see C(identity/passwords.py)) upstream's values are known.

    C(same) names a value that keys of other Secrets hold too. C(starts) is an environment variable with which a Deployment of the
    same namespace (C(workload)) has to be started so that it uses the value.
    """

    key: str
    make: str
    shipped: tuple[str, ...]
    same: str = ""
    workload: str = ""
    starts: str = ""

    def as_dict(self) -> dict[str, Any]:
        """The shape in which it travels to the engine."""
        more = {name: getattr(self, name) for name in ("same", "workload", "starts") if getattr(self, name)}
        return {"key": self.key, "make": self.make, "shipped": list(self.shipped), **more}


@dataclass(frozen=True, slots=True)
class Credential:
    """A Secret that upstream ships in git with a value that everybody knows. A content hash at the end of the name is left out.

    C(condition) says when it is shipped. C(namespace) is a text or a reference to an option. C(values) are the keys that must not
    keep upstream's value, C(readers) the workloads of the same namespace that read it, as kind and name.
    """

    namespace: Any
    name: str
    keys: tuple[str, ...]
    purpose: str
    condition: Condition = ALWAYS
    values: tuple[SecretValue, ...] = ()
    readers: tuple[str, ...] = ()

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
class Conflict:
    """Another component that cannot be selected together with this one."""

    component: str
    because: str
    condition: Condition = ALWAYS


@dataclass(frozen=True, slots=True)
class Acceptance:
    """An option that must have this value (C(required): any at all) before the component is planned."""

    option: str
    value: Any
    required: bool
    because: str
    condition: Condition = ALWAYS

    def is_met(self, values: Values) -> bool:
        """Whether these values are enough."""
        given = values.get(self.option)
        return is_given(given) if self.required else bool(given == self.value)


@dataclass(frozen=True, slots=True)
class Remark:
    """Something to know about the component with these values of options."""

    condition: Condition
    because: str


@dataclass(frozen=True, slots=True)
class Offer:
    """Releases that have an option, or (C(has_value)) one value of it, where the paths do not tell."""

    option: str
    has_value: bool
    value: Any
    condition: Condition
    because: str


@dataclass(frozen=True, slots=True)
class Following:
    """An option that has the value of another one where it is not given."""

    option: str
    follows: str
    because: str
    condition: Condition = ALWAYS


@dataclass(frozen=True, slots=True)
class Tree:
    """A tree outside the distribution, and its place among vendored bases."""

    repository: str
    ref: str
    path: str

    def as_dict(self) -> dict[str, str]:
        """The shape in which it travels to the renderer."""
        return {"repository": self.repository, "ref": self.ref, "path": self.path}


@dataclass(frozen=True, slots=True)
class Check:
    """Live objects and what must be true of them: a JMESPath expression that gives true, or a text that says why not.

    Empty texts select by nothing. C(more) is what readiness and checks have of their own, as the engine takes it.
    """

    kind: str
    group: str
    namespace: str
    name: str
    selector: str
    expression: str
    message: str
    condition: Condition
    more: Mapping[str, Any] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """The shape in which it travels."""
        selecting = {name: getattr(self, name) for name in ("namespace", "name", "selector") if getattr(self, name)}
        return {"kind": self.kind, "group": self.group, **selecting, "expression": self.expression, "message": self.message, **self.more}


@dataclass(frozen=True, slots=True)
class Component:
    """What a user selects, and one role."""

    name: str
    title: str
    layer: str
    parts: tuple[Part, ...]
    credentials: tuple[Credential, ...]
    addresses: tuple[Address, ...]
    conflicts: tuple[Conflict, ...] = ()
    accept: tuple[Acceptance, ...] = ()
    experimental: tuple[Remark, ...] = ()
    spare: tuple[Remark, ...] = ()
    offers: tuple[Offer, ...] = ()
    following: tuple[Following, ...] = ()
    sources: Mapping[str, Tree] = field(default_factory=dict)
    ready: tuple[Check, ...] = ()
    checks: tuple[Check, ...] = ()

    def why_spare(self, release: str, values: Values) -> str:
        """Why a named selection can do without the component with these values; "" when it cannot."""
        return next((entry.because for entry in self.spare if entry.condition.holds(release, values)), "")

    def part(self, name: str) -> Part | None:
        """The part of that short name, whatever the release."""
        return next((part for part in self.parts if part.name == name), None)

    def parts_at(self, release: str, values: Values) -> tuple[Part, ...]:
        """The parts that a release has with these values, in the order of the record."""
        return tuple(part for part in self.parts if part.place(release, values) is not None)

    def credentials_at(self, release: str, values: Values) -> tuple[Credential, ...]:
        """The credentials that a release ships with these values."""
        return tuple(item for item in self.credentials if item.condition.holds(release, values))

    def exists(self, release: str) -> bool:
        """Whether the release has the component for any values at all."""
        return any(part.exists(release) for part in self.parts)


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
    """What must not be sent as it is rendered: fields, as RFC 6901 pointers that are dropped, or the whole object.

    A content hash at the end of the name is left out.
    """

    kind: str
    name: str
    drop: tuple[str, ...]
    omit: bool
    because: str

    def as_dict(self) -> dict[str, Any]:
        """The shape in which it travels to the renderer."""
        return {"kind": self.kind, "name": self.name, "drop": list(self.drop), "omit": self.omit}


@dataclass(frozen=True, slots=True)
class Difference:
    """An object that a render by parts gives another content than a build of upstream's C(example), and is right to."""

    kind: str
    name: str
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
    differences: tuple[Difference, ...]


@dataclass(frozen=True, slots=True)
class Library:
    """All records of the collection at C(root), validated."""

    root: str
    components: Mapping[str, Component]
    releases: Mapping[str, Release]
    options: Mapping[str, Option]
    specs: Mapping[str, Spec]

    @property
    def defaults(self) -> dict[str, Any]:
        """The value of every option that nobody sets."""
        return {name: option.default for name, option in self.options.items()}

    def values(self, release: str, given: Values) -> dict[str, Any]:
        """The value of every option: as given, else that of the option which it follows in this release, else the default."""
        values = {**self.defaults, **given}
        for component in self.components.values():
            for entry in component.following:
                if not is_given(values.get(entry.option)) and entry.condition.covers(release):
                    values[entry.option] = values.get(entry.follows)
        return values
