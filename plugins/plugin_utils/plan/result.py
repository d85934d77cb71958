# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A plan as plain data: what C(kubeflow_plan) returns, C(kustomize_apply) takes and C(kubeflow_report) shows."""

from __future__ import annotations

from typing import Any

from ansible_collections.kubeflow.platform.plugins.plugin_utils.plan import rules
from ansible_collections.kubeflow.platform.plugins.plugin_utils.plan.model import Plan, Selected
from ansible_collections.kubeflow.platform.plugins.plugin_utils.records.condition import substitute
from ansible_collections.kubeflow.platform.plugins.plugin_utils.records.model import Release


def as_result(plan: Plan, tree: str | None) -> dict[str, Any]:
    """The plan with the folder of the distribution that it is for."""
    return {
        "distribution": tree,
        "release": release_facts(plan),
        "selection": [item.component.name for item in plan.selected],
        "scope": list(plan.scope),
        "removed": list(plan.removed),
        "parts": [part.as_dict() for part in plan.parts],
        "requirements": [requirement.as_dict() for requirement in plan.requirements],
        "required": [requirement.as_part() for requirement in plan.requirements],
        "components": [_row(plan, item) for item in plan.selected],
        "credentials": _credentials(plan),
        "addresses": _addresses(plan),
        "ready": rules.ready(plan),
        "checks": rules.checks(plan),
        "notes": list(plan.notes),
    }


def release_facts(plan: Plan) -> dict[str, Any]:
    """What the engine must know about the release."""
    release = plan.release
    used = {item.component.name for item in plan.in_scope}
    return {
        "name": release.name,
        "source": source(release),
        "kustomize": release.kustomize.as_dict(),
        "kubernetes": release.kubernetes.as_dict(),
        "quirks": [quirk.as_dict() for quirk in release.quirks],
        "remote_bases": [
            {"url": base.url, "path": base.path, "sha256": base.sha256} for base in release.remote_bases if used & set(base.components)
        ],
    }


def source(release: Release) -> dict[str, str]:
    """Where upstream keeps the release; the commit only when the record knows it."""
    where = {"repository": release.source.repository, "ref": release.source.ref}
    return {**where, "commit": release.source.commit} if release.source.commit else where


def _row(plan: Plan, item: Selected) -> dict[str, Any]:
    component = item.component
    return {
        "name": component.name,
        "title": component.title,
        "layer": component.layer,
        "version": plan.release.versions.get(component.name, ""),
        "because": item.because,
        "in_scope": not plan.scope or component.name in plan.scope,
        "parts": [part.name for part in plan.parts if part.component == component.name],
    }


def _credentials(plan: Plan) -> list[dict[str, Any]]:
    return [
        {
            "component": item.component.name,
            "namespace": substitute(credential.namespace, plan.values),
            "name": credential.name,
            "keys": list(credential.keys),
            "purpose": credential.purpose,
            "values": [value.as_dict() for value in credential.values],
            "readers": list(credential.readers),
        }
        for item in plan.selected  # a narrowed run needs the copies that other components hold
        for credential in item.component.credentials_at(plan.release.name, plan.values)
    ]


def _addresses(plan: Plan) -> list[dict[str, Any]]:
    return [
        {"title": address.title, "namespace": address.namespace, "service": address.service, "port": address.port}
        for item in plan.selected
        for address in item.component.addresses
    ]
