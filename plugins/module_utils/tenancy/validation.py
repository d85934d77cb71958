# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What must hold for a list of tenants before anything is asked of a cluster. Every finding is told, not only the first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from ansible_collections.kubeflow.platform.plugins.module_utils.tenancy.model import Contributor, Findings, Subject, Tenant
from ansible_collections.kubeflow.platform.plugins.module_utils.tenancy.names import profile_name_problem
from ansible_collections.kubeflow.platform.plugins.module_utils.tenancy.options import tenant_spec
from ansible_collections.kubeflow.platform.plugins.module_utils.tenancy.reading import Reader, with_defaults


def read(
    rows: Sequence[Mapping[str, Any]],
    *,
    defaults: Mapping[str, Any] | None = None,
    reserved: Collection[str] = (),
    user_format: str = "email",
    authoritative: bool = False,
) -> tuple[list[Tenant], Findings]:
    """Return the tenants that ``rows`` describe, and all findings. With errors, nothing may be written."""
    findings = Findings(_defaults_problems(defaults or {}))
    tenants: list[Tenant] = []
    for row in rows:
        reader = Reader(with_defaults(row, defaults or {}), user_format)
        tenant = reader.tenant()
        wrong = profile_name_problem(tenant.name, reserved)
        if wrong:
            reader.problem(wrong)
        tenants.append(tenant)
        findings.errors.extend(reader.problems)
        findings.extend(of_tenant(tenant))
    findings.errors.extend(
        f"Profile {name}: it is named {count} times; join these entries."
        for name, count in Counter(tenant.name for tenant in tenants if tenant.name).items()
        if count > 1
    )
    if authoritative and not tenants:
        findings.errors.append("The list of Profiles is empty although authoritative is set; this looks like data that did not arrive.")
    findings.warnings.extend(near_misses(people(tenants)))
    return tenants, findings


def _defaults_problems(defaults: Mapping[str, Any]) -> list[str]:
    known = [key for key in tenant_spec() if key not in ("name", "state", "deletion", "adopt")]
    return [f"defaults holds {key}, which is none of {', '.join(known)}." for key in defaults if key not in known]


def of_tenant(tenant: Tenant) -> Findings:
    """Return what is wrong or remarkable about one tenant by itself."""
    findings = Findings()
    contributors = tenant.contributors or ()
    if tenant.owner is not None:
        twice = [row for row in contributors if row.subject == tenant.owner]
        findings.errors.extend(
            f"Profile {tenant.name}: {tenant.owner} is its owner and a contributor ({row.role}); an owner has every right, "
            "so remove the contributor."
            for row in twice
        )
        findings.warnings.extend(f"Profile {tenant.name}: {text}" for text in _owner_warnings(tenant.owner))
    findings.errors.extend(collisions(tenant.name, contributors))
    for row in contributors:
        if row.subject.kind == "Group":
            findings.warnings.append(
                f"Profile {tenant.name}: members of the group {row.subject.name} get Kubernetes rights, but neither the dashboard nor KFAM "
                "shows them, and the gateway lets only users by name into the namespace."
            )
        elif "+" in row.subject.name:
            findings.warnings.append(
                f"Profile {tenant.name}: parts of the dashboard reject the + in {row.subject.name}; remove that person here, not there."
            )
    findings.warnings.extend(_several_roles(tenant.name, contributors))
    return findings


def _owner_warnings(owner: Subject) -> list[str]:
    if owner.kind == "Group":
        return [
            f"members of the group {owner.name} get Kubernetes rights only. The gateway compares the user's e-mail address with the "
            "group's name, so they cannot open notebooks or other services, nor add contributors. Make one person the owner."
        ]
    if owner.kind == "ServiceAccount":
        return [
            f"{owner} gets Kubernetes rights. The gateway compares the identity that it is sent with {owner.name} alone, "
            "which no token of a ServiceAccount carries, so it cannot reach services of the namespace through the gateway."
        ]
    return []


def collisions(tenant: str, contributors: Iterable[Contributor]) -> list[str]:
    """Return an error for each two contributors whose objects KFAM would give one name."""
    seen: dict[str, Contributor] = {}
    found = []
    for row in contributors:
        other = seen.setdefault(row.binding, row)
        if other != row:
            found.append(
                f"Profile {tenant}: {other.subject} and {row.subject} are both {row.role}, and KFAM gives both the name {row.binding}: "
                "removing one would remove the other. Keep one of them, give one another role, or change one address."
            )
    return found


def _several_roles(tenant: str, contributors: Sequence[Contributor]) -> list[str]:
    roles: dict[Subject, list[str]] = {}
    for row in contributors:
        roles.setdefault(row.subject, []).append(row.role)
    return [
        f"Profile {tenant}: {subject} has several roles ({', '.join(sorted(given))}); their rights add up."
        for subject, given in roles.items()
        if len(given) > 1
    ]


def people(tenants: Iterable[Tenant]) -> dict[str, str]:
    """Return each user that the data names, with the first place where it does."""
    found: dict[str, str] = {}
    for tenant in tenants:
        if tenant.owner is not None and tenant.owner.kind == "User":
            found.setdefault(tenant.owner.name, f"owner of {tenant.name}")
        for row in tenant.contributors or ():
            if row.subject.kind == "User":
                found.setdefault(row.subject.name, f"contributor of {tenant.name}")
    return found


def near_misses(named: Mapping[str, str], live: Mapping[str, str] | None = None) -> list[str]:
    """Return a warning for each name that differs from another only in case: the identity provider sends one of them, the other fails.

    ``named`` and ``live`` map a user to where it stands; two live ones are nobody's business here.
    """
    spelled: dict[str, tuple[str, str]] = {}
    found = []
    for name, where in {**(live or {}), **named}.items():
        first = spelled.setdefault(name.casefold(), (name, where))
        if first[0] != name and (name in named or first[0] in named):
            found.append(
                f"{first[0]} ({first[1]}) and {name} ({where}) differ only in case. Rights are compared letter by letter: "
                "write both as the identity provider sends them."
            )
    return found
