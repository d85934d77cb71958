# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from collections.abc import Iterator

import pytest
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.errors import Unreachable
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.patience import (
    ATTEMPTS,
    LONGEST_REQUESTED,
    patiently,
    persistently,
)
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.response import Response
from ansible_collections.kubeflow.platform.tests.unit.doubles import Clock

WELL, BUSY, DOWN, GONE = Response(200), Response(429, {"retry-after": "7200"}), Response(503), Response(404)
RESET, TLS, NAME = Unreachable("reset", "reset"), Unreachable("a wrong certificate", "tls"), Unreachable("no such name", "resolve")


class Script:
    """What is answered, in order; the last for good."""

    def __init__(self, *answers: Response | Unreachable) -> None:
        self.sent = 0
        self._answers = answers

    def __call__(self) -> Response:
        answer = self._answers[min(self.sent, len(self._answers) - 1)]
        self.sent += 1
        if isinstance(answer, Unreachable):
            raise answer
        return answer


@pytest.fixture
def clock() -> Iterator[Clock]:
    yield Clock()


def test_what_passes_is_outlasted_either_way(clock: Clock) -> None:
    for run in (lambda send: patiently(send, clock, 30.0), lambda send: persistently(send, clock)):
        script = Script(DOWN, RESET, DOWN, WELL)
        assert run(script) is WELL and script.sent == 4


@pytest.mark.parametrize("answer", [GONE, Response(403), Response(422), Response(201)])
def test_an_answer_that_stays_is_returned_at_once(answer: Response, clock: Clock) -> None:
    begun, script = clock.monotonic(), Script(answer)
    assert patiently(script, clock, 30.0) is persistently(script, clock) is answer
    assert script.sent == 2 and clock.monotonic() == begun


def test_attempts_end_and_the_last_answer_is_returned(clock: Clock) -> None:
    down, dead = Script(DOWN), Script(RESET)
    assert persistently(down, clock) is DOWN
    with pytest.raises(Unreachable):
        persistently(dead, clock)
    assert down.sent == dead.sent == ATTEMPTS


def test_what_a_server_asks_for_is_waited_within_reason(clock: Clock) -> None:
    begun = clock.monotonic()
    assert persistently(Script(BUSY, WELL), clock) is WELL
    assert clock.monotonic() - begun == LONGEST_REQUESTED


def test_no_more_seconds_are_spent_than_there_are(clock: Clock) -> None:
    begun, script = clock.monotonic(), Script(RESET)
    with pytest.raises(Unreachable):
        patiently(script, clock, 5.0)
    assert script.sent > 2 and clock.monotonic() - begun <= 5.0
    assert patiently(Script(BUSY), clock, 5.0) is BUSY
    assert patiently(once := Script(DOWN), clock, 0.0) is DOWN and once.sent == 1


def test_what_no_waiting_mends_is_told_at_once(clock: Clock) -> None:
    for send in (certificate := Script(TLS), name := Script(NAME)):
        with pytest.raises(Unreachable):
            patiently(send, clock, 30.0)
        with pytest.raises(Unreachable):
            persistently(send, clock, final=("tls", "resolve"))
    assert certificate.sent == name.sent == 2
    assert persistently(Script(NAME, WELL), clock) is WELL
