# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the trees of parts with a source of their own come from."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.cache import Cache
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.errors import RenderError
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.parts import from_options
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.sources import Trees


@pytest.fixture
def source(tmp_path: Path) -> dict[str, str]:
    """A repository on disk with a tag, as a record names it."""
    folder = tmp_path / "repository"
    (folder / "manifests").mkdir(parents=True)
    (folder / "manifests" / "kustomization.yaml").write_text("resources: []\n")
    identity = ["-c", "user.name=test", "-c", "user.email=test@example.org", "-c", "commit.gpgsign=false"]
    for arguments in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "one"], ["tag", "v1.0.0"]):
        subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True)
    return {"repository": f"file://{folder}", "ref": "v1.0.0", "path": "git/o/r/v1.0.0"}


def test_without_remote_bases_a_tree_is_fetched_by_git(tmp_path, source):
    folder = Trees(Cache(tmp_path / "cache"), None)(source)
    assert (Path(folder) / "manifests" / "kustomization.yaml").is_file()


def test_with_remote_bases_it_is_taken_from_there(tmp_path, source):
    place = tmp_path / "bases" / source["path"]
    place.mkdir(parents=True)
    assert Trees(Cache(tmp_path / "cache"), str(tmp_path / "bases"))({**source, "repository": "https://git.invalid/o/r"}) == str(place)


def test_a_part_starts_at_its_own_tree_and_others_at_the_distribution(tmp_path, source):
    rows = [
        {"name": "a", "path": "manifests", "source": source, "components": ["manifests"]},
        {"name": "b", "path": "apps/b"},
        {"name": "c", "path": "/elsewhere/c"},
        {"name": "d", "path": "/tree/d"},
    ]
    own, plain, outside, inside = from_options(rows, "/tree", Trees(Cache(tmp_path / "cache"), None))
    assert own.root and own.folder == f"{own.root}/manifests" and own.components == (own.folder,)
    assert (plain.root, plain.folder) == (None, "/tree/apps/b")
    assert (outside.root, outside.folder) == ("/elsewhere/c", "/elsewhere/c")
    assert (inside.root, inside.folder) == (None, "/tree/d")


@pytest.mark.parametrize("source", ["x", {"repository": "https://git.invalid/o/r"}])
def test_an_incomplete_source_is_told(tmp_path, source):
    with pytest.raises(RenderError, match="part a: its source needs 'repository', 'ref' and 'path'"):
        from_options([{"name": "a", "path": "p", "source": source}], "/tree", Trees(Cache(tmp_path / "cache"), None))
