# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What is to be done inside a tenant's namespace: contributors, pull secrets, defaults for pods, limits, network policy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.discovery import Resource
from ansible_collections.kubeflow.platform.plugins.module_utils.tenancy import changes, contributors, desired, presets
from ansible_collections.kubeflow.platform.plugins.module_utils.tenancy import live as lives
from ansible_collections.kubeflow.platform.plugins.module_utils.tenancy import platform as platforms
from ansible_collections.kubeflow.platform.plugins.module_utils.tenancy.changes import Change
from ansible_collections.kubeflow.platform.plugins.module_utils.tenancy.decision import Decision
from ansible_collections.kubeflow.platform.plugins.module_utils.tenancy.live import Live
from ansible_collections.kubeflow.platform.plugins.module_utils.tenancy.model import Tenant
from ansible_collections.kubeflow.platform.plugins.module_utils.tenancy.quantities import same_amounts

# Which pull secrets of an account are ours: the others are kept when the data names fewer.
PULL_NOTE = "kubeflow.platform/image-pull-secrets"


def decide(decision: Decision, live: Live, kinds: platforms.Kinds, platform: platforms.Platform, *, authoritative: bool) -> None:
    """Add to ``decision`` what the namespace lacks or has too much."""
    tenant = decision.tenant
    decision.changes += contributors.wanted(decision, live, kinds, platform, authoritative=authoritative)
    decision.changes += contributors.others(decision, live, kinds, authoritative=authoritative)
    decision.changes += _accounts(tenant, live)
    decision.changes += _limits(tenant, live)
    if tenant.network_policy is not None:
        wanted = desired.network_policy(tenant)
        decision.changes += _content(tenant, platforms.NETWORK_POLICIES, live.network_policy, wanted, "spec")
    decision.changes += _pod_defaults(decision, live, kinds)


# -- service accounts


def _accounts(tenant: Tenant, live: Live) -> Iterator[Change]:
    if tenant.image_pull_secrets is None:
        return
    wanted = list(tenant.image_pull_secrets)
    for name in (lives.EDITOR, lives.VIEWER):
        account = live.accounts.get(name)
        present = pull_secrets(account)
        noted = lives.notes(account).get(PULL_NOTE)
        ours = set((noted or "").split(",")) - set(wanted)
        after = [secret for secret in present if secret not in ours]
        after += [secret for secret in wanted if secret not in after]
        note = ",".join(sorted(wanted)) or None
        body: dict[str, Any] = {}
        if after != present:
            body["imagePullSecrets"] = [{"name": secret} for secret in after]
        if body and noted != note:
            body["metadata"] = {"annotations": {PULL_NOTE: note}}
        if body:
            yield changes.patch(tenant.name, platforms.ACCOUNTS, account, body, name=name)


def pull_secrets(account: Mapping[str, Any] | None) -> list[str]:
    """Return the names of a ServiceAccount's pull secrets."""
    return [str(row.get("name")) for row in (account or {}).get("imagePullSecrets") or ()]


# -- what pods get


def _limits(tenant: Tenant, live: Live) -> Iterator[Change]:
    if tenant.limits is None:
        return
    wanted = desired.limits(tenant)
    if wanted is not None and live.limits is not None and _same_limits(live.limits.get("spec"), wanted["spec"]):
        return
    yield from _content(tenant, platforms.LIMITS, live.limits, wanted, "spec")


def _same_limits(live: Mapping[str, Any] | None, wanted: Mapping[str, Any]) -> bool:
    rows, others = (live or {}).get("limits") or [], wanted["limits"]
    return len(rows) == len(others) and all(_same_limit(row, other) for row, other in zip(rows, others, strict=True))


def _same_limit(row: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    if row.keys() != other.keys() or row.get("type") != other.get("type"):
        return False
    return all(same_amounts(row[key], other[key]) for key in row if key != "type")


def _content(
    tenant: Tenant, resource: Resource, present: Mapping[str, Any] | None, wanted: dict[str, Any] | None, key: str
) -> Iterator[Change]:
    """Create, mend or remove an object of which the data says everything that is under ``key``."""
    if wanted is None:
        if present is not None:
            yield changes.delete(tenant.name, resource, present, why="the data wants none")
    elif present is None:
        yield changes.create(tenant.name, resource, wanted)
    elif not changes.equal(present.get(key), wanted[key]):
        yield changes.patch(tenant.name, resource, present, {key: changes.to_become(present.get(key), wanted[key])})


def _pod_defaults(decision: Decision, live: Live, kinds: platforms.Kinds) -> Iterator[Change]:
    tenant, resource = decision.tenant, kinds.pod_defaults
    if tenant.pod_defaults is None:
        return
    if resource is None:
        if tenant.pod_defaults:
            decision.error("the cluster does not serve PodDefaults (kubeflow.org). Install the component dashboard, or drop pod_defaults.")
        return
    pem = presets.certificate(tenant.pod_defaults)
    wanted_map = desired.authority(tenant.name, presets.CA_MAP, pem) if pem is not None else None
    ours = live.authority if wanted_map is not None or _managed(live.authority) else None
    yield from _content(tenant, platforms.MAPS, ours, wanted_map, "data")
    wanted = presets.specs(tenant.pod_defaults)
    for name, spec in sorted(wanted.items()):
        body = desired.pod_default(tenant.name, name, spec, resource.api_version)
        yield from _content(tenant, resource, live.pod_defaults.get(name), body, "spec")
    for name, obj in sorted(live.pod_defaults.items()):
        if name not in wanted and _managed(obj):
            yield changes.delete(tenant.name, resource, obj, why="the data does not name it")


def _managed(obj: Mapping[str, Any] | None) -> bool:
    return lives.MANAGED_LABEL in lives.labels(obj)
