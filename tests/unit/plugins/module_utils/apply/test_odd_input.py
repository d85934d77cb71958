# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whatever stands in a field, nothing but the collection's own error comes out of what is done before the cluster is asked."""

from __future__ import annotations

import copy
import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.kubeflow.platform.plugins.module_utils.apply import gates, graph, probes, replacing, representative
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.compare import transition_probe
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.inputs import Document, read_parts, resolve
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.model import EngineError, Item
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.predict import schema_problems
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.recreate import propagation
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.discovery import Resource
from ansible_collections.kubeflow.platform.plugins.module_utils.objects import crd_safety, difference, ownership, sample
from ansible_collections.kubeflow.platform.plugins.module_utils.objects.redaction import Redactor
from ansible_collections.kubeflow.platform.tests.unit.api_double.objects import (
    APPLICATIONS,
    INFRASTRUCTURE,
    aggregated_role,
    config,
    crd,
    custom,
    deployment,
    thing,
    webhook,
)
from hypothesis import example, given
from hypothesis import strategies as st

Path_ = tuple[Any, ...]


def rich_crd() -> dict[str, Any]:
    """A CRD that uses every keyword which is read, and a conversion webhook."""
    definition = crd("Widget")
    schema = {
        "type": "object",
        "required": ["spec"],
        "properties": {
            "spec": {
                "type": "object",
                "required": ["size"],
                "properties": {
                    "size": {"type": "integer", "minimum": 1, "maximum": 9, "multipleOf": 1, "default": 1},
                    "name": {"type": "string", "pattern": "^[a-z]+$", "minLength": 1, "maxLength": 9, "enum": ["a", "b"]},
                    "rows": {"type": "array", "items": {"type": "object", "properties": {"k": {"type": "string"}}}, "maxItems": 3},
                    "map": {"type": "object", "additionalProperties": {"type": "string"}, "maxProperties": 2},
                    "port": {"x-kubernetes-int-or-string": True},
                    "choice": {"type": "object", "properties": {"a": {"type": "string"}}, "oneOf": [{"required": ["a"]}]},
                    "keyed": {
                        "type": "array",
                        "x-kubernetes-list-type": "map",
                        "x-kubernetes-list-map-keys": ["k"],
                        "items": {"type": "object", "properties": {"k": {"type": "string"}}},
                    },
                    "any": {"anyOf": [{"type": "string"}, {"type": "integer"}], "not": {"enum": ["x"]}, "allOf": [{"nullable": True}]},
                },
            }
        },
    }
    definition["spec"]["versions"][0]["schema"] = {"openAPIV3Schema": schema}
    definition["spec"]["conversion"] = {
        "strategy": "Webhook",
        "webhook": {"clientConfig": {"service": {"namespace": "default", "name": "guard", "path": "/c", "port": 443}, "caBundle": "eA=="}},
    }
    return definition


def widget() -> dict[str, Any]:
    spec = {"size": 2, "name": "a", "rows": [{"k": "v"}], "map": {"a": "b"}, "port": "http", "choice": {"a": "x"}, "keyed": [{"k": "1"}]}
    return {**custom("Widget", "w", "default"), "spec": {**spec, "any": "y"}}


def rich_deployment(name: str = "rich") -> dict[str, Any]:
    made = deployment(name, configs=["c"])
    pod = made["spec"]["template"]["spec"]
    pod["serviceAccountName"] = "runner"
    pod["volumes"] = [
        {"name": "a", "configMap": {"name": "c"}},
        {"name": "b", "secret": {"secretName": "s"}},
        {"name": "d", "persistentVolumeClaim": {"claimName": "p"}},
    ]
    pod["containers"][0] |= {
        "envFrom": [{"configMapRef": {"name": "c"}}, {"secretRef": {"name": "s"}}],
        "ports": [{"containerPort": 80, "protocol": "TCP"}],
        "args": ["--password", "x"],
        "command": ["sh", "-c", "x"],
    }
    pod["containers"][0]["env"].append({"name": "PASSWORD", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}})
    pod["initContainers"] = [{"name": "i", "image": "x:1", "env": [{"name": "A", "value": "b"}]}]
    made["metadata"] |= {"annotations": {"a": "b"}, "ownerReferences": [{"kind": "A", "name": "b"}], "finalizers": ["a/b"]}
    return made


