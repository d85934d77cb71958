# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A cluster in memory with Dex in it: its pods start with the Secrets of their moment, a few seconds after the Deployment changed."""

from __future__ import annotations

import base64
import copy
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.errors import ClusterError, Unreachable
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.portforward import PortClosed
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.requests import Client
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.response import Response
from ansible_collections.kubeflow.platform.plugins.module_utils.identity import passwords
from ansible_collections.kubeflow.platform.plugins.module_utils.identity.restart import ANNOTATION
from ansible_collections.kubeflow.platform.plugins.module_utils.identity.rotation import Rotation, Tools, Wish
from ansible_collections.kubeflow.platform.tests.testbed.standins.dex import Dex, NoStart
from ansible_collections.kubeflow.platform.tests.unit.dex_objects import CONFIGURATION, deployment
from ansible_collections.kubeflow.platform.tests.unit.doubles import Clock, said, status

Object = dict[str, Any]
CORE = "/api/v1/namespaces/auth"
DEPLOYMENT = "/apis/apps/v1/namespaces/auth/deployments/dex"
PASSWORDS = "/apis/dex.coreos.com/v1/namespaces/auth/passwords"
START = 3.0
OLD = "the old password"
STORED = passwords.make(OLD, 10).text


class World(Client):
    """The client and the cluster behind it. ``faults`` by the number of a write: "lost" (it took effect), "down", "forbidden"."""

    def __init__(self, configuration: str = CONFIGURATION, stored: str = STORED, replicas: int = 2) -> None:
        self.counts = Counter()
        self.clock = Clock()
        self.objects: dict[str, Object] = {}
        self.collections: dict[str, list[Object]] = {}
        self.faults: dict[int, str] = {}
        self.after_write: dict[int, Callable[[], object]] = {}
        self.writes: list[str] = []
        self.dex: dict[str, Dex] = {}
        self.broken: Callable[[Mapping[str, str]], bool] = lambda _environment: False
        self._number = 0
        self._tries = 0
        client = {"OIDC_CLIENT_ID": "kubeflow-oidc-authservice", "OIDC_CLIENT_SECRET": "a-secret-of-the-client"}
        self.put(f"{CORE}/configmaps/dex", {"data": {"config.yaml": configuration}})
        self.put(f"{CORE}/secrets/dex-oidc-client", {"data": {name: encoded(value) for name, value in client.items()}})
        self.put(f"{CORE}/secrets/dex-passwords", {"data": {"DEX_USER_PASSWORD": encoded(stored)}})
        self.put(DEPLOYMENT, deployment(replicas=replicas))
        self._rolled()
        self.clock.sleep(START)

    # -- what a test sees and does

    def put(self, path: str, obj: Object) -> None:
        """Store an object as somebody else would."""
        self._number += 1
        metadata = {"namespace": "auth", **(obj.get("metadata") or {}), "resourceVersion": str(self._number)}
        self.objects[path] = {**copy.deepcopy(obj), "metadata": {"name": path.rsplit("/", 1)[-1], **metadata}}

    @property
    def stored(self) -> str:
        """The hash in the Secret."""
        return base64.b64decode(self.objects[f"{CORE}/secrets/dex-passwords"]["data"]["DEX_USER_PASSWORD"]).decode()

    @property
    def configuration(self) -> str:
        """Dex's configuration."""
        return str(self.objects[f"{CORE}/configmaps/dex"]["data"]["config.yaml"])

    def store(self, value: str) -> None:
        """Write another hash into the Secret and restart nothing, as a run that was cut off."""
        self.put(f"{CORE}/secrets/dex-passwords", {"data": {"DEX_USER_PASSWORD": encoded(value)}})

    def rotation(self, *, check: bool = False, **wish: Any) -> Rotation:
        """A run that is about to begin."""
        tools = Tools(self, self.clock, self._pod_web, self._gateway_web)
        settings = {"email": "user@example.com", "wait_timeout": 30.0, "proof_timeout": 10.0, **wish}
        if "hash" not in settings:
            settings.setdefault("password", "correct horse")
        if not settings.get("hash"):
            settings.setdefault("cost", 10)
        return Rotation(Wish(**settings), tools, check=check)

    def lets_in(self, password: str) -> bool:
        """Whether every pod of Dex takes a password."""
        return bool(self.dex) and all(_Near(dex).lets_in(password) for dex in self.dex.values())

    # -- the API server

    def request(self, method: str, path: str, *, query: Any = None, body: Any = None, **options: Any) -> Response:
        """Answer one request."""
        self.counts[method] += 1
        dry = bool(query and query.get("dryRun"))
        if method == "GET":
            if path in self.collections or path == f"{CORE}/pods":
                rows = self.collections.get(path, [])
                return said(200, {"kind": "List", "metadata": {}, "items": rows})
            held = self._held(path)
            return said(200, held) if held is not None else status(404, "NotFound")
        number, self._tries = self._tries, self._tries + (0 if dry else 1)
        fault = "" if dry else self.faults.get(number, "")
        if fault == "forbidden":
            return status(
                403, "Forbidden", 'x is forbidden: User "u" cannot patch resource "secrets" in API group "" in the namespace "auth"'
            )
        if fault == "down":
            raise Unreachable("connection refused", "refused")
        answer = self._patch(path, body, dry)
        self.after_write.get(-1 if dry else number, lambda: None)()
        if fault == "lost":
            raise Unreachable("connection reset", "reset")
        return answer

    def _patch(self, path: str, body: Any, dry: bool) -> Response:
        before = self._held(path)
        if before is None:
            return status(404, "NotFound")
        after = copy.deepcopy(before)
        if isinstance(body, list):
            if body[0]["value"] != before["metadata"]["resourceVersion"]:
                message = "the server rejected our request due to an error in our request"
                return said(422, {"kind": "Status", "code": 422, "reason": "Invalid", "message": message, "details": {}})
            *steps, last = body[1]["path"].strip("/").split("/")
            place = after
            for step in steps:
                place = place[step]
            place[last] = body[1]["value"]
        else:
            after["spec"]["template"]["metadata"]["annotations"] = body["spec"]["template"]["metadata"]["annotations"]
        if dry:
            return said(200, after)
        self.writes.append(path)
        self._number += 1
        after["metadata"]["resourceVersion"] = str(self._number)
        self._hold(path, after)
        if path == DEPLOYMENT:
            self._rolled()
        return said(200, after)

    def _held(self, path: str) -> Object | None:
        collection, name = path.rsplit("/", 1)
        rows = [row for row in self.collections.get(collection, []) if row["metadata"]["name"] == name]
        return rows[0] if rows else self.objects.get(path)

    def _hold(self, path: str, obj: Object) -> None:
        collection, name = path.rsplit("/", 1)
        if collection in self.collections:
            self.collections[collection] = [obj if row["metadata"]["name"] == name else row for row in self.collections[collection]]
        self.objects[path] = obj

    # -- the Deployment's controller, the kubelet and Dex

    def _rolled(self) -> None:
        obj = self.objects[DEPLOYMENT]
        generation = obj["metadata"].get("generation", 0) + 1
        obj["metadata"]["generation"] = generation
        self.clock.at(START, lambda: self._start(generation))

    def _start(self, generation: int) -> None:
        """Start new pods; those of before stay until the new ones are ready."""
        obj = self.objects[DEPLOYMENT]
        if generation != obj["metadata"]["generation"]:
            return
        template, replicas = obj["spec"]["template"], obj["spec"]["replicas"]
        environment: dict[str, str] = {}
        for row in template["spec"]["containers"][0]["envFrom"]:
            data = self.objects[f"{CORE}/secrets/{row['secretRef']['name']}"]["data"]
            environment |= {name: base64.b64decode(value).decode() for name, value in data.items()}
        try:
            if self.broken(environment):
                raise NoStart("it crashes")
            started: Dex | None = Dex(self.configuration, environment, self._users)
        except NoStart:
            started = None
        names = [f"dex-{generation}-{index}" for index in range(replicas)]
        pods = [_pod(name, template, ready=started is not None) for name in names]
        kept = self.collections.get(f"{CORE}/pods", []) if started is None else []
        kept = [pod for pod in kept if pod["status"]["conditions"][0]["status"] == "True"]
        self.collections[f"{CORE}/pods"] = [*kept, *pods]
        if started is not None:
            self.dex = dict.fromkeys(names, started)
        ready = replicas if started is not None else 0
        obj["status"] = {
            "observedGeneration": generation,
            "replicas": len(kept) + replicas,
            "updatedReplicas": replicas,
            "availableReplicas": len(kept) + ready,
        }

    def _users(self) -> dict[str, str]:
        return {row["email"]: base64.b64decode(row["hash"]).decode() for row in self.collections.get(PASSWORDS, [])}

    def _pod_web(self, pod: str, port: int) -> _Near:
        if pod not in self.dex or port != 5556:
            raise PortClosed(f"pod {pod}", "refused")
        return _Near(self.dex[pod])

    def _gateway_web(self) -> _Near:
        if not self.dex:
            raise ClusterError("no gateway")
        return _Near(next(iter(self.dex.values())))


