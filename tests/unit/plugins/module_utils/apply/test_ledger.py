# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The ledger as data: what it says, how it is stored, and when it spares a comparison."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
from dataclasses import replace
from typing import Any

import pytest
from ansible_collections.kubeflow.platform.plugins.module_utils.apply import ledger as ledgers
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.ledger import Entry, Intent, Ledger, LedgerError
from ansible_collections.kubeflow.platform.plugins.module_utils.objects.identity import Identity
from ansible_collections.kubeflow.platform.plugins.module_utils.objects.ownership import entry_key, own_entry
from hypothesis import given
from hypothesis import strategies as st

POD = Identity("", "Pod", "n", "p")
ROLE = Identity("rbac.authorization.k8s.io", "ClusterRole", "", "r")

names = st.text(alphabet="abc-é", min_size=1, max_size=6)
identities = st.builds(Identity, st.sampled_from(["", "apps"]), st.sampled_from(["Pod", "Thing"]), st.one_of(st.just(""), names), names)
entries = st.builds(
    Entry,
    component=names,
    hash=st.text(alphabet="0123456789abcdef", max_size=8),
    uid=names,
    own=names,
    generation=st.one_of(st.none(), st.integers(1, 9)),
    intent=st.booleans(),
    pending=st.sampled_from(["", "recreate", "prune"]),
    created=st.booleans(),
)
books = st.builds(
    Ledger,
    set_name=st.just("kubeflow"),
    run_id=names,
    release=st.sampled_from(["", "26.03.1"]),
    selection=st.lists(names, max_size=3).map(tuple),
    scope=st.lists(names, max_size=3).map(tuple),
    adopted=st.booleans(),
    entries=st.dictionaries(identities, entries, max_size=6),
)


@given(books)
def test_a_ledger_survives_its_storage(book: Ledger) -> None:
    assert ledgers.decode(ledgers.encode(book), "kubeflow") == book


@given(books)
def test_storage_is_the_same_whatever_order_the_objects_came_in(book: Ledger) -> None:
    shuffled = replace(book, entries=dict(reversed(list(book.entries.items()))))
    assert ledgers.encode(shuffled) == ledgers.encode(book)


@given(books, st.lists(st.builds(Intent, identities, names, st.booleans()), max_size=4))
def test_intent_loses_no_entry_and_covers_every_announced_object(book: Ledger, items: list[Intent]) -> None:
    announced = ledgers.with_intent(book, items)
    assert set(announced.entries) == set(book.entries) | {item.identity for item in items}
    assert all(announced.entries[item.identity].intent for item in items)


def test_storage_is_a_secret_of_our_own_type_in_our_namespace() -> None:
    secret = ledgers.encode(Ledger("kubeflow"))
    assert secret["kind"] == "Secret"
    assert secret["type"] == "kubeflow.platform/ledger"
    assert (secret["metadata"]["namespace"], secret["metadata"]["name"]) == ("kubeflow-platform", "ledger-kubeflow")


def test_727_objects_stay_far_under_the_limit_of_a_secret() -> None:
    def some(number: int) -> str:
        return hashlib.sha256(str(number).encode()).hexdigest()

    rows = {
        Identity("apps", "Deployment", "kubeflow", f"workload-{number}"): Entry(
            "pipelines", some(number), some(number + 1)[:36], some(-number), 1
        )
        for number in range(727)
    }
    assert len(ledgers.encode(Ledger("kubeflow", entries=rows))["data"]["ledger"]) < 200_000


def stored(**changes: Any) -> dict[str, Any]:
    secret = ledgers.encode(Ledger("kubeflow"))
    document = {**json.loads(gzip.decompress(base64.b64decode(secret["data"]["ledger"]))), **changes}
    return {**secret, "data": {"ledger": base64.b64encode(gzip.compress(json.dumps(document).encode())).decode()}}


def test_a_ledger_of_a_newer_format_is_refused_and_says_what_to_do() -> None:
    with pytest.raises(LedgerError, match=r"newer version .*\(format 99, this one knows 1\)\. Run with that version"):
        ledgers.decode(stored(format=99), "kubeflow")


def test_a_ledger_of_another_set_is_refused() -> None:
    with pytest.raises(LedgerError, match="records the set 'other'"):
        ledgers.decode(stored(set="other"), "kubeflow")


