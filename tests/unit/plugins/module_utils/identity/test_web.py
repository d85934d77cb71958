# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from ansible_collections.kubeflow.platform.plugins.module_utils.identity.web import Gateway, GatewayWeb, NoGateway


class _Echo(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(303)
        self.send_header("Location", f"{self.path}|{self.headers['Host']}|{body.decode()}")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_arguments: object) -> None:
        pass


@pytest.fixture
def address() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Echo)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join()


def test_a_request_goes_to_the_address_and_its_redirect_is_not_followed(address: str) -> None:
    answer = GatewayWeb(Gateway(f"http://{address}/")).send("POST", "/dex/token?x=y", {}, b"a=b")
    assert (answer.status, answer.headers["location"]) == (303, f"/dex/token?x=y|{address}|a=b")


def test_another_name_is_asked_for_when_given(address: str) -> None:
    answer = GatewayWeb(Gateway(f"http://{address}", "kubeflow.example.com")).send("POST", "/", {}, b"")
    assert answer.headers["location"] == "/|kubeflow.example.com|"


def test_a_gateway_that_is_not_there_is_named() -> None:
    with pytest.raises(NoGateway, match="http://127.0.0.1:1: .*refused"):
        GatewayWeb(Gateway("http://127.0.0.1:1")).send("GET", "/", {}, None)


def test_a_gateway_that_speaks_no_tls_is_named(address: str) -> None:
    for gateway in (Gateway(f"https://{address}"), Gateway(f"https://{address}", "kubeflow.example.com", validate=False)):
        with pytest.raises(NoGateway, match=address):
            GatewayWeb(gateway, 5).send("GET", "/", {}, None)


def test_a_file_that_holds_no_certificates_is_named(tmp_path: Path) -> None:
    for path in (tmp_path / "missing.pem", tmp_path):
        with pytest.raises(NoGateway, match="gateway_ca"):
            GatewayWeb(Gateway("https://kubeflow.example.com", ca_file=str(path)))
