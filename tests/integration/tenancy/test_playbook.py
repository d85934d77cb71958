# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The playbook tenants.yml as a user runs it: applied, exported, and the export applied."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.integration.tenancy.driver import Platform

pytestmark = pytest.mark.bed
ROOT = Path(__file__).parents[3]
DATA = {
    "tenants_profiles": [
        {"name": "played-a", "owner": {"name": "alice@example.com"}, "contributors": [{"name": "bob@example.com"}]},
        {"name": "played-b", "owner": {"name": "eve@example.com"}, "labels": {"switch": "on"}},
    ],
    "tenants_defaults": {"quota": {"cpu": "4"}},
}


def play(platform: Platform, *arguments: str, **variables: Any) -> tuple[int, str]:
    """`ansible-playbook tenants.yml`; how many tasks changed something, and the output."""
    inventory = platform.folder / "inventory.yml"
    inventory.write_text("kubeflow:\n  hosts:\n    bed:\n      ansible_connection: local\n", encoding="utf-8")
    given = {"kubeflow_kubeconfig": str(platform.bed.kubeconfig), "ansible_python_interpreter": sys.executable, **variables}
    program = str(Path(sys.executable).parent / "ansible-playbook")
    done = subprocess.run(
        [program, str(ROOT / "playbooks" / "tenants.yml"), "-i", str(inventory), "-e", json.dumps(given), *arguments],
        env={**os.environ, "ANSIBLE_NOCOLOR": "1"},
        cwd=platform.folder,
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
        timeout=180,
    )
    output = done.stdout + done.stderr
    assert done.returncode == 0, output
    found = re.search(r"changed=(\d+)", output)
    assert found is not None, output
    return int(found[1]), output


def test_the_playbook_applies_exports_and_finds_its_export_applied(platform: Platform) -> None:
    foretold, shown = play(platform, "--check", "--diff", **DATA)
    assert foretold == 1
    assert "switch: 'on'" in shown
    assert platform.get("profile", "", "played-a") == {}
    assert play(platform, **DATA)[0] == 1
    assert play(platform, **DATA)[0] == 0
    exported = platform.folder / "live.yml"
    play(platform, tenants_mode="export", tenants_export_file=str(exported))
    data = yaml.safe_load(exported.read_text(encoding="utf-8"))
    mine = {row["name"]: row for row in data["tenants_profiles"] if row["name"].startswith("played-")}
    assert mine["played-a"]["contributors"] == [{"name": "bob@example.com", "role": "edit"}]
    assert mine["played-b"]["labels"] == {"switch": "on"}
    assert play(platform, **data, tenants_authoritative=True)[0] == 0
