# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""One run at a time."""

from __future__ import annotations

import contextlib
import re
from typing import Any, cast

import pytest
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.home import ensure_home
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.lease import Lease, LeaseError, LeaseHeld
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.model import EngineError
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.requests import Client, Unreachable
from ansible_collections.kubeflow.platform.tests.unit.doubles import Clock, Server, status
from hypothesis import given
from hypothesis import strategies as st

PATH = "/apis/coordination.k8s.io/v1/namespaces/kubeflow-platform/leases/apply-kubeflow"
HOME = "/api/v1/namespaces/kubeflow-platform"


class Bench:
    """A server, a clock, and runs that share them."""

    def __init__(self) -> None:
        self.server, self.clock = Server(), Clock()

    def run(self, holder: str, duration: int = 30) -> Lease:
        return Lease(cast(Client, self.server), self.clock, "kubeflow", holder, duration)

    @property
    def spec(self) -> dict[str, Any]:
        spec: dict[str, Any] = self.server.objects[PATH]["spec"]
        return spec


def test_a_free_lease_is_taken_at_once_in_the_format_of_kubernetes() -> None:
    bench = Bench()
    lease = bench.run("one")
    lease.acquire(0)
    assert not lease.lost
    assert bench.clock.now == 1000
    assert bench.spec["holderIdentity"] == "one"
    assert bench.spec["leaseDurationSeconds"] == 30
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", bench.spec["renewTime"])


def test_a_second_run_fails_after_its_timeout_and_names_the_holder_and_what_to_do() -> None:
    bench = Bench()
    first = bench.run("ann@host")
    first.acquire(0)
    for second in range(5, 60, 5):
        bench.clock.at(second, first.renew)
    with pytest.raises(LeaseHeld, match=r"ann@host.*`lease_timeout`") as caught:
        bench.run("two").acquire(30)
    assert caught.value.holder == "ann@host"
    assert bench.clock.now - 1000 == pytest.approx(30, abs=1.1)


def test_a_run_that_waits_says_for_whom_and_how_long_and_only_once() -> None:
    bench = Bench()
    first = bench.run("ann@host")
    first.acquire(0)
    bench.clock.at(5, first.renew)
    bench.clock.at(10, first.release)
    told: list[str] = []
    bench.run("two").acquire(30, told.append)
    (line,) = told
    assert line.startswith("waiting up to 30 s for another run of the set kubeflow to end: ann@host, since 20")


def test_a_run_that_waits_gets_the_lease_when_the_first_one_ends() -> None:
    bench = Bench()
    first, second = bench.run("one"), bench.run("two")
    first.acquire(0)
    bench.clock.at(5, first.release)
    second.acquire(30)
    assert bench.clock.now - 1000 < 7
    assert bench.spec["holderIdentity"] == "two"
    assert bench.spec["leaseTransitions"] == 1


def test_a_killed_run_is_waited_out_within_the_duration_of_its_lease() -> None:
    bench = Bench()
    bench.run("killed").acquire(0)
    bench.run("next").acquire(30)
    assert bench.spec["holderIdentity"] == "next"
    assert bench.clock.now - 1000 == pytest.approx(30, abs=1.1)


def test_a_lease_whose_time_stamps_are_old_is_not_taken_before_it_was_seen_unchanged() -> None:
    bench = Bench()
    bench.run("other clock").acquire(0)
    bench.server.put(PATH, {**bench.server.objects[PATH], "spec": {**bench.spec, "renewTime": "2001-01-01T00:00:00.000000Z"}})
    with pytest.raises(LeaseHeld):
        bench.run("next").acquire(10)


def test_a_released_lease_has_no_holder_and_is_taken_at_once() -> None:
    bench = Bench()
    first = bench.run("one")
    first.acquire(0)
    assert first.release()
    assert first.lost
    assert "holderIdentity" not in bench.spec
    assert bench.spec["leaseDurationSeconds"] == 1
    bench.run("two").acquire(0)
    assert bench.clock.now == 1000


def test_a_lease_is_lost_when_it_was_not_renewed_for_two_thirds_of_its_duration() -> None:
    bench = Bench()
    lease = bench.run("one")
    lease.acquire(0)
    bench.clock.sleep(19)
    assert not lease.lost
    bench.clock.sleep(1)
    assert lease.lost


