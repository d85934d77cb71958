# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Plans of real distributions with options, and the objects that they render to. A part that was rendered before is not rendered again."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ansible_collections.kubeflow.platform.plugins.plugin_utils import partsfile
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.cache import Cache
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.parts import from_options
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.render import Request as RenderRequest
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.render import render
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.sources import Trees
from ansible_collections.kubeflow.platform.plugins.plugin_utils.plan.model import Plan, Request
from ansible_collections.kubeflow.platform.plugins.plugin_utils.plan.planner import plan
from ansible_collections.kubeflow.platform.plugins.plugin_utils.plan.result import as_result
from ansible_collections.kubeflow.platform.plugins.plugin_utils.records.library import collection_root, load
from ansible_collections.kubeflow.platform.plugins.plugin_utils.records.model import Library

from tests.conftest import Distributions, cache_root
from tests.testbed.bed.build import binaries

Object = dict[str, Any]
Key = tuple[str, str, str, str]
# A selection of nothing, so that what is added comes with its requirements and nothing else.
ALONE = "alone"
# Options that only make sense together.
DATABASE = {"pipelines_database_host": "db.example.com", "pipelines_database_secret": "kfp-db"}
STORE = {"pipelines_object_store_host": "s3.example.com", "pipelines_object_store_secret": "kfp-s3"}
OWN_KATIB = {"katib_database_host": "db.example.com", "katib_database_secret": "katib-db"}
EKS = {"oauth2_proxy_m2m": "eks", "oauth2_proxy_m2m_issuer": "https://oidc.example.com/id/1"}


@dataclass
class Objects:
    """What a plan renders to."""

    plan: Plan
    parts: dict[str, list[Object]]

    @property
    def all(self) -> list[Object]:
        """The objects of all parts."""
        return [obj for objects in self.parts.values() for obj in objects]

    @property
    def keys(self) -> set[Key]:
        """Identities of all objects."""
        return {key(obj) for obj in self.all}

    def find(self, kind: str, name: str, namespace: str | None = None) -> Object:
        """The one object of that kind whose name is this one, but for a content hash."""
        found = [
            obj
            for obj in self.all
            if obj["kind"] == kind and bare(obj["metadata"]["name"]) == name and namespace in (None, obj["metadata"].get("namespace", ""))
        ]
        assert len(found) == 1, f"{len(found)} objects {kind} {name}"
        return found[0]

    def has(self, kind: str, name: str) -> bool:
        """Whether there is such an object."""
        return any(obj["kind"] == kind and bare(obj["metadata"]["name"]) == name for obj in self.all)


@dataclass
class Workshop:
    """Plans and renders one release."""

    release: str
    library: Library
    tree: str
    remote_bases: str
    kustomize: str
    cache: Cache
    known: dict[str, list[Object]] = field(default_factory=dict)

    @classmethod
    def of(cls, release: str, distributions: Distributions, root: Path | None = None) -> Workshop:
        """The release's tree, with the records of this collection."""
        library = load(root or collection_root())
        kustomize = "kustomize-5.8.1" if library.releases[release].kustomize.contains("5.8.1") else "kustomize-5.7.1"
        releases = {name: replace(known, selections={**known.selections, ALONE: ()}) for name, known in library.releases.items()}
        return cls(
            release=release,
            library=replace(library, releases=releases),
            tree=str(distributions.tree(release)),
            remote_bases=str(distributions.remote_bases_archive()),
            kustomize=str(binaries([kustomize])[kustomize]),
            cache=Cache(cache_root() / "work"),
        )

    def planned(self, *added: str, selection: str = "default", **values: Any) -> Plan:
        """The plan of a selection with components added and options set. What an added component excludes is removed."""
        removed = {rival.component for name in added for rival in self.library.components[name].conflicts} - set(added)
        return plan(self.library, Request(self.release, selection=selection, added=added, removed=tuple(removed), values=values))

    def made(self, *added: str, selection: str = "default", **values: Any) -> Objects:
        """The same, rendered."""
        return self.rendered(self.planned(*added, selection=selection, **values))

    def rendered(self, made: Plan) -> Objects:
        """A plan, rendered."""
        return Objects(made, self._rendered(made))

    def outside(self, made: Plan) -> list[Object]:
        """What the plan expects people to bring themselves."""
        rows = [found.as_part() for found in made.requirements if found.outside]
        return [obj for objects in self._render(rows, None).values() for obj in objects] if rows else []

    def raw(self, path: str, *, source: Mapping[str, str] | None = None) -> list[Object]:
        """What a folder of the tree renders to when nothing is laid over it."""
        row = {"name": path, "path": path, "source": source}
        return self._render([row], None)[path]

    def _rendered(self, made: Plan) -> dict[str, list[Object]]:
        facts = as_result(made, self.tree)
        rows = {row["name"]: row for row in facts["parts"]}
        names = {name: json.dumps({**row, "requires": [], "layer": ""}, sort_keys=True) for name, row in rows.items()}
        missing = [rows[name] for name, content in names.items() if content not in self.known]
        if missing:
            found = self._render(missing, facts["release"])
            self.known.update({names[row["name"]]: found[row["name"]] for row in missing})
        return {name: self.known[content] for name, content in names.items()}

    def _render(self, rows: Sequence[Mapping[str, Any]], facts: Mapping[str, Any] | None) -> dict[str, list[Object]]:
        wanted = RenderRequest(
            parts=from_options(rows, self.tree, Trees(self.cache, self.remote_bases)),
            root=self.tree,
            release=facts,
            remote_bases=self.remote_bases,
            kustomize_path=self.kustomize,
        )
        found = partsfile.read(render(wanted, self.cache).path.read_bytes())
        return {part["name"]: [entry["object"] for entry in part["objects"]] for part in found["parts"]}


def group(obj: Object) -> str:
    """API group of an object."""
    return str(obj["apiVersion"]).rpartition("/")[0]


def key(obj: Object) -> Key:
    """Identity of an object as rendered."""
    return group(obj), obj["kind"], obj["metadata"].get("namespace", ""), obj["metadata"]["name"]


def bare(name: str) -> str:
    """A name without the hash of a content."""
    head, dash, tail = name.rpartition("-")
    return head if dash and len(tail) == 10 and set(tail) <= set("2456789bcdfghkmt") else name


def container(obj: Object, name: str) -> Object:
    """A container of a workload."""
    (found,) = (entry for entry in obj["spec"]["template"]["spec"]["containers"] if entry["name"] == name)
    return dict(found)


def environment(obj: Object, name: str) -> dict[str, Any]:
    """The environment of a container: values as text, references as they are."""
    return {entry["name"]: entry.get("value", entry.get("valueFrom")) for entry in container(obj, name).get("env", [])}
