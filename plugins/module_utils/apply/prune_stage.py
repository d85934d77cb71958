# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The stage that removes what is recorded and no longer desired, or says what it would remove."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ansible_collections.kubeflow.platform.plugins.module_utils.apply.ledger import Ledger, LedgerStore
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.model import Item
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.result import Row
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.settings import Settings
from ansible_collections.kubeflow.platform.plugins.module_utils.objects.identity import Identity

if TYPE_CHECKING:
    from ansible_collections.kubeflow.platform.plugins.module_utils.apply.run import Tools


class PruneStage:
    def __init__(self, settings: Settings, tools: Tools, ledger: Ledger) -> None:
        self._ledger = ledger

    def plan(self, items: Sequence[Item], live: Mapping[Identity, dict[str, Any]], *, failed: bool) -> list[Row]:
        return []

    def carry_out(self, store: LedgerStore) -> list[Identity]:
        return []
