"""What holds for the repository as a whole."""

from __future__ import annotations

import re
import socket
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.quality.checkers import CHECKOUT, files

HEADER = [
    "# Copyright (c) 2026, kubeflow.platform contributors",
    "# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)",
    "# SPDX-License-Identifier: GPL-3.0-or-later",
]


def load(path: str) -> Any:
    """A YAML file of the checkout."""
    return yaml.safe_load((CHECKOUT / path).read_text(encoding="utf-8"))


def containing(text: str) -> list[str]:
    """The files of the checkout that contain `text`."""
    return [str(path) for path in files() if text in (CHECKOUT / path).read_text(encoding="utf-8", errors="ignore")]


def test_no_file_names_this_machine() -> None:
    host = socket.gethostname()
    # A host called like a word of our own ("worker") says nothing.
    named = {f"{CHECKOUT}/", f"{Path.home()}/", *([host] if len(host) > 7 and re.search(r"\d", host) else [])}
    assert {name: where for name in named if len(name) > 4 and (where := containing(name))} == {}


def test_only_the_ci_entry_looks_outside_the_checkout() -> None:
    beside = set(re.findall(r"\.\./\w+/\w+", (CHECKOUT / ".ci" / "run").read_text(encoding="utf-8")))
    assert {name: where for name in beside if (where := containing(name)) != [".ci/run"]} == {}


@pytest.mark.parametrize("path", sorted(str(path) for path in files() if re.fullmatch(r"requirements-\w+\.txt", path.name)))
def test_a_lock_file_holds_hashes_and_names_no_index(path: str) -> None:
    text = (CHECKOUT / path).read_text(encoding="utf-8")
    assert not re.search(r"://|^--(index|extra-index|find-links)", text, re.M)
    assert len(re.findall(r"^\S+==", text, re.M)) == len(re.findall(r"^\S+==.*\\\n +--hash=sha256:", text, re.M)) > 0


@pytest.mark.parametrize("path", [path for path in files() if path.parts[0] == "plugins" and path.suffix == ".py"], ids=str)
def test_a_plugin_file_has_the_licence_header(path: Path) -> None:
    lines = (CHECKOUT / path).read_text(encoding="utf-8").splitlines()
    if lines:
        assert [line for line in lines[:4] if not line.startswith("#!")][:3] == HEADER


def test_there_is_no_ignore_file_for_sanity() -> None:
    assert [str(path) for path in files() if path.parts[:2] == ("tests", "sanity")] == []


def test_versions_agree() -> None:
    version = load("galaxy.yml")["version"]
    assert version in load("changelogs/changelog.yaml")["releases"]
    assert f"kubeflow-platform-{version}.tar.gz" in (CHECKOUT / "README.md").read_text(encoding="utf-8")


def test_dependencies_agree() -> None:
    listed = {entry["name"]: entry["version"] for entry in load("requirements.yml")["collections"]}
    assert listed == load("galaxy.yml")["dependencies"]


def test_every_module_that_talks_to_a_cluster_is_in_the_action_group() -> None:
    modules = [path for path in files() if path.parts[:2] == ("plugins", "modules")]
    connected = {path.stem for path in modules if "k8s_auth_options" in (CHECKOUT / path).read_text(encoding="utf-8")}
    assert connected == set(load("meta/runtime.yml")["action_groups"]["platform"])
