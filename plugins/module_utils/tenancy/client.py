# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A client whose reads outlast passing faults: a server that restarts must not end a run that only waits."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from typing import Any

from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.connection import Connection
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.errors import Unreachable, classify
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.requests import Client, Response
from ansible_collections.kubeflow.platform.plugins.module_utils.tenancy.send import PASSING, Clock, pauses


class PatientClient(Client):
    """Repeats what only reads; writes are repeated by who knows what they mean."""

    def __init__(
        self, connection: Connection, user_agent: str, pool_size: int, clock: Clock = time, jitter: Callable[[], float] = random.random
    ) -> None:
        super().__init__(connection, user_agent, pool_size)
        self._sleeper = clock
        self._chance = jitter

    def request(self, method: str, path: str, **options: Any) -> Response:
        """Send one request as ``Client`` does; a GET again while the answer is one that passes."""
        waits = pauses(self._chance) if method == "GET" else iter(())
        while True:
            asked = None
            try:
                response = super().request(method, path, **options)
                if response.status < 400 or response.status == 404:
                    return response
                failure = classify(response)
                if failure.error_class not in PASSING:
                    return response
                asked = failure.retry_after
                pause = next(waits, None)
                if pause is None:
                    return response
            except Unreachable as error:
                pause = next(waits, None)
                if pause is None or error.kind in ("tls", "resolve"):
                    raise
            self._sleeper.sleep(asked or pause)
