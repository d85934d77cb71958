# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is done to, and asked of, all rendered parts together: omissions, quirks of the release, one object one place."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ansible_collections.kubeflow.platform.plugins.module_utils.objects import size
from ansible_collections.kubeflow.platform.plugins.module_utils.objects.identity import Identity, bare_name, stored
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.errors import RenderError, listing
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.parse import Rendered, rendered
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.parts import Part
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.wrapper import LABEL

# A registry may have a port, so a tag begins after the last slash.
_TAG = re.compile(r"(?::[^/@]*)?(?:@[^/]*)?\Z")

# Kinds of Kubernetes itself that have no namespace. Objects of these may carry one all the same (Kubeflow's do); the server drops it.
CLUSTER_SCOPED = frozenset(
    {
        ("", "Namespace"),
        ("", "Node"),
        ("", "PersistentVolume"),
        ("admissionregistration.k8s.io", "MutatingAdmissionPolicy"),
        ("admissionregistration.k8s.io", "MutatingAdmissionPolicyBinding"),
        ("admissionregistration.k8s.io", "MutatingWebhookConfiguration"),
        ("admissionregistration.k8s.io", "ValidatingAdmissionPolicy"),
        ("admissionregistration.k8s.io", "ValidatingAdmissionPolicyBinding"),
        ("admissionregistration.k8s.io", "ValidatingWebhookConfiguration"),
        ("apiextensions.k8s.io", "CustomResourceDefinition"),
        ("apiregistration.k8s.io", "APIService"),
        ("certificates.k8s.io", "CertificateSigningRequest"),
        ("flowcontrol.apiserver.k8s.io", "FlowSchema"),
        ("flowcontrol.apiserver.k8s.io", "PriorityLevelConfiguration"),
        ("networking.k8s.io", "IngressClass"),
        ("node.k8s.io", "RuntimeClass"),
        ("rbac.authorization.k8s.io", "ClusterRole"),
        ("rbac.authorization.k8s.io", "ClusterRoleBinding"),
        ("resource.k8s.io", "DeviceClass"),
        ("scheduling.k8s.io", "PriorityClass"),
        ("storage.k8s.io", "CSIDriver"),
        ("storage.k8s.io", "CSINode"),
        ("storage.k8s.io", "StorageClass"),
        ("storage.k8s.io", "VolumeAttachment"),
    }
)


def omit(part: Part, objects: Sequence[Rendered]) -> list[Rendered]:
    """The objects less those that the part omits. Raises RenderError for an omission that matches nothing."""
    kept = list(objects)
    for entry in part.omit:
        left = [found for found in kept if not _is_meant(entry, found)]
        if len(left) == len(kept):
            namespace = f" in namespace {entry['namespace']}" if entry.get("namespace") else ""
            raise RenderError(
                f"Failed to omit {entry['kind']} {entry['name']}{namespace} from part {part.name}: the part renders no such object. "
                "Correct or remove the entry of `omit`."
            )
        kept = left
    return kept


def _is_meant(entry: Mapping[str, str], found: Rendered) -> bool:
    if entry["kind"] != found.kind or entry["name"] not in {found.name, bare_name(found.name)}:
        return False
    return not entry.get("namespace") or entry["namespace"] == found.namespace


def mend(objects: Iterable[Rendered], quirks: Sequence[Mapping[str, Any]]) -> list[Rendered]:
    """Drop what the release's record lists under ``quirks``: fields (RFC 6901 pointers) or whole objects. A quirk need not occur."""
    result = []
    for found in objects:
        meant = [quirk for quirk in quirks if quirk["kind"] == found.kind and quirk["name"] in (found.name, bare_name(found.name))]
        if any(quirk.get("omit") for quirk in meant):
            continue
        if meant:
            obj = json.loads(found.text)
            for pointer in (str(pointer) for quirk in meant for pointer in quirk.get("drop") or ()):
                _drop(obj, [token.replace("~1", "/").replace("~0", "~") for token in pointer.lstrip("/").split("/")])
            found = rendered(obj)
        result.append(found)
    return result


