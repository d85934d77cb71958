# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which failures are worth another attempt, when, and how many requests may be under way."""

from __future__ import annotations

from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.errors import Failure
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.patience import LONGEST_REQUESTED

FIRST_PAUSE = 0.5
LONGEST_PAUSE = 15.0
LONGEST_SHORT_PAUSE = 2.0
# Waiting for one of these ends only with the run: the server or another controller has to act.
UNBOUNDED = frozenset({"transport", "throttled", "server_down", "terminating", "ns_terminating", "webhook_down"})
BOUNDED = {"internal": 5, "conflict_version": 10, "live_schema": 1, "stale_schema": 50}
# States that other controllers end within moments: a long pause would only add to the wait.
SHORT = frozenset({"terminating", "ns_terminating", "kind_missing", "ns_missing", "stale_schema"})


def may_retry(failure: Failure, tries: int, *, waits_for_kind: bool, waits_for_namespace: bool) -> bool:
    """Whether an object whose attempt failed is sent again; ``tries`` counts earlier failures of the same class."""
    if failure.error_class in UNBOUNDED:
        return True
    if failure.error_class == "kind_missing":
        return waits_for_kind
    if failure.error_class == "ns_missing":
        return waits_for_namespace
    return tries < BOUNDED.get(failure.error_class, 0)


def backoff(failure: Failure, tries: int, jitter: float) -> float:
    """Seconds until the next attempt: doubling from 0.5 to 15 (2 where others act soon) with jitter; Retry-After wins, up to 30."""
    if failure.retry_after is not None:
        return min(failure.retry_after, LONGEST_REQUESTED)
    ceiling = LONGEST_SHORT_PAUSE if failure.error_class in SHORT else LONGEST_PAUSE
    longest = min(ceiling, FIRST_PAUSE * float(2 ** min(tries, 10)))
    return longest * (0.5 + 0.5 * jitter)


class Pressure:
    """How many requests may be under way: halved when the server pushes back, one more for every 20 successes."""

    RECOVERY = 20

    def __init__(self, workers: int) -> None:
        self.limit = workers
        self._most = workers
        self._successes = 0

    def push_back(self) -> None:
        """The server asked for patience."""
        self.limit = max(1, self.limit // 2)
        self._successes = 0

    def success(self) -> None:
        """A request was served."""
        self._successes += 1
        if self._successes >= self.RECOVERY and self.limit < self._most:
            self.limit += 1
            self._successes = 0
