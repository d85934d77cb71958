# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.connection import from_params
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.errors import Refused
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.portforward import MayNotForward, PodWeb, PortClosed

CANNOT = 'pods "dex" is forbidden: User "bob" cannot get resource "pods/portforward" in API group "" in the namespace "auth"'


class _Refusing(BaseHTTPRequestHandler):
    code = 403
    message = ""
    seen: list[dict[str, str]] = []

    def do_GET(self) -> None:
        self.seen.append({"path": self.path, **{name.lower(): value for name, value in self.headers.items()}})
        body = json.dumps({"kind": "Status", "code": self.code, "reason": "Forbidden", "message": self.message, "details": {}}).encode()
        self.send_response(self.code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_arguments: object) -> None:
        pass


@pytest.fixture
def host() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Refusing)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    _Refusing.seen = []
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join()


def ask(host: str, **options: object) -> None:
    connection = from_params({"host": host, "api_key": "a-token", **options})
    PodWeb(connection, "auth", "dex", 5556, 5).send("GET", "/dex/healthz", {}, None)


@pytest.mark.parametrize("message", [CANNOT, 'pods "dex" is forbidden: no access', ""])
def test_a_missing_permission_is_named_however_the_server_words_it(host: str, message: str) -> None:
    _Refusing.code, _Refusing.message = 403, message
    with pytest.raises(MayNotForward, match="get and create on pods/portforward") as refusal:
        ask(host)
    assert refusal.value.failure.rbac == ("create", "", "pods/portforward", "auth")


def test_a_webhook_that_refuses_is_no_missing_permission(host: str) -> None:
    _Refusing.code, _Refusing.message = 403, 'admission webhook "guard.example.com" denied the request: not here'
    with pytest.raises(Refused, match="guard.example.com") as refusal:
        ask(host)
    assert not isinstance(refusal.value, MayNotForward)


def test_credentials_are_loaded_anew_once_and_the_impersonated_user_is_sent(host: str) -> None:
    _Refusing.code, _Refusing.message = 401, "Unauthorized"
    with pytest.raises(Refused, match="401"):
        ask(host, impersonate_user="alice", impersonate_groups=["a", "b"])
    assert len(_Refusing.seen) == 2
    assert _Refusing.seen[0]["path"] == "/api/v1/namespaces/auth/pods/dex/portforward?ports=5556"
    assert (_Refusing.seen[0]["authorization"], _Refusing.seen[0]["impersonate-user"]) == ("Bearer a-token", "alice")


def test_a_server_that_is_not_there_is_said() -> None:
    with pytest.raises(PortClosed, match="port 5556 of pod auth/dex"):
        ask("http://127.0.0.1:1")
