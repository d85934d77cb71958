# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""An API server in memory for whole runs over tenants, with the profile controller behind it and faults by the number of a request."""

from __future__ import annotations

import copy
import json
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qs, urlsplit

from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.discovery import Discovery, Resource
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.patience import PatientClient
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.requests import Response, Unreachable
from ansible_collections.kubeflow.platform.plugins.module_utils.tenancy import live as lives
from ansible_collections.kubeflow.platform.plugins.module_utils.tenancy import platform as platforms
from ansible_collections.kubeflow.platform.plugins.module_utils.tenancy.run import Options, Outcome, Run, Tools
from ansible_collections.kubeflow.platform.plugins.module_utils.tenancy.validation import read
from ansible_collections.kubeflow.platform.tests.unit.api_double.kinds import discovery
from ansible_collections.kubeflow.platform.tests.unit.doubles import Clock, said, status
from ansible_collections.kubeflow.platform.tests.unit.tenants import KINDS, PLATFORM, controlled

Object = dict[str, Any]
POD_DEFAULTS = Resource("kubeflow.org", "v1alpha1", "PodDefault", "poddefaults", True)
NOTEBOOKS = Resource("kubeflow.org", "v1", "Notebook", "notebooks", True)
HOOKS = (
    Resource("metacontroller.k8s.io", "v1alpha1", "DecoratorController", "decoratorcontrollers", False),
    Resource("metacontroller.k8s.io", "v1alpha1", "CompositeController", "compositecontrollers", False),
)
SERVED = (
    *(platforms.NAMESPACES, platforms.BINDINGS, platforms.ACCOUNTS, platforms.QUOTAS, platforms.LIMITS, platforms.NETWORK_POLICIES),
    *(platforms.SECRETS, platforms.MAPS, platforms.DEPLOYMENTS, KINDS.profiles, KINDS.policies, POD_DEFAULTS, NOTEBOOKS, *HOOKS),
)


class Killed(BaseException):
    """The process is gone."""


