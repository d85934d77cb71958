# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Requests that outlast passing faults: a server that restarts must not end a run. For one request or a few, not for the engine's flow.

``patiently`` is for who has so many seconds and no more, such as the holder of a Lease; ``persistently`` for who wants a thing done.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Collection, Iterator
from typing import Any, Protocol

from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.connection import Connection
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.errors import Failure, Refused, Unreachable, classify
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.requests import Client
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.response import Response

# Classes of failures that end by themselves.
PASSING = frozenset({"transport", "throttled", "server_down", "webhook_down", "conflict_version", "internal"})
ATTEMPTS = 6
# Of what a server may ask for with Retry-After: the API server asks for one second, a proxy in front of it perhaps for an hour.
LONGEST_REQUESTED = 30.0
_TRANSIENT = frozenset({429, 500, 502, 503, 504})
_FIRST_PAUSE = 0.5
_LONGEST_PAUSE = 8.0
_LONGEST_PATIENT_PAUSE = 5.0


class Clock(Protocol):
    """Time; the standard module ``time`` is one."""

    def monotonic(self) -> float:
        """Return seconds that never go backwards."""

    def time(self) -> float:
        """Return seconds since 1970."""

    def sleep(self, seconds: float, /) -> None:
        """Wait."""


def patiently(send: Callable[[], Response], clock: Clock, patience: float) -> Response:
    """Send until the server gives an answer that is no passing trouble, for at most ``patience`` seconds.

    With a patience of 0 there is one attempt. Returns the last answer; raises Unreachable when the last attempt got none.
    """
    give_up = clock.monotonic() + patience
    pause = _FIRST_PAUSE
    while True:
        answer: Response | None = None
        trouble: Unreachable | None = None
        try:
            answer = send()
        except Unreachable as error:
            if error.kind in ("tls", "resolve"):
                raise
            trouble = error
        if answer is not None and answer.status not in _TRANSIENT:
            return answer
        wait = max(pause, (answer.retry_after or 0.0) if answer is not None else 0.0)
        if clock.monotonic() + wait > give_up:
            if answer is not None:
                return answer
            if trouble is not None:
                raise trouble
        clock.sleep(wait)
        pause = min(pause * 2, _LONGEST_PATIENT_PAUSE)


def persistently(
    send: Callable[[], Response], clock: Clock, jitter: Callable[[], float] = random.random, final: Collection[str] = ("tls",)
) -> Response:
    """Send until the answer is one that stays (404 is one), for at most ATTEMPTS times. What is sent must be free to repeat.

    Returns the last answer; raises Unreachable when the last attempt got none, and at once where its kind is ``final``.
    """
    waits = pauses(jitter)
    while True:
        failure = None
        try:
            answer = send()
            if answer.status < 400 or answer.status == 404:
                return answer
            failure, pause = classify(answer), next(waits, None)
            if failure.error_class not in PASSING or pause is None:
                return answer
        except Unreachable as error:
            pause = next(waits, None)
            if pause is None or error.kind in final:
                raise
        clock.sleep(wait_after(failure, pause))


def insist(what: str, send: Callable[[], Response], clock: Clock) -> None:
    """Send ``persistently`` until it is done. Raise Refused where it was not (``what`` names the request), or Unreachable."""
    answer = persistently(send, clock)
    if not answer.ok:
        raise Refused(what, answer)


def pauses(jitter: Callable[[], float]) -> Iterator[float]:
    """Yield the seconds to wait before each further attempt."""
    pause = _FIRST_PAUSE
    for _attempt in range(ATTEMPTS - 1):
        yield pause * (1 + jitter() / 4)
        pause = min(pause * 2, _LONGEST_PAUSE)


def wait_after(failure: Failure | None, pause: float) -> float:
    """Return the seconds that the server asked for, within reason, else the pause."""
    return min(failure.retry_after, LONGEST_REQUESTED) if failure is not None and failure.retry_after else pause


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
        if method != "GET":
            return super().request(method, path, **options)
        once = super().request
        # A name that is unknown at the first contact is a wrong name.
        return persistently(lambda: once(method, path, **options), self._sleeper, self._chance, final=("tls", "resolve"))