class _Near:
    def __init__(self, dex: Dex) -> None:
        self._dex = dex

    def send(self, method: str, path: str, headers: dict[str, str], body: bytes | None) -> Response:
        answer = self._dex.answer(method, path, headers, (body or b"").decode())
        return Response(answer.status, {name.lower(): value for name, value in answer.headers.items()}, answer.body.encode())

    def lets_in(self, password: str) -> bool:
        from ansible_collections.kubeflow.platform.plugins.module_utils.identity.login import Pages, prove_password

        redirect = self._dex.redirect
        return prove_password(self, Pages("/dex", "kubeflow-oidc-authservice", redirect), "user@example.com", password).right


def _pod(name: str, template: Mapping[str, Any], *, ready: bool) -> Object:
    waiting = {"restartCount": 3, "state": {"waiting": {"reason": "CrashLoopBackOff"}}}
    annotations = (template["metadata"].get("annotations") or {}).items()
    return {
        "metadata": {
            "name": name,
            "labels": dict(template["metadata"]["labels"]),
            "annotations": {key: value for key, value in annotations if key == ANNOTATION},
        },
        "status": {
            "phase": "Running",
            "conditions": [{"type": "Ready", "status": "True" if ready else "False"}],
            "containerStatuses": [{"name": "dex", **({} if ready else waiting)}],
        },
    }


def encoded(text: str) -> str:
    """A value as a Secret holds it."""
    return base64.b64encode(text.encode()).decode()
