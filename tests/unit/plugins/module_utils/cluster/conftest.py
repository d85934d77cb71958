# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A server that answers by script: for what a real API server cannot be made to show, such as resets and odd bodies."""

from __future__ import annotations

import json
import socket
import ssl
import struct
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest


@dataclass
class Seen:
    """A request as it came in. ``headers`` keeps repeated ones."""

    method: str
    path: str
    headers: list[tuple[str, str]]
    body: bytes
    client: str = ""

    def header(self, name: str) -> list[str]:
        return [value for key, value in self.headers if key.lower() == name.lower()]


@dataclass
class Reply:
    """What to answer. ``cut``: "reset" sends RST, "close" just closes, "half" closes within the body, "hang" waits."""

    status: int = 200
    body: Any = field(default_factory=lambda: {"metadata": {}})
    headers: dict[str, str] = field(default_factory=dict)
    cut: str = ""


Answer = Callable[[Seen], Reply]


class Scripted(ThreadingHTTPServer):
    """Answers with ``answer``; keeps what it saw."""

    daemon_threads = True

    def __init__(self, context: ssl.SSLContext | None = None) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.context = context
        self.seen: list[Seen] = []
        self.answer: Answer = lambda _seen: Reply()
        self.released = threading.Event()

    @property
    def url(self) -> str:
        return f"{'https' if self.context else 'http'}://127.0.0.1:{self.server_address[1]}"

    def get_request(self) -> tuple[Any, Any]:
        connection, address = super().get_request()
        return (
            self.context.wrap_socket(connection, server_side=True, do_handshake_on_connect=False) if self.context else connection
        ), address

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Broken connections are the purpose."""

    def script(self, *replies: Reply) -> None:
        """Answer with these, in order, and with the last one from then on."""
        left = list(replies)
        self.answer = lambda _seen: left.pop(0) if len(left) > 1 else left[0]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Scripted

    def _handle(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        seen = Seen(self.command, self.path, list(self.headers.items()), body, str(self.client_address))
        self.server.seen.append(seen)
        reply = self.server.answer(seen)
        if reply.cut in ("reset", "close"):
            self._cut(reply.cut)
            return
        if reply.cut == "hang":
            self.server.released.wait(10)
            self.close_connection = True
            return
        data = reply.body if isinstance(reply.body, bytes) else json.dumps(reply.body).encode()
        self.send_response(reply.status)
        for name, value in {"Content-Type": "application/json", "Content-Length": str(len(data)), **reply.headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data[: len(data) // 2] if reply.cut == "half" else data)
        self.close_connection = self.close_connection or reply.cut == "half"

    def _cut(self, how: str) -> None:
        if how == "reset":
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close_connection = True

    do_GET = do_POST = do_PATCH = do_DELETE = do_PUT = _handle

    def log_message(self, format: str, *args: Any) -> None:
        """Keep quiet."""


def serve(server: Scripted) -> Iterator[Scripted]:
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    yield server
    server.released.set()
    server.shutdown()
    server.server_close()
    thread.join(5)


@pytest.fixture
def scripted() -> Iterator[Scripted]:
    """A scripted server over plain HTTP."""
    yield from serve(Scripted())
