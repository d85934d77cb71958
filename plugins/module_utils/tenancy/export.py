# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Live tenants as the data that would make them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.kubeflow.platform.plugins.module_utils.tenancy import contributors, decide, desired, inside, presets
from ansible_collections.kubeflow.platform.plugins.module_utils.tenancy import live as lives
from ansible_collections.kubeflow.platform.plugins.module_utils.tenancy.live import Live
from ansible_collections.kubeflow.platform.plugins.module_utils.tenancy.model import (
    POD_SECURITY_LABEL,
    POD_SECURITY_LEVELS,
    Contributor,
    Subject,
)
from ansible_collections.kubeflow.platform.plugins.module_utils.tenancy.names import is_email
from ansible_collections.kubeflow.platform.plugins.module_utils.tenancy.platform import Platform

# Labels and annotations that somebody else sets in every namespace.
_SYSTEM = ("kubernetes.io/", "kubectl.kubernetes.io/", "openshift.io/", "kubeflow.platform/", "cattle.io/", "field.cattle.io/")


def exported(live: Live, platform: Platform) -> tuple[dict[str, Any], list[str]]:
    """Return the data of one tenant, and what data cannot express or what applying it would change."""
    owner = live.owner
    findings: list[str] = []
    people, others = contributors.told(live)
    findings += [f"the contributor {text} cannot be expressed and is left out" for text in others]
    row: dict[str, Any] = {"name": live.name}
    if owner is not None:
        row["owner"] = _person(owner)
        findings += [f"the owner is also a contributor ({one.role}), which is left out" for one in people if one.subject == owner]
        people = [one for one in people if one.subject != owner]
    row["contributors"] = [_contributor(one) for one in people]
    row.update(_namespace(live, platform))
    if decide.hard(live):
        row["quota"] = {key: str(value) for key, value in sorted(decide.hard(live).items())}
    row.update(_content(live))
    users = [one.name for one in (owner, *(c.subject for c in people)) if one is not None and one.kind == "User"]
    findings += [f"{name} is no e-mail address; set user_format to any" for name in users if not is_email(name)]
    spec = (live.profile or {}).get("spec") or {}
    findings += [f"the Profile's {key} cannot be expressed; applying the data keeps it" for key in ("plugins",) if spec.get(key)]
    if set(spec.get("resourceQuotaSpec") or {}) - {"hard"}:
        findings.append("the quota's scopes cannot be expressed; applying the data keeps them")
    return row, [f"Profile {live.name}: {text}." for text in findings]


def _person(subject: Subject) -> dict[str, str]:
    if subject.kind == "User":
        return {"name": subject.name}
    return {"kind": subject.kind, "name": subject.name, **({"namespace": subject.namespace} if subject.namespace else {})}


def _contributor(row: Contributor) -> dict[str, str]:
    return {**_person(row.subject), "role": row.role}


def _namespace(live: Live, platform: Platform) -> dict[str, Any]:
    """Return labels and annotations but for what every tenant's namespace has on this platform."""
    mesh = platform.mesh_label
    given = {key: value for key, value in lives.labels(live.namespace).items() if not _of_system(key) and (key, value) != mesh}
    kept = {key: value for key, value in given.items() if platform.namespace_labels.get(key) != value}
    row: dict[str, Any] = {}
    level = kept.pop(POD_SECURITY_LABEL, None)
    if level in POD_SECURITY_LEVELS:
        row["pod_security"] = level
    if kept:
        row["labels"] = dict(sorted(kept.items()))
    notes = {key: value for key, value in lives.notes(live.namespace).items() if key != "owner" and not _of_system(key)}
    if notes:
        row["annotations"] = dict(sorted(notes.items()))
    return row


def _of_system(key: str) -> bool:
    # pod-security.kubernetes.io/ is the tenant's, not the system's.
    return key.startswith(_SYSTEM)


def _content(live: Live) -> dict[str, Any]:
    row: dict[str, Any] = {}
    secrets = [inside.pull_secrets(live.accounts.get(name)) for name in (lives.EDITOR, lives.VIEWER)]
    # OpenShift gives each account a secret of its own, which is no tenant's choice.
    common = [name for name in secrets[0] if name in secrets[1] and "-dockercfg-" not in name]
    if common:
        row["image_pull_secrets"] = common
    limits = _limits(live.limits)
    if limits:
        row["limits"] = limits
    if live.network_policy is not None:
        row["network_policy"] = _network_policy(live)
    specs = {name: obj.get("spec") or {} for name, obj in live.pod_defaults.items()}
    pem = ((live.authority or {}).get("data") or {}).get(presets.CA_KEY)
    if specs:
        row["pod_defaults"] = presets.from_live(specs, pem)
    return row


def _limits(obj: Mapping[str, Any] | None) -> dict[str, Any]:
    rows = ((obj or {}).get("spec") or {}).get("limits") or []
    if len(rows) != 1 or rows[0].get("type") != "Container":
        return {}
    names = {"default": "default", "defaultRequest": "default_request", "max": "max", "min": "min"}
    return {
        ours: {key: str(value) for key, value in sorted(rows[0][theirs].items())} for theirs, ours in names.items() if rows[0].get(theirs)
    }


def _network_policy(live: Live) -> dict[str, Any]:
    spec = (live.network_policy or {}).get("spec") or {}
    try:
        (rule,) = spec["ingress"]
        (expression,) = rule["from"][0]["namespaceSelector"]["matchExpressions"]
        allowed = {"allow_from": [name for name in expression["values"] if name != live.name]}
    except (KeyError, IndexError, TypeError, ValueError):
        return {"spec": spec}
    made = desired.network_policy_spec(live.name, allowed)
    return allowed if made == spec else {"spec": spec}
