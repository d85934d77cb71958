# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Requests to the API server over a pool of kept-alive HTTP/1.1 connections. Thread-safe."""

from __future__ import annotations

import json
import math
import threading
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any
from urllib.parse import urlencode

from ansible_collections.kubeflow.platform.plugins.module_utils.cluster import transport
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.connection import Connection
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.errors import Refused, Unreachable
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.response import Response
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.tls import tls_context
from ansible_collections.kubeflow.platform.plugins.module_utils.objects.ownership import MANAGER

__all__ = ["Client", "Response", "Unreachable"]

CONNECT_TIMEOUT = 10.0
# Seconds that a request gets however late it is: what was begun has to be brought to an end.
LEAST_TIMEOUT = 10.0
PAGE = 500
# To accept of a LIST: the metadata of each object alone.
METADATA_LIST = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json"
_APPLY = "application/apply-patch+yaml"  # JSON is YAML, and cheaper for both sides
# No object is ever of this version (etcd's first write is 2), so an apply that demands it creates or answers 409, and never merges.
_ABSENT = "1"
_MERGE_PATCH = "application/merge-patch+json"
_JSON_PATCH = "application/json-patch+json"


class Client:
    """Speaks to one API server. ``counts`` holds the requests sent, by kind: "GET", "LIST", "PATCH", "PATCH dry-run" ..."""

    # When the caller has to be done, on its clock: no request is waited for much longer.
    _until = math.inf
    _clock: Callable[[], float] = time.monotonic

    def __init__(self, connection: Connection, user_agent: str, pool_size: int = 8) -> None:
        self.counts: Counter[str] = Counter()
        self.connection = connection
        self.connect_timeout = CONNECT_TIMEOUT
        self._user_agent = user_agent
        self._pool_size = pool_size + 2  # the Lease's thread and the main thread are not workers
        self._lock = threading.Lock()
        self._generation = 0
        self._pool, self._authorization = self._build(connection.configuration)

    def end_by(self, moment: float, clock: Callable[[], float]) -> None:
        """Cap the timeout of each request by the time that is left until ``moment``, but not below LEAST_TIMEOUT."""
        self._until, self._clock = moment, clock

    def request(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        body: Any | None = None,
        content_type: str | None = None,
        accept: str = "application/json",
        headers: Mapping[str, str] | None = None,
        timeout: float = 60.0,
        count_as: str | None = None,
    ) -> Response:
        """Send one request and return the answer, whatever its code.

        ``timeout`` is in seconds between bytes of the answer, capped by ``end_by``; connecting has its own. Raise Unreachable where
        there is no answer; nothing is sent again, but for a 401: credentials are then loaded anew, once, and the request is repeated
        (ConnectionFailed where they cannot be loaded).
        """
        url = path + (f"?{urlencode(query)}" if query else "")
        payload = None if body is None else json.dumps(body, separators=(",", ":"), ensure_ascii=False).encode("utf-8", "surrogatepass")
        extra = {"Accept": accept, **(headers or {})}
        if payload is not None:
            extra["Content-Type"] = content_type or "application/json"
        dry = " dry-run" if query and query.get("dryRun") else ""
        self._count(count_as or f"{method}{dry}")
        generation = self._generation
        timeout = min(timeout, max(LEAST_TIMEOUT, self._until - self._clock()))
        response = self._send(method, url, payload, extra, timeout)
        if response.status == 401 and self._renew(generation):
            response = self._send(method, url, payload, extra, timeout)
        return response

    def get(self, path: str, *, timeout: float = 60.0) -> Response:
        """Read one object, or one page of objects; a 404 is an answer."""
        return _whole(self.request("GET", path, timeout=timeout))

    def apply(
        self,
        resource_path: str,
        body: Mapping[str, Any],
        *,
        dry_run: bool,
        force: bool,
        absent: bool = False,
        manager: str = MANAGER,
        timeout: float = 60.0,
    ) -> Response:
        """Server-side apply with strict validation of fields. Single CRDs were seen to take 13 s.

        With ``absent`` it only creates: an object that exists answers 409, whoever made it and whatever it holds.
        """
        query = {"fieldManager": manager, "fieldValidation": "Strict", **_dry(dry_run)}
        if force:
            query["force"] = "true"
        if absent:
            body = {**body, "metadata": {**body["metadata"], "resourceVersion": _ABSENT}}
        return _whole(self.request("PATCH", resource_path, query=query, body=body, content_type=_APPLY, timeout=timeout))

    def create(self, collection_path: str, body: Mapping[str, Any], dry_run: bool = False, *, timeout: float = 60.0) -> Response:
        """Create an object, as manager of its fields."""
        query = {"fieldManager": MANAGER, "fieldValidation": "Strict", **_dry(dry_run)}
        return _whole(self.request("POST", collection_path, query=query, body=body, timeout=timeout))

    def merge_patch(self, path: str, body: Mapping[str, Any], dry_run: bool = False, *, timeout: float = 60.0) -> Response:
        """Apply a merge patch (RFC 7386), which touches only what it names, with strict validation of fields."""
        query = {"fieldManager": MANAGER, "fieldValidation": "Strict", **_dry(dry_run)}
        return _whole(self.request("PATCH", path, query=query, body=body, content_type=_MERGE_PATCH, timeout=timeout))

    def json_patch(self, path: str, patch: list[dict[str, Any]], dry_run: bool = False, *, timeout: float = 60.0) -> Response:
        """Apply a JSON patch (RFC 6902); a failed ``test`` answers 422."""
        query = {"fieldManager": MANAGER, **_dry(dry_run)}
        return _whole(self.request("PATCH", path, query=query, body=patch, content_type=_JSON_PATCH, timeout=timeout))

    def delete(
        self,
        path: str,
        uid: str,
        propagation: str = "Background",
        dry_run: bool = False,
        resource_version: str | None = None,
        *,
        timeout: float = 60.0,
    ) -> Response:
        """Delete exactly the object with ``uid``: a successor under the same name answers 409."""
        preconditions = {"uid": uid, **({"resourceVersion": resource_version} if resource_version else {})}
        body = {"apiVersion": "v1", "kind": "DeleteOptions", "propagationPolicy": propagation, "preconditions": preconditions}
        if dry_run:
            body["dryRun"] = ["All"]
        return self.request("DELETE", path, body=body, timeout=timeout, count_as="DELETE dry-run" if dry_run else None)

    def list_metadata(self, path: str, *, selector: str = "", timeout: float = 60.0) -> list[dict[str, Any]]:
        """Return the ``metadata`` of all objects of a collection, [] where its kind is not served. Raise Refused on other answers."""
        return list(self._metadata(path, selector, timeout))

    def _metadata(self, path: str, selector: str, timeout: float) -> Iterator[dict[str, Any]]:
        return (item.get("metadata") or {} for item in self.list_objects(path, selector=selector, accept=METADATA_LIST, timeout=timeout))

    def list_objects(
        self, path: str, *, selector: str = "", accept: str = "application/json", timeout: float = 60.0
    ) -> list[dict[str, Any]]:
        """Return all objects of a collection, in pages; [] where its kind is not served. Raise Refused on other answers."""
        items: list[dict[str, Any]] = []
        query: dict[str, Any] = {"limit": PAGE, **({"labelSelector": selector} if selector else {})}
        while True:
            response = self.request(
                "GET", path, query=query, accept=accept, headers={"Accept-Encoding": "gzip"}, timeout=timeout, count_as="LIST"
            )
            if response.status == 410 and "continue" in query:  # the page's snapshot is gone: begin again
                del query["continue"]
                items = []
                continue
            if response.status == 404:
                return []
            page = response.body()
            if not response.ok or "items" not in page:
                raise Refused(f"GET {path}", response)
            items.extend(page["items"] or [])  # `items: null` where there are none
            following = (page.get("metadata") or {}).get("continue")
            if not following:
                return items
            query["continue"] = following

    def close(self) -> None:
        """Close all connections."""
        self._pool.clear()

    def _count(self, kind: str) -> None:
        with self._lock:
            self.counts[kind] += 1

    def _send(self, method: str, url: str, payload: bytes | None, extra: Mapping[str, str], timeout: float) -> Response:
        # Read both once: another thread may be renewing them.
        pool, authorization = self._pool, self._authorization
        pairs = [("User-Agent", self._user_agent), *self.connection.impersonation, *extra.items()]
        if authorization:
            pairs.append(("Authorization", authorization))
        try:
            return transport.send(pool, method, self.connection.host + url, pairs, payload, self.connect_timeout, timeout)
        except Unreachable as error:
            raise Unreachable(error.reason, error.kind, self.connection.where) from error

    def _renew(self, generation: int) -> bool:
        """Load credentials anew unless another thread has done so since ``generation``; False where that fails."""
        with self._lock:
            if self._generation == generation:
                self._pool, self._authorization = self._build(self.connection.load())
                self._generation += 1
        return True

    def _build(self, configuration: Any) -> tuple[Any, str | None]:
        from kubernetes.client.rest import RESTClientObject

        configuration.connection_pool_maxsize = self._pool_size
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            pool = RESTClientObject(configuration).pool_manager
        settings = pool.connection_pool_kw
        settings["block"] = True
        if str(configuration.host).startswith("https"):
            settings["ssl_context"] = tls_context(configuration)
            for name in ("ca_certs", "ca_cert_data", "cert_file", "key_file"):  # in the context already
                settings.pop(name, None)
        return pool, configuration.get_api_key_with_prefix("BearerToken", "authorization")


def _dry(dry_run: bool) -> dict[str, str]:
    return {"dryRun": "All"} if dry_run else {}


def _whole(response: Response) -> Response:
    """Return an answer, unless it claims success without an object: that comes from a proxy's login page or was cut, and proves nothing."""
    body = response.body() if response.ok else {}
    if response.ok and (not isinstance(body.get("metadata"), dict) or body.get("kind") == "Status"):
        raise Unreachable(f"the answer (HTTP {response.status}) is no Kubernetes object", "other")
    return response
