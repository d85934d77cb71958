# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The ledger in the cluster: read, written only when it says something new, never over another run's."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

import pytest
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.ledger import (
    Entry,
    Ledger,
    LedgerError,
    LedgerStore,
    LedgerUnavailable,
    encode,
)
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.requests import Client, Response, Unreachable
from ansible_collections.kubeflow.platform.plugins.module_utils.objects.identity import Identity
from ansible_collections.kubeflow.platform.tests.unit.doubles import Clock, Server, status

PATH = "/api/v1/namespaces/kubeflow-platform/secrets/ledger-kubeflow"
ONE = Ledger("kubeflow", run_id="1", entries={Identity("", "Pod", "n", "p"): Entry("katib", "h")})
TWO = replace(ONE, run_id="2", release="26.03.1")


def store(server: Server) -> LedgerStore:
    return LedgerStore(cast(Client, server), Clock(), "kubeflow")


def writes(server: Server) -> int:
    return sum(method != "GET" for method, _path in server.log)


def test_a_missing_ledger_is_an_empty_one() -> None:
    assert store(Server()).load() == Ledger("kubeflow")


def test_what_one_run_saves_the_next_one_loads() -> None:
    server = Server()
    assert store(server).save(ONE)
    assert store(server).load() == ONE


def test_a_ledger_is_not_written_when_only_the_run_differs() -> None:
    server = Server()
    first = store(server)
    first.save(ONE)
    second = store(server)
    second.load()
    assert not second.save(replace(ONE, run_id="other"))
    assert writes(server) == 1
    assert not store(server).save(Ledger("kubeflow", run_id="empty"))


def test_a_ledger_can_be_written_again_and_again_by_one_run() -> None:
    server = Server()
    mine = store(server)
    assert mine.save(ONE)
    assert mine.save(TWO)
    assert mine.save(ONE)
    assert store(server).load() == ONE


def test_another_runs_ledger_is_never_overwritten() -> None:
    server = Server()
    mine = store(server)
    mine.save(ONE)
    other = store(server)
    other.load()
    other.save(TWO)
    with pytest.raises(LedgerError, match="another run wrote it meanwhile"):
        mine.save(replace(ONE, release="3"))
    assert store(server).load() == TWO


def test_a_first_ledger_is_not_written_over_one_that_appeared() -> None:
    server = Server()
    mine = store(server)
    mine.load()
    store(server).save(TWO)
    with pytest.raises(LedgerError, match="another run wrote it meanwhile"):
        mine.save(ONE)


def test_somebody_who_only_labels_the_secret_is_no_other_run() -> None:
    server = Server()
    mine = store(server)
    mine.save(ONE)
    server.put(PATH, {**server.objects[PATH], "metadata": {**server.objects[PATH]["metadata"], "labels": {"backup": "yes"}}})
    assert mine.save(TWO)
    assert store(server).load() == TWO


def test_a_write_whose_answer_was_lost_is_recognised_as_ours() -> None:
    server = Server()
    mine = store(server)
    mine.save(ONE)
    server.lose_answer = True
    assert mine.save(TWO, patience=30)
    assert store(server).load() == TWO


def test_a_busy_server_is_told_apart_from_a_refusal() -> None:
    server = Server()
    server.answers = [status(503, "ServiceUnavailable")]
    with pytest.raises(LedgerUnavailable):
        store(server).save(ONE)
    server.answers = [Unreachable("refused", "refused")]
    with pytest.raises(Unreachable):
        store(server).save(ONE)
    server.answers = [status(403, "Forbidden", "secrets is forbidden")]
    with pytest.raises(LedgerError, match="Let this user get, create and update Secrets") as caught:
        store(server).save(ONE)
    assert not isinstance(caught.value, LedgerUnavailable)


def test_patience_outlasts_a_server_that_is_being_restarted() -> None:
    server = Server()
    server.answers = [Unreachable("refused", "refused"), status(500, "InternalError", "etcdserver: leader changed"), None]
    assert store(server).save(ONE, patience=30)


def test_an_answer_that_is_no_secret_is_never_taken_for_a_ledger() -> None:
    server = Server()
    server.answers = [Response(200, {"content-type": "text/html"}, b"<html>log in</html>")]
    with pytest.raises(LedgerUnavailable, match="the answer is no Secret"):
        store(server).load()


def test_another_sets_ledger_under_our_name_is_refused() -> None:
    server = Server()
    server.put(PATH, encode(Ledger("other")))
    with pytest.raises(LedgerError, match="records the set 'other'"):
        store(server).load()
