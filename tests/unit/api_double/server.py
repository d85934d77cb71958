# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""An API server in memory that answers as Kubernetes 1.36 was seen to answer, as far as the engine can tell the difference.

An object asks to be refused by its annotation ``refuse``: schema, invalid, policy, quota, rbac or transition
(once it is live).
"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from ansible_collections.kubeflow.platform.plugins.module_utils.apply import probes
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.discovery import Resource
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.response import Response
from ansible_collections.kubeflow.platform.tests.unit.api_double import fields, refusals
from ansible_collections.kubeflow.platform.tests.unit.api_double.kinds import (
    ADMISSION,
    BUILT_IN,
    Key,
    discovery,
)
from ansible_collections.kubeflow.platform.tests.unit.api_double.storage import Obj, Request, Storage
from ansible_collections.kubeflow.platform.tests.unit.doubles import said

PATH = re.compile(
    r"/(?:api|apis/(?P<group>[^/]+))/(?P<version>[^/]+)(?:/namespaces/(?P<ns>[^/]+)(?=/))?/(?P<plural>[^/]+)(?:/(?P<name>[^/]+))?"
)


class Server(Storage):
    """Answers requests about what is stored. Webhooks named in ``dead_hooks`` never answer."""

    def __init__(self, now: Callable[[], float], delay: float = 0.0) -> None:
        super().__init__(now, delay)
        self.dead_hooks: set[str] = set()

    # -- what is served

    def resources(self) -> Iterator[Resource]:
        """Every kind that is served by now."""
        yield from BUILT_IN
        for moment, rows in self._custom.values():
            if moment <= self.now():
                yield from rows

    def find(self, group: str, version: str, plural: str) -> Resource | None:
        """The kind behind a path."""
        return next((row for row in self.resources() if (row.group, row.version, row.plural) == (group, version, plural)), None)

    # -- requests

    def handle(self, method: str, url: str, body: Any, headers: Mapping[str, str]) -> Response:
        """Answer one request, and note it."""
        split = urlsplit(url)
        query = {key: values[0] for key, values in parse_qs(split.query).items()}
        dry = "dryRun" in query or bool(isinstance(body, dict) and body.get("dryRun"))
        answer = self._route(method, split.path, query, body, headers, dry)
        self.requests.append(Request(len(self.requests), self.now(), method, split.path, dry, answer.status))
        return answer

    def _route(self, method: str, path: str, query: Mapping[str, str], body: Any, headers: Mapping[str, str], dry: bool) -> Response:
        if path in ("/api", "/apis"):
            document, etag = discovery(path, self.resources())
            same = headers.get("If-None-Match") == etag
            return (
                Response(304) if same else Response(200, {"content-type": "application/json", "etag": etag}, json.dumps(document).encode())
            )
        if path == "/version":
            return said(200, {"gitVersion": "v1.36.1"})
        match = PATH.fullmatch(path)
        if match is None:
            return refusals.not_served()
        group, version, namespace, plural = (unquote(match[part] or "") for part in ("group", "version", "ns", "plural"))
        resource = self.find(group, version, plural)
        if resource is None:
            return refusals.not_served()
        key = Key(group, plural, namespace, unquote(match["name"] or ""))
        if method == "GET":
            return self._get(resource, key, query, headers)
        if method == "DELETE":
            return self._delete(resource, key, body, dry)
        if method == "POST":
            return self._create(resource, key._replace(name=body["metadata"]["name"]), body, dry)
        if method == "PUT":
            return self._replace(key, body)
        if "json-patch" in headers["Content-Type"]:
            return self._json_patch(key, body, dry)
        return self._apply(resource, key, body, query, dry)

    def _get(self, resource: Resource, key: Key, query: Mapping[str, str], headers: Mapping[str, str]) -> Response:
        if key.name:
            found = self.objects.get(key)
            return said(200, found) if found is not None else refusals.not_found(key)
        rows = [
            row for at, row in sorted(self.objects.items()) if at[:2] == key[:2] and (not key.namespace or at.namespace == key.namespace)
        ]
        if "labelSelector" in query:
            label, _equals, value = query["labelSelector"].partition("=")
            rows = [row for row in rows if (row["metadata"].get("labels") or {}).get(label) == value]
        kind = f"{resource.kind}List"
        if "PartialObjectMetadata" in headers.get("Accept", ""):
            rows, kind = [{"metadata": row["metadata"]} for row in rows], "PartialObjectMetadataList"
        else:  # the items of a list have neither apiVersion nor kind
            rows = [{name: value for name, value in row.items() if name not in ("apiVersion", "kind")} for row in rows]
        return said(200, {"kind": kind, "metadata": {"resourceVersion": "1"}, "items": rows or None})

    def _delete(self, resource: Resource, key: Key, body: Any, dry: bool) -> Response:
        live = self.objects.get(key)
        if live is None:
            return refusals.not_found(key)
        wanted = body["preconditions"]
        if any(live["metadata"][name] != value for name, value in wanted.items()):
            return refusals.stale(key)
        if not dry:
            self.remove("engine", key)
        return said(200, live)

    def _create(self, resource: Resource, key: Key, body: Obj, dry: bool) -> Response:
        if key in self.objects:
            return refusals.exists(key)
        refusal = self._admit(resource, key, None, body)
        if refusal is not None or dry:
            return refusal or said(201, body)
        return said(201, self.write("engine", key, body))

    def _replace(self, key: Key, body: Obj) -> Response:
        live = self.objects.get(key)
        if live is None:
            return refusals.not_found(key)
        if body["metadata"].get("resourceVersion") not in (None, live["metadata"]["resourceVersion"]):
            return refusals.stale(key)
        return said(200, self.write("engine", key, body))

    def _json_patch(self, key: Key, patch: list[dict[str, Any]], dry: bool) -> Response:
        """Only what the engine sends: a test of the resourceVersion and new managedFields."""
        live = self.objects.get(key)
        if live is None:
            return refusals.not_found(key)
        if patch[0]["value"] != live["metadata"]["resourceVersion"]:
            return refusals.guarded()
        after = copy.deepcopy(live)
        after["metadata"]["managedFields"] = patch[1]["value"]
        return said(200, after if dry else self.write("engine", key, after))

    def _apply(self, resource: Resource, key: Key, body: Obj, query: Mapping[str, str], dry: bool) -> Response:
        live = self.objects.get(key)
        refusal = refusals.at_the_door(key, body)
        if refusal is not None:
            return refusal
        try:
            after, owners = fields.apply(live or {}, body, query["fieldManager"], query.get("force") == "true")
        except fields.Conflicts as error:
            return refusals.conflicts(key, error.found)
        demanded = body["metadata"].get("resourceVersion")
        if live is not None and demanded and demanded != live["metadata"]["resourceVersion"]:
            return refusals.stale(key)  # with nothing live a demand is no obstacle
        after = _defaulted({**after, "apiVersion": body["apiVersion"], "kind": body["kind"]})
        after["metadata"] = {**after.get("metadata", {}), "name": key.name}
        if key.namespace:
            after["metadata"]["namespace"] = key.namespace
        refusal = self._admit(resource, key, live, after)
        if refusal is not None:
            return refusal
        before = (live or {}).get("metadata") or {}
        after["metadata"]["managedFields"] = fields.managed(owners, before, resource.api_version, self._stamp())
        code = 201 if live is None else 200
        if live == after:  # an identical apply is no write
            return said(code, live)
        return said(code, self.stored(key, after) if dry else self.write("engine", key, after))

    def _admit(self, resource: Resource, key: Key, live: Obj | None, after: Obj) -> Response | None:
        if key.namespace and live is None:
            namespace = self.objects.get(Key("", "namespaces", "", key.namespace))
            if namespace is None:
                return refusals.namespace_missing(key)
            if namespace["metadata"].get("deletionTimestamp"):
                return refusals.namespace_terminating(key)
        for hook in self.hooks():
            operation = "CREATE" if live is None else "UPDATE"
            labels = self.namespace_labels(key.namespace)
            own = after["metadata"].get("labels") or {}
            closed = hook.failure_policy == "Fail" and not self.answers(hook)
            if closed and hook.matches(key.group, resource.version, key.plural, operation, labels, own, resource.namespaced):
                return refusals.webhook_down(hook)
        return refusals.refused(key, live, after)

    # -- webhooks

    def hooks(self) -> list[probes.Webhook]:
        """All live webhooks."""
        return [hook for key, row in self.objects.items() if key.group == ADMISSION for hook in probes.webhooks_of(row)]

    def answers(self, hook: probes.Webhook) -> bool:
        """Whether a webhook has a CA, and a Service with a ready workload behind it."""
        if hook.name in self.dead_hooks or hook.service is None or not hook.ca_bundle:
            return False
        service = self.objects.get(Key("", "services", hook.service.namespace, hook.service.name))
        if service is None:
            return False
        workloads = {(row["kind"], row["metadata"]["name"]): row for key, row in self.objects.items() if key.group == "apps"}
        backends = probes.service_backends(service, workloads.values())
        return any((workloads[who.kind, who.name].get("status") or {}).get("availableReplicas") for who in backends)

    def namespace_labels(self, name: str) -> dict[str, str]:
        """The labels of a namespace as webhooks see them."""
        found = self.objects.get(Key("", "namespaces", "", name), {"metadata": {}})
        return probes.namespace_labels(name, found["metadata"].get("labels"))


def _defaulted(obj: Obj) -> Obj:
    """What the server adds to what is sent."""
    if obj.get("kind") == "Deployment":
        obj.setdefault("spec", {}).setdefault("revisionHistoryLimit", 10)
    return obj
