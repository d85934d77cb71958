# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The ways to install that are compared. Each is a command, given a tree on disk."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
# As upstream's README has it.
LOOP = (
    'while ! "$KUSTOMIZE" build "$TREE/example" | "$KUBECTL" apply --server-side --force-conflicts -f -; '
    'do echo "Retrying to apply resources"; sleep 20; done'
)


@dataclass(frozen=True)
class Setting:
    """What a way gets: the tree, the programs, the cluster, and a folder of its own that starts empty."""

    tree: Path
    release: str
    kustomize: Path
    kubectl: Path
    kubeconfig: Path
    work: Path

    def environment(self) -> dict[str, str]:
        """The environment of the command; caches are the way's own, so that the first run starts cold."""
        own = {
            "KUSTOMIZE": str(self.kustomize),
            "KUBECTL": str(self.kubectl),
            "TREE": str(self.tree),
            "KUBECONFIG": str(self.kubeconfig),
            "KUBECACHEDIR": str(self.work / "kubectl"),
            "ANSIBLE_FORCE_COLOR": "0",
        }
        return {**os.environ, **own}


def loop(setting: Setting) -> list[str]:
    """Upstream's loop."""
    return ["/bin/sh", "-c", LOOP]


def engine(setting: Setting) -> list[str]:
    """Plan, render and the engine's module, without the roles around it."""
    return _playbook(ROOT / "tests" / "bench" / "engine.yml", setting)


def site(setting: Setting) -> list[str]:
    """The whole of site.yml."""
    return _playbook(ROOT / "playbooks" / "site.yml", setting)


def _playbook(path: Path, setting: Setting) -> list[str]:
    variables = {
        "kubeflow_release": setting.release,
        "kubeflow_distribution_source": str(setting.tree),
        "kubeflow_kubeconfig": str(setting.kubeconfig),
        "kubeflow_work_dir": str(setting.work),
        "kubeflow_kustomize_path": str(setting.kustomize),
    }
    extra = [argument for name, value in variables.items() for argument in ("-e", f"{name}={value}")]
    program = Path(sys.executable).parent / "ansible-playbook"
    return [str(program), "-i", str(ROOT / "tests" / "bench" / "inventory.yml"), str(path), *extra]


WAYS: dict[str, Callable[[Setting], list[str]]] = {"loop": loop, "engine": engine, "site": site}