class World:
    """Objects by path. Faults by the number of a request: "lost", "reset", "429", "503", "kill" (before) and "kill-after"."""

    def __init__(self, hook: Resource = HOOKS[0]) -> None:
        self.objects: dict[str, Object] = {}
        self.faults: dict[int, str] = {}
        self.requests: list[tuple[str, str]] = []
        self.writes: list[tuple[str, str]] = []
        self.clock = Clock()
        self.controller = True
        self.forbidden = ""  # the Profile that may not be created
        self.page = 500
        self._number = 0
        self._changed = True
        self._platform(hook)

    def _platform(self, hook: Resource) -> None:
        pod = {
            "containers": [{"name": "manager", "envFrom": [{"configMapRef": {"name": "profiles-config-x"}}]}],
            "volumes": [{"name": "labels", "configMap": {"name": "labels-x"}}],
        }
        home = {"namespace": platforms.HOME}
        spec = {"replicas": 1, "template": {"spec": pod}}
        self.put(
            platforms.DEPLOYMENTS, {"metadata": {**home, "name": platforms.CONTROLLER}, "spec": spec, "status": {"availableReplicas": 1}}
        )
        self.put(platforms.MAPS, {"metadata": {**home, "name": "profiles-config-x"}, "data": {"USERID_HEADER": "kubeflow-userid"}})
        labels = json.dumps(PLATFORM.namespace_labels)
        self.put(platforms.MAPS, {"metadata": {**home, "name": "labels-x"}, "data": {"namespace-labels.yaml": labels}})
        self.put(hook, {"metadata": {"name": platforms.PIPELINES}})

    # -- a run in it

    def run(self, *rows: Mapping[str, Any], check: bool = False, timeout: float = 60.0, **options: Any) -> Outcome:
        """One run over tenants; raises what it raises."""
        tenants, findings = read(rows, authoritative=options.get("authoritative", False))
        client = DirectClient(self)
        tools = Tools(client, Discovery(client), self.clock, lambda: 0.0, Inline())  # type: ignore[arg-type]
        return Run(Options(check=check, timeout=timeout, **options), tools).execute(tenants, findings)

    def content(self) -> dict[str, Object]:
        """What is in the cluster, but for what differs from run to run."""
        rows = copy.deepcopy(self.objects)
        for row in rows.values():
            for name in ("uid", "resourceVersion", "ownerReferences", "finalizers"):
                row["metadata"].pop(name, None)
            (row["metadata"].get("annotations") or {}).pop("kubeflow.platform/looks", None)
        return rows

    # -- the server

    def put(self, resource: Resource, obj: Object) -> Object:
        """Store an object."""
        metadata = obj["metadata"]
        path = resource.path(metadata.get("namespace", ""), metadata["name"])
        self._changed = True
        before = self.objects.get(path, {"metadata": {}})["metadata"]
        self._number += 1
        kept = {"uid": before.get("uid") or metadata.get("uid") or f"u{self._number}", "resourceVersion": str(self._number)}
        self.objects[path] = {**obj, "apiVersion": resource.api_version, "kind": resource.kind, "metadata": {**metadata, **kept}}
        return self.objects[path]

    def handle(self, method: str, url: str, body: Any, headers: Mapping[str, str]) -> Response:
        """Answer one request, unless there is a fault for it."""
        fault = self.faults.get(len(self.requests), "")
        self.requests.append((method, url))
        self._act()
        if fault == "kill":
            raise Killed
        if fault == "reset":
            raise Unreachable("connection reset", "reset")
        if fault == "429":
            return replace(status(429, "TooManyRequests"), headers={"content-type": "application/json", "retry-after": "2"})
        if fault in ("403", "503"):
            return status(
                int(fault), "Forbidden", 'User "bob" cannot create resource "profiles" in API group "kubeflow.org" at the cluster scope'
            )
        answer = self._answer(method, url, body)
        if fault == "kill-after":
            raise Killed
        if fault == "lost":
            raise Unreachable("connection reset", "reset")
        return answer

    def _answer(self, method: str, url: str, body: Any) -> Response:
        split = urlsplit(url)
        query = {key: values[0] for key, values in parse_qs(split.query).items()}
        dry = "dryRun" in query or bool(isinstance(body, dict) and body.get("dryRun"))
        if split.path in ("/api", "/apis"):
            return said(200, discovery(split.path, SERVED)[0])
        resource = next((row for row in SERVED if _is_of(row, split.path)), None)
        if resource is None:
            return status(404, "NotFound")
        if (method, resource.plural, self.forbidden) == ("POST", "profiles", (body or {}).get("metadata", {}).get("name")):
            text = 'User "bob" cannot create resource "profiles" in API group "kubeflow.org" at the cluster scope'
            return status(403, "Forbidden", text, kind="profiles")
        if method == "POST":
            return self._create(resource, split.path, body, dry)
        live = self.objects.get(split.path)
        if method == "GET" and split.path.endswith(f"/{resource.plural}"):
            return self._list(resource, split.path, query)
        if live is None:
            return status(404, "NotFound")
        if method == "DELETE":
            return self._delete(split.path, live, body, dry)
        if method == "PATCH":
            after = _merge(live, body)
            if not dry:
                self.writes.append((method, split.path))
                after = self.put(resource, after)
            return said(200, after)
        return said(200, live)

    def _list(self, resource: Resource, path: str, query: Mapping[str, str]) -> Response:
        wanted = query.get("fieldSelector", "").removeprefix("metadata.name=")
        rows = [
            obj
            for where, obj in sorted(self.objects.items())
            if (where.startswith(f"{path}/") or (path == resource.collection() and obj["kind"] == resource.kind))
            and wanted in ("", obj["metadata"]["name"])
        ]
        start, size = int(query.get("continue", 0)), min(self.page, int(query["limit"]))
        more = str(start + size) if len(rows) > start + size else ""
        return said(200, {"kind": f"{resource.kind}List", "metadata": {"continue": more}, "items": rows[start : start + size]})

    def _create(self, resource: Resource, collection: str, body: Object, dry: bool) -> Response:
        path, namespace = f"{collection}/{body['metadata']['name']}", body["metadata"].get("namespace")
        if namespace and platforms.NAMESPACES.path("", namespace) not in self.objects:
            return status(404, "NotFound", f'namespaces "{namespace}" not found', kind="namespaces", name=namespace)
        if path in self.objects:
            return status(409, "AlreadyExists", "already exists", name=body["metadata"]["name"])
        if dry:
            return said(201, body)
        self.writes.append(("POST", path))
        return said(201, self.put(resource, body))

    def _delete(self, path: str, live: Object, body: Any, dry: bool) -> Response:
        if body["preconditions"]["uid"] != live["metadata"]["uid"]:
            return status(409, "Conflict")
        if dry:
            return said(200, live)
        self.writes.append(("DELETE", path))
        self._changed = True
        if live["metadata"].get("finalizers"):
            live["metadata"]["deletionTimestamp"] = "now"
        else:
            del self.objects[path]
        return said(200, live)

    # -- the controllers

    def _act(self) -> None:
        """Before each request the controllers have done their work."""
        if not self._changed:
            return
        for path, profile in list(self.objects.items()):
            if profile["kind"] != "Profile" or not self.controller:
                continue
            state = self._state(profile)
            if lives.deleting(profile):
                if state.owner_annotation in (None, state.owner.name if state.owner else ""):
                    del self.objects[path]
                    self._collect(profile["metadata"]["uid"])
            else:
                self._store(controlled(state))
        self._changed = not self.controller

    def _state(self, profile: Object) -> lives.Live:
        name = profile["metadata"]["name"]
        inside = [obj for obj in self.objects.values() if obj["metadata"].get("namespace") == name]
        by_kind: dict[str, dict[str, Object]] = {}
        for obj in inside:
            by_kind.setdefault(obj["kind"], {})[obj["metadata"]["name"]] = obj
        return lives.Live(
            name,
            profile,
            self.objects.get(platforms.NAMESPACES.path("", name)),
            by_kind.get("RoleBinding", {}),
            by_kind.get("AuthorizationPolicy", {}),
            by_kind.get("ServiceAccount", {}),
            by_kind.get("ResourceQuota", {}).get(lives.QUOTA),
        )

    def _store(self, state: lives.Live) -> None:
        rows: list[tuple[Resource, Object | None]] = [(KINDS.profiles, state.profile), (platforms.NAMESPACES, state.namespace)]
        if state.owner is None or state.owner_annotation != state.owner.name:
            return
        rows += [(platforms.BINDINGS, obj) for obj in state.bindings.values()]
        rows += [(KINDS.policies, obj) for obj in state.policies.values()]
        rows += [(platforms.ACCOUNTS, obj) for obj in state.accounts.values()]
        rows.append((platforms.QUOTAS, state.quota))
        for text in state.artifacts:
            kind, name = text.split()
            rows.append((platforms.SECRETS if kind == "Secret" else platforms.MAPS, {"metadata": {"name": name}}))
        if state.quota is None:
            self.objects.pop(platforms.QUOTAS.path(state.name, lives.QUOTA), None)
        for resource, obj in rows:
            if obj is not None:
                place = {"namespace": state.name} if resource.namespaced else {}
                self.put(resource, {**obj, "metadata": {**obj["metadata"], **place}})

    def _collect(self, uid: str) -> None:
        """Garbage collection, namespaces with all in them."""
        gone = {
            path for path, obj in self.objects.items() if any(row["uid"] == uid for row in obj["metadata"].get("ownerReferences") or ())
        }
        names = {self.objects[path]["metadata"]["name"] for path in gone if self.objects[path]["kind"] == "Namespace"}
        gone |= {path for path, obj in self.objects.items() if obj["metadata"].get("namespace") in names}
        for path in gone:
            del self.objects[path]


