# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The actions of rendering and fetching, run by ansible-playbook as a user would run them; no cluster is there."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

pytestmark = pytest.mark.bed  # for kustomize, which is built with the programs of the test bed

Play = Callable[..., tuple[int, str]]
CONFIG_MAP = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x, namespace: a}\n"


@pytest.fixture
def play(tmp_path: Path) -> Play:
    """Runs tasks on two local hosts at once; gives the exit code and everything that was printed."""

    def run(*tasks: dict[str, Any], arguments: tuple[str, ...] = (), **variables: Any) -> tuple[int, str]:
        book = tmp_path / "book.yml"
        book.write_text(yaml.safe_dump([{"hosts": "all", "gather_facts": False, "tasks": list(tasks)}]))
        given = {"ansible_connection": "local", "ansible_python_interpreter": sys.executable, **variables}
        command = [sys.executable, "-m", "ansible", "playbook", str(book), "-i", "one,two", "-e", json.dumps(given), *arguments]
        environment = {**os.environ, "ANSIBLE_NOCOLOR": "1", "HOME": str(tmp_path)}
        done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=tmp_path, check=False, stdin=subprocess.DEVNULL)
        return done.returncode, done.stdout + done.stderr

    return run


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    folder = tmp_path / "tree"
    folder.mkdir()
    (folder / "kustomization.yaml").write_text("resources: [x.yaml]\n")
    (folder / "x.yaml").write_text(CONFIG_MAP)
    return folder


@pytest.fixture
def applying(tree: Path, work_dir: Path, kustomize: str, tmp_path: Path) -> Callable[..., dict[str, Any]]:
    def task(**options: Any) -> dict[str, Any]:
        common = {"path": str(tree), "set": "test", "kustomize_path": kustomize, "work_dir": str(work_dir)}
        chosen = {**common, "kubeconfig": str(tmp_path / "none"), **options}
        return {"kubeflow.platform.kustomize_apply": {name: value for name, value in chosen.items() if value is not None}}

    return task


def test_hosts_share_one_render_and_then_meet_the_cluster(play: Play, applying: Callable[..., dict[str, Any]]) -> None:
    code, text = play(applying())
    assert code != 0
    assert text.count("rendering 1 of 1 parts with kustomize 5.8.1") == 1
    assert text.count("rendered 1 objects in") == 1
    assert "The kubeconfig" in text and "does not exist" in text


@pytest.mark.skipif(os.getuid() != 0, reason="only root becomes another user without a password")
def test_the_parts_are_brought_to_a_host_that_is_not_the_controller(play: Play, applying: Callable[..., dict[str, Any]]) -> None:
    # Another user on the way makes the local connection one that files have to be brought over.
    code, text = play(applying(), ansible_become=True, ansible_become_method="ansible.builtin.su")
    assert code != 0
    # The module read its parts before it looked for the kubeconfig.
    assert "The kubeconfig" in text and "does not exist" in text


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"path": None}, "one of the following is required: parts, path"),
    ({"parts": [{"name": "a", "path": "b"}]}, "parameters are mutually exclusive: parts|path"),
    ({"set": None}, "`path` needs `set`"),
    ({"parts_file": "/x"}, "parts_file cannot be set by hand"),
    ({"prune": "perhaps"}, "value of prune must be one of: report, delete"),
    ({"pach": "x"}, "Supported parameters include"),
    ({"path": "nowhere"}, "nowhere has no kustomization.yaml"),
    ({"kustomize_path": "/nowhere/kustomize"}, "/nowhere/kustomize: No such file or directory"),
    ({"release": {"name": "1.10.2", "kustomize": {"max": "5.7"}}}, "Newer versions render this release wrongly"),
    ({"path": None, "parts": [{"name": "a", "path": "b"}]}, "its path b is relative and `distribution` is not set"),
    ({"path": None, "distribution": "/nowhere", "parts": [{"name": "a", "path": "b"}]}, "there is no folder /nowhere"),
]


def test_wrong_options_fail_before_anything_is_run(play: Play, applying: Callable[..., dict[str, Any]], tmp_path: Path) -> None:
    tasks = [
        {**applying(**options), "ignore_errors": True, "register": f"wrong_{number}"} for number, (options, _words) in enumerate(WRONG)
    ]
    messages = "{{ [" + ", ".join(f"wrong_{number}.msg" for number in range(len(WRONG))) + "] | to_json }}"
    keep = {"ansible.builtin.copy": {"content": messages, "dest": str(tmp_path / "messages.json")}}
    _code, text = play(*tasks, keep)
    told = json.loads((tmp_path / "messages.json").read_text())
    assert [words for (_options, words), message in zip(WRONG, told, strict=True) if words not in message] == []
    assert "rendering" not in text
    assert "Traceback" not in text


