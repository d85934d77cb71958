# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Reads tenants from the cluster: one LIST of each kind for many, one request of each kind in the namespace for a single one."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any

from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.discovery import Resource
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.errors import Refused
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.requests import METADATA_LIST, PAGE, Client
from ansible_collections.kubeflow.platform.plugins.module_utils.tenancy import live as lives
from ansible_collections.kubeflow.platform.plugins.module_utils.tenancy import platform as platforms
from ansible_collections.kubeflow.platform.plugins.module_utils.tenancy.desired import LIMITS_NAME, NETWORK_POLICY_NAME
from ansible_collections.kubeflow.platform.plugins.module_utils.tenancy.live import Live
from ansible_collections.kubeflow.platform.plugins.module_utils.tenancy.presets import CA_MAP

_WHOLE = "application/json"
# A parsed page takes ten times its text, which is large too: one is parsed while another comes in, which is as fast as all at once.
_PARSING, _READING = threading.Lock(), threading.BoundedSemaphore(3)
Keep = Callable[[Live, dict[str, Any]], None]


@dataclass(frozen=True, slots=True)
class Wants:
    """Which kinds matter to a run, beyond those that every tenant has."""

    limits: bool = False
    network_policy: bool = False
    pod_defaults: bool = False
    pull_secrets: bool = False
    housing: bool = False  # nothing but whether the namespaces are there, for waiting
    controllers: bool = False  # nothing but what the controllers make, for waiting


EVERYTHING = Wants(True, True, True, True)


@dataclass(frozen=True, slots=True)
class _Query:
    resource: Resource
    keep: Keep
    name: str = ""  # of the one object of each namespace that matters
    accept: str = _WHOLE


def look(
    client: Client,
    pool: Executor,
    kinds: platforms.Kinds,
    platform: platforms.Platform,
    wants: Wants,
    names: set[str] | None = None,
) -> dict[str, Live]:
    """Return the tenants called ``names`` (also those that do not exist), or every Profile. Raise Refused where a LIST is refused."""
    found = {name: Live(name) for name in names or ()}
    only = next(iter(names)) if names is not None and len(names) == 1 else ""
    for obj in _objects(client, kinds.profiles, only):
        name = obj["metadata"]["name"]
        if names is None:
            found[name] = Live(name)
        if name in found:
            found[name].profile = obj
    if not found:
        return found
    for done in [pool.submit(_read, client, query, found, only) for query in _queries(kinds, platform, wants)]:
        done.result()
    return found


def _read(client: Client, query: _Query, found: Mapping[str, Live], only: str) -> None:
    inside = query.resource.namespaced
    for obj in _objects(client, query.resource, query.name or ("" if inside else only), only if inside else "", query.accept):
        metadata = obj["metadata"]
        tenant = found.get(metadata.get("namespace", "") if inside else metadata["name"])
        if tenant is not None:
            query.keep(tenant, obj)


def _queries(kinds: platforms.Kinds, platform: platforms.Platform, wants: Wants) -> Iterator[_Query]:
    yield _Query(platforms.NAMESPACES, _keep("namespace"))
    if wants.pull_secrets or not wants.housing:
        for account in (lives.EDITOR, lives.VIEWER):
            yield _Query(platforms.ACCOUNTS, _keep_account, account, _WHOLE if wants.pull_secrets else METADATA_LIST)
    if wants.housing:
        return
    if wants.controllers:
        for name in (lives.EDITOR, lives.VIEWER, lives.OWNER_BINDING):
            yield _Query(platforms.BINDINGS, _keep_binding, name)
        yield _Query(kinds.policies, _keep_policy, lives.OWNER_POLICY)
    else:
        yield _Query(platforms.BINDINGS, _keep_binding)
        yield _Query(kinds.policies, _keep_policy)
    yield _Query(platforms.QUOTAS, _keep("quota"), lives.QUOTA)
    if platform.pipelines:
        # Metadata only: the artifact Secret's values are nobody's business here.
        yield _Query(platforms.SECRETS, _artifact("Secret"), lives.SECRET, METADATA_LIST)
        for name in lives.PIPELINE_MAPS:
            yield _Query(platforms.MAPS, _artifact("ConfigMap"), name, METADATA_LIST)
    if wants.limits:
        yield _Query(platforms.LIMITS, _keep("limits"), LIMITS_NAME)
    if wants.network_policy:
        yield _Query(platforms.NETWORK_POLICIES, _keep("network_policy"), NETWORK_POLICY_NAME)
    if wants.pod_defaults and kinds.pod_defaults is not None:
        yield _Query(kinds.pod_defaults, _keep_pod_default)
        yield _Query(platforms.MAPS, _keep("authority"), CA_MAP)


