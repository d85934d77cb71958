# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The kustomization that is laid around a part that has a namespace, patches, images or components of its own."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import yaml
from ansible_collections.kubeflow.platform.plugins.module_utils.objects.identity import bare_name
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.cache import Cache
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.errors import RenderError
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.parts import Part, plain

# The key of a patch or an image under which several parts share it; kustomize does not get to see it.
LABEL = "of"


@dataclass(frozen=True, slots=True)
class Wrapper:
    """A kustomization's content, the folders it names still absolute; ``patches`` are inline texts with their targets.

    ``labels`` name the patches in messages. Patches of several parts under one label are one patch: it has to match in one of them.
    """

    part: str
    folder: str
    components: tuple[str, ...]
    namespace: str | None
    images: tuple[dict[str, Any], ...]
    patches: tuple[dict[str, Any], ...]
    labels: tuple[str, ...] = ()

    @classmethod
    def of(cls, part: Part, patch_folder: str) -> Wrapper:
        """The wrapper of ``part``. A patch's ``path`` is read here (kustomize would refuse a file outside the wrapper);
        relative ones start at ``patch_folder``."""
        patches = tuple(_patch(part, number, entry, patch_folder) for number, entry in enumerate(part.patches, 1))
        images = tuple({key: value for key, value in plain(dict(entry)).items() if key != LABEL and value} for entry in part.images)
        labels = tuple(label_of(part, number, entry) for number, entry in enumerate(part.patches, 1))
        return cls(part.name, part.folder, part.components, part.namespace, images, patches, labels)

    def without_patch(self, number: int) -> Wrapper:
        """The same wrapper less one patch."""
        kept = self.patches[:number] + self.patches[number + 1 :]
        return replace(self, patches=kept, labels=self.labels[:number] + self.labels[number + 1 :])

    def fingerprint(self) -> str:
        """A hash of all that the wrapper adds; where folders lie does not count (their content does, elsewhere)."""
        text = json.dumps([len(self.components), self.namespace, self.images, self.patches], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()

    def write(self, cache: Cache) -> str:
        """Write the kustomization; gives its folder."""
        name = hashlib.sha256(json.dumps([self.fingerprint(), self.folder, self.components]).encode()).hexdigest()[:32]
        folder = cache.path("wrappers", name)
        folder.mkdir(mode=0o700, exist_ok=True)
        start = os.path.realpath(folder)
        content: dict[str, Any] = {
            "apiVersion": "kustomize.config.k8s.io/v1beta1",
            "kind": "Kustomization",
            # kustomize follows links before it resolves "..", so both ends are given without links.
            "resources": [os.path.relpath(os.path.realpath(self.folder), start)],
        }
        if self.components:
            content["components"] = [os.path.relpath(os.path.realpath(entry), start) for entry in self.components]
        if self.namespace:
            content["namespace"] = self.namespace
        if self.images:
            content["images"] = list(self.images)
        if self.patches:
            content["patches"] = list(self.patches)
        cache.write(folder / "kustomization.yaml", json.dumps(content, indent=1).encode())
        return str(folder)


def label_of(part: Part, number: int, entry: Mapping[str, Any]) -> str:
    """What messages call a patch."""
    return str(isinstance(entry, Mapping) and entry.get(LABEL) or f"patch {number} of part {part.name}")


def _patch(part: Part, number: int, entry: Mapping[str, Any], folder: str) -> dict[str, Any]:
    label = label_of(part, number, entry)
    if not isinstance(entry, Mapping):
        raise RenderError(f"Failed to read {label}: it must be a mapping with `patch` or `path`, and `target` where needed.")
    known = {key: value for key, value in plain(dict(entry)).items() if value is not None}
    is_shared = known.pop(LABEL, None) is not None
    if bool(known.get("patch")) == bool(known.get("path")):
        raise RenderError(f"Failed to read {label}: set either `patch` or `path`.")
    if not isinstance(known.get("target") or {}, Mapping):
        raise RenderError(f"Failed to read {label}: `target` must be a mapping with `kind`, `name` and such.")
    text = known.pop("patch", None)
    path = known.pop("path", None)
    if path:
        path = os.path.join(folder, os.path.expanduser(str(path)))
        try:
            with open(path, encoding="utf-8") as stream:
                text = stream.read()
        except OSError as error:
            raise RenderError(f"Failed to read {label}: {path}: {error.strerror}.") from error
    if is_shared and not known.get("target"):
        # Without a target kustomize wants the object in this very part.
        known["target"] = _named_by(text, label)
    if isinstance(text, dict) and known.get("target"):
        text = _whole(text, known["target"])
    return {**known, "patch": text if isinstance(text, str) else json.dumps(text)}


def _whole(patch: Mapping[str, Any], target: Mapping[str, Any]) -> dict[str, Any]:
    """A strategic merge patch with what kustomize wants to read in it, and then takes from the objects of the target."""
    metadata = patch.get("metadata")
    named = {"name": "any", **(metadata if isinstance(metadata, Mapping) else {})}
    return {"apiVersion": "v1", "kind": str(target.get("kind") or "Any"), **patch, "metadata": named}


def _named_by(patch: Any, label: str) -> dict[str, str]:
    """The target that a strategic merge patch names."""
    try:
        found = yaml.safe_load(patch) if isinstance(patch, str) else patch
    except yaml.YAMLError as error:
        raise RenderError(f"Failed to read {label}: it is not one YAML document: {' '.join(str(error).split())}. Correct it.") from error
    metadata = found.get("metadata") if isinstance(found, dict) else None
    if not isinstance(metadata, dict) or not metadata.get("name") or not found.get("kind"):
        raise RenderError(f"Failed to read {label}: neither it nor a `target` says which object is meant. Add a `target`.")
    group, _slash, version = str(found.get("apiVersion") or "").rpartition("/")
    named = {"group": group, "version": version, "kind": found["kind"], "name": metadata["name"], "namespace": metadata.get("namespace")}
    # Names of targets are regular expressions; of what names can hold, the dot alone means something there.
    return {key: str(value).replace(".", "\\.") if key == "name" else str(value) for key, value in named.items() if value}


def selects(target: Mapping[str, Any], header: Mapping[str, str]) -> bool:
    """Whether a patch target selects an object by group, version, kind, name and namespace (whole-match regular expressions,
    as in kustomize); a generated name matches with and without its hash. Selectors of labels are taken as met."""
    group, _slash, version = header["apiVersion"].rpartition("/")
    for key, value in (("group", group), ("version", version), ("kind", header["kind"]), ("namespace", header["namespace"])):
        if target.get(key) and not _matches(str(target[key]), value):
            return False
    name = target.get("name")
    return not name or _matches(str(name), header["name"]) or _matches(str(name), bare_name(header["name"]))


def _matches(pattern: str, value: str) -> bool:
    try:
        return re.fullmatch(pattern, value) is not None
    except re.error:
        return pattern == value
