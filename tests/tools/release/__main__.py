# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Drafts the record of a new release from its tree, and lists what a person has to decide.

make release RELEASE=26.09 TREE=/path/to/the/tree
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.cache import Cache
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.fileindex import FileIndex
from ansible_collections.kubeflow.platform.plugins.plugin_utils.records.library import load
from ansible_collections.kubeflow.platform.plugins.plugin_utils.records.problems import RecordError
from ansible_collections.kubeflow.platform.plugins.plugin_utils.records.version import numbers

from tests.tools.release import compare
from tests.tools.release.draft import draft
from tests.tools.release.tree import read

ROOT = Path(__file__).resolve().parents[3]


def main() -> int:
    """Write releases/<release>.yml and print the decisions; 1 with one sentence when that cannot be done."""
    parser = argparse.ArgumentParser(description="Draft the record of a new release of the distribution.")
    parser.add_argument("release", help="its name, such as 26.09")
    parser.add_argument("tree", type=Path, help="the folder of its tree")
    given = parser.parse_args()
    target = ROOT / "releases" / f"{given.release}.yml"
    try:
        numbers(given.release)
        tree, library = read(given.tree.expanduser().resolve()), load(ROOT)
    except (ValueError, RecordError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    older = [release for name, release in library.releases.items() if numbers(name) < numbers(given.release)]
    if target.exists() or not older:
        reason = f"{target} exists: remove it to draft it anew" if target.exists() else f"no known release is older than {given.release}"
        sys.stderr.write(f"{reason}.\n")
        return 1
    previous = older[-1]
    known = compare.spots(library, previous)
    index = FileIndex(Cache(), tree.root)
    target.write_text(draft(tree, known, previous, given.release, index), encoding="utf-8")
    index.save()
    print(f"{target.relative_to(ROOT)} is drafted, after {previous.name}. To decide:")
    for number, text in enumerate(compare.decisions(library, previous, tree, known, given.release), start=1):
        print(f"{number:3}. {text}")
    try:
        load(ROOT)
    except RecordError as error:
        print(f"Until then the records do not fit together:\n{error}")
    print("Then put the tree's archive into KUBEFLOW_DISTRIBUTIONS and run: tests/tools/run pytest tests/unit/releases")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
