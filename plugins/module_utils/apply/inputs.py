# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""From the parts file to items with a place in the API; everything wrong with the input is found here, at once."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ansible_collections.kubeflow.platform.plugins.module_utils.apply.home import HOME
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.model import CRD_KIND, SET_LABEL, EngineError, Item, Part
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.discovery import Resource, resource_from_crd
from ansible_collections.kubeflow.platform.plugins.module_utils.objects import normalise, shape
from ansible_collections.kubeflow.platform.plugins.module_utils.objects.identity import Identity, identify, split_api_version, stored

FORMAT = 1
# Part of every digest: a change of the normal form makes every recorded digest stale, as it must.
NORMAL_FORM = "1"

# Faults of one object that are told; the rest mostly follows from these.
MOST_FAULTS = 5

Lookup = Callable[[str, str, str], "Resource | None"]


class InputRejected(EngineError):
    """The desired objects cannot be applied as they are; ``findings`` has one sentence for each fault."""

    def __init__(self, findings: list[str]) -> None:
        self.findings = findings
        super().__init__("The input was rejected and nothing was written: " + "; ".join(findings))


@dataclass(frozen=True, slots=True)
class Document:
    """One rendered object as it stands in the parts file."""

    part: Part
    number: int
    content: dict[str, Any]
    sha256: str

    @property
    def where(self) -> str:
        """Its place, for messages."""
        return f"part {self.part.name}, document {self.number}"


def read_parts(path: str) -> tuple[list[Document], list[str]]:
    """Read a parts file; gives its documents in render order and the warnings of the render.

    Raises EngineError when the file is not of the format that this version writes.
    """
    try:
        with gzip.open(path, "rb") as stream:
            data = json.loads(stream.read())
    except (OSError, EOFError, ValueError, RecursionError) as error:
        raise EngineError(
            f"Failed to read the rendered parts {path}: {error}. Run the task again; if it happens again, report it."
        ) from error
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise EngineError(
            f"Failed to read the rendered parts {path}: unknown format. Use the same version of the collection on both sides."
        )
    try:
        return _documents(data), list(data.get("warnings") or [])
    except (KeyError, TypeError, AttributeError) as error:
        raise EngineError(
            f"Failed to read the rendered parts {path}: incomplete ({error!r}). Run the task again; if it happens again, report it."
        ) from error


def _documents(data: dict[str, Any]) -> list[Document]:
    documents = []
    for entry in data["parts"]:
        needed = entry.get("needed_by") or "", entry.get("because") or ""
        part = Part(entry["name"], entry["component"], entry.get("layer"), tuple(entry.get("requires") or ()), *needed)
        for number, row in enumerate(entry["objects"], 1):
            documents.append(Document(part, number, row["object"], row["sha256"]))
    return documents


def resolve(
    documents: Iterable[Document], find: Lookup, set_name: str, namespaces_known: Callable[[str], bool] | None = None
) -> list[Item]:
    """Give every document its identity and resource; raise InputRejected with all faults together.

    ``find(group, version, kind)`` answers from discovery. Kinds that only the set's own CRDs define are resolved from these.
    ``namespaces_known(name)`` says whether a namespace is live; without it namespaces are not checked.
    """
    rows = list(documents)
    findings = [fault for document in rows for fault in shape_faults(document)]
    if findings:
        raise InputRejected(findings)
    defined = resources_defined(document.content for document in rows)
    items: list[Item] = []
    seen: dict[Identity, Document] = {}
    for document in rows:
        item, fault = _resolve_one(len(items), document, find, defined, set_name)
        if item is None:
            findings.append(fault)
            continue
        first = seen.setdefault(stored(item.identity), document)
        if first is not document:
            findings.append(_twice(item, first, document))
            continue
        items.append(item)
    if namespaces_known is not None:
        findings += namespace_faults(items, namespaces_known)
    if findings:
        raise InputRejected(findings)
    return items


