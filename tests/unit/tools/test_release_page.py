# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import re

import pytest
import yaml
from ansible_collections.kubeflow.platform.plugins.plugin_utils.records.library import collection_root, load

from tests.tools.reference.files import RELEASES
from tests.tools.reference.release_page import release_page

LIBRARY = load(collection_root())
TEXT = release_page(LIBRARY)


def cells(first: str) -> list[str]:
    """The cells of the row of a table that begins with this one."""
    row = re.search(rf"   \* - {re.escape(first)}\n((?:     -.*\n)*)", TEXT)
    assert row is not None, first
    return [line[7:] for line in row.group(1).splitlines()]


@pytest.mark.parametrize("release", LIBRARY.releases.values(), ids=lambda release: release.name)
def test_the_windows_of_a_release_are_told(release):
    assert cells(release.name) == [f"``{release.source.ref}``", str(release.kustomize), str(release.kubernetes)]


def test_a_component_is_told_with_its_version_or_as_one_that_can_be_added():
    assert cells("Trainer (``trainer``)") == ["2.2.0", "2.1.0", "2.1.0", "", ""]
    assert cells("Training Operator (``training_operator``)") == ["added", "added", "added", "1.9.2", "1.7.0"]
    assert cells("User namespace (``user_namespace``)") == ["yes"] * 5


def test_every_component_of_every_selection_is_told():
    for release in LIBRARY.releases.values():
        for names in release.selections.values():
            assert all(f"``{name}``" in TEXT for name in names)


def test_every_quirk_and_difference_is_told_with_its_reason():
    flat = " ".join(TEXT.split())
    for release in LIBRARY.releases.values():
        for entry in (*release.quirks, *release.differences):
            assert f"``{entry.name}``" in flat
            assert entry.because.split("$")[0].strip() in flat


def test_the_page_is_among_the_guides():
    listed = yaml.safe_load((collection_root() / "docs" / "docsite" / "extra-docs.yml").read_text(encoding="utf-8"))
    assert RELEASES.stem in [name for section in listed["sections"] for name in section["toctree"]]