def _drop(obj: Any, tokens: Sequence[str]) -> None:
    """Remove the field at ``tokens`` and, above it, mappings that it leaves empty."""
    if not isinstance(obj, dict) or tokens[0] not in obj:
        return
    if len(tokens) > 1:
        child = obj[tokens[0]]
        _drop(child, tokens[1:])
        if child != {}:
            return
    del obj[tokens[0]]


def refuse_variables(parts: Iterable[tuple[Part, Sequence[Rendered]]]) -> None:
    """Raise RenderError when kustomize left variables in names: then it is the wrong version for these manifests."""
    faults = [f"part {part.name}, {found.kind}: {found.unreplaced}" for part, objects in parts for found in objects if found.unreplaced]
    if faults:
        raise RenderError(
            f"Failed to render: kustomize left variables unreplaced:{listing(faults)}\n"
            "This kustomize does not fit these manifests (5.8 does this to 1.10.2 and 1.11.0). Use one inside the release's window."
        )


def refuse_oversize(parts: Iterable[tuple[Part, Sequence[Rendered]]]) -> None:
    """Raise RenderError for objects that the API server cannot store, which it says only when they are written."""
    faults = []
    for part, objects in parts:
        for found in objects:
            if len(found.text) * 4 > size.SMALLEST:
                rows = size.faults(json.loads(found.text), len(found.text.encode()))
                faults += [f"{found} (part {part.name}): {row}" for row in rows]
    if faults:
        raise RenderError(f"Failed to render: objects are too large:{listing(faults)}\nSplit them, or take out what they need not hold.")


def refuse_duplicates(parts: Iterable[tuple[Part, Sequence[Rendered]]]) -> None:
    """Raise RenderError when one object is rendered twice, in one part or in two."""
    rows = [(part, found) for part, objects in parts for found in objects]
    scopes = {found.defines[:2]: found.defines[2] for _part, found in rows if found.defines}
    first: dict[Identity, str] = {}
    faults = []
    for part, found in rows:
        group = found.api_version.rpartition("/")[0]
        key = (group, found.kind)
        is_cluster_scoped = key in CLUSTER_SCOPED or scopes.get(key) == "Cluster"
        identity = stored(Identity(group, found.kind, "" if is_cluster_scoped else found.namespace, found.name))
        if identity in first:
            both = f"part {part.name} twice" if first[identity] == part.name else f"the parts {first[identity]} and {part.name}"
            faults.append(f"{found} is in {both}")
        first.setdefault(identity, part.name)
    if faults:
        raise RenderError(
            f"Failed to render: one object must come from one place:{listing(faults)}\nList it under `omit` of all parts but one."
        )


def refuse_idle_images(parts: Iterable[tuple[Part, Sequence[Rendered]]]) -> None:
    """Raise RenderError for image replacements that several parts share (under ``of``) and that name no image of any of them."""
    wanted: dict[str, Mapping[str, Any]] = {}
    there: dict[str, set[str]] = {}
    for part, objects in parts:
        shared = [entry for entry in part.images if entry.get(LABEL)]
        names = set(_image_names(objects)) if shared else set()
        for entry in shared:
            wanted[str(entry[LABEL])] = entry
            there.setdefault(str(entry[LABEL]), set()).update(names)
    faults = [
        f"{label}: no pod names the image {entry['name']}; there is {', '.join(sorted(there[label])) or 'none at all'}"
        for label, entry in wanted.items()
        if str(entry.get("newName") or entry["name"]) not in there[label]
    ]
    if faults:
        raise RenderError(f"Failed to replace images: kustomize would ignore these in silence:{listing(faults)}\nCorrect or remove them.")


def _image_names(objects: Iterable[Rendered]) -> Iterator[str]:
    """Names, without tag and digest, of all images where kustomize looks for them: in lists of containers."""
    for found in objects:
        if "ontainers" in found.text:
            yield from _in_containers(json.loads(found.text))


def _in_containers(value: Any) -> Iterator[str]:
    if isinstance(value, list):
        for item in value:
            yield from _in_containers(item)
    elif isinstance(value, dict):
        for key, item in value.items():
            if key in ("containers", "initContainers") and isinstance(item, list):
                for entry in item:
                    if isinstance(entry, dict) and isinstance(entry.get("image"), str):
                        yield _TAG.sub("", entry["image"])
            yield from _in_containers(item)
