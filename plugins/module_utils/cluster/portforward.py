# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""HTTP to a port of a pod through the API server, as ``kubectl port-forward`` reaches it: no listener, no program, one connection each.

The kubernetes package has one too; it forgets whom to impersonate and starts threads that outlive a request.
"""

from __future__ import annotations

import http.client
import io
from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import quote, urlsplit

from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.connection import Connection
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.errors import ClusterError, Refused
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.response import Response
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.tls import tls_context

_PROTOCOL = "v4.channel.k8s.io"
_DATA, _ERROR = 0, 1


class PortClosed(ClusterError):
    """Nothing answered at the port of the pod."""

    def __init__(self, where: str, reason: str) -> None:
        self.reason = reason
        super().__init__(f"Failed to reach {where}: {reason}. Look at the pod and at its log.")


class MayNotForward(Refused):
    """The API server does not let this user open a port-forward. It asks for two verbs, and its words name one or none."""

    def __init__(self, where: str, namespace: str, response: Response) -> None:
        super().__init__(f"port-forward to {where}", response)
        self.failure = replace(self.failure, error_class="rbac", rbac=("create", "", "pods/portforward", namespace))
        text = f"The user of this run may not open a port-forward to {where}: {self.failure.reason}."
        self.args = (f"{text} Grant the verbs get and create on pods/portforward in the namespace {namespace}.",)


class PodWeb:
    """Sends HTTP requests to one port of one pod."""

    def __init__(self, connection: Connection, namespace: str, pod: str, port: int, timeout: float = 15.0) -> None:
        self._connection = connection
        self._path = f"/api/v1/namespaces/{quote(namespace)}/pods/{quote(pod)}/portforward?ports={port}"
        self._namespace = namespace
        self._where = f"port {port} of pod {namespace}/{pod}"
        self._host = f"localhost:{port}"
        self._timeout = timeout

    def send(self, method: str, path: str, headers: Mapping[str, str], body: bytes | None) -> Response:
        """Send one request and return the answer. Raise Refused where the API server forbids it, PortClosed where no answer comes."""
        import websocket

        channel = self._open()
        try:
            channel.send_binary(bytes([_DATA]) + _request(method, path, {"Host": self._host, **headers}, body))
            answer = http.client.HTTPResponse(_Socket(channel, self._where), method=method)  # type: ignore[arg-type]
            answer.begin()
            data = answer.read()
            return Response(answer.status, {name.lower(): value for name, value in answer.getheaders()}, data)
        except websocket.WebSocketTimeoutException as error:
            raise PortClosed(self._where, f"no answer within {self._timeout:.0f} s") from error
        except (websocket.WebSocketException, http.client.HTTPException, OSError) as error:
            raise PortClosed(self._where, "the connection was closed without an answer") from error
        finally:
            channel.close(timeout=1)

    def _open(self) -> Any:
        """Return an open channel; credentials that the server no longer takes are loaded anew, once."""
        try:
            return self._connect(self._connection.configuration)
        except Refused as error:
            if error.response.status != 401:
                raise
            return self._connect(self._connection.load())

    def _connect(self, configuration: Any) -> Any:
        import websocket

        headers = [f"{name}: {value}" for name, value in self._connection.impersonation]
        authorization = configuration.get_api_key_with_prefix("BearerToken", "authorization")
        if authorization:
            headers.append(f"Authorization: {authorization}")
        options = _proxy(configuration)
        if self._connection.host.startswith("https"):
            options["sslopt"] = {"context": tls_context(configuration)}
        try:
            return websocket.create_connection(
                "ws" + self._connection.host.removeprefix("http") + self._path,
                header=headers,
                subprotocols=[_PROTOCOL],
                timeout=self._timeout,
                suppress_origin=True,
                **options,
            )
        except websocket.WebSocketBadStatusException as error:
            raw = getattr(error, "resp_body", None) or b""
            fields = {str(name).lower(): str(value) for name, value in (getattr(error, "resp_headers", None) or {}).items()}
            refused = Refused(f"port-forward to {self._where}", Response(error.status_code, fields, bytes(raw)))
            if error.status_code == 403 and not refused.failure.webhook and "olicy" not in refused.failure.reason:
                raise MayNotForward(self._where, self._namespace, refused.response) from error
            raise refused from error
        except (websocket.WebSocketException, OSError) as error:
            raise PortClosed(self._where, f"the API server opens no connection to it ({error or type(error).__name__})") from error


class _Socket(io.RawIOBase):
    """What ``http.client`` reads an answer from: the data that comes through a channel, in the pieces in which it comes."""

    def __init__(self, channel: Any, where: str) -> None:
        self._channel = channel
        self._where = where
        self._rest = b""
        self._opened: set[int] = set()

    def makefile(self, _mode: str) -> io.BufferedReader:
        """Be the file of a socket."""
        return io.BufferedReader(self)

    def readable(self) -> bool:
        """Say that it can be read."""
        return True

    def readinto(self, target: Any) -> int:
        """Fill ``target`` as far as there is something; 0 at the end."""
        while not self._rest:
            piece = self._next()
            if piece is None:
                return 0
            self._rest = piece
        size = min(len(target), len(self._rest))
        target[:size], self._rest = self._rest[:size], self._rest[size:]
        return size

    def _next(self) -> bytes | None:
        import websocket

        try:
            frame = self._channel.recv()
        except websocket.WebSocketConnectionClosedException:
            return None
        frame = frame.encode() if isinstance(frame, str) else frame
        if not frame:  # the server closes
            return None
        number, payload = frame[0], frame[1:]
        if number not in self._opened:  # each channel begins with the number of the port, in two bytes
            self._opened.add(number)
            payload = payload[2:]
        if number == _ERROR and payload:
            raise PortClosed(self._where, payload.decode("utf-8", "replace").strip()[:300])
        return bytes(payload) if number == _DATA else b""


def _request(method: str, path: str, headers: Mapping[str, str], body: bytes | None) -> bytes:
    fields = {"Connection": "close", "Accept": "*/*", **headers}
    if body is not None:
        fields["Content-Length"] = str(len(body))
    head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    return f"{method} {path} HTTP/1.1\r\n{head}\r\n".encode("latin-1") + (body or b"")


def _proxy(configuration: Any) -> dict[str, Any]:
    """The proxy of the connection options and no other: without it, that package would take one from the environment."""
    if not configuration.proxy:
        return {"http_no_proxy": ["*"]}
    proxy = urlsplit(configuration.proxy)
    found: dict[str, Any] = {"http_proxy_host": proxy.hostname, "http_proxy_port": proxy.port or 80, "proxy_type": "http"}
    if proxy.username:
        found["http_proxy_auth"] = (proxy.username, proxy.password or "")
    if configuration.no_proxy:
        found["http_no_proxy"] = [part.strip() for part in str(configuration.no_proxy).split(",") if part.strip()]
    return found
