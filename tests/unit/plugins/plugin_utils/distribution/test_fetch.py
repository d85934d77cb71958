# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Distributions from real repositories, a real web server and folders."""

from __future__ import annotations

import base64
import hashlib
import subprocess
import tarfile
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from ansible_collections.kubeflow.platform.plugins.plugin_utils.distribution.access import Access
from ansible_collections.kubeflow.platform.plugins.plugin_utils.distribution.fetch import Distribution, fetch
from ansible_collections.kubeflow.platform.plugins.plugin_utils.distribution.source import Archive, Folder, Repository
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.cache import Cache
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.errors import RenderError

PATIENT = Access(timeout=60.0)


def git(folder: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=test", "-c", "user.email=test@example.org", "-c", "init.defaultBranch=main", "-c", "commit.gpgsign=false"]
    return subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True, text=True).stdout.strip()


def commit(folder: Path, text: str) -> str:
    (folder / "common").mkdir(exist_ok=True)
    (folder / "common" / "kustomization.yaml").write_text(text)
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", text)
    return git(folder, "rev-parse", "HEAD")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "repository"
    folder.mkdir()
    git(folder, "init", "-q")
    commit(folder, "one")
    git(folder, "tag", "-a", "v1", "-m", "v1")
    return folder


def of_git(tmp_path: Path, folder: Path, ref: str, wanted: str | None = None) -> Distribution:
    return fetch(Cache(tmp_path / "cache"), Repository(f"file://{folder}", ref, wanted), PATIENT, None)


def content(found: Distribution) -> str:
    return (Path(found.path) / "common" / "kustomization.yaml").read_text()


def test_a_tag_is_fetched_once(tmp_path: Path, repository: Path) -> None:
    first = of_git(tmp_path, repository, "v1")
    assert (first.changed, content(first), first.commit) == (True, "one", git(repository, "rev-parse", "v1^{commit}"))
    second = of_git(tmp_path, repository, "v1")
    assert (second.changed, second.path, second.fingerprint) == (False, first.path, first.fingerprint)


def test_a_branch_that_moved_is_a_change(tmp_path: Path, repository: Path) -> None:
    assert content(of_git(tmp_path, repository, "main")) == "one"
    commit(repository, "two")
    found = of_git(tmp_path, repository, "main")
    assert (found.changed, content(found)) == (True, "two")


def test_a_commit_that_is_there_is_taken_without_asking_anybody(tmp_path: Path, repository: Path) -> None:
    wanted = git(repository, "rev-parse", "HEAD")
    of_git(tmp_path, repository, "main", wanted)
    found = of_git(tmp_path, tmp_path / "gone", "main", wanted)
    assert (found.changed, found.commit, found.warnings) == (False, wanted, ())


def test_a_ref_that_is_not_the_commit_asked_for_is_refused(tmp_path: Path, repository: Path) -> None:
    with pytest.raises(RenderError, match=f"but commit {'0' * 40} was asked for"):
        of_git(tmp_path, repository, "v1", "0" * 40)


def test_a_commit_can_be_the_ref(tmp_path: Path, repository: Path) -> None:
    wanted = git(repository, "rev-parse", "HEAD")
    git(repository, "config", "uploadpack.allowAnySHA1InWant", "true")
    commit(repository, "two")
    assert content(of_git(tmp_path, repository, wanted)) == "one"


def test_without_the_network_the_copy_of_an_earlier_run_is_used_and_said(tmp_path: Path, repository: Path) -> None:
    of_git(tmp_path, repository, "main")
    repository.rename(tmp_path / "away")
    found = of_git(tmp_path, repository, "main")
    assert (found.changed, content(found)) == (False, "one")
    assert "from an earlier run is used" in found.warnings[0]


def test_a_repository_or_ref_that_is_not_there_says_what_to_check(tmp_path: Path, repository: Path) -> None:
    with pytest.raises(RenderError, match="find remote ref nowhere. Check `ref`"):
        of_git(tmp_path, repository, "nowhere")
    with pytest.raises(RenderError, match="Check the address and `proxy`"):
        of_git(tmp_path, tmp_path / "none", "v1")


def test_credentials_are_in_gits_environment_bound_to_the_host_and_nowhere_else() -> None:
    access = Access("http://proxy.example.org:3128", "/ca.pem", None, "token-value")
    environment = access.for_git("https://git.example.org/x/y.git")
    pairs = {
        environment[f"GIT_CONFIG_KEY_{number}"]: environment[f"GIT_CONFIG_VALUE_{number}"]
        for number in range(int(environment["GIT_CONFIG_COUNT"]))
    }
    header = "Authorization: Basic " + base64.b64encode(b"git:token-value").decode()
    assert pairs["http.https://git.example.org/.extraHeader"] == header
    assert (pairs["http.proxy"], pairs["http.sslCAInfo"]) == ("http://proxy.example.org:3128", "/ca.pem")
    assert environment["GIT_TERMINAL_PROMPT"] == "0"
    assert "token-value" not in repr(access)


@dataclass
class Site:
    """A web server with one archive; it may ask for a password, and redirects /moved to another name of itself."""

    url: str = ""
    body: bytes = b""
    password: str = ""
    served: list[tuple[str, int, str]] = field(default_factory=list)


