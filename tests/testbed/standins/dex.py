# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Dex's login by password and its token endpoint, as Dex 2.45.1 was seen to answer; a core without a network, and a process.

`python dex.py CONFIG PORT` reads its configuration and its environment once, at start, as Dex does, and ends where Dex would not start.
"""

from __future__ import annotations

import base64
import binascii
import json
import os
import re
import secrets
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, unquote_plus, urlencode, urlsplit

import bcrypt
import yaml

_HASH = re.compile(rb"\$2.?\$(\d\d)\$[./A-Za-z0-9]{53}")
_LEAST, _MOST = 10, 16


class NoStart(Exception):
    """Dex ends with this message."""


@dataclass(frozen=True)
class Answer:
    """Status, headers and body."""

    status: int
    headers: Mapping[str, str]
    body: str = ""


class Dex:
    """One process of Dex: what it was started with counts until it ends."""

    def __init__(self, configuration: str, environment: Mapping[str, str], objects: Callable[[], Mapping[str, str]] = dict) -> None:
        """Start. ``objects`` gives the hashes of ``passwords.dex.coreos.com`` by e-mail; they count at once, after the static users."""
        self._objects = objects
        document = yaml.safe_load(configuration)
        self._prefix = urlsplit(document["issuer"]).path
        self._users: dict[str, tuple[bytes, int]] = {}
        for row in document.get("staticPasswords") or []:
            text = row.get("hash") or environment.get(row.get("hashFromEnv") or "", "")
            self._users.setdefault(row["email"].lower(), _hash(text))
        client = document["staticClients"][0]
        self._client = client.get("id") or environment.get(client.get("idEnv"), "")
        self._secret = client.get("secret") or environment.get(client.get("secretEnv"), "")
        self._redirects = client["redirectURIs"]
        self._requests: dict[str, tuple[str, str]] = {}
        self.codes: list[str] = []

    @property
    def redirect(self) -> str:
        """Where a login for the first application ends."""
        return str(self._redirects[0])

    def answer(self, method: str, target: str, headers: Mapping[str, str], body: str) -> Answer:
        """Answer one request."""
        split = urlsplit(target)
        query = {name: values[0] for name, values in parse_qs(split.query, keep_blank_values=True).items()}
        form = {name: values[0] for name, values in parse_qs(body, keep_blank_values=True).items()}
        if method == "GET" and split.path == f"{self._prefix}/healthz":
            return Answer(200, {}, "Health check passed")
        if method == "GET" and split.path == f"{self._prefix}/auth/local":
            return self._begin(query)
        if method == "POST" and split.path == f"{self._prefix}/auth/local/login":
            return self._login(query, form)
        if method == "POST" and split.path == f"{self._prefix}/token":
            return self._token(headers, form)
        return Answer(404, {}, "404 page not found")

    def _begin(self, query: Mapping[str, str]) -> Answer:
        if query.get("client_id") != self._client or query.get("redirect_uri") not in self._redirects:
            return Answer(400, {"Content-Type": "text/html"}, "Bad Request")
        request = secrets.token_hex(12)
        self._requests[request] = (query["redirect_uri"], query.get("state", ""))
        return Answer(302, {"Location": f"{self._prefix}/auth/local/login?" + urlencode({"back": "", "state": request})})

    def _login(self, query: Mapping[str, str], form: Mapping[str, str]) -> Answer:
        request = self._requests.get(query.get("state", ""))
        if request is None:
            return Answer(400, {"Content-Type": "text/html"}, "Bad Request")
        login = form.get("login", "").lower()
        known = self._users.get(login) or (_hash(self._objects()[login]) if login in self._objects() else None)
        if known is not None and known[1] < _LEAST:
            return Answer(500, {}, f"does not meet minimum cost requirement = {_LEAST}")
        if known is None or not bcrypt.checkpw(form.get("password", "").encode()[:72], known[0]):
            return Answer(401, {"Content-Type": "text/html"}, "Invalid Email Address and password.")
        self.codes.append(secrets.token_hex(12))
        redirect, state = request
        return Answer(303, {"Location": f"{redirect}?" + urlencode({"code": self.codes[-1], "state": state})})

    def _token(self, headers: Mapping[str, str], form: Mapping[str, str]) -> Answer:
        try:
            pair = base64.b64decode(headers.get("Authorization", "").removeprefix("Basic ")).decode()
        except (ValueError, binascii.Error):
            pair = ""
        client, _colon, secret = pair.partition(":")
        plain = {"Content-Type": "application/json"}
        if (unquote_plus(client), unquote_plus(secret)) != (self._client, self._secret):
            return Answer(401, plain, json.dumps({"error": "invalid_client", "error_description": "Invalid client credentials."}))
        if form.get("grant_type") != "authorization_code":
            return Answer(400, plain, json.dumps({"error": "unsupported_grant_type"}))
        return Answer(400, plain, json.dumps({"error": "invalid_grant", "error_description": "Invalid or expired code parameter."}))


def _hash(text: str) -> tuple[bytes, int]:
    if not text:
        raise NoStart("no password hash provided")
    raw = text.strip().encode()
    try:
        decoded = base64.b64decode(raw, validate=True)
    except (ValueError, binascii.Error):
        decoded = b""
    match = _HASH.fullmatch(raw) or _HASH.fullmatch(decoded.strip())
    if match is None:
        raise NoStart("malformed bcrypt hash")
    if int(match[1]) > _MOST:
        raise NoStart(f"hashed password cost is above {_MOST}")
    return match[0], int(match[1])


class _Handler(BaseHTTPRequestHandler):
    dex: Dex

    def do_GET(self) -> None:
        self._answer("")

    def do_POST(self) -> None:
        self._answer(self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode())

    def _answer(self, body: str) -> None:
        answer = self.dex.answer(self.command, self.path, dict(self.headers.items()), body)
        payload = answer.body.encode()
        self.send_response(answer.status)
        for name, value in {**answer.headers, "Content-Length": str(len(payload))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(payload)

    def log_message(self, format: str, *args: object) -> None:
        print(format % args, flush=True)


def main() -> None:
    """Serve on loopback until killed."""
    configuration, port = sys.argv[1:]
    try:
        _Handler.dex = Dex(Path(configuration).read_text(encoding="utf-8"), os.environ)
    except NoStart as end:
        sys.exit(f"error: {end}")
    ThreadingHTTPServer(("127.0.0.1", int(port)), _Handler).serve_forever()


if __name__ == "__main__":
    main()
