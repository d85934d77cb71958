# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which release a tree on disk is of, told by its paths."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.graph import kustomization_in
from ansible_collections.kubeflow.platform.plugins.plugin_utils.records.model import Library, Release


def mismatches(release: Release, tree: Path) -> list[str]:
    """Why the tree cannot be of the release; empty when it can."""
    missing = [f"{path} is missing" for path in release.fingerprint.present if not (tree / path).exists()]
    foreign = [f"{path} should not be there" for path in release.fingerprint.absent if (tree / path).exists()]
    return missing + foreign


def recognise(library: Library, tree: Path) -> list[str]:
    """The names of the releases that the tree can be of."""
    return [release.name for release in library.releases.values() if not mismatches(release, tree)]


def refusal(library: Library, release: Release, tree: Path, paths: Sequence[str]) -> str | None:
    """Why the tree cannot be used for the release, with what to do; None when it can.

    C(paths) are those that the plan is going to render: each must hold a kustomization.
    """
    wrong = mismatches(release, tree)
    if wrong:
        like = [name for name in recognise(library, tree) if name != release.name]
        guess = f"It looks like release {' or '.join(like)}: set kubeflow_release to that" if like else "Look whether it is complete"
        return (
            f"{tree} is not the tree of release {release.name}: {'; '.join(wrong)}. "
            f"{guess}, or give the tree of {release.name} as kubeflow_distribution_source."
        )
    empty = [path for path in paths if kustomization_in(str(tree / path)) is None]
    if empty:
        return (
            f"{tree} lacks the kustomization of {', '.join(empty)}: the tree of release {release.name} is not complete. "
            "Give a complete one as kubeflow_distribution_source."
        )
    return None
