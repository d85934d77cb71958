# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The engine's choices as read from the module's parameters, and the window of Kubernetes versions."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.model import EngineError
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.run import within
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.settings import Settings, faults
from ansible_collections.kubeflow.platform.tests.unit.api_double.objects import config, documents
from ansible_collections.kubeflow.platform.tests.unit.api_double.world import World

PARAMS: dict[str, Any] = {
    "prune": "delete",
    "adopt": "allow",
    "on_failure": "stop",
    "wait": False,
    "run_timeout": 60,
    "no_progress_timeout": 30,
    "lease_timeout": 5,
    "workers": 3,
}


def test_settings_are_the_parameters_and_times_are_seconds() -> None:
    release = {"name": "26.03.1", "kubernetes": {"min": "1.34", "max": 1.36}}
    more = {"set": "mon", "scope": ["a"], "removed": ["b"], "recreate": ["Job"], "takeover": ["x"], "backup_dir": "/b", "release": release}
    found = Settings.from_params({**PARAMS, **more}, check=True, diff=True)
    assert found == Settings(
        "mon",
        scope=("a",),
        removed=("b",),
        prune="delete",
        recreate=("Job",),
        adopt="allow",
        on_failure="stop",
        wait=False,
        run_timeout=60.0,
        no_progress_timeout=30.0,
        lease_timeout=5.0,
        workers=3,
        takeover=("x",),
        backup_dir="/b",
        check=True,
        diff=True,
        release="26.03.1",
        kubernetes_window=("1.34", "1.36"),
    )


def test_set_is_the_platforms_and_no_window_holds_when_nothing_is_said() -> None:
    found = Settings.from_params({**PARAMS, "release": None, "set": None, "scope": None}, check=False, diff=False)
    assert (found.set_name, found.release, found.kubernetes_window, found.scope) == ("kubeflow", None, None, ())


@pytest.mark.parametrize(
    ("version", "inside"),
    [
        ("v1.33.9", False),
        ("v1.34.0", True),
        ("1.36", True),
        ("v1.36.4-gke.100", True),
        ("v1.36.0+k3s1", True),
        ("v1.37.0-alpha.1", False),
        ("v1.4.0", False),
    ],
)
def test_window_of_versions_has_inclusive_prefixes_as_ends(version: str, inside: bool) -> None:
    assert within(version, "1.34", "1.36") == inside


def test_cluster_outside_the_window_is_refused_before_anything_is_written_unless_allowed() -> None:
    world = World()
    window = ("1.30", "1.35")
    with pytest.raises(EngineError, match=r"Kubernetes v1.36.1 is outside the range 1.30 to 1.35.*`allow_untested_kubernetes: true`"):
        world.run(documents(config("a")), kubernetes_window=window, release="26.03.1")
    assert [row for row in world.server.writes if row.by == "engine"] == []
    assert world.run(documents(config("a")), kubernetes_window=window, allow_untested_kubernetes=True).changed


@pytest.mark.parametrize("name", ["../x", "AAA", "a b", "a_b", "a/b", "-x", "x-", "a" * 51, "\u00fcn\u00ef"])
def test_set_is_refused_when_its_name_fits_no_object(name: str) -> None:
    (fault,) = faults({**PARAMS, "set": name})
    assert "is no name for a set" in fault


def test_all_wrong_options_are_told_at_once() -> None:
    wrong = {"set": "A", "workers": 0, "run_timeout": -5, "lease_timeout": -1, "release": {"kubernetes": {"min": "1.30"}}}
    assert len(faults({**PARAMS, **wrong})) == 5
    assert faults({**PARAMS, "set": "kubeflow"}) == []


@pytest.mark.parametrize(
    ("quirk", "words"),
    [
        ({"name": "x", "drop": ["/spec"]}, "entry 1: needs `kind`"),
        ({"drop": ["/spec"]}, "entry 1: needs `kind` and `name`"),
        ({"kind": 5, "name": "x", "drop": ["/spec"]}, "entry 1: needs `kind`"),
        ({"kind": "A", "name": "x"}, "says neither what to `drop` nor to `omit`"),
        ({"kind": "A", "name": "x", "drop": "/spec"}, "`drop` must be a list of paths"),
        ({"kind": "A", "name": "x", "drop": [5]}, "`drop` must be a list of paths"),
    ],
)
def test_quirk_that_says_not_what_it_is_about_is_told_before_rendering(quirk: dict[str, Any], words: str) -> None:
    (fault,) = faults({**PARAMS, "release": {"quirks": [quirk]}})
    assert fault.startswith("`release.quirks`, ") and words in fault


def test_quirks_that_drop_or_omit_are_right() -> None:
    quirks = [{"kind": "A", "name": "x", "drop": ["/spec/replicas"]}, {"kind": "B", "name": "y", "omit": True}]
    assert faults({**PARAMS, "release": {"quirks": quirks}}) == []
