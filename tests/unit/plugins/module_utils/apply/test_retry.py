# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which failures get another attempt, after how long, and how many requests may be under way."""

from __future__ import annotations

import pytest
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.retry import Pressure, backoff, may_retry
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.errors import Failure
from hypothesis import given
from hypothesis import strategies as st

FINAL = ["schema", "invalid", "rbac", "quota", "policy", "transition", "auth", "tls", "conflict_owner", "foreign_set", "something new"]
UNBOUNDED = ["transport", "throttled", "server_down", "terminating", "ns_terminating", "webhook_down"]
CLASSES = st.sampled_from([*FINAL, *UNBOUNDED, "internal", "conflict_version", "live_schema", "kind_missing", "ns_missing"])


def failure(error_class: str, retry_after: float | None = None) -> Failure:
    return Failure(error_class, "Failed to apply it: no", "Mend it.", retry_after)


def retried(error_class: str, tries: int = 0, *, kind: bool = False, namespace: bool = False) -> bool:
    return may_retry(failure(error_class), tries, waits_for_kind=kind, waits_for_namespace=namespace)


@pytest.mark.parametrize("error_class", FINAL)
def test_final_failure_is_never_sent_again(error_class: str) -> None:
    assert not retried(error_class, kind=True, namespace=True)


@pytest.mark.parametrize("error_class", UNBOUNDED)
def test_passing_failure_is_sent_again_as_long_as_the_run_lasts(error_class: str) -> None:
    assert retried(error_class, 10_000)


@pytest.mark.parametrize(("error_class", "most"), [("internal", 5), ("conflict_version", 10), ("live_schema", 1)])
def test_doubtful_failure_is_sent_again_a_few_times(error_class: str, most: int) -> None:
    assert [retried(error_class, tries) for tries in (0, most - 1, most)] == [True, True, False]


def test_missing_kind_or_namespace_is_waited_for_only_when_it_is_coming() -> None:
    assert (retried("kind_missing", kind=True), retried("kind_missing", namespace=True)) == (True, False)
    assert (retried("ns_missing", namespace=True), retried("ns_missing", kind=True)) == (True, False)


@given(CLASSES, st.integers(0, 10_000), st.floats(0, 1, exclude_max=True))
def test_pause_grows_within_bounds(error_class: str, tries: int, jitter: float) -> None:
    pause = backoff(failure(error_class), tries, jitter)
    assert 0.25 <= pause <= 15.0
    assert backoff(failure(error_class), tries + 1, jitter) >= pause


@given(CLASSES, st.integers(0, 100), st.floats(0, 3600))
def test_server_has_the_last_word_within_half_a_minute_when_it_says_how_long_to_wait(error_class: str, tries: int, seconds: float) -> None:
    assert backoff(failure(error_class, seconds), tries, 0.5) == min(seconds, 30.0)


def test_pause_stays_short_when_another_controller_acts_soon() -> None:
    assert backoff(failure("ns_missing"), 100, 0.99) < 2.0 < backoff(failure("transport"), 100, 0.99)


@given(st.integers(1, 32), st.lists(st.booleans(), max_size=200))
def test_limit_stays_between_one_and_what_was_asked_for(workers: int, events: list[bool]) -> None:
    pressure = Pressure(workers)
    for pushed in events:
        pressure.push_back() if pushed else pressure.success()
        assert 1 <= pressure.limit <= workers


def test_limit_is_halved_and_comes_back_one_by_one() -> None:
    pressure = Pressure(8)
    pressure.push_back()
    assert pressure.limit == 4
    for _success in range(19):
        pressure.success()
    assert pressure.limit == 4
    pressure.success()
    assert pressure.limit == 5
    pressure.push_back()
    assert pressure.limit == 2
