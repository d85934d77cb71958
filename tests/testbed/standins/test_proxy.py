# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The fault proxy in front of a small server of its own; and its rules."""

from __future__ import annotations

import http.client
import json
import socket
import ssl
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from .authority import Authority
from .listener import Listener, Reply, Request
from .proxy import Proxy
from .proxyrules import Rules, without

CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
GROUPS = {
    "kind": "APIGroupDiscoveryList",
    "items": [
        {"metadata": {"name": "apps"}, "versions": [{"version": "v1", "resources": [{"resource": "deployments"}]}]},
        {
            "metadata": {"name": "kubeflow.org"},
            "versions": [{"version": "v1", "resources": [{"resource": "things"}, {"resource": "others"}]}],
        },
        {"metadata": {"name": "late.example"}, "versions": [{"version": "v1", "resources": [{"resource": "things"}]}]},
    ],
}


@dataclass
class Setup:
    """A proxy, what arrived behind it, and a way to call it."""

    directory: Path
    port: int
    context: ssl.SSLContext
    arrived: list[Request] = field(default_factory=list)
    connection: http.client.HTTPSConnection | None = None

    def faults(self, **settings: Any) -> None:
        """Replaces the faults."""
        path = self.directory / "proxy-faults.json"
        path.with_suffix(".new").write_text(json.dumps(settings), encoding="utf-8")
        path.with_suffix(".new").replace(path)

    def call(self, method: str, path: str, body: str | None = None) -> tuple[int, dict[str, str], bytes]:
        """One request on a kept connection."""
        if self.connection is None:
            self.connection = http.client.HTTPSConnection("localhost", self.port, context=self.context, timeout=5)
        try:
            self.connection.request(method, path, body)
            answer = self.connection.getresponse()
            return answer.status, {key.lower(): value for key, value in answer.getheaders()}, answer.read()
        except (OSError, http.client.HTTPException):
            self.connection.close()
            self.connection = None
            raise


@pytest.fixture
def proxied(tmp_path: Path) -> Iterator[Setup]:
    """A proxy on a free port before a server that answers by path."""
    authority = Authority(tmp_path, "authority")
    pair = authority.issue(["localhost"])
    file = tmp_path / "server.pem"
    file.write_bytes(pair.key + pair.certificate)
    setup = Setup(tmp_path, free_port(), ssl.create_default_context(cadata=authority.pem.decode()))

    def answer(request: Request, dummy: threading.Event) -> Reply:
        setup.arrived.append(request)
        if request.target == "/apis":
            return Reply(body=json.dumps(GROUPS).encode())
        return Reply(201 if request.target.startswith(CRDS) and request.method != "GET" else 200, b'{"answer": 1}')

    upstream = Listener(("127.0.0.1", free_port()), file, answer)
    upstream.open()
    proxy = Proxy(Rules(tmp_path / "proxy-faults.json"), ("localhost", upstream.address[1]), tmp_path / "ca.pem", tmp_path / "proxy.log")
    threading.Thread(target=proxy.serve, args=(setup.port, file, file), daemon=True).start()
    for dummy in range(50):  # noqa: B007
        with suppress(OSError):
            socket.create_connection(("127.0.0.1", setup.port), 1).close()
            break
        time.sleep(0.05)
    yield setup
    upstream.close()


@pytest.fixture(autouse=True)
def _authority_file(tmp_path: Path) -> None:
    (tmp_path / "ca.pem").write_bytes(Authority(tmp_path, "authority").pem)


def free_port() -> int:
    """A port that nobody uses now."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


def test_requests_pass_on_one_connection_when_there_is_no_fault(proxied: Setup) -> None:
    assert proxied.call("GET", "/version")[2] == b'{"answer": 1}'
    assert proxied.call("POST", "/api/v1/pods", "body")[0] == 200
    assert [request.body for request in proxied.arrived] == [b"", b"body"]


def test_next_matching_requests_are_throttled_when_a_rule_has_times(proxied: Setup) -> None:
    proxied.faults(rules=[{"method": "PATCH", "path": "/pods", "status": 429, "retry_after": 2, "times": 2}])
    assert proxied.call("GET", "/pods")[0] == 200
    status, headers, body = proxied.call("PATCH", "/pods", "{}")
    assert (status, headers["retry-after"], json.loads(body)["reason"]) == (429, "2", "TooManyRequests")
    assert [proxied.call("PATCH", "/pods", "{}")[0] for dummy in range(2)] == [429, 200]


def test_request_is_reset_before_it_arrives_when_its_number_comes(proxied: Setup) -> None:
    proxied.faults(rules=[{"path": "/pods", "action": "reset", "number": 2}])
    assert proxied.call("GET", "/pods")[0] == 200
    with pytest.raises((OSError, http.client.HTTPException)):
        proxied.call("GET", "/pods")
    assert proxied.call("GET", "/pods")[0] == 200
    assert len(proxied.arrived) == 2


def test_answer_is_lost_after_the_server_worked_when_a_rule_says_so(proxied: Setup) -> None:
    proxied.faults(rules=[{"path": "/pods", "action": "lose-answer", "times": 1}])
    with pytest.raises((OSError, http.client.HTTPException)):
        proxied.call("POST", "/pods", "{}")
    assert len(proxied.arrived) == 1


def test_every_nth_request_fails_when_a_rule_says_every(proxied: Setup) -> None:
    proxied.faults(rules=[{"status": 503, "every": 3}])
    assert [proxied.call("GET", "/x")[0] for dummy in range(6)] == [200, 200, 503, 200, 200, 503]


def test_counts_go_on_when_the_file_changes_but_the_rule_stays(proxied: Setup) -> None:
    rule = {"status": 409, "times": 1, "path": "/x"}
    proxied.faults(rules=[rule])
    assert proxied.call("GET", "/x")[0] == 409
    proxied.faults(rules=[{"status": 503, "path": "/y"}, rule])
    assert (proxied.call("GET", "/x")[0], proxied.call("GET", "/y")[0]) == (200, 503)


def test_kind_stays_hidden_when_its_crd_was_just_made(proxied: Setup) -> None:
    proxied.faults(late_discovery={"seconds": 60})
    assert len(json.loads(proxied.call("GET", "/apis")[2])["items"]) == 3
    proxied.call("PATCH", CRDS + "/things.late.example?fieldManager=x", "{}")
    assert [item["metadata"]["name"] for item in json.loads(proxied.call("GET", "/apis")[2])["items"]] == ["apps", "kubeflow.org"]
    assert proxied.call("GET", "/apis/late.example/v1/namespaces/a/things/b")[0] == 404
    proxied.faults(late_discovery={"seconds": 0})
    assert proxied.call("GET", "/apis/late.example/v1/things")[0] == 200


def test_group_keeps_its_other_kinds_when_one_is_hidden() -> None:
    left = without(GROUPS, frozenset({("kubeflow.org", "things")})) or {}
    resources = [
        version["resources"] for group in left["items"] for version in group["versions"] if group["metadata"]["name"] == "kubeflow.org"
    ]
    assert resources == [[{"resource": "others"}]]


def test_faults_are_logged_when_they_act(proxied: Setup) -> None:
    proxied.faults(rules=[{"status": 503, "path": "/x"}])
    proxied.call("GET", "/x")
    proxied.call("GET", "/y")
    lines = (proxied.directory / "proxy.log").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["target"] for line in lines] == ["/x"]
