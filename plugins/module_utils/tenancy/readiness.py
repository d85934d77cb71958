# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Whether a tenant is ready: a Profile has no condition that tells, so what the controllers make is looked for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ansible_collections.kubeflow.platform.plugins.module_utils.tenancy import decide
from ansible_collections.kubeflow.platform.plugins.module_utils.tenancy import live as lives
from ansible_collections.kubeflow.platform.plugins.module_utils.tenancy import platform as platforms
from ansible_collections.kubeflow.platform.plugins.module_utils.tenancy.live import Live
from ansible_collections.kubeflow.platform.plugins.module_utils.tenancy.model import Tenant
from ansible_collections.kubeflow.platform.plugins.module_utils.tenancy.quantities import same_amounts

PROFILES, PIPELINES = "profiles", "pipelines"
# Who makes what, and where to read why it did not.
CONTROLLERS = {
    PROFILES: ("the profile controller", platforms.CONTROLLER, "manager"),
    PIPELINES: ("the pipelines' profile controller (metacontroller calls it)", platforms.PIPELINES, ""),
}
_PIPELINES_LABEL = "pipelines.kubeflow.org/enabled"


@dataclass(frozen=True, slots=True)
class Missing:
    """Something that a controller has not made or mended yet; ``controller`` is a key of CONTROLLERS."""

    what: str
    controller: str


def housed(tenant: Tenant, live: Live) -> bool:
    """Tell whether the namespace is there, with all that changes inside it need."""
    if live.namespace is None or lives.deleting(live.namespace):
        return False
    return tenant.image_pull_secrets is None or {lives.EDITOR, lives.VIEWER} <= live.accounts.keys()


def missing(live: Live, platform: platforms.Platform) -> list[Missing]:
    """Return what the controllers still owe to a Profile."""
    if live.profile is None:
        return [Missing(f"Profile {live.name}", PROFILES)]
    if live.namespace is None:
        return [Missing(f"Namespace {live.name}", PROFILES)]
    owner = live.owner
    found = [f"{kind} {name}" for kind, name in _absent(live)]
    if owner is not None:
        found += decide.still_named(live, owner)
        found += _policy_owner(live, platform.prefix + owner.name)
    if owner is not None and live.owner_annotation != owner.name:
        found.append(f"the annotation owner of the namespace names {live.owner_annotation}, not {owner.name}")
    if not same_amounts(((live.quota or {}).get("spec") or {}).get("hard") or {}, decide.hard(live)):
        found.append(f"ResourceQuota {lives.QUOTA} is not what the Profile asks for")
    return [Missing(what, PROFILES) for what in found] + [Missing(what, PIPELINES) for what in _artifacts(live, platform)]


def _absent(live: Live) -> Iterable[tuple[str, str]]:
    for name in (lives.EDITOR, lives.VIEWER):
        if name not in live.accounts:
            yield "ServiceAccount", name
    for name in (lives.EDITOR, lives.VIEWER, lives.OWNER_BINDING):
        if name not in live.bindings:
            yield "RoleBinding", name
    if lives.OWNER_POLICY not in live.policies:
        yield "AuthorizationPolicy", lives.OWNER_POLICY


def _policy_owner(live: Live, value: str) -> list[str]:
    policy = live.policies.get(lives.OWNER_POLICY)
    if policy is None or value in _header_values(policy):
        return []
    return [f"AuthorizationPolicy {lives.OWNER_POLICY} does not let {value} in"]


def _header_values(policy: Mapping[str, Any]) -> set[str]:
    rules = (policy.get("spec") or {}).get("rules") or []
    conditions = [row for rule in rules for row in rule.get("when") or [] if str(row.get("key")).startswith("request.headers[")]
    return {str(value) for row in conditions for value in row.get("values") or []}


def _artifacts(live: Live, platform: platforms.Platform) -> list[str]:
    if not platform.pipelines or lives.labels(live.namespace).get(_PIPELINES_LABEL) != "true":
        return []
    wanted = [f"Secret {lives.SECRET}", *(f"ConfigMap {name}" for name in lives.PIPELINE_MAPS)]
    return [what for what in wanted if what not in live.artifacts]


def explain(name: str, owed: Iterable[Missing], workloads: Mapping[str, str], seconds: float) -> str:
    """Return one text for a Profile that did not get ready. ``workloads``: for each controller what its Deployment looks like."""
    by_controller: dict[str, list[str]] = {}
    for row in owed:
        by_controller.setdefault(row.controller, []).append(row.what)
    sentences = []
    for key, what in by_controller.items():
        title, workload, container = CONTROLLERS[key]
        place = f"deployment/{workload}" + (f" -c {container}" if container else "")
        sentences.append(
            f"{title} did not act ({workloads.get(key, workload)}): {', '.join(what)}. "
            f"Read kubectl logs -n {platforms.HOME} {place}, mend the cause and run again."
        )
    return f"Profile {name} is not ready after {seconds:.0f} s: " + " ".join(sentences)


def summary(live: Live, platform: platforms.Platform) -> dict[str, Any]:
    """Return the state of a live tenant for a result."""
    owed = missing(live, platform)
    return {
        "name": live.name,
        "owner": str(live.owner) if live.owner else "",
        "ready": not owed,
        "missing": [row.what for row in owed],
    }
