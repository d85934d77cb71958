# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The records against the real distributions: their parts are what upstream's `example` is, no more and no less."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.credentials import decoded
from ansible_collections.kubeflow.platform.plugins.module_utils.identity.passwords import fingerprint
from ansible_collections.kubeflow.platform.plugins.module_utils.objects.identity import bare_name
from ansible_collections.kubeflow.platform.plugins.plugin_utils import partsfile
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.cache import Cache
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.checks import CLUSTER_SCOPED
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.parts import from_options
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.render import Request as RenderRequest
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.render import render
from ansible_collections.kubeflow.platform.plugins.plugin_utils.plan.model import Plan, Request
from ansible_collections.kubeflow.platform.plugins.plugin_utils.plan.planner import plan
from ansible_collections.kubeflow.platform.plugins.plugin_utils.plan.result import as_result
from ansible_collections.kubeflow.platform.plugins.plugin_utils.records.condition import substitute
from ansible_collections.kubeflow.platform.plugins.plugin_utils.records.library import collection_root, load
from ansible_collections.kubeflow.platform.plugins.plugin_utils.records.model import Quirk

from tests.conftest import Distributions, cache_root
from tests.testbed.bed.build import binaries
from tests.unit.releases.needs import defined, needed

pytestmark = pytest.mark.distribution

# What a build of upstream's `example` gives, counted apart from this code.
OBJECTS = {"1.8.1": 634, "1.10.2": 611, "1.11.0": 653, "26.03": 675, "26.03.1": 727}
# Newest first: a release is rendered with the newest that its record admits.
PROGRAMS = ("5.8.1", "5.7.1")
# Their images' tags name commits, so that only upstream's README tells the version.
TAGGED_BY_COMMIT = {"training_operator"}
WORKLOADS = ("Deployment", "StatefulSet", "DaemonSet")
Key = tuple[str, str, str, str]


@dataclass(frozen=True)
class Tree:
    """A release rendered both ways."""

    release: str
    values: dict[str, Any]
    plan: Plan
    parts: dict[str, list[dict[str, Any]]]
    example: list[dict[str, Any]]