def valid() -> list[dict[str, Any]]:
    """One of each sort that is read before the cluster is asked."""
    template = deployment("small")["spec"]["template"]
    stateful = {
        "selector": {"matchLabels": {"app": "x"}},
        "template": template,
        "volumeClaimTemplates": [{"metadata": {"name": "v", "creationTimestamp": None}, "spec": {}}],
    }
    validating = webhook("second", ["configmaps"], group="")[0] | {"kind": "ValidatingWebhookConfiguration"}
    validating["webhooks"][0] |= {
        "namespaceSelector": {"matchLabels": {"a": "b"}},
        "matchConditions": [{"name": "a", "expression": "true"}],
    }
    return [
        thing("Namespace", "one"),
        rich_crd(),
        widget(),
        config("c"),
        thing("Secret", "s", "default", data={"k": "eA=="}, stringData={"t": "x"}),
        rich_deployment(),
        thing("StatefulSet", "st", "default", "apps/v1", spec=stateful),
        *webhook("guard", ["widgets"]),
        validating,
        aggregated_role("r"),
        thing("ClusterRoleBinding", "b", api="rbac.authorization.k8s.io/v1", roleRef={"kind": "ClusterRole", "name": "r"}, subjects=[{}]),
        thing("RoleBinding", "b", "default", "rbac.authorization.k8s.io/v1", roleRef={"kind": "Role", "name": "r"}, subjects=[{}]),
        crd("Profile", namespaced=False, group="kubeflow.org"),
        custom("Profile", "team", group="kubeflow.org", owner={"kind": "User", "name": "u"}),
        config("t", "team"),
        thing("CronJob", "cj", "default", "batch/v1", spec={"jobTemplate": {"metadata": {}, "spec": {"template": template}}}),
        thing("Job", "j", "default", "batch/v1", spec={"template": template}),
        thing("Pod", "p", "default", spec=rich_deployment()["spec"]["template"]["spec"]),
        thing("PersistentVolumeClaim", "p", "default", spec={"resources": {}}),
        thing("APIService", "v1.x", api="apiregistration.k8s.io/v1", spec={"service": {"name": "guard"}, "caBundle": "eA=="}),
        thing("NetworkPolicy", "n", "default", "networking.k8s.io/v1", spec={"podSelector": {}}),
        thing("Event", "e", "default", "events.k8s.io/v1"),
    ]


VALID = valid()


def paths(value: Any, path: Path_ = ()) -> Iterator[Path_]:
    """Every place in a value, itself first."""
    yield path
    rows = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in rows:
        yield from paths(item, (*path, key))


CRDS = [obj for obj in VALID if obj["kind"] == "CustomResourceDefinition"]
BESIDE = [*CRDS, *(obj for obj in VALID if obj["kind"] == "Widget")]  # what a CRD, and a custom resource, is judged with
PLACES = [(number, *path) for number, obj in enumerate(VALID) for path in paths(obj)]


def nested(depth: int, kind: str) -> Any:
    value: Any = "end"
    for _level in range(depth):
        value = {"a": value} if kind == "map" else [value]
    return value


ODD = st.one_of(
    st.sampled_from([None, [], {}, "", "x", "a/b", "$(x)", "\ud800", 0, 5, -1, 2**70, 1.5, True, False]),
    st.sampled_from([[None], [[]], [{}], ["x"], [5], {"x": None}, {"x": []}, {"": "x"}, {"name": None}, {"name": 5}, {"name": "x"}]),
    st.builds(nested, st.integers(1, 200), st.sampled_from(["map", "list"])),
)


def mutated(changes: list[tuple[Path_, Any]]) -> list[Any]:
    """The valid objects with odd values in some places; a place that an earlier change took away is left out."""
    objects: list[Any] = copy.deepcopy(VALID)
    for place, value in changes:
        holder: Any = objects
        for key in place[:-1]:
            fits = (isinstance(holder, dict) and key in holder) or (isinstance(holder, list) and isinstance(key, int) and key < len(holder))
            holder = holder[key] if fits else None
        key = place[-1]
        if isinstance(holder, dict) or (isinstance(holder, list) and isinstance(key, int) and key < len(holder)):
            holder[key] = copy.deepcopy(value)
    return objects


CHANGES = st.lists(st.tuples(st.sampled_from(PLACES), ODD), min_size=1, max_size=3)


CLUSTER_SCOPED = {"Namespace", "CustomResourceDefinition", "ClusterRole", "ClusterRoleBinding", "APIService"} | {
    f"{sort}WebhookConfiguration" for sort in ("Mutating", "Validating")
}
BUILT_IN = {(obj["apiVersion"], obj["kind"]) for obj in VALID if obj["apiVersion"].split("/")[0] not in ("example.com", "kubeflow.org")}