def shape_faults(document: Document) -> list[str]:
    """What makes a document no Kubernetes object at all."""
    content = document.content
    if not isinstance(content, dict) or not isinstance(content.get("kind"), str) or not isinstance(content.get("apiVersion"), str):
        return [f"{document.where} is not a Kubernetes object: it has no apiVersion and kind"]
    if content["kind"].endswith("List") and isinstance(content.get("items"), list):
        return [f"{document.where} is a {content['kind']}; render its items one by one"]
    metadata = content.get("metadata")
    name = metadata.get("name") if isinstance(metadata, dict) else None
    if not isinstance(name, str) or not name:
        return [f"{document.where} ({content['kind']}) has no metadata.name; objects with generateName cannot be applied"]
    wrong = shape.faults(content)
    return [f"{content['kind']} {name} ({document.where}): {'; '.join(wrong[:MOST_FAULTS])}; correct the manifest"] if wrong else []


def resources_defined(contents: Iterable[Mapping[str, Any]]) -> dict[tuple[str, str, str], Resource]:
    """The resources that the CRDs among the objects will serve, by group, version and kind."""
    defined = {}
    for content in contents:
        group, _version = split_api_version(content["apiVersion"])
        if (group, content["kind"]) != CRD_KIND:
            continue
        spec = content.get("spec") or {}
        kind = ((spec.get("names") or {}).get("kind")) or ""
        for version in spec.get("versions") or []:
            if version.get("served", True):
                defined[(spec.get("group", ""), version["name"], kind)] = resource_from_crd(dict(content), version["name"])
    return defined


def _resolve_one(
    index: int, document: Document, find: Lookup, defined: Mapping[tuple[str, str, str], Resource], set_name: str
) -> tuple[Item | None, str]:
    content = document.content
    group, version = split_api_version(content["apiVersion"])
    kind = content["kind"]
    name = content["metadata"]["name"]
    resource = find(group, version, kind) or defined.get((group, version, kind))
    if resource is None:
        return None, (
            f"{kind} {name} ({document.where}): the cluster does not serve {content['apiVersion']} {kind} and no CustomResourceDefinition "
            "among the objects defines it; add the component that brings it, or remove the object"
        )
    if resource.namespaced and not content["metadata"].get("namespace"):
        return None, f"{kind} {name} ({document.where}) has no metadata.namespace; set `namespace` on its part"
    desired = normalise.with_label(normalise.desired(content, resource.namespaced), SET_LABEL, set_name)
    identity = identify(desired, resource.namespaced)
    if HOME in (identity.namespace, identity.name):
        return None, f"{identity} ({document.where}): the namespace {HOME} holds the ledgers and Leases of all sets; use another one"
    return Item(index, identity, version, desired, f"{NORMAL_FORM}:{document.sha256}", document.part, resource), ""


def _twice(item: Item, first: Document, second: Document) -> str:
    versions = (first.content["apiVersion"], second.content["apiVersion"])
    written = "" if versions[0] == versions[1] else f" (as {versions[0]} and as {versions[1]}, which is one object)"
    return f"{item.identity} is defined twice: in {first.where} and in {second.where}{written}; keep one of them"


def namespace_faults(items: Iterable[Item], known: Callable[[str], bool]) -> list[str]:
    """Namespaces that nobody makes: not live, not in the set, and no Profile of the set makes them."""
    rows = list(items)
    made = {item.identity.name for item in rows if item.group_kind in {("", "Namespace"), ("kubeflow.org", "Profile")}}
    needed: dict[str, list[Item]] = {}
    for item in rows:
        if item.identity.namespace and item.identity.namespace not in made:
            needed.setdefault(item.identity.namespace, []).append(item)
    return [
        f"namespace {name} does not exist and nothing in the set makes it, but {users[0].identity}"
        + (f" and {len(users) - 1} more" if len(users) > 1 else "")
        + " need it; add the component or the Profile that makes it, or create it first"
        for name, users in sorted(needed.items())
        if not known(name)
    ]
