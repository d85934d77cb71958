# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A tiny client for the Kubernetes API: JSON requests with one kept connection per thread, and watches."""

from __future__ import annotations

import base64
import http.client
import json
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

import yaml

Object = dict[str, Any]
Key = tuple[str, str]

METADATA_ONLY = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
METADATA_WATCH = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
STALE = (http.client.RemoteDisconnected, http.client.CannotSendRequest, BrokenPipeError, ConnectionResetError)


class ApiError(Exception):
    """An answer of the API server that is not a success."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(f"{status}: {message}")
        self.status = status


class Api:
    """Requests as one user; `directory` holds what the kubeconfig has inline."""

    def __init__(self, kubeconfig: Path, directory: Path, agent: str = "testbed-standins") -> None:
        config = yaml.safe_load(kubeconfig.read_text(encoding="utf-8"))
        context = next(c["context"] for c in config["contexts"] if c["name"] == config["current-context"])
        cluster = next(c["cluster"] for c in config["clusters"] if c["name"] == context["cluster"])
        user = next(u["user"] for u in config["users"] if u["name"] == context["user"])
        address = urlsplit(cluster["server"])
        self._host, self._port = address.hostname or "127.0.0.1", address.port or 443
        self._headers = {"User-Agent": agent, "Accept": "application/json"}
        if "token" in user:
            self._headers["Authorization"] = "Bearer " + user["token"]
        self._tls = ssl.create_default_context(cafile=_file(cluster, "certificate-authority", kubeconfig, directory))
        certificate = _file(user, "client-certificate", kubeconfig, directory)
        if certificate:
            self._tls.load_cert_chain(certificate, _file(user, "client-key", kubeconfig, directory))
        self._local = threading.local()

    def connect(self, timeout: float) -> http.client.HTTPSConnection:
        """A connection of its own, for a watch."""
        return http.client.HTTPSConnection(self._host, self._port, context=self._tls, timeout=timeout)

    def request(self, method: str, path: str, body: Any = None, content_type: str = "application/json", **query: str) -> Any:
        """One request; a kept connection that the server closed meanwhile is replaced once."""
        url = path + ("?" + urlencode(query) if query else "")
        data = None if body is None else json.dumps(body).encode()
        headers = self._headers | ({"Content-Type": content_type} if data is not None else {})
        for attempt in (1, 2):
            connection = getattr(self._local, "connection", None)
            if connection is None:
                connection = self._local.connection = self.connect(30)
            try:
                connection.request(method, url, data, headers)
                response = connection.getresponse()
                content = response.read()
                break
            except Exception as error:
                connection.close()
                self._local.connection = None
                if attempt == 2 or not isinstance(error, STALE):
                    raise
        if response.status >= 300:
            raise ApiError(response.status, _message(content))
        return json.loads(content) if content else None

    def get(self, path: str, **query: str) -> Object | None:
        """The object, or None where it does not exist."""
        try:
            return dict(self.request("GET", path, **query))
        except ApiError as error:
            if error.status == 404:
                return None
            raise

    def create(self, collection: str, body: Object, manager: str) -> bool:
        """Creates; False where it exists already."""
        try:
            self.request("POST", collection, body, fieldManager=manager)
        except ApiError as error:
            if error.status != 409:
                raise
            return False
        return True

    def json_patch(self, path: str, operations: list[Object], manager: str) -> None:
        """A JSON patch as `manager`."""
        self.request("PATCH", path, operations, "application/json-patch+json", fieldManager=manager)

    def merge_patch(self, path: str, body: Object, manager: str) -> None:
        """A merge patch as `manager`."""
        self.request("PATCH", path, body, "application/merge-patch+json", fieldManager=manager)

    def stream(self, path: str, accept: str, **query: str) -> Iterator[Object]:
        """The events of a watch, until the server ends it."""
        connection = self.connect(330)
        try:
            connection.request("GET", path + "?" + urlencode(query), headers=self._headers | {"Accept": accept})
            response = connection.getresponse()
            if response.status != 200:
                raise ApiError(response.status, _message(response.read()))
            while line := response.readline():
                yield json.loads(line)
        finally:
            connection.close()


class Watch(threading.Thread):
    """Keeps the objects of one kind, and calls its listeners after each change of them."""

    def __init__(
        self,
        api: Api,
        path: str,
        *,
        metadata_only: bool = False,
        keep: Callable[[Object], bool] = lambda dummy: True,
        served: Callable[[], bool] = lambda: True,
    ) -> None:
        super().__init__(daemon=True, name=path)
        self._api, self._path, self._keep, self._served = api, path, keep, served
        self._accept = (METADATA_ONLY, METADATA_WATCH) if metadata_only else ("application/json", "application/json")
        self._objects: dict[Key, Object] = {}
        self._listeners: list[Callable[[], None]] = []
        self.synced = False

    def listen(self, listener: Callable[[], None]) -> None:
        """Adds a listener; it must be quick."""
        self._listeners.append(listener)

    def all(self) -> list[Object]:
        """The objects as last seen."""
        return list(self._objects.values())

    def find(self, namespace: str, name: str) -> Object | None:
        """One object as last seen."""
        return self._objects.get((namespace, name))

    def run(self) -> None:
        """Lists, watches, and begins again after whatever happens to the server."""
        while True:
            try:
                if self._served():
                    version = self._list()
                    while version:
                        version = self._follow(version)
                else:
                    self._replace({})
                    self.synced = False
            except ApiError as error:
                if error.status == 404:
                    self._replace({})
            except (OSError, http.client.HTTPException, ValueError):
                pass
            time.sleep(0.25)

    def _list(self) -> str:
        connection = self._api.connect(60)
        try:
            connection.request("GET", self._path, headers=self._api._headers | {"Accept": self._accept[0]})
            response = connection.getresponse()
            content = response.read()
        finally:
            connection.close()
        if response.status != 200:
            raise ApiError(response.status, _message(content))
        answer = json.loads(content)
        self._replace({_key(item): item for item in answer.get("items") or [] if self._keep(item)})
        self.synced = True
        return str(answer["metadata"]["resourceVersion"])

    def _follow(self, version: str) -> str:
        query = {"watch": "1", "resourceVersion": version, "allowWatchBookmarks": "true", "timeoutSeconds": "300"}
        for event in self._api.stream(self._path, self._accept[1], **query):
            item = event["object"]
            if event["type"] == "ERROR":
                return ""
            version = item["metadata"]["resourceVersion"]
            if event["type"] == "BOOKMARK":
                continue
            key = _key(item)
            if event["type"] != "DELETED" and self._keep(item):
                self._objects[key] = item
            elif self._objects.pop(key, None) is None:
                continue
            self._notify()
        return version

    def _replace(self, objects: dict[Key, Object]) -> None:
        if objects != self._objects:
            self._objects = objects
            self._notify()

    def _notify(self) -> None:
        for listener in self._listeners:
            listener()


def _key(item: Object) -> Key:
    metadata = item["metadata"]
    return metadata.get("namespace", ""), metadata["name"]


def _message(content: bytes) -> str:
    try:
        return str(json.loads(content)["message"])
    except (ValueError, KeyError, TypeError):
        return content[:200].decode(errors="replace")


def _file(section: Object, field: str, kubeconfig: Path, directory: Path) -> str | None:
    """The path of a file that a kubeconfig names or holds inline."""
    if field in section:
        return str(kubeconfig.parent / section[field])
    inline = section.get(field + "-data")
    if not inline:
        return None
    path = directory / "standins" / (field + ".pem")
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    path.touch(mode=0o600)
    path.write_bytes(base64.b64decode(inline))
    return str(path)
