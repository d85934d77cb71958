# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Taking a Profile away: what would be lost, whether that is meant, and what is deleted. The CRD is never touched."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.discovery import Discovery, Resource
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.requests import Client
from ansible_collections.kubeflow.platform.plugins.module_utils.tenancy import changes
from ansible_collections.kubeflow.platform.plugins.module_utils.tenancy import live as lives
from ansible_collections.kubeflow.platform.plugins.module_utils.tenancy import platform as platforms
from ansible_collections.kubeflow.platform.plugins.module_utils.tenancy.changes import Change
from ansible_collections.kubeflow.platform.plugins.module_utils.tenancy.decision import Decision
from ansible_collections.kubeflow.platform.plugins.module_utils.tenancy.live import Live
from ansible_collections.kubeflow.platform.plugins.module_utils.tenancy.model import Tenant

# What people would miss, and the word for it. Kinds that the cluster does not serve are left out.
LOSSES = (
    ("", "PersistentVolumeClaim", "volume claims"),
    ("", "Pod", "pods"),
    ("", "Service", "services"),
    ("kubeflow.org", "Notebook", "notebooks"),
    ("kubeflow.org", "Workspace", "workspaces"),
    ("argoproj.io", "Workflow", "pipeline runs"),
    ("kubeflow.org", "ScheduledWorkflow", "recurring runs"),
    ("kubeflow.org", "Experiment", "Katib experiments"),
    ("serving.kserve.io", "InferenceService", "inference services"),
    ("trainer.kubeflow.org", "TrainJob", "training jobs"),
    ("tensorboard.kubeflow.org", "Tensorboard", "tensorboards"),
    ("ray.io", "RayCluster", "Ray clusters"),
    ("sparkoperator.k8s.io", "SparkApplication", "Spark applications"),
)
_SHOWN = 5
Losses = Mapping[str, Sequence[str]]


def losses(client: Client, discovery: Discovery, namespace: str) -> dict[str, list[str]]:
    """Return what is in a namespace: word -> sorted names. Raise Refused where it may not be listed."""
    found: dict[str, list[str]] = {}
    for group, kind, word in LOSSES:
        resource: Resource | None = discovery.preferred(group, kind)
        if resource is not None:
            names = sorted(str(row.get("name")) for row in client.list_metadata(resource.collection(namespace)))
            if names:
                found[word] = names
    return found


def words(lost: Losses) -> str:
    """Return losses as one text: "2 notebooks (a, b), 1 pods (c)"."""
    if not lost:
        return "nothing of its users"
    parts = []
    for word, names in lost.items():
        more = f", and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
        parts.append(f"{len(names)} {word} ({', '.join(names[:_SHOWN])}{more})")
    return ", ".join(parts)


def decide(tenant: Tenant, live: Live, kinds: platforms.Kinds, lost: Losses) -> Decision:
    """Return the deletion of a Profile; refused unless it is confirmed."""
    decision = Decision(tenant)
    if live.profile is None or lives.deleting(live.profile):
        return decision
    goes = live.housed_by_profile
    if not tenant.deletion_confirmed:
        fate = f"its namespace with {words(lost)} would be deleted" if goes else "its namespace would stay, as it was adopted"
        decision.error(f"{fate}. Nothing is deleted unless deletion: confirmed is set.")
        return decision
    noted = live.owner_annotation
    finalizers = live.profile["metadata"].get("finalizers")
    mismatch = live.namespace is not None and live.owner is not None and noted != live.owner.name
    if mismatch and finalizers and not live.owned:
        decision.error(
            f"its namespace names {noted} as owner, not {live.owner}, and the controller would never finish the deletion. "
            "Correct the annotation owner of the namespace, or remove the finalizer by hand after looking who uses it."
        )
        return decision
    decision.changes += _changes(tenant, live, kinds, mend=mismatch and bool(finalizers), goes=goes)
    if not goes and live.namespace is not None:
        decision.findings.warnings.append(
            f"Profile {tenant.name}: the namespace was adopted and stays with {words(lost)}; delete it yourself when nobody needs it."
        )
    return decision


def _changes(tenant: Tenant, live: Live, kinds: platforms.Kinds, *, mend: bool, goes: bool) -> Iterator[Change]:
    if mend and live.owner is not None:
        # An annotation that does not match would hold the deletion up for ever.
        body = {"metadata": {"annotations": {"owner": live.owner.name}}}
        yield changes.patch(tenant.name, platforms.NAMESPACES, live.namespace, body, stage=changes.NAMESPACE)
    if not goes:
        # Nobody else takes the contributors' rights away when the namespace stays.
        for resource, objects in ((platforms.BINDINGS, live.bindings), (kinds.policies, live.policies)):
            for name, obj in sorted(objects.items()):
                if lives.is_contributor(obj) and name != lives.OWNER_POLICY:
                    yield changes.delete(tenant.name, resource, obj, stage=changes.NAMESPACE)
    if live.profile is not None:
        yield changes.delete(tenant.name, kinds.profiles, live.profile, stage=changes.PROFILE, why="state is absent")


def holding(live: Live) -> str:
    """Return who keeps a Profile or its namespace from going; "" where both are gone."""
    if live.profile is not None:
        held = ", ".join(live.profile["metadata"].get("finalizers") or [])
        return f"the Profile is kept by {held or 'nothing that shows'}: the profile controller did not act"
    if live.namespace is not None and lives.deleting(live.namespace):
        return "the namespace is being deleted: the namespace controller waits for objects in it that have finalizers"
    owners = ((live.namespace or {}).get("metadata") or {}).get("ownerReferences") or ()
    if any(row.get("kind") == "Profile" for row in owners):
        return "the namespace is still there: the garbage collector of the cluster did not act"
    return ""