def find(group: str, version: str, kind: str) -> Resource | None:
    """A cluster that serves the built-in kinds."""
    known = (f"{group}/{version}" if group else version, kind) in BUILT_IN
    return Resource(group, version, kind, f"{kind.lower()}s", kind not in CLUSTER_SCOPED) if known else None


def early(objects: list[Any]) -> None:
    """All that is done with the objects before the cluster is asked, and what is shown of them."""
    rows = [Document(APPLICATIONS if number % 2 else INFRASTRUCTURE, number, obj, str(number)) for number, obj in enumerate(objects, 1)]
    redactor = Redactor()
    for row in rows:
        if isinstance(row.content, dict):
            redactor.learn(row.content)
    for row in rows:
        json.dumps(redactor.object(row.content))
    items = resolve(rows, find, "kubeflow", {"default"}.__contains__)
    live = [obj | {"metadata": {**obj["metadata"], "name": f"live-{obj['kind'].lower()}"}} for obj in VALID if "webhooks" in obj]
    found = gates.derive(items, gates.Surroundings({"default": {"a": "b"}}, live))
    graph.edges(items)
    graph.ranks(items, found.backing)
    crds = graph.crds_by_kind(items)
    for item in items:
        shown(item, crds, redactor)
        replacing.replaced_by(item.desired, [(other.identity, other.desired) for other in items])
    labels = gates.all_namespace_labels(items, gates.Surroundings())
    for gate in found.by_key.values():
        if gate.webhook is not None:
            representative.representative(gate.webhook, items, labels)


def shown(item: Item, crds: dict[tuple[str, str], Item], redactor: Redactor) -> None:
    """What is done with one resolved object."""
    problems = schema_problems(item, crds)
    assert all(isinstance(problem, str) for problem in problems)
    change = difference.compare({}, item.desired)
    assert change is not None
    difference.render(change, redactor)
    assert item.path.startswith("/api")
    transition_probe(item.desired)
    propagation(item.desired, item.desired)
    probes.webhooks_of(item.desired)
    ownership.foreign_additions({**item.desired, "metadata": {**item.desired["metadata"], "managedFields": []}}, item.desired)
    if item.is_crd:
        for version in item.desired["spec"]["versions"]:
            sample.minimal(item.desired, version["name"], "default", "probe")
        for old in CRDS:
            crd_safety.breaches({**old, "status": {"storedVersions": ["v1"]}}, item.desired, ["v1"])


def test_objects_that_are_right_are_taken() -> None:
    early(copy.deepcopy(VALID))


@pytest.mark.parametrize("odd", [None, {}, "x", 5, [None], {"x": []}], ids=repr)
@pytest.mark.parametrize("number", range(len(VALID)), ids=[f"{obj['kind']}-{obj['metadata']['name']}" for obj in VALID])
def test_only_our_error_comes_out_when_any_one_field_is_odd(number: int, odd: Any) -> None:
    for place in (place for place in PLACES if place[0] == number):
        try:
            early([*mutated([(place, odd)])[number : number + 1], *(obj for obj in BESIDE if obj is not VALID[number])])
        except EngineError as error:
            assert str(error)
        except Exception as error:
            raise AssertionError(f"{place} = {odd!r}: {error!r}") from error


@given(CHANGES)
def test_only_our_error_comes_out_when_several_fields_are_odd(changes: list[tuple[Path_, Any]]) -> None:
    try:
        early(mutated(changes))
    except EngineError as error:
        assert str(error)


PARTS = {
    "format": 1,
    "release": "26.03.1",
    "parts": [{"name": "a", "component": "a", "layer": None, "requires": ["b"], "objects": [{"object": config("c"), "sha256": "1"}]}],
    "warnings": ["w"],
}


@given(st.sampled_from([*paths(PARTS)][1:]), ODD)
@example(("parts",), 5)
def test_only_our_error_comes_out_when_the_parts_file_is_odd(tmp_path_factory: pytest.TempPathFactory, place: Path_, odd: Any) -> None:
    content: Any = copy.deepcopy(PARTS)
    holder = content
    for key in place[:-1]:
        holder = holder[key]
    holder[place[-1]] = odd
    path: Path = tmp_path_factory.mktemp("parts") / "parts"
    path.write_bytes(gzip.compress(json.dumps(content).encode()))
    try:
        read_parts(str(path))
    except EngineError as error:
        assert "parts" in str(error)


def test_parts_file_that_is_nested_without_end_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "parts"
    path.write_bytes(gzip.compress(b'{"format":1,"parts":' + b"[" * 200_000 + b"]" * 200_000 + b"}"))
    with pytest.raises(EngineError, match="Failed to read the rendered parts"):
        read_parts(str(path))
