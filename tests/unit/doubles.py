# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A clock that waits for nobody, and an API server of a few lines for what a real one cannot be made to show on demand."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Mapping
from typing import Any

from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.requests import Response, Unreachable


class Clock:
    """Time that passes only by sleeping; ``at`` runs a function once a moment is reached."""

    def __init__(self) -> None:
        self.now = 1000.0
        self._plans: list[tuple[float, Callable[[], object]]] = []

    def monotonic(self) -> float:
        return self.now

    def time(self) -> float:
        return self.now + 1_800_000_000

    def sleep(self, seconds: float, /) -> None:
        self.now += seconds
        due = [plan for plan in self._plans if plan[0] <= self.now]
        self._plans = [plan for plan in self._plans if plan[0] > self.now]
        for _moment, run in due:
            run()

    def at(self, seconds: float, run: Callable[[], object]) -> None:
        self._plans.append((self.now + seconds, run))


class Server:
    """Objects by path, with uid, resourceVersion and the answers that depend on them.

    ``answers`` are given first, one for each request: a Response, an Unreachable, or None to let the request through.
    With ``lose_answer`` set, the next request takes effect and its answer is lost.
    """

    def __init__(self) -> None:
        self.objects: dict[str, dict[str, Any]] = {}
        self.answers: list[Response | Unreachable | None] = []
        self.lose_answer = False
        self.on_delete: Callable[[], object] = lambda: None
        self.log: list[tuple[str, str]] = []
        self._numbers = itertools.count(1)

    def put(self, path: str, obj: Mapping[str, Any]) -> dict[str, Any]:
        """Store an object as somebody else would."""
        number = next(self._numbers)
        metadata = {"uid": f"uid-{number}", **(obj.get("metadata") or {}), "resourceVersion": str(number)}
        self.objects[path] = {**obj, "metadata": metadata}
        return self.objects[path]

    def request(
        self, method: str, path: str, *, query: Mapping[str, Any] | None = None, body: Any = None, timeout: float = 60.0, **_more: Any
    ) -> Response:
        """Answer as the API server does."""
        self.log.append((method, path))
        if self.answers:
            scripted = self.answers.pop(0)
            if isinstance(scripted, Unreachable):
                raise scripted
            if scripted is not None:
                return scripted
        answer = self._answer(method, path, dict(query or {}), body)
        if self.lose_answer:
            self.lose_answer = False
            raise Unreachable("connection reset", "reset")
        return answer

    def delete(
        self, path: str, uid: str, propagation: str = "Background", dry_run: bool = False, resource_version: str | None = None
    ) -> Response:
        """Delete as the client's helper does."""
        body = {"propagationPolicy": propagation, "preconditions": {"uid": uid}}
        return self.request("DELETE", path, body=body)

    def apply(self, path: str, body: Mapping[str, Any], *, dry_run: bool, force: bool, absent: bool = False, **_more: Any) -> Response:
        """Apply as the client's helper does; nothing is merged."""
        metadata = {**body["metadata"], **({"resourceVersion": "never"} if absent else {})}
        return self.request("PATCH", path, body={**body, "metadata": metadata})

    def create(self, path: str, body: Mapping[str, Any], dry_run: bool = False) -> Response:
        """Create as the client's helper does."""
        return self.request("POST", path, body=dict(body))

    def get(self, path: str, *, timeout: float = 60.0) -> Response:
        """Read as the client's helper does."""
        return self.request("GET", path)

    def _answer(self, method: str, path: str, query: dict[str, Any], body: Any) -> Response:
        if method == "POST":
            path = f"{path}/{body['metadata']['name']}"
            return status(409, "AlreadyExists") if path in self.objects else said(201, self.put(path, body))
        current = self.objects.get(path)
        if method == "PATCH":
            if current is not None and body["metadata"].get("resourceVersion") == "never":
                return status(409, "Conflict")
            metadata = {**((current or {}).get("metadata") or {}), **body["metadata"]}
            return said(200 if current else 201, self.put(path, {**body, "metadata": metadata}))
        if current is None:
            return status(404, "NotFound")
        if method == "GET":
            return said(200, current)
        if method == "DELETE":
            if body["preconditions"]["uid"] != current["metadata"]["uid"]:
                return status(409, "Conflict")
            if current["metadata"].get("finalizers"):
                return said(200, self.put(path, {**current, "metadata": {**current["metadata"], "deletionTimestamp": "now"}}))
            gone = self.objects.pop(path)
            self.on_delete()
            return said(200, gone)
        if body["metadata"].get("resourceVersion") != current["metadata"]["resourceVersion"]:
            return status(409, "Conflict")
        return said(200, self.put(path, body))


def said(code: int, obj: Any) -> Response:
    """Return an answer with a JSON body."""
    return Response(code, {"content-type": "application/json"}, json.dumps(obj).encode())


def status(code: int, reason: str, message: str = "", **details: Any) -> Response:
    """Return an answer with a Status."""
    return said(code, {"kind": "Status", "code": code, "reason": reason, "message": message or reason, "details": details})
