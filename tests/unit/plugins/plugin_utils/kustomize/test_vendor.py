# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The copied tree whose remote references lead to local folders."""

from __future__ import annotations

import tarfile
from pathlib import Path

import pytest
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.cache import Cache
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.errors import RenderError
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.fileindex import FileIndex
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.vendor import Vendored, bases_folder, vendored

KUSTOMIZATION = """# https://github.com/owner/repo/base?ref=v1 in a comment stays
resources:
- "https://github.com/owner/repo/base?ref=v1"   # why
- https://github.com/owner/files/releases/download/v2/all.yaml
- https://github.com/nobody/nothing//x?ref=v9
- local.yaml
"""


def write(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def make(tmp_path: Path) -> tuple[Vendored, Path]:
    write(tmp_path / "tree", {"deep/part/kustomization.yaml": KUSTOMIZATION, "deep/part/local.yaml": "", ".git/HEAD": "x"})
    write(
        tmp_path / "remote",
        {
            "git/owner/repo/v1/base/kustomization.yaml": "resources: [../other, github.com/owner/second//x?ref=v3]",
            "git/owner/repo/v1/other/kustomization.yaml": "",
            "git/owner/second/v3/x/kustomization.yml": "",
            "github.com/owner/files/releases/download/v2/all.yaml": "kind: A",
        },
    )
    cache = Cache(tmp_path / "cache")
    root = str(tmp_path / "tree")
    found = vendored(cache, FileIndex(cache, tmp_path / "tree"), root, bases_folder(cache, str(tmp_path)))
    return found, Path(found.root)


def test_references_become_folders_and_nothing_else_changes(tmp_path: Path) -> None:
    _found, tree = make(tmp_path)
    assert (
        (tree / "deep/part/kustomization.yaml").read_text()
        == """# https://github.com/owner/repo/base?ref=v1 in a comment stays
resources:
- "../../_remote/git/owner/repo/v1/base"   # why
- ../../_remote/http/github.com/owner/files/releases/download/v2/all.yaml
- https://github.com/nobody/nothing//x?ref=v9
- local.yaml
"""
    )
    assert (tree / "_remote/git/owner/repo/v1/other/kustomization.yaml").is_file()
    file = tree / "_remote/http/github.com/owner/files/releases/download/v2/all.yaml"
    assert (file / "all.yaml").read_text() == "kind: A"
    assert (file / "kustomization.yaml").read_text() == "resources:\n- all.yaml\n"
    assert not (tree / ".git").exists()
    assert (tmp_path / "tree/deep/part/kustomization.yaml").read_text() == KUSTOMIZATION


def test_remote_references_inside_a_remote_base_are_resolved_too(tmp_path: Path) -> None:
    _found, tree = make(tmp_path)
    assert (tree / "_remote/git/owner/repo/v1/base/kustomization.yaml").read_text() == "resources: [../other, ../../../second/v3/x]"
    assert (tree / "_remote/git/owner/second/v3/x/kustomization.yml").is_file()


def test_what_the_bases_lack_is_left_and_reported(tmp_path: Path) -> None:
    found, tree = make(tmp_path)
    (left,) = found.unresolved
    assert (left.file, left.line, left.text) == (
        str(tree / "deep/part/kustomization.yaml"),
        5,
        "https://github.com/nobody/nothing//x?ref=v9",
    )


def test_a_second_run_makes_no_copy_and_a_changed_tree_makes_another(tmp_path: Path) -> None:
    first, _tree = make(tmp_path)
    second, _tree = make(tmp_path)
    assert (first.is_new, second.is_new, second.root) == (True, False, first.root)
    write(tmp_path / "tree", {"new.yaml": "x"})
    third, _tree = make(tmp_path)
    assert third.is_new
    assert third.root != first.root


def test_bases_come_as_a_folder_or_an_archive(tmp_path: Path) -> None:
    make(tmp_path)
    cache = Cache(tmp_path / "cache")
    assert bases_folder(cache, str(tmp_path / "remote")) == tmp_path / "remote"
    with tarfile.open(tmp_path / "bases.tar.xz", "w:xz") as archive:
        archive.add(tmp_path / "remote", "remote")
    folder = bases_folder(cache, str(tmp_path / "bases.tar.xz"))
    assert (folder / "git/owner/repo/v1/base/kustomization.yaml").is_file()


def test_a_folder_without_bases_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RenderError, match="it holds neither `git` nor `github.com`"):
        bases_folder(Cache(tmp_path / "cache"), str(tmp_path))
    with pytest.raises(RenderError, match="it does not exist"):
        bases_folder(Cache(tmp_path / "cache"), str(tmp_path / "none"))


def test_links_in_a_circle_do_not_hinder_the_copy(tmp_path: Path) -> None:
    (tmp_path / "tree/odd").mkdir(parents=True)
    for name, leads_to in (("kustomization.yaml", "b"), ("b", "kustomization.yaml"), ("Kustomization", "nothing"), ("up", "..")):
        (tmp_path / "tree/odd" / name).symlink_to(leads_to)
    found, tree = make(tmp_path)
    assert found.is_new
    assert (tree / "odd/kustomization.yaml").is_symlink()
