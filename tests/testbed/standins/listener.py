# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One TLS server for every stand-in that is called: opened and closed, cut connections included."""

from __future__ import annotations

import contextlib
import socket
import ssl
import struct
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO


@dataclass(frozen=True, slots=True)
class Request:
    """An HTTP request as the stand-ins need it."""

    method: str
    target: str
    body: bytes


@dataclass(frozen=True, slots=True)
class Reply:
    """An HTTP answer."""

    status: int = 200
    body: bytes = b"{}"
    content_type: str = "application/json"


Handler = Callable[[Request, threading.Event], "Reply | None"]


@dataclass(slots=True)
class Listener:
    """Listens on one address until it is closed; a handler that returns None cuts the connection."""

    address: tuple[str, int]
    certificate: Path
    handler: Handler
    closed: threading.Event = field(default_factory=threading.Event)
    _socket: socket.socket | None = None
    _live: set[socket.socket] = field(default_factory=set)

    def open(self) -> None:
        """Binds and starts to answer."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.certificate)
        self._socket = socket.create_server(self.address, backlog=128)
        threading.Thread(target=self._accept, args=(self._socket, context), daemon=True, name=f"accept {self.address[0]}").start()

    def close(self) -> None:
        """Stops to listen and resets what is connected: callers see the same as after the death of the last pod."""
        self.closed.set()
        if self._socket is not None:
            # shutdown wakes the thread that waits in accept; close alone would leave the port open until it returns
            with contextlib.suppress(OSError):
                self._socket.shutdown(socket.SHUT_RDWR)
            self._socket.close()
        for connection in list(self._live):
            _reset(connection)

    def _accept(self, server: socket.socket, context: ssl.SSLContext) -> None:
        while not self.closed.is_set():
            try:
                connection, dummy = server.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(connection, context), daemon=True).start()

    def _serve(self, plain: socket.socket, context: ssl.SSLContext) -> None:
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._live.add(plain)
        connection: socket.socket = plain
        try:
            connection = context.wrap_socket(plain, server_side=True)
            self._live.discard(plain)
            self._live.add(connection)
            with connection.makefile("rb") as stream:
                while not self.closed.is_set() and (request := read_request(stream)) is not None:
                    reply = self.handler(request, self.closed)
                    if reply is None or self.closed.is_set():
                        break
                    connection.sendall(_encode(reply))
        except (OSError, ValueError):
            pass
        finally:
            self._live.discard(plain)
            self._live.discard(connection)
            connection.close()


def read_request(stream: BinaryIO) -> Request | None:
    """The next request of a kept connection, None at its end."""
    line = stream.readline(65536)
    if not line:
        return None
    method, target, dummy = line.decode("latin-1").split(" ", 2)
    headers: dict[str, str] = {}
    while (header := stream.readline(65536).strip()) != b"":
        name, dummy, value = header.decode("latin-1").partition(":")
        headers[name.lower()] = value.strip()
    if headers.get("transfer-encoding", "").lower() == "chunked":
        return Request(method, target, b"".join(_chunks(stream)))
    return Request(method, target, stream.read(int(headers.get("content-length", "0"))))


def _chunks(stream: BinaryIO) -> list[bytes]:
    chunks = []
    while size := int(stream.readline(1024).split(b";")[0], 16):
        chunks.append(stream.read(size))
        stream.readline(1024)
    while stream.readline(65536).strip():
        pass
    return chunks


def _encode(reply: Reply) -> bytes:
    head = f"HTTP/1.1 {reply.status} -\r\nContent-Type: {reply.content_type}\r\nContent-Length: {len(reply.body)}\r\n\r\n"
    return head.encode() + reply.body


def _reset(connection: socket.socket) -> None:
    with contextlib.suppress(OSError):
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        socket.socket.shutdown(connection, socket.SHUT_RDWR)
