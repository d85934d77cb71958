# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""`python -m faultproxy`: an HTTPS proxy between a client and the API server that makes faults by rule."""

from __future__ import annotations

import argparse
import contextlib
import gzip
import hashlib
import json
import select
import socket
import ssl
import struct
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from .proxyrules import Rules, failure, hides, is_discovery, without

LIMIT = 65536
Headers = list[tuple[str, str]]


class Cut(Exception):
    """The client's connection ends with a reset."""


@dataclass(slots=True)
class Message:
    """The head of a request or an answer, and the body as far as it was read."""

    line: str
    headers: Headers
    body: bytes = b""

    def header(self, name: str) -> str:
        """The value of a header, empty where there is none."""
        return next((value for key, value in self.headers if key.lower() == name), "")

    def encode(self, **changes: str | None) -> bytes:
        """The head as bytes; `changes` replace headers (`_` for `-`), None drops them."""
        names = {key.replace("_", "-"): value for key, value in changes.items()}
        headers = [(key, value) for key, value in self.headers if key.lower() not in names]
        headers += [(key, value) for key, value in names.items() if value is not None]
        return "".join([self.line + "\r\n", *(f"{key}: {value}\r\n" for key, value in headers), "\r\n"]).encode("latin-1")


@dataclass(slots=True)
class Pipe:
    """A connection with its reading side."""

    socket: ssl.SSLSocket
    stream: BinaryIO

    @classmethod
    def of(cls, connection: ssl.SSLSocket) -> Pipe:
        """Wraps a connection."""
        return cls(connection, connection.makefile("rb"))

    def close(self) -> None:
        """Ends it."""
        with contextlib.suppress(OSError):
            self.stream.close()
            self.socket.close()