def test_validation_needs_no_cluster(play: Play, applying: Callable[..., dict[str, Any]], tree: Path) -> None:
    pytest.importorskip("kubernetes_validate")
    (tree / "x.yaml").write_text(CONFIG_MAP + "data: {a: b}\nbinaryDat: {}\n")
    code, text = play(applying(validate=True))
    assert code != 0
    assert "ConfigMap x (part default)" in text and "binaryDat" in text


def test_the_role_fetches_once_for_all_hosts(play: Play, tree: Path, work_dir: Path) -> None:
    role = {"ansible.builtin.include_role": {"name": "kubeflow.platform.distribution"}}
    show = {"ansible.builtin.debug": {"var": "distribution_found.path"}}
    archive = work_dir.parent / "tree.tar.gz"
    subprocess.run(["tar", "czf", str(archive), "-C", str(tree.parent), "tree"], check=True)
    variables = {"distribution_source": str(archive), "distribution_work_dir": str(work_dir)}
    code, text = play(role, show, **variables)
    assert code == 0, text
    assert text.count("changed=1") == 1 and text.count("changed=0") == 1
    (line,) = {line for line in text.splitlines() if '"distribution_found.path"' in line}
    path = Path(json.loads("{" + line + "}")["distribution_found.path"])
    assert (path / "kustomization.yaml").read_text() == "resources: [x.yaml]\n"
    code, text = play(role, show, arguments=("--check",), **variables)
    assert (code, text.count("changed=0")) == (0, 2)


def test_a_password_is_never_shown(play: Play, work_dir: Path) -> None:
    task = {
        "kubeflow.platform.distribution": {
            "source": {"repository": "https://127.0.0.1:9/x.git", "ref": "v1"},
            "password": "{{ 'canary' ~ '-word' }}",
            "username": "me",
            "work_dir": str(work_dir),
        }
    }
    code, text = play(task, arguments=("-vvvv",))
    assert code != 0
    assert "Failed to fetch v1 from https://127.0.0.1:9/x.git" in text
    assert "canary-word" not in text
    for folder, _folders, names in os.walk(work_dir):
        assert all(b"canary-word" not in (Path(folder) / name).read_bytes() for name in names)


def test_scope_that_names_nothing_is_told_before_rendering(play: Play, applying: Callable[..., dict[str, Any]], work_dir: Path) -> None:
    code, shown = play(applying(scope=["defualt"]))
    assert code != 0
    assert "`scope`: there is no component 'defualt'; did you mean 'default'?" in " ".join(shown.split())
    assert not list((work_dir / "parts").glob("*"))


def test_error_of_kustomize_shows_no_secret_however_loud_ansible_is(
    play: Play, applying: Callable[..., dict[str, Any]], tree: Path
) -> None:
    patch = "kind: Secret\n    stringData:\n      any: canary-of-a-secret\n     bad: pin4711"
    (tree / "kustomization.yaml").write_text(f"resources: [x.yaml]\npatches:\n- patch: |-\n    {patch}\n")
    code, shown = play(applying(), arguments=("-vvvv",))
    assert code != 0
    assert "Failed to render part default" in " ".join(shown.split())
    assert "canary-of-a-secret" not in shown and "pin4711" not in shown


def test_token_in_the_address_of_a_distribution_is_not_told(play: Play, tmp_path: Path) -> None:
    source = "https://127.0.0.1:9/tree.tar.xz?token=canary-of-a-token"
    task = {"kubeflow.platform.distribution": {"source": source, "work_dir": str(tmp_path / "work"), "fetch_timeout": 5}}
    code, shown = play(task)
    assert code != 0 and "Failed to download https://127.0.0.1:9/tree.tar.xz" in " ".join(shown.split())
    assert "canary-of-a-token" not in shown


def test_a_run_of_the_role_names_its_variables_and_the_server_that_is_not_there(play: Play, kustomize: str, tmp_path: Path) -> None:
    clusters = [{"name": "k", "cluster": {"server": "http://127.0.0.1:9"}}]
    contexts = [{"name": "far-away", "context": {"cluster": "k", "user": "u"}}]
    users = [{"name": "u", "user": {"token": "t"}}]
    config = {"kind": "Config", "clusters": clusters, "contexts": contexts, "users": users, "current-context": "far-away"}
    (tmp_path / "config").write_text(json.dumps(config))
    code, text = play(
        {"ansible.builtin.include_role": {"name": "kubeflow.platform.kubeflow"}},
        kubeflow_distribution_source=str(Path(__file__).parents[2] / "distribution"),
        kubeflow_only=["dex"],
        kubeflow_kustomize_path=kustomize,
        kubeflow_kubeconfig=str(tmp_path / "config"),
        kubeflow_work_dir=str(tmp_path / "work"),
    )
    assert code != 0
    assert f"nothing accepts connections at http://127.0.0.1:9 (kubeconfig {tmp_path / 'config'}, context far-away): " in text
    assert "`kubeflow_kubeconfig`" in text and "`kubeconfig`" not in text
