# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which files are generated, and what they should hold."""

from __future__ import annotations

from pathlib import Path

from ansible_collections.kubeflow.platform.plugins.plugin_utils.records.library import load

from tests.tools.reference.options import releases, roles
from tests.tools.reference.page import page
from tests.tools.reference.readme import block, updated
from tests.tools.reference.release_page import release_page

ROOT = Path(__file__).resolve().parents[3]
PAGE = Path("docs") / "docsite" / "rst" / "variables.rst"
RELEASES = PAGE.with_name("releases.rst")


def wanted(root: Path) -> dict[Path, str]:
    """The content of every generated file below a collection's root; hand-written parts are taken from what is there."""
    found = roles(root)
    files = {root / PAGE: page(found, releases(root)), root / RELEASES: release_page(load(root))}
    for role in found.values():
        path = root / "roles" / role.name / "README.md"
        files[path] = updated(path.read_text(encoding="utf-8") if path.exists() else "", block(role))
    return files
