# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import gzip
import json
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster import requests
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.connection import from_params
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.errors import ConnectionFailed, Refused, Unreachable
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.requests import Client

from .conftest import Reply, Scripted, Seen

UNAUTHORIZED = Reply(401, {"kind": "Status", "reason": "Unauthorized", "message": "Unauthorized"})


def client(url: str, **params: Any) -> Client:
    return Client(from_params({"host": url, "api_key": "token-1", **params}), "kubeflow.platform/1.2.3", 4)


def kubeconfig(url: str, user: dict[str, Any]) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "c",
        "contexts": [{"name": "c", "context": {"cluster": "k", "user": "u"}}],
        "clusters": [{"name": "k", "cluster": {"server": url}}],
        "users": [{"name": "u", "user": user}],
    }


def test_apply_sends_json_as_server_side_apply_with_strict_validation(scripted: Scripted) -> None:
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "ü"}}
    client(scripted.url).apply("/api/v1/namespaces/a/configmaps/b", body, dry_run=True, force=True)
    (seen,) = scripted.seen
    assert seen.method == "PATCH"
    assert seen.path == ("/api/v1/namespaces/a/configmaps/b?fieldManager=kubeflow.platform&fieldValidation=Strict&dryRun=All&force=true")
    assert seen.header("Content-Type") == ["application/apply-patch+yaml"]
    assert seen.header("Accept") == ["application/json"]
    assert seen.header("User-Agent") == ["kubeflow.platform/1.2.3"]
    assert seen.header("Authorization") == ["Bearer token-1"]
    assert json.loads(seen.body) == body


def test_apply_that_only_creates_demands_a_version_that_no_object_has(scripted: Scripted) -> None:
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "b"}}
    client(scripted.url).apply("/api/v1/namespaces/a/configmaps/b", body, dry_run=False, force=False, absent=True)
    assert json.loads(scripted.seen[0].body)["metadata"] == {"name": "b", "resourceVersion": "1"} and body["metadata"] == {"name": "b"}


def test_delete_is_bound_to_the_uid(scripted: Scripted) -> None:
    client(scripted.url).delete("/api/v1/namespaces/a", "uid-1", "Foreground", dry_run=True, resource_version="7")
    (seen,) = scripted.seen
    assert (seen.method, seen.path) == ("DELETE", "/api/v1/namespaces/a")
    assert json.loads(seen.body) == {
        "apiVersion": "v1",
        "kind": "DeleteOptions",
        "propagationPolicy": "Foreground",
        "preconditions": {"uid": "uid-1", "resourceVersion": "7"},
        "dryRun": ["All"],
    }


def test_requests_are_counted_by_kind(scripted: Scripted) -> None:
    scripted.answer = lambda seen: Reply(body={"metadata": {}, "items": None})
    one = client(scripted.url)
    one.apply("/x", {}, dry_run=True, force=False)
    one.apply("/x", {}, dry_run=False, force=False)
    one.get("/x")
    one.create("/x", {}, dry_run=True)
    one.delete("/x", "u")
    one.json_patch("/x", [])
    one.merge_patch("/x", {})
    one.merge_patch("/x", {}, dry_run=True)
    one.list_metadata("/x")
    assert one.counts == {"PATCH dry-run": 2, "PATCH": 3, "GET": 1, "POST dry-run": 1, "DELETE": 1, "LIST": 1}


def test_every_impersonated_group_is_a_header_of_its_own(scripted: Scripted) -> None:
    client(scripted.url, impersonate_user="bob", impersonate_groups=["a", "b"]).get("/x")
    (seen,) = scripted.seen
    assert seen.header("Impersonate-User") == ["bob"]
    assert seen.header("Impersonate-Group") == ["a", "b"]


