# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How a user says where a distribution comes from."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from ansible_collections.kubeflow.platform.plugins.plugin_utils.distribution.source import UPSTREAM, Archive, Folder, Repository, read
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.errors import RenderError

RELEASE = {"name": "26.03.1", "source": {"repository": "https://example.org/record.git", "ref": "release-26.03.1", "commit": "a" * 40}}


def absolute(path: str) -> str:
    return str(Path("/base") / path)


@pytest.mark.parametrize("given", [None, "", {}])
def test_nothing_given_is_the_releases_own_source(given: Any) -> None:
    assert read(given, RELEASE, absolute) == Repository("https://example.org/record.git", "release-26.03.1", "a" * 40)
    assert read(given, {"source": {"ref": "26.03"}}, absolute) == Repository(UPSTREAM, "26.03", None)


@pytest.mark.parametrize(
    ("given", "source"),
    [
        ("https://example.org/x/tree.tar.xz", Archive("https://example.org/x/tree.tar.xz", None)),
        ("https://example.org/x/tree.zip?token=1", Archive("https://example.org/x/tree.zip?token=1", None)),
        ("https://example.org/x/tree", Repository("https://example.org/x/tree", "release-26.03.1", None)),
        ("git@example.org:x/tree.git", Repository("git@example.org:x/tree.git", "release-26.03.1", None)),
        ("ssh://git@example.org/x/tree", Repository("ssh://git@example.org/x/tree", "release-26.03.1", None)),
        ({"folder": "tree"}, Folder("/base/tree")),
        ({"archive": "t.tar.gz", "sha256": "sha256:" + "AB" * 32}, Archive("/base/t.tar.gz", "ab" * 32)),
        ({"repository": "https://example.org/t", "ref": "v1.10.2"}, Repository("https://example.org/t", "v1.10.2", None)),
        ({"repository": "https://example.org/t", "commit": "b" * 40}, Repository("https://example.org/t", "release-26.03.1", "b" * 40)),
    ],
)
def test_texts_and_mappings_are_understood(given: Any, source: Any) -> None:
    assert read(given, RELEASE, absolute) == source


def test_a_text_that_names_something_on_disk_is_told_by_what_is_there(tmp_path: Path) -> None:
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree.tar.xz").touch()
    assert read(str(tmp_path / "tree"), {}, absolute) == Folder(str(tmp_path / "tree"))
    assert read(str(tmp_path / "tree.tar.xz"), {}, absolute) == Archive(str(tmp_path / "tree.tar.xz"), None)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("nothing/there", "neither a folder nor an archive at /base/nothing/there"),
        ({"archive": "a.tar.xz", "repository": "b"}, "it has archive and repository"),
        ({"url": "x"}, "it has none of the keys"),
        ({"folder": "x", "ref": "v1"}, "unknown key ref. With folder use folder"),
        ({"archive": "x.rpm"}, "is no archive that can be unpacked"),
        ({"archive": "x.tar", "sha256": "12"}, "is not 64 hexadecimal digits"),
        ({"repository": "https://e.org/x", "ref": "--upload-pack=touch"}, "is no name of a branch"),
        ({"repository": "https://e.org/x", "ref": "a b"}, "is no name of a branch"),
        ({"repository": "https://e.org/x", "ref": "v1", "commit": "abc"}, "is not 40 hexadecimal digits"),
        ({"repository": "ext::sh -c touch", "ref": "v1"}, "is no address"),
        ({"repository": "-x", "ref": "v1"}, "is no address"),
        (3, "neither a text nor a mapping"),
    ],
)
def test_what_cannot_be_meant_is_refused_with_the_reason(given: Any, words: str) -> None:
    with pytest.raises(RenderError, match=words):
        read(given, RELEASE, absolute)


def test_a_repository_without_any_ref_is_refused() -> None:
    with pytest.raises(RenderError, match="needs `ref`"):
        read({"repository": "https://example.org/x"}, {}, absolute)


@pytest.mark.parametrize("given", ["https://me:hunter22@example.org/x.git", {"archive": "https://me:hunter22@example.org/x.zip"}])
def test_credentials_in_a_url_are_refused_without_repeating_them(given: Any) -> None:
    with pytest.raises(RenderError, match="holds credentials") as error:
        read(given, RELEASE, absolute)
    assert "hunter22" not in str(error.value)
