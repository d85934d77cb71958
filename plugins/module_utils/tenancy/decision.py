# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What was decided about one tenant."""

from __future__ import annotations

from dataclasses import dataclass, field

from ansible_collections.kubeflow.platform.plugins.module_utils.tenancy.changes import INSIDE, Change
from ansible_collections.kubeflow.platform.plugins.module_utils.tenancy.model import Findings, Tenant


@dataclass(slots=True)
class Decision:
    """The changes of one tenant in order, and what was found.

    ``unnamed``: contributors that the data does not name and that stay; ``removes``: such ones are to go. ``waits``: there is more to do
    inside the namespace once that is there.
    """

    tenant: Tenant
    changes: list[Change] = field(default_factory=list)
    findings: Findings = field(default_factory=Findings)
    unnamed: list[str] = field(default_factory=list)
    removes: bool = False
    waits: bool = False

    def later(self) -> None:
        """Keep only what can be done before the controller made the namespace."""
        kept = [change for change in self.changes if change.stage != INSIDE]
        self.waits = len(kept) < len(self.changes)
        self.changes = kept

    def error(self, text: str) -> None:
        """Note what forbids all writing."""
        self.findings.errors.append(f"Profile {self.tenant.name}: {text}")
