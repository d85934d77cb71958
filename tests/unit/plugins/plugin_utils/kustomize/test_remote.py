# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which references are remote, and where a folder of remote bases holds their targets."""

from __future__ import annotations

import pytest
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.remote import Location, is_remote, locations

GIT = Location("git/owner/repo/v1", "path/to", False)


@pytest.mark.parametrize(
    "reference",
    [
        "https://github.com/owner/repo/path?ref=v1",
        "http://example.org/file.yaml",
        "HTTPS://example.org/file.yaml",
        "git::https://example.org/repo.git",
        "github.com/owner/repo",
        "github.com:owner/repo",
        "git@gitlab.example.org:group/repo.git",
        "ssh://git@example.org/repo",
        "file:///srv/repo",
        "org-1234@github.com/owner/repo",
    ],
)
def test_what_kustomize_would_fetch_is_remote(reference: str) -> None:
    assert is_remote(reference)


@pytest.mark.parametrize(
    "reference", ["../base", "base", "./github.com/owner", "a.yaml", "/absolute", "github.community/x", "who@home.yaml"]
)
def test_what_kustomize_reads_from_disk_is_not_remote(reference: str) -> None:
    assert not is_remote(reference)


@pytest.mark.parametrize(
    "reference",
    [
        "https://github.com/owner/repo/path/to?ref=v1",
        "https://github.com/owner/repo//path/to?ref=v1",
        "https://github.com/owner/repo.git/path/to?ref=v1",
        "https://github.com/owner/repo.git//path/to/?version=v1",
        "github.com/owner/repo//path/to?ref=v1&timeout=90s",
        "git@github.com:owner/repo.git//path/to?ref=v1",
        "ssh://git@github.com/owner/repo//path/to?ref=v1",
        "git::https://github.com/owner/repo//path/to?ref=v1",
    ],
)
def test_every_spelling_of_a_repository_leads_to_one_place(reference: str) -> None:
    assert locations(reference) == [GIT]


def test_a_download_lies_at_the_path_of_its_url() -> None:
    url = "https://github.com/o/r/releases/download/v2/manifests.yaml"
    assert locations(url) == [Location("github.com/o/r/releases/download/v2", "manifests.yaml", True)]
    assert locations("https://example.org/a/b.yaml") == [Location("example.org/a", "b.yaml", True)]


@pytest.mark.parametrize(
    "reference", ["https://github.com/owner/repo//../../x?ref=v1", "github.com/owner/repo?ref=../..", "git@example.org:a/b.git"]
)
def test_what_leaves_the_folder_or_names_no_ref_lies_nowhere(reference: str) -> None:
    assert [place for place in locations(reference) if not place.is_file] == []