def test_lists_are_read_in_pages_and_compressed(scripted: Scripted) -> None:
    pages = {
        "": {"metadata": {"continue": "next"}, "items": [{"metadata": {"name": "a"}}]},
        "next": {"metadata": {}, "items": [{"metadata": {"name": "b"}}]},
    }

    def answer(seen: Seen) -> Reply:
        page = pages["next" if "continue=next" in seen.path else ""]
        return Reply(body=gzip.compress(json.dumps(page).encode()), headers={"Content-Encoding": "gzip"})

    scripted.answer = answer
    assert client(scripted.url).list_metadata("/x", selector="a=b") == [{"name": "a"}, {"name": "b"}]
    assert scripted.seen[0].path == "/x?limit=500&labelSelector=a%3Db"
    assert scripted.seen[0].header("Accept-Encoding") == ["gzip"]
    assert scripted.seen[0].header("Accept")[0].startswith("application/json;as=PartialObjectMetadataList")


def test_lists_begin_again_when_the_snapshot_of_their_pages_is_gone(scripted: Scripted) -> None:
    first = {"metadata": {"continue": "next"}, "items": [{"metadata": {"name": "a"}}]}
    whole = {"metadata": {}, "items": [{"metadata": {"name": "b"}}]}
    scripted.script(Reply(body=first), Reply(410, {}), Reply(body=whole))
    assert client(scripted.url).list_metadata("/x") == [{"name": "b"}]


def test_lists_are_empty_when_there_is_nothing_or_the_kind_is_not_served(scripted: Scripted) -> None:
    scripted.script(Reply(body={"items": None}), Reply(404, b"404 page not found", {"Content-Type": "text/plain"}))
    one = client(scripted.url)
    assert one.list_metadata("/x") == []
    assert one.list_metadata("/x") == []


@pytest.mark.parametrize("reply", [Reply(403, {}), Reply(500, b"<html>"), Reply(200, b"not json"), Reply(200, {"kind": "Table"})])
def test_lists_never_take_an_odd_answer_for_an_empty_list(scripted: Scripted, reply: Reply) -> None:
    scripted.script(reply)
    with pytest.raises(Refused):
        client(scripted.url).list_metadata("/x")


def test_all_warnings_of_the_server_are_kept(scripted: Scripted) -> None:
    scripted.script(Reply(headers={"Warning": '299 - "one"', "warning": '299 - "two"'}))
    assert client(scripted.url).get("/x").warnings == ["one", "two"]


def test_redirects_are_answers_and_not_followed(scripted: Scripted) -> None:
    scripted.script(Reply(302, b"", {"Location": "http://127.0.0.1:1/"}))
    assert client(scripted.url).get("/x").status == 302
    assert len(scripted.seen) == 1


@pytest.mark.parametrize("cut", ["reset", "close", "half"])
def test_a_cut_connection_is_unreachable_and_nothing_is_sent_again(scripted: Scripted, cut: str) -> None:
    scripted.script(Reply(body={"a": "b" * 1000}, cut=cut))
    with pytest.raises(Unreachable) as caught:
        client(scripted.url).apply("/x", {}, dry_run=False, force=False)
    assert caught.value.kind == "reset"
    assert len(scripted.seen) == 1


def test_a_silent_server_is_unreachable_after_the_timeout(scripted: Scripted) -> None:
    scripted.script(Reply(cut="hang"))
    with pytest.raises(Unreachable) as caught:
        client(scripted.url).request("GET", "/x", timeout=0.3)
    assert caught.value.kind == "timeout"


