# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What stands between a module and a run over tenants: parameters in, the module's result out."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.connection import from_params
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.discovery import Discovery
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.errors import ClusterError, Failure, Refused
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.patience import PatientClient
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.rbac import missing_permissions
from ansible_collections.kubeflow.platform.plugins.module_utils.tenancy import platform as platforms
from ansible_collections.kubeflow.platform.plugins.module_utils.tenancy import readiness, result
from ansible_collections.kubeflow.platform.plugins.module_utils.tenancy.export import exported
from ansible_collections.kubeflow.platform.plugins.module_utils.tenancy.look import EVERYTHING, look
from ansible_collections.kubeflow.platform.plugins.module_utils.tenancy.model import Subject, TenancyError
from ansible_collections.kubeflow.platform.plugins.module_utils.tenancy.names import is_email
from ansible_collections.kubeflow.platform.plugins.module_utils.tenancy.run import Invalid, Options, Run, Tools
from ansible_collections.kubeflow.platform.plugins.module_utils.tenancy.validation import read


@contextmanager
def tools(params: Mapping[str, Any], workers: int) -> Iterator[Tools]:
    """Give the edges of a run. Raise ClusterError where no connection can be made."""
    client = PatientClient(from_params(params), "kubeflow.platform", workers)
    try:
        with ThreadPoolExecutor(workers) as pool:
            yield Tools(client, Discovery(client), time, random.random, pool)
    finally:
        client.close()


def execute(params: Mapping[str, Any], rows: Sequence[Mapping[str, Any]], *, check: bool, diff: bool) -> dict[str, Any]:
    """Run over tenants; return the module's result, with ``msg`` and ``failed`` where it failed, and ``warnings``."""
    tenants, findings = read(
        rows,
        defaults=params.get("defaults"),
        reserved=params["reserved_namespaces"],
        user_format=params["user_format"],
        authoritative=params["authoritative"],
    )
    if findings.errors:
        return _refused(findings.errors, findings.warnings)
    options = Options(params["authoritative"], check, diff, params["wait"], float(params["wait_timeout"]))
    return _run(params, options, lambda run: run.execute(tenants, findings), diff=diff, workers=params["workers"])


def contribute(params: Mapping[str, Any], *, check: bool, diff: bool) -> dict[str, Any]:
    """Give a role in one Profile to one contributor, or take it away; the result is as of ``execute``."""
    subject = Subject(params["kind"], params["name"])
    if subject.kind == "User" and params["user_format"] == "email" and not is_email(subject.name):
        problem = f"{subject.name} is no e-mail address as the dashboard takes one; correct it, or set user_format to any."
        return _refused([problem], [])
    absent = params["state"] == "absent"
    role = params["role"] or ("" if absent else "edit")
    options = Options(check=check, diff=diff, wait=False)
    return _run(params, options, lambda run: run.contribute(params["profile"], subject, role, absent=absent), diff=diff, workers=2)


def export(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return the module's result: the live Profiles as data, and what data cannot express; with ``msg`` and ``failed`` where it failed."""
    names = set(params["names"]) if params.get("names") is not None else None
    rows: list[dict[str, Any]] = []
    states: list[dict[str, Any]] = []
    findings: list[str] = []
    try:
        with tools(params, 4) as edges:
            kinds = platforms.kinds(edges.discovery)
            platform = platforms.read_platform(edges.client, kinds)
            found = look(edges.client, edges.pool, kinds, platform, EVERYTHING, names) if names != set() else {}
            for _name, live in sorted(found.items()):
                if live.profile is not None:
                    row, texts = exported(live, platform)
                    rows.append(row)
                    findings += texts
                    states.append(readiness.summary(live, platform))
            counts = dict(edges.client.counts)
    except (ClusterError, TenancyError) as end:
        return {"failed": True, "changed": False, "msg": result.masked(str(end))}
    return {"failed": False, "changed": False, "profiles": rows, "tenants": states, "findings": findings, "requests": counts}


def _run(params: Mapping[str, Any], options: Options, act: Callable[[Run], object], *, diff: bool, workers: int) -> dict[str, Any]:
    try:
        with tools(params, workers) as edges:
            run, error = Run(options, edges), ""
            forbidden: list[Failure] = []
            try:
                act(run)
            except Invalid as end:
                if not run.outcome.changed:
                    return _refused(end.errors, run.outcome.warnings)
                error = str(end)
            except (ClusterError, TenancyError) as end:
                error, forbidden = str(end), [end.failure] if isinstance(end, Refused) else []
            found = result.as_result(run.outcome, check=options.check, diff=diff, requests=dict(edges.client.counts))
            if error or found["failed"]:
                found.update(missing_permissions(forbidden), failed=True, msg=result.masked(error or result.message(run.outcome)))
            return {**found, "warnings": sorted(set(run.outcome.warnings))}
    except ClusterError as end:
        return {"failed": True, "changed": False, "msg": result.masked(str(end)), "warnings": []}


def _refused(errors: Sequence[str], warnings: Sequence[str]) -> dict[str, Any]:
    return {
        "failed": True,
        "changed": False,
        "msg": result.in_one_message(errors),
        "findings": list(errors),
        "warnings": sorted(set(warnings)),
    }
