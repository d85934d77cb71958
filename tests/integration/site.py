# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs site.yml as a user would, for tests: a real ansible-playbook, an inventory, and the engine's result on disk."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.testbed.bed.build import binaries
from tests.testbed.fixtures import Bed

ROOT = Path(__file__).parents[2]
# What the engine returned is kept beside the roles' own output: the play that follows site.yml writes it down.
KEEP = """
- name: Keep the engine's result
  hosts: kubeflow
  gather_facts: false
  tasks:
    - name: Write it down
      ansible.builtin.copy:
        content: "{{ __kubeflow_apply | to_json }}"
        dest: "{{ kept }}"
        mode: "0600"
      check_mode: false
      changed_when: false
      delegate_to: localhost
      when: __kubeflow_apply is defined
"""
RECAP = re.compile(r"^(\w+)\s+: ok=(\d+)\s+changed=(\d+)\s+unreachable=(\d+)\s+failed=(\d+)", re.MULTILINE)


@dataclass(frozen=True)
class Ran:
    """One run of site.yml: the engine's result, and what the operator saw."""

    code: int
    output: str
    result: dict[str, Any] = field(default_factory=dict)

    @property
    def changed(self) -> int:
        """Tasks that changed something, from the recap."""
        return sum(int(row[2]) for row in RECAP.findall(self.output))

    @property
    def failed(self) -> int:
        """Tasks that failed, from the recap."""
        return sum(int(row[4]) for row in RECAP.findall(self.output))

    def actions(self) -> dict[str, str]:
        """The action for each object that is not unchanged."""
        return {f"{row['kind']} {row['namespace']}/{row['name']}": row["action"] for row in self.result.get("actions", [])}


@dataclass(frozen=True)
class Site:
    """A cluster, a distribution and a folder for the caches of one journey."""

    bed: Bed
    folder: Path
    variables: dict[str, Any]

    def run(self, *arguments: str, playbook: str = "site", timeout: float = 900, **variables: Any) -> Ran:
        """A playbook of the collection; more variables go over the journey's own. A failed run is returned, not raised."""
        return self.play(f"- import_playbook: {ROOT / 'playbooks' / f'{playbook}.yml'}\n", *arguments, timeout=timeout, **variables)

    def play(self, plays: str, *arguments: str, timeout: float = 900, **variables: Any) -> Ran:
        """The same with plays of one's own."""
        kept = self.folder / "result.json"
        kept.unlink(missing_ok=True)
        playbook = self.folder / "journey.yml"
        playbook.write_text(plays + KEEP, encoding="utf-8")
        given = {
            "kubeflow_kubeconfig": str(self.bed.kubeconfig),
            "kubeflow_kustomize_path": str(binaries(["kustomize-5.8.1"])["kustomize-5.8.1"]),
            "kubeflow_work_dir": str(self.folder / "work"),
            "ansible_python_interpreter": sys.executable,
            "kept": str(kept),
            **self.variables,
            **variables,
        }
        command = [
            str(Path(sys.executable).parent / "ansible-playbook"),
            str(playbook),
            "-i",
            str(self._inventory()),
            "-e",
            json.dumps(given),
        ]
        done = subprocess.run(
            [*self.bed.prefix, *command, *arguments],
            env={**os.environ, "ANSIBLE_FORCE_COLOR": "0", "ANSIBLE_NOCOLOR": "1"},
            capture_output=True,
            text=True,
            check=False,
            stdin=subprocess.DEVNULL,
            timeout=timeout,
        )
        result = json.loads(kept.read_text(encoding="utf-8")) if kept.exists() else {}
        return Ran(done.returncode, done.stdout + done.stderr, result)

    def _inventory(self) -> Path:
        path = self.folder / "inventory.yml"
        path.write_text("kubeflow:\n  hosts:\n    bed:\n      ansible_connection: local\n", encoding="utf-8")
        return path
