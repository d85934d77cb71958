# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where and how a run was started, so that the commands which its closing table suggests can be typed as they stand. Pure."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

_PLAIN = re.compile(r"[\w./:@%+,-]+")


@dataclass(frozen=True, slots=True)
class Situation:
    """One run on one host. C(kubeconfig) and C(context) are empty when the environment decided.

    C(launcher) is what stands before C(ansible-playbook), as in a checkout. C(inventories) are those of the command line, none
    where the configuration names them, None where that is not known. C(extra) are variables of the command line.
    """

    host: str
    kubeconfig: str = ""
    context: str = ""
    check: bool = False
    demo: bool = False
    diff: bool = False
    launcher: str = ""
    inventories: tuple[str, ...] | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)
    program: str = "kubectl"

    def kubectl(self) -> str:
        """The beginning of a kubectl command for this cluster."""
        words = [shlex.quote(self.program)]
        if self.kubeconfig:
            words.append(f"--kubeconfig {_path(self.kubeconfig)}")
        if self.context:
            words.append(f"--context {shlex.quote(self.context)}")
        return " ".join(words)

    def playbook(self, name: str) -> str:
        """The command that runs another playbook of the collection on the same host."""
        given = ("INVENTORY",) if self.inventories is None else self.inventories
        words = [*shlex.split(self.launcher), "ansible-playbook", f"kubeflow.platform.{name}"]
        words += [word for inventory in given for word in ("-i", inventory)]
        words += ["--limit", self.host]
        for variable, value in self.extra.items():
            simple = isinstance(value, str) and _PLAIN.fullmatch(value)
            words += ["-e", f"{variable}={value}" if simple else json.dumps({variable: value})]
        return " ".join(shlex.quote(word) for word in words)


def _path(path: str) -> str:
    """A path for the shell, which has to see a tilde at its beginning."""
    return path if re.fullmatch(r"~[\w./-]*", path) else shlex.quote(path)
