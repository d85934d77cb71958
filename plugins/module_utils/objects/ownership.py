# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Who owns which field, and whose fields are taken over, yielded or reported.

Classes of managers: *own*; *human* (tools that people run: their fields are taken over by force, since the render is what
people want); *controller* (yields on named paths, else reported); *unknown* (always reported, the option ``takeover`` adds one
to the human ones). A manager's name is the part before "/" of the program's User-Agent unless the program sets one.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from ansible_collections.kubeflow.platform.plugins.module_utils.objects.additions import foreign_additions
from ansible_collections.kubeflow.platform.plugins.module_utils.objects.fieldpaths import absent_paths, drop_path, merge_fields
from ansible_collections.kubeflow.platform.plugins.module_utils.objects.identity import Identity
from ansible_collections.kubeflow.platform.plugins.module_utils.objects.normalise import canonical

__all__ = [
    "MANAGER",
    "Conflict",
    "absent_own_paths",
    "drop_path",
    "entry_key",
    "foreign_additions",
    "human_entries",
    "manager_class",
    "own_entry",
    "own_fields",
    "parse_conflicts",
    "rename_patch",
    "yields",
]

MANAGER = "kubeflow.platform"
ManagerClass = Literal["own", "human", "controller", "unknown"]

# Tools that write whole manifests. Their entries are merged into ours on adoption, so that a field which the render no
# longer has goes away. kubectl: `kubectl apply --server-side`; kubectl-client-side-apply and kubectl-last-applied: its older
# way; before-first-apply: what was there before the first server-side apply (kubectl, apiserver); helm (3.18 and 4) and
# Helm (older); OpenAPI-Generator: the Python client, so kubernetes.core.k8s; ansible: its server_side_apply in the examples.
_APPLIERS = frozenset(
    {
        "Helm",
        "OpenAPI-Generator",
        "ansible",
        "before-first-apply",
        "helm",
        "kubectl",
        "kubectl-client-side-apply",
        "kubectl-create",
        "kubectl-expose",
        "kubectl-last-applied",
        "kubectl-replace",
        "kubectl-run",
    }
)
# Edits by hand (kubectl-edit, -patch, -set, -label, -annotate, -rollout, -scale, -taint ...; Mozilla is a web console): where
# they touch our fields they are drift and are mended; what they add beside them stays theirs (a restart's annotation, a label).
_HAND_EDITS = re.compile(r"kubectl(-.+)?|Mozilla|Lens|k9s")
# Programs that keep changing objects while they run. `manager` is what kubebuilder calls its binary (KServe, Trainer, JobSet,
# notebook, tensorboard and profile controllers); `webhook`, `controller`, `autoscaler`, `activator` are Knative's.
_CONTROLLERS = frozenset(
    {
        "activator",
        "admission-webhook",
        "apiserver",
        "autoscaler",
        "cainjector",
        "cloud-controller-manager",
        "cluster-autoscaler",
        "clusterrole-aggregation-controller",
        "controller",
        "controller-manager",
        "istio-operator",
        "istiod",
        "katib-controller",
        "kube-apiserver",
        "kube-controller-manager",
        "kube-scheduler",
        "kubelet",
        "manager",
        "metacontroller",
        "net-istio-controller",
        "net-istio-webhook",
        "operator",
        "pilot-discovery",
        "profile-controller",
        "spark-operator",
        "training-operator",
        "vpa-recommender",
        "vpa-updater",
        "webhook",
        "workflow-controller",
    }
)
_CONTROLLER_NAMES = re.compile(r"cert-manager(-.+)?|trust-manager|.+-controller-manager|api-priority-and-fairness-.+|k8s-.+-controller")


@dataclass(frozen=True, slots=True)
class Conflict:
    """A field that another manager owns with another value."""

    manager: str
    field_path: str


def own_entry(metadata: dict[str, Any], manager: str = MANAGER) -> dict[str, Any] | None:
    """Return the managedFields entry of our applies: there is at most one, whatever the apiVersion (KEP 555)."""
    for entry in _entries(metadata):
        if entry.get("manager") == manager and entry.get("operation") == "Apply" and not entry.get("subresource"):
            return entry
    return None


def own_fields(metadata: dict[str, Any]) -> dict[str, Any]:
    """Return the fieldsV1 of our entry, {} where we own nothing."""
    entry = own_entry(metadata)
    return (entry.get("fieldsV1") or {}) if entry else {}


def entry_key(entry: dict[str, Any]) -> str:
    """Return a hash that changes with every write of ours, and when another manager takes one of our fields."""
    return hashlib.sha256(canonical([entry.get("apiVersion"), entry.get("time"), entry.get("fieldsV1")])).hexdigest()


def managers(metadata: Mapping[str, Any]) -> list[str]:
    """Return who holds fields of an object itself: writers of its status or of its scale are left out."""
    return [str(row.get("manager")) for row in metadata.get("managedFields") or [] if not row.get("subresource")]


def human_entries(metadata: dict[str, Any], extra: Collection[str]) -> list[dict[str, Any]]:
    """Return the entries that adoption takes over: of tools that write whole manifests, and of managers named in ``extra``."""
    return [entry for entry in _entries(metadata) if not entry.get("subresource") and entry.get("manager") in {*_APPLIERS, *extra}]


def manager_class(name: str, extra_human: Collection[str] = ()) -> ManagerClass:
    """Return how the fields of manager ``name`` are treated; ``extra_human`` holds the names of option ``takeover``."""
    if name == MANAGER:
        return "own"
    if name in extra_human or name in _APPLIERS or _HAND_EDITS.fullmatch(name):
        return "human"
    if name in _CONTROLLERS or _CONTROLLER_NAMES.fullmatch(name):
        return "controller"
    return "unknown"


