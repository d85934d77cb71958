# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Hashes by stat data: nothing is read twice, nothing changed is missed."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize import fileindex
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.cache import Cache
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.fileindex import FileIndex, tree_digest


@pytest.fixture
def settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files count as settled at once; otherwise each test would have to wait for two seconds."""
    monkeypatch.setattr(fileindex, "_RACY_NS", -10_000_000_000)


def no_reading(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: str) -> bytes:
        raise AssertionError(f"{path} was read")

    monkeypatch.setattr(FileIndex, "_read", staticmethod(refuse))


@pytest.mark.usefixtures("settled")
def test_a_warm_run_reads_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "tree" / "kustomization.yaml"
    file.parent.mkdir()
    file.write_text("resources: [a.yaml]")
    cache = Cache(tmp_path / "cache")
    first = FileIndex(cache, file.parent)
    digest, references = first.digest(str(file)), first.references(str(file))
    first.save()
    no_reading(monkeypatch)
    second = FileIndex(cache, file.parent)
    assert (second.digest(str(file)), second.references(str(file))) == (digest, references)
    assert second.size(str(file)) == 19


@pytest.mark.usefixtures("settled")
def test_an_edit_that_keeps_size_and_time_is_seen(tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    file.write_text("one")
    stat = file.stat()
    cache = Cache(tmp_path / "cache")
    index = FileIndex(cache, tmp_path)
    before = index.digest(str(file))
    index.save()
    file.write_text("two")
    os.utime(file, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert FileIndex(cache, tmp_path).digest(str(file)) != before


def test_a_file_that_changed_just_now_is_not_remembered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "a.yaml"
    file.write_text("one")
    cache = Cache(tmp_path / "cache")
    index = FileIndex(cache, tmp_path)
    index.digest(str(file))
    index.save()
    no_reading(monkeypatch)
    with pytest.raises(AssertionError, match="was read"):
        FileIndex(cache, tmp_path).digest(str(file))


def test_an_absent_file_has_no_digest(tmp_path: Path) -> None:
    assert FileIndex(Cache(tmp_path / "cache"), tmp_path).digest(str(tmp_path / "nothing")) is None


def test_a_damaged_index_is_made_anew(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "cache")
    index = FileIndex(cache, tmp_path)
    (tmp_path / "a").write_text("x")
    index.digest(str(tmp_path / "a"))
    index.save()
    for store in (tmp_path / "cache" / "index").iterdir():
        store.write_text("{")
    assert FileIndex(cache, tmp_path).digest(str(tmp_path / "a"))


def test_the_digest_of_a_tree_depends_on_paths_and_contents_only(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "cache")

    def digest(name: str, files: dict[str, str]) -> str:
        for path, text in files.items():
            (tmp_path / name / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name / path).write_text(text)
        return tree_digest(FileIndex(cache, tmp_path / name), tmp_path / name)

    one = digest("one", {"a/b": "x", "c": "y", ".git/HEAD": "z"})
    assert digest("two", {"c": "y", "a/b": "x"}) == one
    assert digest("three", {"a/c": "x", "c": "y"}) != one
    assert digest("four", {"a/b": "X", "c": "y"}) != one


def test_entries_unused_for_long_are_swept(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "cache")
    for name in ("old", "new"):
        cache.write_json(cache.path("renders", name), {})
    cache.path("renders", "folder").mkdir()
    os.utime(cache.path("renders", "old"), (0, 0))
    os.utime(cache.path("renders", "folder"), (0, 0))
    cache.sweep(("renders",), time.time())
    assert [entry.name for entry in (tmp_path / "cache" / "renders").iterdir()] == ["new"]
    assert (tmp_path / "cache" / "renders" / "new").stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "cache").stat().st_mode & 0o777 == 0o700