@pytest.mark.parametrize(
    "secret",
    [
        {},
        {"data": {"ledger": "%%%"}},
        {"data": {"ledger": base64.b64encode(b"no gzip").decode()}},
        {"data": {"ledger": base64.b64encode(gzip.compress(b"[]")).decode()}},
        {"data": {"ledger": base64.b64encode(gzip.compress(b'{"format": 1, "set": "kubeflow"}')).decode()}},
        stored(entries=[["too", "short"]]),
        {"data": {"ledger": base64.b64encode(gzip.compress(b"{}" * 99)[:-9]).decode()}},
    ],
)
def test_a_damaged_ledger_is_refused_and_never_taken_for_an_empty_one(secret: dict[str, Any]) -> None:
    with pytest.raises(LedgerError, match="damaged"):
        ledgers.decode(secret, "kubeflow")


def test_a_result_settles_the_intent_and_keeps_that_the_set_made_the_object() -> None:
    book = ledgers.with_intent(Ledger("s"), [Intent(POD, "katib", creates=True, pending="recreate")])
    assert book.entries[POD] == Entry("katib", intent=True, pending="recreate", created=True)
    book = ledgers.with_result(book, POD, "h", "u", "o", 3, "katib")
    assert book.entries[POD] == Entry("katib", "h", "u", "o", 3, created=True)


def test_an_object_that_moves_to_another_component_is_handed_over() -> None:
    book = ledgers.with_result(Ledger("s"), POD, "h", "u", "o", None, "katib")
    book = ledgers.with_intent(book, [Intent(POD, "pipelines")])
    assert book.entries[POD].component == "pipelines"
    assert book.components == {"pipelines"}


def test_without_forgets_only_the_named_objects() -> None:
    book = ledgers.with_intent(Ledger("s"), [Intent(POD, "a"), Intent(ROLE, "a")])
    assert set(ledgers.without(book, POD).entries) == {ROLE}


def test_two_ledgers_say_the_same_when_only_the_run_differs() -> None:
    assert Ledger("s", run_id="1").says_the_same_as(Ledger("s", run_id="2"))
    assert not Ledger("s", release="1").says_the_same_as(Ledger("s", release="2"))


def live(**changes: Any) -> dict[str, Any]:
    fields: dict[str, Any] = {"f:spec": {"f:replicas": {}}}
    entry = {
        "manager": "kubeflow.platform",
        "operation": "Apply",
        "apiVersion": "apps/v1",
        "time": "2026-11-30T10:00:00Z",
        "fieldsV1": fields,
    }
    return {"uid": "u", "generation": 2, "managedFields": [entry], **changes}


def recorded(**changes: Any) -> Entry:
    mine = own_entry(live())
    assert mine is not None
    return replace(Entry("katib", "h", "u", entry_key(mine), 2), **changes)


def test_an_object_is_verified_when_nothing_of_ours_and_nothing_of_its_spec_moved() -> None:
    assert ledgers.verified(recorded(), live(), "h")


def test_an_object_without_generation_is_verified_by_its_entry() -> None:
    metadata = live()
    del metadata["generation"]
    assert ledgers.verified(recorded(generation=None), metadata, "h")


@pytest.mark.parametrize(
    ("entry", "metadata", "desired"),
    [
        (None, live(), "h"),
        (recorded(), live(), "other content"),
        (recorded(), live(uid="made anew"), "h"),
        (recorded(), live(generation=3), "h"),
        (recorded(), live(managedFields=[]), "h"),
        (recorded(), live(deletionTimestamp="2026-11-30T10:00:00Z"), "h"),
        (recorded(own="somebody took a field"), live(), "h"),
        (recorded(intent=True), live(), "h"),
        (recorded(pending="recreate"), live(), "h"),
        (recorded(uid=""), live(uid=""), "h"),
    ],
)
def test_an_object_is_compared_when_anything_is_in_doubt(entry: Entry | None, metadata: dict[str, Any], desired: str) -> None:
    assert not ledgers.verified(entry, metadata, desired)


def test_maker_is_remembered_only_of_the_very_object_or_of_one_that_was_announced() -> None:
    made = ledgers.with_result(Ledger("s"), POD, "h", "old", "o", None, "katib", created=True)

    def found(book: Ledger, uid: str) -> bool:
        return ledgers.with_result(book, POD, "h", uid, "o", None, "katib").entries[POD].created

    assert found(made, "old") and not found(made, "new")
    # Runs that were killed after the write and before its result was recorded.
    assert found(ledgers.with_intent(made, [ledgers.Intent(POD, "katib", creates=True)]), "new")
    assert found(ledgers.with_intent(made, [ledgers.Intent(POD, "katib", pending="recreate")]), "new")
    assert not found(ledgers.with_intent(made, [ledgers.Intent(POD, "katib")]), "new")
    assert ledgers.with_intent(made, [ledgers.Intent(POD, "katib", creates=True)]).entries[POD].uid == "", "the old object is no more"