def handler(state: Site) -> type[BaseHTTPRequestHandler]:
    """Answers as ``state`` says."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            code, headers = self.answer()
            state.served.append((self.path, code, self.headers.get("Authorization") or ""))
            self.send_response(code)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(state.body) if code == 200 else 0))
            self.end_headers()
            if code == 200:
                self.wfile.write(state.body)

        def answer(self) -> tuple[int, dict[str, str]]:
            if self.path.startswith("/moved"):
                return 302, {"Location": state.url.replace("127.0.0.1", "localhost") + "/t.tar.gz"}
            if (
                state.password
                and self.headers.get("Authorization") != "Basic " + base64.b64encode(f"me:{state.password}".encode()).decode()
            ):
                return 401, {}
            if not self.path.endswith("t.tar.gz"):
                return 404, {}
            etag = f'"{hashlib.sha256(state.body).hexdigest()}"'
            return (304, {}) if self.headers.get("If-None-Match") == etag else (200, {"ETag": etag})

        def log_message(self, format: str, *arguments: object) -> None:
            pass

    return Handler


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    state = Site()
    (tmp_path / "t" / "common").mkdir(parents=True)
    (tmp_path / "t" / "common" / "kustomization.yaml").write_text("web")
    with tarfile.open(tmp_path / "t.tar.gz", "w:gz") as archive:
        archive.add(tmp_path / "t", "tree-1")
    state.body = (tmp_path / "t.tar.gz").read_bytes()
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler(state))
    state.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield state
    server.shutdown()
    server.server_close()


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("no_proxy", "127.0.0.1,localhost")


def of_web(tmp_path: Path, url: str, sha256: str | None = None, access: Access = PATIENT) -> Distribution:
    return fetch(Cache(tmp_path / "cache"), Archive(url, sha256), access, None)


def test_an_archive_is_downloaded_once_and_asked_for_again(tmp_path: Path, site: Site) -> None:
    first = of_web(tmp_path, f"{site.url}/t.tar.gz")
    second = of_web(tmp_path, f"{site.url}/t.tar.gz")
    assert (first.changed, second.changed, content(second), Path(second.path).name) == (True, False, "web", "tree-1")
    assert [code for _path, code, _authorization in site.served] == [200, 304]


def test_an_archive_with_a_known_hash_is_not_asked_for_again(tmp_path: Path, site: Site) -> None:
    digest = hashlib.sha256(site.body).hexdigest()
    of_web(tmp_path, f"{site.url}/t.tar.gz", digest)
    assert not of_web(tmp_path, f"{site.url}/t.tar.gz", digest).changed
    assert len(site.served) == 1


def test_a_wrong_hash_is_refused(tmp_path: Path, site: Site) -> None:
    with pytest.raises(RenderError, match=f"its sha256 is [0-9a-f]{{64}}, but {'0' * 64} was asked for"):
        of_web(tmp_path, f"{site.url}/t.tar.gz", "0" * 64)


def test_a_password_is_sent_to_the_server_but_not_to_where_it_redirects(tmp_path: Path, site: Site) -> None:
    site.password = "secret-word"
    with pytest.raises(RenderError, match="answered 401 .* Set `username` and `password`"):
        of_web(tmp_path, f"{site.url}/t.tar.gz")
    access = Access(username="me", password="secret-word")
    assert of_web(tmp_path, f"{site.url}/t.tar.gz", None, access).changed
    site.served.clear()
    site.password = ""
    of_web(tmp_path, f"{site.url}/moved.tar.gz", None, access)
    assert [bool(authorization) for _path, _code, authorization in site.served] == [True, False]


def test_a_missing_page_or_server_says_what_to_check(tmp_path: Path, site: Site) -> None:
    with pytest.raises(RenderError, match="answered 404 .* Check the address"):
        of_web(tmp_path, f"{site.url}/other.tar.gz")
    with pytest.raises(RenderError, match="or fetch it by hand"):
        of_web(tmp_path, "http://127.0.0.1:9/t.tar.gz")


def test_a_folder_is_used_where_it_is(tmp_path: Path, repository: Path) -> None:
    found = fetch(Cache(tmp_path / "cache"), Folder(str(repository)), PATIENT, None)
    assert (found.path, found.changed) == (str(repository), False)
    with pytest.raises(RenderError, match="there is no folder"):
        fetch(Cache(tmp_path / "cache"), Folder(str(tmp_path / "none")), PATIENT, None)


def test_remote_bases_are_vendored_and_what_they_lack_is_told(tmp_path: Path, repository: Path) -> None:
    commit(repository, "resources: [github.com/o/r//x?ref=v1, github.com/o/absent//x?ref=v1]")
    base = tmp_path / "remote/git/o/r/v1/x"
    base.mkdir(parents=True)
    (base / "kustomization.yaml").touch()
    cache = Cache(tmp_path / "cache")
    first = fetch(cache, Folder(str(repository)), PATIENT, str(tmp_path / "remote"))
    second = fetch(cache, Folder(str(repository)), PATIENT, str(tmp_path / "remote"))
    assert (first.changed, second.changed, second.path) == (True, False, first.path)
    assert content(first) == "resources: [../_remote/git/o/r/v1/x, github.com/o/absent//x?ref=v1]"
    assert [line.rpartition(": ")[2] for line in first.unresolved] == ["github.com/o/absent//x?ref=v1"]