def _is_of(resource: Resource, path: str) -> bool:
    parts, root = path.split("/"), resource.collection().rsplit("/", 1)[0]
    return path.startswith(f"{root}/") and resource.plural in (parts[-1], parts[-2])


def _merge(target: Any, body: Any) -> Any:
    """A merge patch, as RFC 7386 has it."""
    if not isinstance(body, dict):
        return body
    result = dict(target) if isinstance(target, dict) else {}
    for key, value in body.items():
        result.pop(key, None) if value is None else result.__setitem__(key, _merge(result.get(key), value))
    return result


class DirectClient(PatientClient):
    """The real client whose requests go to a world instead of a socket."""

    def __init__(self, world: World) -> None:  # pylint: disable=super-init-not-called
        self.counts = Counter()
        self.connect_timeout = 1.0
        self._lock = threading.Lock()
        self._generation = 0
        self._sleeper = world.clock
        self._chance = lambda: 0.0
        self._world = world

    def _send(self, method: str, url: str, payload: bytes | None, extra: Mapping[str, str], timeout: float) -> Response:
        return self._world.handle(method, url, None if payload is None else json.loads(payload), extra)

    def _renew(self, generation: int) -> bool:
        return False


class Inline:
    """A pool that does everything at once, in order."""

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        done: Future[Any] = Future()
        done.set_result(function(*arguments))
        return done

    def map(self, function: Callable[..., Any], rows: Iterable[Any]) -> Iterator[Any]:
        return iter([function(row) for row in rows])