def test_a_renewal_that_fails_for_a_moment_loses_nothing() -> None:
    bench = Bench()
    lease = bench.run("one")
    lease.acquire(0)
    bench.clock.sleep(10)
    bench.server.answers = [Unreachable("refused", "refused"), status(503, "ServiceUnavailable")]
    assert not lease.renew()
    assert not lease.renew()
    assert lease.renew()
    bench.clock.sleep(15)
    assert not lease.lost


def test_a_renewal_whose_answer_was_lost_is_taken_up_again() -> None:
    bench = Bench()
    lease = bench.run("one")
    lease.acquire(0)
    bench.server.lose_answer = True
    assert not lease.renew()
    assert not lease.renew()
    assert lease.renew()
    assert not lease.lost


def test_a_lease_that_another_run_took_is_lost_and_not_released_by_the_first() -> None:
    bench = Bench()
    first = bench.run("one")
    first.acquire(0)
    bench.run("two").acquire(30)
    assert not first.renew()
    assert first.lost
    assert not first.release()
    assert bench.spec["holderIdentity"] == "two"


def test_renewing_goes_on_in_the_background_until_the_release() -> None:
    bench = Bench()
    lease = bench.run("one", duration=30)
    lease.acquire(0)
    lease.start_renewing()
    assert lease.release()
    assert lease._thread is None


def test_a_lost_answer_to_taking_the_lease_does_not_lock_us_out() -> None:
    bench = Bench()
    bench.server.answers = [None]
    lease = bench.run("one")
    lease.acquire(0)
    lease.release()
    bench.server.answers = [None, Unreachable("reset", "reset")]
    lease.acquire(0)
    assert bench.spec["holderIdentity"] == "one"


def test_missing_rights_are_said_with_what_would_mend_them() -> None:
    bench = Bench()
    bench.server.answers = [status(403, "Forbidden", "leases is forbidden")]
    with pytest.raises(LeaseError, match="Let this user get, create and update Leases"):
        bench.run("one").acquire(30)


@given(st.lists(st.tuples(st.sampled_from(["renew", "sleep", "take"]), st.integers(1, 25)), max_size=12))
def test_two_runs_never_believe_that_they_hold_the_lease_together(steps: list[tuple[str, int]]) -> None:
    bench = Bench()
    runs = [bench.run("one"), bench.run("two")]
    runs[0].acquire(0)
    for action, seconds in steps:
        if action == "renew":
            runs[seconds % 2].renew()
        elif action == "sleep":
            bench.clock.sleep(seconds)
        else:
            with contextlib.suppress(LeaseHeld):
                runs[seconds % 2].acquire(seconds)
        assert runs[0].lost or runs[1].lost


def test_our_namespace_is_made_once() -> None:
    bench = Bench()
    assert ensure_home(cast(Client, bench.server), bench.clock)
    assert not ensure_home(cast(Client, bench.server), bench.clock)
    assert [method for method, _path in bench.server.log] == ["GET", "POST", "GET"]


def test_our_namespace_is_not_used_while_it_is_being_deleted() -> None:
    bench = Bench()
    bench.server.put(HOME, {"metadata": {"name": "kubeflow-platform", "deletionTimestamp": "now"}})
    with pytest.raises(EngineError, match="is being deleted"):
        ensure_home(cast(Client, bench.server), bench.clock)


def test_a_user_who_may_not_make_namespaces_is_told_to_have_it_made() -> None:
    bench = Bench()
    bench.server.answers = [None, status(403, "Forbidden", "namespaces is forbidden")]
    with pytest.raises(EngineError, match="Create the namespace kubeflow-platform first"):
        ensure_home(cast(Client, bench.server), bench.clock)


def test_our_namespace_is_made_although_the_server_is_busy_at_first() -> None:
    bench = Bench()
    bench.server.answers = [status(429, "TooManyRequests"), Unreachable("refused", "refused")]
    assert ensure_home(cast(Client, bench.server), bench.clock)
    assert bench.clock.now > 1000