@pytest.fixture(scope="module", params=OBJECTS)
def tree(request: pytest.FixtureRequest, distributions: Distributions) -> Tree:
    release = request.param
    library = load(collection_root())
    made = plan(library, Request(release))
    folder = str(distributions.tree(release))
    facts = as_result(made, folder)
    program = f"kustomize-{next(version for version in PROGRAMS if made.release.kustomize.contains(version))}"

    def rendered(parts: list[dict[str, Any]], quirks: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
        wanted = RenderRequest(
            parts=from_options(parts, folder),
            root=folder,
            release={**facts["release"], "quirks": quirks},
            remote_bases=str(distributions.remote_bases_archive()),
            kustomize_path=str(binaries([program])[program]),
        )
        found = partsfile.read(render(wanted, Cache(cache_root() / "work")).path.read_bytes())
        return {part["name"]: [entry["object"] for entry in part["objects"]] for part in found["parts"]}

    whole = {**facts["parts"][0], "name": "example", "component": "example", "path": "example", "requires": []}
    return Tree(release, library.defaults, made, rendered(facts["parts"], facts["release"]["quirks"]), rendered([whole], [])["example"])


def group(obj: dict[str, Any]) -> str:
    return obj["apiVersion"].rpartition("/")[0]


def key(obj: dict[str, Any]) -> Key:
    return group(obj), obj["kind"], obj["metadata"].get("namespace", ""), obj["metadata"]["name"]


def is_meant(quirk: Quirk, obj: dict[str, Any]) -> bool:
    name = obj["metadata"]["name"]
    return obj["kind"] == quirk.kind and quirk.name in (name, bare_name(name))


def test_the_parts_of_the_default_selection_are_exactly_the_objects_of_upstreams_example(tree):
    keys = [key(obj) for objects in tree.parts.values() for obj in objects]
    left_out = {key(obj) for obj in tree.example for quirk in tree.plan.release.quirks if quirk.omit and is_meant(quirk, obj)}
    assert len(tree.example) == OBJECTS[tree.release]
    assert len(keys) == len(set(keys)) == OBJECTS[tree.release] - len(left_out)
    assert set(keys) == {key(obj) for obj in tree.example} - left_out


def test_the_content_differs_from_upstreams_example_only_where_the_record_says_so_and_why(tree):
    whole = {key(obj): obj for obj in tree.example}
    differing = {(obj["kind"], obj["metadata"]["name"]) for objects in tree.parts.values() for obj in objects if obj != whole[key(obj)]}
    release = tree.plan.release
    mended = {(quirk.kind, quirk.name) for quirk in release.quirks if quirk.drop}
    assert differing == mended | {(difference.kind, difference.name) for difference in release.differences}


def test_no_value_is_left_that_kustomize_should_have_replaced(tree):
    left = re.compile(r"\$\([A-Za-z_-]+\)")
    for objects in tree.parts.values():
        for obj in objects:
            owner = obj.get("spec", {}).get("owner", "") if obj["kind"] == "Profile" else ""
            assert not left.search(f"{obj['metadata']} {owner}"), f"{obj['kind']} {obj['metadata']['name']}"


def test_every_object_has_a_namespace_unless_its_kind_has_none(tree):
    scopes = {
        (obj["spec"]["group"], obj["spec"]["names"]["kind"]): obj["spec"]["scope"]
        for obj in tree.example
        if obj["kind"] == "CustomResourceDefinition"
    }
    for objects in tree.parts.values():
        for obj in objects:
            kind = (group(obj), obj["kind"])
            assert obj["metadata"].get("namespace") or kind in CLUSTER_SCOPED or scopes.get(kind) == "Cluster", key(obj)


def test_every_quirk_has_an_object(tree):
    for quirk in tree.plan.release.quirks:
        assert any(is_meant(quirk, obj) for obj in tree.example), quirk


def test_every_shipped_credential_is_a_secret_of_its_component_with_these_keys(tree):
    for item in tree.plan.selected:
        secrets = [
            obj
            for part in tree.plan.parts
            for obj in tree.parts[part.name]
            if part.component == item.component.name and obj["kind"] == "Secret" and (obj.get("data") or obj.get("stringData"))
        ]
        for credential in item.component.credentials_at(tree.release, tree.values):
            (secret,) = (
                obj
                for obj in secrets
                if obj["metadata"]["namespace"] == substitute(credential.namespace, tree.values)
                and (obj["metadata"]["name"] + "-").startswith(f"{credential.name}-")
            )
            assert set(credential.keys) <= {*(secret.get("data") or {}), *(secret.get("stringData") or {})}
            for value in credential.values:  # else the default of this release would be applied as if it were the user's own
                text = decoded(secret, value.key)
                assert text is not None and fingerprint(text) in value.shipped, f"{credential} {value.key}"
            assert credential.values, credential


def test_every_secret_with_a_value_is_known_as_a_credential(tree):
    known = {
        f"{substitute(credential.namespace, tree.values)}/{credential.name}"
        for item in tree.plan.selected
        for credential in item.component.credentials_at(tree.release, tree.values)
    }
    shipped = {
        f"{obj['metadata']['namespace']}/{obj['metadata']['name']}"
        for obj in tree.example
        if obj["kind"] == "Secret" and (obj.get("data") or obj.get("stringData"))
    }
    assert {name for name in shipped if not any(f"{name}-".startswith(f"{credential}-") for credential in known)} == set()


def test_every_version_is_one_that_the_components_objects_run(tree):
    there = {item.component.name for item in tree.plan.selected}
    for component, version in tree.plan.release.versions.items():
        if component in TAGGED_BY_COMMIT or component not in there:  # those of optional components: test_options.py
            continue
        objects = [obj for part in tree.plan.parts if part.component == component for obj in tree.parts[part.name]]
        assert version in {found.removeprefix("v") for obj in objects for found in versions(obj)}, component


def test_every_address_is_a_service_with_that_port(tree):
    for item in tree.plan.selected:
        for address in item.component.addresses:
            (service,) = (obj for obj in tree.example if key(obj) == ("", "Service", address.namespace, address.service))
            assert address.port in {port["port"] for port in service["spec"]["ports"]}


def test_every_part_requires_whatever_defines_what_its_objects_name(tree):
    """Kinds, namespaces, issuers and gateways, computed from the objects and not from the records."""
    there_is = {name: {thing for obj in objects for thing in defined(obj)} for name, objects in tree.parts.items()}
    everything = set().union(*there_is.values())
    requires = {part.name: part.requires for part in tree.plan.parts}
    for name, objects in tree.parts.items():
        reached = closure(name, requires)
        there = set().union(*(there_is[part] for part in reached))
        lacking = {thing for obj in objects for thing in needed(obj) if thing in everything and thing not in there}
        assert not lacking, f"{name} requires nothing that defines these"


def versions(obj: dict[str, Any]) -> Iterator[str]:
    """What an object says about the version of its software: tags of images, and the usual labels."""
    labels = obj["metadata"].get("labels") or {}
    yield from (labels[name] for name in ("app.kubernetes.io/version", "serving.knative.dev/release") if name in labels)
    pod = obj.get("spec", {}).get("template", {}).get("spec", {}) if obj["kind"] in WORKLOADS else {}
    for container in [*pod.get("containers", []), *pod.get("initContainers", [])]:
        yield container.get("image", "").partition("@")[0].rpartition(":")[2]


def closure(name: str, requires: dict[str, tuple[str, ...]]) -> set[str]:
    reached, pending = {name}, [name]
    while pending:
        for need in requires[pending.pop()]:
            if need not in reached:
                reached.add(need)
                pending.append(need)
    return reached