def _keep(attribute: str) -> Keep:
    return lambda tenant, obj: setattr(tenant, attribute, obj)


def _unowned(obj: dict[str, Any]) -> dict[str, Any]:
    """Return the object without its owners: only those of the namespace and of the owner's binding prove anything."""
    obj["metadata"].pop("ownerReferences", None)
    return obj


def _keep_binding(tenant: Live, obj: dict[str, Any]) -> None:
    name = obj["metadata"]["name"]
    if name in (lives.EDITOR, lives.VIEWER, lives.OWNER_BINDING) or lives.is_contributor(obj):
        tenant.bindings[name] = obj if name == lives.OWNER_BINDING else _unowned(obj)
        if name in (lives.EDITOR, lives.VIEWER):
            tenant.bindings[name].pop("subjects", None)  # that it is there is all that matters


def _keep_policy(tenant: Live, obj: dict[str, Any]) -> None:
    if obj["metadata"]["name"] == lives.OWNER_POLICY:
        # Of its rules only those that name people matter.
        rules = [rule for rule in (obj.get("spec") or {}).get("rules") or [] if rule.get("when")]
        obj["spec"] = {"rules": [{"when": rule["when"]} for rule in rules]}
    if obj["metadata"]["name"] == lives.OWNER_POLICY or {"user", "role"} <= lives.notes(obj).keys():
        tenant.policies[obj["metadata"]["name"]] = _unowned(obj)


def _keep_account(tenant: Live, obj: dict[str, Any]) -> None:
    tenant.accounts[obj["metadata"]["name"]] = _unowned(obj)


def _keep_pod_default(tenant: Live, obj: dict[str, Any]) -> None:
    tenant.pod_defaults[obj["metadata"]["name"]] = obj


def _artifact(kind: str) -> Keep:
    return lambda tenant, obj: tenant.artifacts.add(f"{kind} {obj['metadata']['name']}")


def _objects(client: Client, resource: Resource, name: str = "", namespace: str = "", accept: str = _WHOLE) -> Iterator[dict[str, Any]]:
    """Yield compact objects, page by page, so that a page is gone before the next one is parsed. Nothing where the kind is not served."""
    path = resource.collection(namespace)
    query: dict[str, Any] = {"limit": PAGE, **({"fieldSelector": f"metadata.name={name}"} if name else {})}
    while True:
        rows, following = _page(client, path, query, accept)
        yield from rows
        if not following:
            return
        query["continue"] = following


def _page(client: Client, path: str, query: dict[str, Any], accept: str) -> tuple[list[dict[str, Any]], str]:
    """Return the compact objects of one page, and where the next one begins ("" at the end)."""
    with _READING:
        response = client.request("GET", path, query=query, accept=accept, headers={"Accept-Encoding": "gzip"}, count_as="LIST")
        if response.status == 410 and query.pop("continue", ""):  # the snapshot is gone: keeping an object twice does no harm
            response = client.request("GET", path, query=query, accept=accept, headers={"Accept-Encoding": "gzip"}, count_as="LIST")
        if response.status == 404:
            return [], ""
        with _PARSING:
            page = response.body()
            if not response.ok or "items" not in page:
                raise Refused(f"GET {path}", response)
            rows = [lives.compact(item) for item in page["items"] or []]
            return rows, str((page.get("metadata") or {}).get("continue") or "")
