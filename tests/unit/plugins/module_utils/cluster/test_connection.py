# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import json
import os
import ssl
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.connection import Connection, from_params
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.errors import ConnectionFailed, Unreachable, classify_transport
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.requests import Client

from tests.testbed.bed.certificates import Subject, create_authority, issue

from .conftest import Reply, Scripted, serve

URL = "https://cluster.example.org:6443"


@pytest.fixture(autouse=True)
def nowhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A machine without any configuration of its own."""
    for name in list(os.environ):
        if name.startswith(("K8S_AUTH_", "KUBE")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))


def config(url: str = URL, context: str | None = "c", **user: Any) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Config",
        **({"current-context": context} if context else {}),
        "contexts": [{"name": "c", "context": {"cluster": "k", "user": "u"}}],
        "clusters": [{"name": "k", "cluster": {"server": url}}],
        "users": [{"name": "u", "user": user}],
    }


def written(tmp_path: Path, content: dict[str, Any] | str) -> str:
    path = tmp_path / "kubeconfig"
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return str(path)


def authorization(connection: Connection) -> Any:
    return connection.configuration.get_api_key_with_prefix("BearerToken", "authorization")


def test_a_kubeconfig_is_read_from_a_path_or_a_dictionary(tmp_path: Path) -> None:
    for kubeconfig in (written(tmp_path, config(token="t")), config(token="t")):
        connection = from_params({"kubeconfig": kubeconfig})
        assert connection.host == URL
        assert authorization(connection) == "Bearer t"


def test_options_win_over_the_kubeconfig_and_stay_when_credentials_are_asked_for(tmp_path: Path) -> None:
    params = {"kubeconfig": written(tmp_path, config(token="t")), "host": "https://other:1/", "api_key": "mine", "validate_certs": False}
    connection = from_params(params)
    assert authorization(connection) == "Bearer mine"
    assert connection.host == "https://other:1"
    assert connection.configuration.host == "https://other:1"
    assert connection.configuration.verify_ssl is False


def test_variables_fill_what_is_not_given(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("K8S_AUTH_KUBECONFIG", written(tmp_path, config(token="t")))
    monkeypatch.setenv("K8S_AUTH_VERIFY_SSL", "false")
    monkeypatch.setenv("K8S_AUTH_IMPERSONATE_USER", "bob")
    monkeypatch.setenv("K8S_AUTH_IMPERSONATE_GROUPS", "a,b")
    connection = from_params({"host": None, "validate_certs": None})
    assert connection.configuration.verify_ssl is False
    assert connection.impersonation == (("Impersonate-User", "bob"), ("Impersonate-Group", "a"), ("Impersonate-Group", "b"))


def test_the_default_kubeconfig_is_read_when_nothing_is_given(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("KUBECONFIG", written(tmp_path, config(token="t")))
    assert from_params({}).host == URL


def test_host_and_credentials_need_no_kubeconfig() -> None:
    assert authorization(from_params({"host": URL, "api_key": "k"})) == "Bearer k"
    assert authorization(from_params({"host": URL, "username": "a", "password": "b"})) == "Basic YTpi"


def test_the_password_of_the_proxy_is_sent_to_the_proxy() -> None:
    configuration = from_params(
        {"host": URL, "api_key": "k", "proxy": "http://p:1", "proxy_headers": {"proxy_basic_auth": "a:b"}}
    ).configuration
    assert configuration.proxy == "http://p:1"
    assert configuration.proxy_headers == {"proxy-authorization": "Basic YTpi"}


def test_a_missing_kubeconfig_is_named_with_what_to_set(tmp_path: Path) -> None:
    with pytest.raises(ConnectionFailed, match=r"/nowhere does not exist .* Set `kubeconfig`"):
        from_params({"kubeconfig": str(tmp_path / "nowhere")})
    with pytest.raises(ConnectionFailed, match=r"~/.kube/config does not exist"):
        from_params({})


def test_a_kubeconfig_that_is_a_folder_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(ConnectionFailed, match="cannot be read"):
        from_params({"kubeconfig": str(tmp_path)})


def test_an_unknown_context_is_named(tmp_path: Path) -> None:
    path = written(tmp_path, config(token="t"))
    with pytest.raises(ConnectionFailed, match=rf"There is no context nope in kubeconfig {path}\. Set `context`"):
        from_params({"kubeconfig": path, "context": "nope"})
    with pytest.raises(ConnectionFailed, match="names no current context"):
        from_params({"kubeconfig": config(context=None)})


@pytest.mark.parametrize("content", ["token: canary: {", "", "- canary", "just canary", '{"clusters": 3, "current-context": "canary"}'])
def test_a_malformed_kubeconfig_is_refused_without_being_quoted(tmp_path: Path, content: str) -> None:
    with pytest.raises(ConnectionFailed) as caught:
        from_params({"kubeconfig": written(tmp_path, content)})
    assert "canary" not in str(caught.value)
    assert caught.value.args[0].endswith(".")


@pytest.mark.parametrize("host", ["cluster:6443", "10.0.0.1", "http://[broken", "https://:1", "https://a:port"])
def test_a_host_that_is_no_url_is_refused(host: str) -> None:
    with pytest.raises(ConnectionFailed, match="is no address"):
        from_params({"host": host, "api_key": "k"})


def test_a_bad_ca_is_named_before_anything_is_sent(tmp_path: Path) -> None:
    bad = tmp_path / "ca.crt"
    bad.write_text("no certificate")
    with pytest.raises(ConnectionFailed, match=r"The CA certificate .*ca\.crt cannot be used"):
        from_params({"host": URL, "api_key": "k", "ca_cert": str(bad)})
    with pytest.raises(ConnectionFailed, match=r"The CA certificate /nowhere cannot be used: it does not exist"):
        from_params({"host": URL, "api_key": "k", "ca_cert": "/nowhere"})
    with pytest.raises(ConnectionFailed, match="The client certificate"):
        from_params({"host": URL, "client_cert": str(bad), "client_key": str(bad)})


@pytest.mark.parametrize("command", ["/nowhere/plugin", "false"])
def test_a_failing_credential_plugin_is_an_error_and_not_an_anonymous_run(command: str, capfd: pytest.CaptureFixture[str]) -> None:
    user: dict[str, Any] = {"exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": command, "interactiveMode": "Never"}}
    with pytest.raises(ConnectionFailed, match="The credential plugin of the given kubeconfig failed: .*Run its command by hand"):
        from_params({"kubeconfig": config(**user)})
    assert capfd.readouterr().err == ""


def test_a_missing_python_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "kubernetes", None)
    monkeypatch.setitem(sys.modules, "kubernetes.client", None)
    with pytest.raises(ConnectionFailed, match="pip install"):
        from_params({"host": URL, "api_key": "k"})


@pytest.fixture
def tls(tmp_path: Path) -> Iterator[Scripted]:
    """A server whose certificate is for 127.0.0.1, signed by ca.crt."""
    issue(create_authority(tmp_path, "ca", "test"), tmp_path, "server", Subject("server", hosts=["127.0.0.1"]))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "server.crt", tmp_path / "server.key")
    context.set_alpn_protocols(["h2", "http/1.1"])
    yield from serve(Scripted(context))


def test_tls_is_trusted_by_the_given_ca_only_and_speaks_http_1(tls: Scripted, tmp_path: Path) -> None:
    tls.script(Reply(body={"metadata": {"a": 1}}))
    good = Client(from_params({"host": tls.url, "api_key": "k", "ca_cert": str(tmp_path / "ca.crt")}), "x", 2)
    assert good.get("/x").body() == {"metadata": {"a": 1}}
    create_authority(tmp_path, "other", "other")
    for params in ({"ca_cert": str(tmp_path / "other.crt")}, {}):
        with pytest.raises(Unreachable) as caught:
            Client(from_params({"host": tls.url, "api_key": "k", **params}), "x", 2).get("/x")
        assert caught.value.kind == "tls"
        assert "certificate" in caught.value.reason
    assert Client(from_params({"host": tls.url, "api_key": "k", "validate_certs": False}), "x", 2).get("/x").ok


def test_tls_is_refused_when_the_name_is_not_in_the_certificate(tls: Scripted, tmp_path: Path) -> None:
    url = tls.url.replace("127.0.0.1", "localhost")
    with pytest.raises(Unreachable) as caught:
        Client(from_params({"host": url, "api_key": "k", "ca_cert": str(tmp_path / "ca.crt")}), "x", 2).get("/x")
    assert caught.value.kind == "tls"


@pytest.mark.parametrize(("context", "named"), [(None, "here"), ("there", "there")])
def test_a_server_that_is_not_there_is_told_with_address_kubeconfig_and_context(tmp_path: Path, context: str | None, named: str) -> None:
    content = config("http://127.0.0.1:1", "here", token="t")
    path = written(tmp_path, {**content, "contexts": [{**content["contexts"][0], "name": name} for name in ("here", "there")]})
    client = Client(from_params({"kubeconfig": path, **({"context": context} if context else {})}), "x", 1)
    with pytest.raises(Unreachable) as caught:
        client.get("/version")
    assert f"nothing accepts connections at http://127.0.0.1:1 (kubeconfig {path}, context {named}): Connection refused. " in str(
        caught.value
    )
    assert f"(kubeconfig {path}, context {named})" in classify_transport(caught.value).message


def test_a_server_is_told_by_its_options_when_no_kubeconfig_leads_to_it() -> None:
    assert from_params({"host": URL, "api_key": "k"}).where == f"{URL} (the connection options)"


def test_the_context_of_a_kubeconfig_that_is_given_whole_is_told() -> None:
    assert from_params({"kubeconfig": config(token="t")}).where == f"{URL} (the given kubeconfig, context c)"
