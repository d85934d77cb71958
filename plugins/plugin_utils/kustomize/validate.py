# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Judging rendered objects without a cluster: built-in kinds by kubernetes-validate, custom ones by the CRDs of the render."""

from __future__ import annotations

import importlib
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ansible_collections.kubeflow.platform.plugins.module_utils.objects import schema, shape
from ansible_collections.kubeflow.platform.plugins.module_utils.objects.redaction import Redactor
from ansible_collections.kubeflow.platform.plugins.plugin_utils import partsfile
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.cache import Cache
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.errors import RenderError, listing

_FORMAT = "1"
# Groups of Kubernetes itself end so, or have no dot. kubernetes-validate cuts a group at its first dot and so would judge
# a custom "apps.kubeflow.org/v1 Deployment" by the schema of apps/v1.
_BUILT_IN = re.compile(r"[a-z]*\Z|(?:[a-z0-9-]+\.)+k8s\.io\Z")
_MOST = 40
_FILE = re.compile(r"[a-z0-9-]+")


def validate(rendered: Path, digest: str | None, cache: Cache, version: str | None = None) -> list[str]:
    """Raise RenderError that lists what the API server would refuse; gives notes about what could not be judged.

    ``version`` is a Kubernetes version ("1.36"); without it, or when kubernetes-validate does not have it, the newest that
    kubernetes-validate has. A render that was found valid is not judged again.
    """
    judge = _Judge(version)
    mark = cache.path("parts", f"{digest}.valid-{_FORMAT}-{judge.version or 'crds'}.json")
    if digest is not None and cache.read_json(mark) is not None:
        cache.touch(mark)
        return judge.notes
    document = partsfile.read(rendered.read_bytes())
    faults = _faults(document, judge)
    if faults:
        redactor = Redactor()
        for part in document["parts"]:
            for entry in part["objects"]:
                redactor.learn(entry["object"])
        faults = [redactor.text(fault) for fault in faults]
        more = f"\n  and {len(faults) - _MOST} more" if len(faults) > _MOST else ""
        raise RenderError(f"Failed to validate the rendered objects:{listing(faults[:_MOST])}{more}\nCorrect the manifests or the patches.")
    if digest is not None:
        cache.write_json(mark, {})
    return judge.notes


def _faults(document: Mapping[str, Any], judge: _Judge) -> list[str]:
    rows = [(part["name"], entry["object"]) for part in document["parts"] for entry in part["objects"]]
    shapes = {id(obj): shape.faults(obj) for _part, obj in rows}
    crds = {
        (obj["spec"]["group"], obj["spec"]["names"]["kind"]): obj
        for _part, obj in rows
        if obj["kind"] == "CustomResourceDefinition" and not shapes[id(obj)]
    }
    faults = []
    for part, obj in rows:
        group, _slash, version = str(obj["apiVersion"]).rpartition("/")
        crd = crds.get((group, obj["kind"]))
        if shapes[id(obj)]:
            found = shapes[id(obj)]
        elif crd is not None:
            found = schema.problems(obj, crd, version)
        elif _BUILT_IN.match(group) and obj["kind"] != "CustomResourceDefinition":
            found = judge.problems(obj)
        else:
            found = []
        faults += [f"{obj['kind']} {obj['metadata']['name']} (part {part}): {problem}" for problem in found]
    return faults


class _Judge:
    """The definitions that kubernetes-validate ships, read once each; its own function reads them anew for every object."""

    def __init__(self, version: str | None) -> None:
        self.notes: list[str] = []
        self.version: str | None = None
        self._validators: dict[str, Any] = {}
        try:
            from kubernetes_validate import utils
        except ImportError:
            self.notes.append("kubernetes-validate is not installed on the controller: only custom resources were validated")
            return
        self._library: Any = utils
        known = [str(name) for name in utils.all_versions()]
        wanted = ".".join(str(version or "").lstrip("v").split(".")[:2])
        self.version = next((name for name in known if name.split(".")[:2] == wanted.split(".")), known[-1])
        if wanted and self.version.split(".")[:2] != wanted.split("."):
            self.notes.append(f"kubernetes-validate has no definitions of Kubernetes {wanted}: validated against {self.version}")
        self._registry = self._definitions()

    def problems(self, obj: Mapping[str, Any]) -> list[str]:
        """What is wrong with an object of a built-in kind; nothing when the kind is unknown (the server will say)."""
        if self.version is None:
            return []
        group, slash, version = str(obj["apiVersion"]).rpartition("/")
        name = f"{obj['kind'].lower()}-{group.split('.')[0]}{'-' if slash else ''}{version}"
        if not _FILE.fullmatch(name):
            return []
        if name not in self._validators:
            self._validators[name] = self._validator(name)
        validator = self._validators[name]
        return [] if validator is None else [_sentence(error) for error in validator.iter_errors(obj)]

    def _definitions(self) -> Any:
        from referencing import Registry, Resource

        return Resource.from_contents(self._contents("_definitions")) @ Registry()

    def _validator(self, name: str) -> Any:
        try:
            contents = self._contents(name)
        except FileNotFoundError:
            return None
        return importlib.import_module("jsonschema.validators").Draft202012Validator(contents, registry=self._registry)

    def _contents(self, name: str) -> Any:
        return self._library.schema_contents(f"kubernetes-json-schema/v{self.version}-local-strict/{name}.json", self.version)


def _sentence(error: Any) -> str:
    path = ".".join(str(step) for step in error.path)
    # The whole object can stand in the message, Secrets too; only the end says what is wrong.
    message = str(error.message)
    if error.validator == "type":
        message = f"must be {' or '.join(error.validator_value) if isinstance(error.validator_value, list) else error.validator_value}"
    elif len(message) > 200:
        message = "..." + message[-160:]
    return f"{path}: {message}" if path else message
