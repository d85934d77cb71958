# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A scope that names nothing is told before anything is rendered."""

from __future__ import annotations

import pytest
from ansible_collections.kubeflow.platform.plugins.action.kustomize_apply import unknown_scope


@pytest.mark.parametrize(
    ("name", "words"),
    [("katip", "did you mean 'katib'?"), ("Katib", "did you mean 'katib'?"), ("nonsense", "(known: dex, katib, knative)")],
)
def test_unknown_component_in_the_scope_is_told_with_the_nearest(name: str, words: str) -> None:
    (fault,) = unknown_scope([name, "dex"], ["katib", "dex"], ["knative"])
    assert fault.startswith(f"`scope`: there is no component {name!r}") and fault.endswith(words)


def test_components_of_the_call_and_removed_ones_may_be_in_the_scope() -> None:
    assert unknown_scope(["katib", "knative"], ["katib", "dex"], ["knative"]) == []
    assert unknown_scope([], ["katib"], []) == []