class Proxy:
    """Serves one port; `rules` decides over each request."""

    def __init__(self, rules: Rules, upstream: tuple[str, int], authority: Path, log: Path) -> None:
        self._rules, self._upstream = rules, upstream
        self._tls = ssl.create_default_context(cafile=str(authority))
        self._log, self._lock, self._count = log, threading.Lock(), 0

    def serve(self, port: int, certificate: Path, key: Path) -> None:
        """Accepts connections for ever, a thread for each."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        with socket.create_server(("127.0.0.1", port), backlog=256) as server:
            while True:
                plain, dummy = server.accept()
                threading.Thread(target=self._client, args=(plain, context), daemon=True).start()

    def _client(self, plain: socket.socket, context: ssl.SSLContext) -> None:
        upstream: Pipe | None = None
        try:
            plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            client = Pipe.of(context.wrap_socket(plain, server_side=True))
        except OSError:
            plain.close()
            return
        try:
            while (request := _head(client.stream)) is not None:
                request.body = _body(client.stream, request)
                upstream = self._handle(client, upstream, request)
        except Cut:
            with contextlib.suppress(OSError):
                client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        except (OSError, ValueError, EOFError):
            pass
        finally:
            client.close()
            if upstream is not None:
                upstream.close()

    def _handle(self, client: Pipe, upstream: Pipe | None, request: Message) -> Pipe | None:
        """One request; returns the upstream connection for the next."""
        method, target, dummy = request.line.split(" ", 2)
        fault = self._rules.choose(method, target, request.header("user-agent"))
        self._note(method, target, fault)
        latency = self._rules.settings.get("latency_ms", 0)
        if latency:
            time.sleep(float(latency) / 1000)
        action = fault.get("action", "status") if fault else ""
        if action == "latency" and fault:
            time.sleep(float(fault.get("ms", 0)) / 1000)
        elif action == "hang" and fault:
            time.sleep(float(fault.get("seconds", 3600)))
            raise Cut
        elif action == "reset":
            raise Cut
        elif action == "status" and fault:
            _answer(client, *failure(fault))
            return upstream
        path, hidden = target.partition("?")[0], self._rules.hidden()
        if hidden and hides(path, hidden):
            _answer(client, 404, {"Content-Type": "text/plain"}, b"404 page not found\n")
            return upstream
        rewrite = bool(hidden) and method == "GET" and is_discovery(path)
        changes: dict[str, str | None] = {"if_none_match": None, "accept_encoding": "identity"} if rewrite else {}
        upstream, answer = self._forward(upstream, request, changes)
        status = int(answer.line.split(" ", 2)[1])
        self._rules.created(method, path, status, request.body)
        if action == "lose-answer":
            _body(upstream.stream, answer)
            raise Cut
        if rewrite and "json" in answer.header("content-type"):
            _discovery(client, answer, _body(upstream.stream, answer), hidden, request.header("if-none-match"))
        elif status == 101:
            client.socket.sendall(answer.encode())
            _tunnel(client, upstream)
        else:
            client.socket.sendall(answer.encode())
            _relay(upstream.stream, answer, method, client.socket.sendall, cut=action == "cut-body")
        return upstream

    def _forward(self, upstream: Pipe | None, request: Message, changes: dict[str, str | None]) -> tuple[Pipe, Message]:
        """Sends the request once, on the kept connection unless the server closed that meanwhile; nothing is sent twice."""
        framed = {**changes, "transfer_encoding": None, "content_length": str(len(request.body))} if request.body else changes
        head = request.encode(**framed)
        if upstream is not None and select.select([upstream.socket], [], [], 0)[0]:
            # an idle connection that can be read is at its end
            upstream.close()
            upstream = None
        if upstream is None:
            plain = socket.create_connection(self._upstream, timeout=None)
            plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            upstream = Pipe.of(self._tls.wrap_socket(plain, server_hostname=self._upstream[0]))
        upstream.socket.sendall(head + request.body)
        if (answer := _head(upstream.stream)) is None:
            raise Cut
        return upstream, answer

    def _note(self, method: str, target: str, fault: dict[str, Any] | None) -> None:
        """A line per fault, or per request with `"log": true`; written before the fault acts, so that a test can wait for it."""
        with self._lock:
            self._count += 1
            if fault is not None or self._rules.settings.get("log"):
                entry = {"n": self._count, "t": round(time.time(), 3), "method": method, "target": target, "fault": fault}
                with self._log.open("a", encoding="utf-8") as log:
                    log.write(json.dumps(entry) + "\n")


def _head(stream: BinaryIO) -> Message | None:
    line = stream.readline(LIMIT)
    if not line:
        return None
    headers: Headers = []
    while text := stream.readline(LIMIT).strip().decode("latin-1"):
        name, dummy, value = text.partition(":")
        headers.append((name, value.strip()))
    return Message(line.strip().decode("latin-1"), headers)


def _body(stream: BinaryIO, message: Message) -> bytes:
    parts: list[bytes] = []
    if message.header("transfer-encoding").lower() == "chunked":
        while size := int(stream.readline(LIMIT).split(b";")[0], 16):
            parts.append(stream.read(size))
            stream.readline(LIMIT)
        while stream.readline(LIMIT).strip():
            pass
        return b"".join(parts)
    return stream.read(int(message.header("content-length") or 0))


def _relay(stream: BinaryIO, answer: Message, method: str, send: Callable[[bytes], None], *, cut: bool) -> None:
    """Passes a body on as it comes: a watch is an endless chunked answer."""
    status = int(answer.line.split(" ", 2)[1])
    if method == "HEAD" or status in (204, 304):
        return
    if answer.header("transfer-encoding").lower() == "chunked":
        while True:
            line = stream.readline(LIMIT)
            size = int(line.split(b";")[0], 16)
            chunk = stream.read(size + 2)
            if cut:
                send(line + chunk[: size // 2])
                raise Cut
            send(line + chunk)
            if size == 0:
                return
    left = int(answer.header("content-length") or 0)
    if cut:
        send(stream.read(left)[: left // 2])
        raise Cut
    while left > 0:
        data = stream.read(min(left, LIMIT))
        if not data:
            raise Cut
        send(data)
        left -= len(data)


def _discovery(client: Pipe, answer: Message, body: bytes, hidden: frozenset[tuple[str, str]], known: str) -> None:
    """A discovery answer without the hidden kinds, with an ETag of its own."""
    content = gzip.decompress(body) if answer.header("content-encoding") == "gzip" else body
    document = without(json.loads(content), hidden)
    if document is None:
        _answer(client, 404, {"Content-Type": "text/plain"}, b"404 page not found\n")
        return
    content = json.dumps(document).encode()
    tag = f'"{hashlib.sha256(content).hexdigest()}"'
    if answer.header("etag") and known == tag:
        _answer(client, 304, {"ETag": tag}, b"")
        return
    changes: dict[str, str | None] = {"content_length": str(len(content)), "transfer_encoding": None, "content_encoding": None}
    if answer.header("etag"):
        changes["etag"] = tag
    client.socket.sendall(answer.encode(**changes) + content)


def _answer(client: Pipe, status: int, headers: dict[str, str], body: bytes) -> None:
    message = Message(f"HTTP/1.1 {status} Fault", [*headers.items()] + ([] if status == 304 else [("Content-Length", str(len(body)))]))
    client.socket.sendall(message.encode() + body)


def _tunnel(client: Pipe, upstream: Pipe) -> None:
    """After an upgrade (exec, port-forward) only bytes are passed on."""

    def copy(source: Pipe, target: Pipe) -> None:
        with contextlib.suppress(OSError, ValueError):
            while data := source.stream.read1(LIMIT):  # type: ignore[attr-defined]
                target.socket.sendall(data)
        with contextlib.suppress(OSError):
            socket.socket.shutdown(target.socket, socket.SHUT_RDWR)

    back = threading.Thread(target=copy, args=(upstream, client), daemon=True)
    back.start()
    copy(client, upstream)
    back.join()


def main() -> int:
    """Parses the command line and serves."""
    parser = argparse.ArgumentParser(prog="faultproxy", description=__doc__)
    parser.add_argument("--dir", type=Path, required=True, help="holds proxy-faults.json and proxy.log")
    parser.add_argument("--listen", type=int, required=True)
    parser.add_argument("--upstream", required=True, help="HOST:PORT of the API server")
    parser.add_argument("--cert", type=Path, required=True)
    parser.add_argument("--key", type=Path, required=True)
    parser.add_argument("--upstream-ca", "--ca", type=Path, required=True)
    arguments = parser.parse_args()
    host, dummy, port = arguments.upstream.rpartition(":")
    rules = Rules(arguments.dir / "proxy-faults.json")
    proxy = Proxy(rules, (host, int(port)), arguments.upstream_ca, arguments.dir / "proxy.log")
    proxy.serve(arguments.listen, arguments.cert, arguments.key)
    return 0


if __name__ == "__main__":
    sys.exit(main())