def parse_conflicts(status: dict[str, Any]) -> list[Conflict]:
    """Return the conflicts of a 409 ``Status``; [] where it is another kind of conflict."""
    details = status.get("details")
    causes = details.get("causes") if isinstance(details, dict) else None
    conflicts = []
    for cause in causes if isinstance(causes, list) else []:
        if isinstance(cause, dict) and cause.get("reason") == "FieldManagerConflict":
            conflicts.append(Conflict(_conflicting_manager(str(cause.get("message") or "")), str(cause.get("field") or "")))
    return conflicts


def _conflicting_manager(message: str) -> str:
    """Read 'conflict with "kubectl-edit" using apps/v1 at 2026-01-01T00:00:00Z' (apimachinery, managedfields/internal/conflict.go)."""
    match = re.search(r'conflict with ("(?:[^"\\]|\\.)*")', message)
    if not match:
        return message
    try:
        return str(json.loads(match.group(1)))
    except ValueError:
        return match.group(1).strip('"')


def absent_own_paths(obj: dict[str, Any], fields: dict[str, Any], sent: dict[str, Any] | None = None) -> list[str]:
    """Return the paths of our entry that ``obj`` lacks: the server moved what we sent, so edits there would go unseen.

    With ``sent``, the object as applied, fields that were sent empty do not count (see ``fieldpaths.absent_paths``).
    """
    return absent_paths(obj, fields) if sent is None else absent_paths(obj, fields, sent)


def rename_patch(metadata: dict[str, Any], extra: Collection[str]) -> list[dict[str, Any]] | None:
    """Return a JSON patch that merges the human entries into our one Apply entry; None where there is none.

    Guarded by the resourceVersion. Our next apply then owns alone what the tools left, and drops what it does not send.
    """
    taken = human_entries(metadata, extra)
    if not taken or not metadata.get("resourceVersion"):
        return None
    own = own_entry(metadata)
    merged = [*([own] if own else []), *taken]
    kept = [entry for entry in _entries(metadata) if not any(entry is other for other in merged)]
    fields: dict[str, Any] = {}
    for entry in merged:
        fields = merge_fields(fields, entry.get("fieldsV1") or {})
    renamed = {
        "manager": MANAGER,
        "operation": "Apply",
        "apiVersion": own["apiVersion"] if own else max(taken, key=_time).get("apiVersion"),
        "fieldsType": "FieldsV1",
        "fieldsV1": fields,
    }
    if latest := max(map(_time, merged)):
        renamed["time"] = latest
    return [
        {"op": "test", "path": "/metadata/resourceVersion", "value": metadata["resourceVersion"]},
        {"op": "replace", "path": "/metadata/managedFields", "value": [renamed, *kept]},
    ]


def _time(entry: dict[str, Any]) -> str:
    return str(entry.get("time") or "")


def _entries(metadata: dict[str, Any]) -> Iterable[dict[str, Any]]:
    entries = metadata.get("managedFields")
    return [entry for entry in entries if isinstance(entry, dict)] if isinstance(entries, list) else []


@dataclass(frozen=True, slots=True)
class _Yield:
    """Fields of a kind that a controller owns for good reason. ``name`` and ``path`` must match whole."""

    kind: str
    path: str
    name: str = ".*"

    def covers(self, identity: Identity, field_path: str) -> bool:
        return all(
            re.fullmatch(pattern, text)
            for pattern, text in ((self.kind, identity.kind), (self.name, identity.name), (self.path, field_path))
        )


_WEBHOOKS = "(Mutating|Validating)WebhookConfiguration"
_YIELDS: tuple[_Yield, ...] = (
    # cainjector, istiod, Knative and the operators' certificate rotators put the CA in.
    _Yield(_WEBHOOKS, r"\.webhooks\[.*\]\.clientConfig\.caBundle"),
    _Yield("CustomResourceDefinition", r"\.spec\.conversion\.webhook\.clientConfig\.caBundle"),
    _Yield("APIService", r"\.spec\.caBundle"),
    # istiod turns Ignore into Fail once its validation answers (istio, pkg/webhooks/validation/controller).
    _Yield("ValidatingWebhookConfiguration", r"\.webhooks\[.*\]\.failurePolicy", r"istio-validator(-.*)?|istiod-default-validator"),
    # Knative writes rules and selectors from its own types (knative.dev/pkg, webhook/*/defaulting, validation, configmaps).
    _Yield(_WEBHOOKS, r"\.webhooks\[.*\]\.(rules|namespaceSelector|objectSelector)(\..*)?", r".*\.knative\.dev"),
    # clusterrole-aggregation-controller.
    _Yield("ClusterRole", r"\.rules"),
    # Autoscalers. The conflict exists only where somebody scaled, and only a controller's is yielded.
    _Yield("Deployment|StatefulSet|ReplicaSet|ReplicationController", r"\.spec\.replicas"),
    # Restarts by this collection: rotation of credentials rolls the readers.
    _Yield(
        "Deployment|StatefulSet|DaemonSet",
        r"\.spec\.template\.metadata\.annotations\.(kubeflow\.platform|kubectl\.kubernetes\.io)/(restarted-at|restartedAt)",
    ),
    # What the control plane allocates.
    _Yield("Service", r"\.spec\.(clusterIPs?|healthCheckNodePort|ports\[.*\]\.nodePort)(\[.*\])?"),
    _Yield("PersistentVolumeClaim", r"\.spec\.volumeName"),
    _Yield("ServiceAccount", r"\.(secrets|imagePullSecrets)(\[.*\].*)?"),
)


def yields(identity: Identity, field_path: str) -> bool:
    """Tell whether a controller's claim to ``field_path`` is accepted. Ask only for managers of class controller (or own restarts)."""
    return any(rule.covers(identity, field_path) for rule in _YIELDS)