def test_a_silent_server_is_waited_for_only_as_long_as_the_caller_has_time(scripted: Scripted, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(requests, "LEAST_TIMEOUT", 0.3)
    for moment in (0.2, -100.0):
        scripted.script(Reply(cut="hang"))
        asked = client(scripted.url)
        begun = time.monotonic()
        asked.end_by(begun + moment, time.monotonic)
        with pytest.raises(Unreachable):
            asked.request("GET", "/x")
        assert time.monotonic() - begun < 5.0


def test_a_closed_port_is_refused_and_an_unknown_name_does_not_resolve() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with pytest.raises(Unreachable) as caught:
        client(f"http://127.0.0.1:{port}").get("/x")
    assert caught.value.kind == "refused"
    assert "object at 0x" not in caught.value.reason
    with pytest.raises(Unreachable) as caught:
        client("http://does-not-exist.invalid").get("/x")
    assert caught.value.kind == "resolve"


def test_a_server_without_tls_is_a_matter_of_tls(scripted: Scripted) -> None:
    with pytest.raises(Unreachable) as caught:
        client(scripted.url.replace("http:", "https:"), validate_certs=False).get("/x")
    assert caught.value.kind == "tls"


def test_credentials_are_loaded_anew_once_when_they_have_ended(scripted: Scripted, tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("old")
    scripted.answer = lambda seen: Reply() if seen.header("Authorization") == ["Bearer new"] else UNAUTHORIZED
    one = Client(from_params({"kubeconfig": kubeconfig(scripted.url, {"tokenFile": str(token)})}), "x", 4)
    token.write_text("new")
    assert one.get("/x").status == 200
    assert one.get("/x").status == 200
    assert [seen.header("Authorization") for seen in scripted.seen] == [["Bearer old"], ["Bearer new"], ["Bearer new"]]


def test_a_second_401_is_the_answer(scripted: Scripted) -> None:
    scripted.script(UNAUTHORIZED)
    assert client(scripted.url).get("/x").status == 401
    assert len(scripted.seen) == 2


def test_a_failing_renewal_says_why(scripted: Scripted, tmp_path: Path) -> None:
    scripted.script(UNAUTHORIZED)
    path = tmp_path / "kubeconfig"
    path.write_text(json.dumps(kubeconfig(scripted.url, {"token": "old"})))
    one = Client(from_params({"kubeconfig": str(path)}), "x", 4)
    path.unlink()
    with pytest.raises(ConnectionFailed, match="does not exist"):
        one.get("/x")


def test_one_renewal_serves_all_threads_that_met_the_401(scripted: Scripted, tmp_path: Path) -> None:
    counter = tmp_path / "runs"
    plugin = tmp_path / "plugin"
    credential = '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"%s"}}'
    plugin.write_text(f"#!/bin/sh\necho run >> {counter}\nprintf '{credential}' \"$(wc -l < {counter})\"\n")
    plugin.chmod(0o700)
    together = threading.Barrier(4)

    def answer(seen: Seen) -> Reply:
        if seen.header("Authorization") == ["Bearer 1"]:
            together.wait(5)
            return UNAUTHORIZED
        return Reply()

    scripted.answer = answer
    user = {"exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": str(plugin), "interactiveMode": "Never"}}
    one = Client(from_params({"kubeconfig": kubeconfig(scripted.url, user)}), "x", 4)
    with ThreadPoolExecutor(4) as pool:
        assert [answer.status for answer in pool.map(lambda _number: one.get("/x"), range(4))] == [200] * 4
    assert counter.read_text().split() == ["run", "run"]


def test_requests_of_many_threads_share_few_connections(scripted: Scripted) -> None:
    connections: set[str] = set()

    def answer(seen: Seen) -> Reply:
        connections.add(seen.client)
        return Reply()

    scripted.answer = answer
    one = client(scripted.url)
    with ThreadPoolExecutor(16) as pool:
        assert all(answer.ok for answer in pool.map(lambda _number: one.get("/x"), range(200)))
    assert len(connections) <= 6


@pytest.mark.parametrize("body", [b"<html>Please log in</html>", b"[]", b"{}", b'{"kind": "Sec', b""])
def test_success_without_an_object_is_no_answer_when_an_object_was_asked_for(scripted: Scripted, body: bytes) -> None:
    scripted.answer = lambda seen: Reply(body=body)
    one = client(scripted.url)
    for ask in (
        lambda: one.get("/x"),
        lambda: one.apply("/x", {}, dry_run=False, force=True),
        lambda: one.create("/x", {}),
        lambda: one.json_patch("/x", []),
        lambda: one.merge_patch("/x", {}),
    ):
        with pytest.raises(Unreachable, match="no Kubernetes object"):
            ask()
    assert one.request("GET", "/x").ok
