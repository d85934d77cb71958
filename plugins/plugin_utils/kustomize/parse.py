# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""From what kustomize prints to objects: each with the canonical JSON it is hashed and stored as."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ansible_collections.kubeflow.platform.plugins.module_utils.objects.redaction import Redactor
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.errors import RenderError
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.yamlstream import StreamError, load_all

_SHOWN = 120
_FIELD = re.compile(r"[a-z][A-Za-z0-9]*\Z")


@dataclass(frozen=True, slots=True)
class Rendered:
    """One object: its header, its canonical JSON and that text's sha256.

    ``defines`` is (group, kind, scope) of what a CustomResourceDefinition defines; ``unreplaced`` names the place of a
    variable that kustomize left in, "" where there is none.
    """

    api_version: str
    kind: str
    namespace: str
    name: str
    sha256: str
    text: str
    defines: tuple[str, str, str] | None = None
    unreplaced: str = ""

    def row(self) -> list[Any]:
        """The object as a row of a cache file."""
        return [self.api_version, self.kind, self.namespace, self.name, self.sha256, self.text, self.defines, self.unreplaced]

    @classmethod
    def from_row(cls, row: list[Any]) -> Rendered:
        """The reverse of row()."""
        api_version, kind, namespace, name, sha256, text, defines, unreplaced = row
        return cls(api_version, kind, namespace, name, sha256, text, tuple(defines) if defines else None, unreplaced)

    def header(self) -> dict[str, str]:
        """What selectors look at."""
        return {"apiVersion": self.api_version, "kind": self.kind, "namespace": self.namespace, "name": self.name}

    def __str__(self) -> str:
        return f"{self.kind} {self.namespace}/{self.name}" if self.namespace else f"{self.kind} {self.name}"


def canonical(obj: Any) -> str:
    """The one JSON text of an object: keys sorted, no spaces, characters as they are."""
    return json.dumps(obj, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def rendered(obj: dict[str, Any]) -> Rendered:
    """Take down an object that has apiVersion, kind and metadata.name."""
    metadata = obj["metadata"]
    try:
        text = canonical(obj)
        data = text.encode()
    except (UnicodeEncodeError, RecursionError, ValueError) as error:
        raise RenderError(f"Failed to read {obj['kind']} {metadata['name']}: it cannot be written as JSON: {error}") from error
    return Rendered(
        api_version=obj["apiVersion"],
        kind=obj["kind"],
        namespace=str(metadata.get("namespace") or ""),
        name=metadata["name"],
        sha256=hashlib.sha256(data).hexdigest(),
        text=text,
        defines=_defines(obj),
        unreplaced=_unreplaced(obj),
    )


def objects(stream: bytes, part: str) -> list[Rendered]:
    """The objects in a build's output, in order, lists taken apart. Raises RenderError that names part and document."""
    try:
        documents = load_all(stream)
    except StreamError as error:
        raise RenderError(_not_yaml(stream, part, error)) from error
    found: list[Rendered] = []
    for number, document in enumerate(documents, 1):
        if document is None:
            continue
        for obj in _flat(document):
            fault = _fault(obj)
            if fault:
                raise RenderError(f"Failed to read the render of part {part}: document {number} {fault}")
            found.append(rendered(obj))
    return found


def _flat(document: Any) -> Iterator[Any]:
    if not isinstance(document, dict) or not isinstance(document.get("items"), list) or not str(document.get("kind", "")).endswith("List"):
        yield document
        return
    kind = document["kind"].removesuffix("List")
    for item in document["items"]:
        # Items of a typed list (ConfigMapList) need not repeat what the list says.
        if kind and isinstance(item, dict):
            item = {"apiVersion": document.get("apiVersion"), "kind": kind, **item}
        yield from _flat(item)


def _fault(obj: Any) -> str:
    reason = ""
    if not isinstance(obj, dict) or not isinstance(obj.get("kind"), str) or not isinstance(obj.get("apiVersion"), str):
        # The values of a mapping are not told: it may be a Secret that lacks its kind.
        told = Redactor().text(f"a mapping of {', '.join(map(str, obj))}" if isinstance(obj, dict) else canonical(obj))
        reason = f"it has no apiVersion and kind: {told[:_SHOWN]}"
    else:
        # A log line with a colon in it, above an object, reads as one more field of the object.
        # Fields are printed by name, so only few can stand above apiVersion.
        first = next(iter(obj))
        strange = first if first > "apiVersion" else next((key for key in obj if not _FIELD.match(key)), None)
        reason = f"it has a field {strange[:_SHOWN]!r}" if strange is not None else ""
    if reason:
        return (
            f"is not a Kubernetes object ({reason}). If this is a log line, the program that `kustomize_path` names writes messages "
            "to its standard output; use kustomize itself."
        )
    metadata = obj.get("metadata")
    name = metadata.get("name") if isinstance(metadata, dict) else None
    if not isinstance(name, str) or not name:
        return f"({obj['kind']}) has no metadata.name; give the object a name (generateName cannot be applied)."
    return ""


def _not_yaml(stream: bytes, part: str, error: StreamError) -> str:
    texts = stream.decode("utf-8", "replace").split("\n---")
    text = texts[error.document - 1] if error.document <= len(texts) else texts[-1]
    start = next((line for line in text.splitlines() if line.strip() and line.strip() != "---"), "")
    return (
        f"Failed to read the render of part {part}: document {error.document} is not a Kubernetes object; it starts with "
        f"{Redactor().text(start)[:_SHOWN]!r} and is not valid YAML: {error}. If this is a log line, the program that `kustomize_path` "
        "names writes messages to its standard output; use kustomize itself."
    )


def _defines(obj: dict[str, Any]) -> tuple[str, str, str] | None:
    if obj["kind"] != "CustomResourceDefinition":
        return None
    spec = obj.get("spec")
    names = spec.get("names") if isinstance(spec, dict) else None
    if not isinstance(spec, dict) or not isinstance(names, dict):
        return None
    return (str(spec.get("group", "")), str(names.get("kind", "")), str(spec.get("scope", "")))


def _unreplaced(obj: dict[str, Any]) -> str:
    """A variable left in a name means that kustomize did not do its work: 5.8 renders Profile "$(profile-name)" from 1.10.2."""
    for field in ("name", "namespace"):
        value = str(obj["metadata"].get(field) or "")
        if "$(" in value:
            return f"metadata.{field} is {value!r}"
    spec = obj.get("spec")
    owner = spec.get("owner") if obj["kind"] == "Profile" and isinstance(spec, dict) else None
    name = str(owner.get("name", "")) if isinstance(owner, dict) else ""
    return f"spec.owner.name is {name!r}" if "$(" in name else ""
