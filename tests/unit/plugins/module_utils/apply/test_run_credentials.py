# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs with Secrets that are ensured: made once, kept for good, the same in all copies, and nowhere to be read."""

from __future__ import annotations

import base64
import json
import sys
from contextlib import suppress
from dataclasses import replace
from typing import Any

import bcrypt
import pytest
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.credentials import (
    Credential,
    Credentials,
    Value,
    cookie_bytes,
    decoded,
)
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.inputs import Document
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.model import EngineError
from ansible_collections.kubeflow.platform.plugins.module_utils.identity.passwords import fingerprint
from ansible_collections.kubeflow.platform.plugins.module_utils.objects.identity import Identity
from ansible_collections.kubeflow.platform.plugins.module_utils.objects.redaction import Redactor
from ansible_collections.kubeflow.platform.tests.unit.api_double.kinds import Key
from ansible_collections.kubeflow.platform.tests.unit.api_double.objects import deployment, documents, thing
from ansible_collections.kubeflow.platform.tests.unit.api_double.storage import HOME
from ansible_collections.kubeflow.platform.tests.unit.api_double.world import Killed, World
from hypothesis import given, settings
from hypothesis import strategies as st

few = settings(max_examples=settings.default.max_examples // 4)
HASHED = "proxy-2456789bcd"
CLIENT, COOKIE, HASH = "everybody-knows-this", "and-that-too-which-is-32-bytes-x", "$2y$12$" + "a" * 53
ASKED = Credentials(
    "generate",
    (
        Credential("default", "dex", "the login", (Value("HASH", "bcrypt", frozenset({fingerprint(HASH)})),)),
        Credential("default", "client", "the client", (Value("SECRET", "hex", frozenset({fingerprint(CLIENT)}), "client"),)),
        Credential(
            "default",
            "proxy",
            "the proxy",
            (
                Value("client-secret", "hex", frozenset({fingerprint(CLIENT)}), "client"),
                Value("cookie-secret", "cookie", frozenset({fingerprint(COOKIE)})),
            ),
        ),
        Credential("default", "db", "the database", (Value("password", "hex", frozenset({fingerprint("")}), "", "db", "ROOT"),)),
        Credential("default", "token", "a key of one's own", (Value("KEY", "none", frozenset({fingerprint("put yours here")})),)),
    ),
)


@pytest.fixture(autouse=True)
def cheap(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hashes that take no time."""
    salt = bcrypt.gensalt
    monkeypatch.setattr(bcrypt, "gensalt", lambda _cost: salt(4))


def shipped(proxy: str = HASHED) -> list[Document]:
    """The objects as upstream has them."""
    return documents(
        thing("Secret", "dex", "default", stringData={"HASH": HASH}),
        thing("Secret", "client", "default", stringData={"ID": "kubeflow", "SECRET": CLIENT}),
        thing("Secret", proxy, "default", data={"client-secret": b64(CLIENT), "cookie-secret": b64(COOKIE)}, type="Opaque"),
        thing("Secret", "db", "default", stringData={"user": "root", "password": ""}),
        thing("Secret", "token", "default", stringData={"KEY": "put yours here"}),
        deployment("db"),
    )


def b64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def value(world: World, name: str, key: str, namespace: str = "default") -> str | None:
    return decoded(world.server.objects[Key("", "secrets", namespace, name)], key)


def values(world: World) -> dict[str, str | None]:
    """Every ensured value that is live."""
    return {
        f"{row['metadata']['name']}/{entry.key}": decoded(row, entry.key)
        for key, row in world.server.objects.items()
        if key.plural == "secrets" and key.namespace == "default"
        for entry in (ASKED.find("default", key.name) or Credential("", "")).values
    }


def states(report: Any) -> dict[str, str]:
    return {f"{row['name']}/{row['key']}": row["state"] for row in report.credentials}


def test_no_shipped_value_is_live_and_copies_agree_after_a_first_run() -> None:
    world = World()
    report = world.run(shipped(), credentials=ASKED)
    assert report.failures == []
    found = values(world)
    assert not {CLIENT, COOKIE, HASH, "put yours here"} & set(found.values())
    assert found["client/SECRET"] == found[f"{HASHED}/client-secret"]
    assert len({*found.values()}) == 5
    assert cookie_bytes(found[f"{HASHED}/cookie-secret"] or "") == 32
    assert found["db/password"] and found["token/KEY"] == ""
    assert value(world, "client", "ID") == "kubeflow" and value(world, "db", "user") == "root"
    password = value(world, "initial-user", "password", HOME) or ""
    assert bcrypt.checkpw(password.encode(), (found["dex/HASH"] or "").encode())
    assert report.first_user == f"{HOME}/initial-user"
    assert set(states(report).values()) == {"made"}


def test_a_database_is_started_with_its_password_and_a_live_one_without_it_is_left_alone() -> None:
    world, other = World(), World()
    world.run(shipped(), credentials=ASKED)
    app = Key("apps", "deployments", "default", "db")
    (row,) = world.server.objects[app]["spec"]["template"]["spec"]["containers"][0]["env"]
    assert row == {"name": "ROOT", "valueFrom": {"secretKeyRef": {"name": "db", "key": "password"}}}
    other.run(shipped())
    report = other.run(shipped(), credentials=ASKED)
    assert "env" not in other.server.objects[app]["spec"]["template"]["spec"]["containers"][0]
    assert report.changed is False


def test_a_narrowed_run_takes_the_copy_of_a_component_outside_and_reads_no_other_namespace() -> None:
    world = World()
    asked = replace(ASKED, secrets=(*ASKED.secrets, Credential("elsewhere", "x", "", (Value("k", "hex"),))))
    world.run(shipped()[1:2], credentials=asked)
    report = world.run(shipped()[2:3], credentials=asked, scope=(shipped()[2].part.component,))
    assert states(report) == {f"{HASHED}/client-secret": "shared", f"{HASHED}/cookie-secret": "made"}
    assert value(world, HASHED, "client-secret") == value(world, "client", "SECRET")
    assert not [row for row in world.server.requests if "/namespaces/elsewhere" in row.path]


def test_a_second_run_changes_nothing_and_makes_nothing() -> None:
    world = World()
    world.run(shipped(), credentials=ASKED)
    before, found = world.arrived, values(world)
    again = world.run(shipped(), credentials=ASKED)
    assert (again.changed, world.writes(before), again.counts()) == (False, [], {"unchanged": 6})
    assert values(world) == found
    assert set(states(again).values()) == {"kept"}


def test_check_mode_predicts_the_run_and_makes_nothing() -> None:
    world = World()
    predicted = world.run(shipped(), credentials=ASKED, check=True)
    assert [row for row in world.server.writes if row.by == "engine"] == []
    done = world.run(shipped(), credentials=ASKED)
    assert predicted.counts() == done.counts() and states(predicted) == states(done)
    checked = world.run(shipped(), credentials=ASKED, check=True)
    assert checked.counts() == {"unchanged": 6}


def test_what_is_live_already_stays_and_is_told_where_it_is_upstreams() -> None:
    world = World()
    world.run(shipped())
    report = world.run(shipped(), credentials=ASKED)
    assert report.changed is False
    assert set(states(report).values()) == {"default"}
    assert value(world, "client", "SECRET") == CLIENT


def test_a_value_that_was_rotated_is_never_put_back() -> None:
    world = World()
    world.run(shipped(), credentials=ASKED)
    key = Key("", "secrets", "default", "client")
    row = json.loads(json.dumps(world.server.objects[key]))
    row["data"]["SECRET"] = b64("rotated-by-somebody")
    world.server.write("kubectl-edit", key, row)
    world.run(shipped(), credentials=ASKED)
    world.run(shipped(), credentials=ASKED)
    assert value(world, "client", "SECRET") == "rotated-by-somebody"


def test_values_are_carried_forward_when_the_content_hash_changes_and_the_old_secret_is_kept() -> None:
    world = World()
    world.run(shipped(), credentials=ASKED)
    found = values(world)
    report = world.run(shipped("proxy-dcb9876542"), credentials=ASKED, prune="delete", release="2")
    assert states(report)["proxy-dcb9876542/cookie-secret"] == "carried"
    assert values(world)["proxy-dcb9876542/cookie-secret"] == found[f"{HASHED}/cookie-secret"]
    assert Key("", "secrets", "default", HASHED) in world.server.objects


def test_secrets_of_a_component_that_goes_are_kept_although_nobody_lists_them_any_more() -> None:
    world = World()
    world.run(shipped(), credentials=ASKED)
    rows = documents(thing("ConfigMap", "a", "default", data={"a": "1"}))
    report = world.run(rows, credentials=replace(ASKED, secrets=()), prune="delete", removed=(shipped()[0].part.component,))
    assert len(values(world)) == 6, [(str(r.identity), r.action, r.reason) for r in report.rows]
    assert Key("apps", "deployments", "default", "db") not in world.server.objects


def test_a_value_of_the_users_own_in_the_manifests_is_applied_as_any_other() -> None:
    world = World()
    rows = documents(thing("Secret", "client", "default", stringData={"SECRET": "patched-by-the-user"}))
    report = world.run(rows, credentials=ASKED)
    assert value(world, "client", "SECRET") == "patched-by-the-user"
    assert report.credentials == []


def test_given_values_are_taken_once_and_another_one_later_is_told() -> None:
    world = World()
    asked = replace(ASKED, given={"default/client": {"SECRET": "given-by-vault-1"}, "default/dex": {"HASH": "correct horse"}})
    report = world.run(shipped(), credentials=asked)
    assert value(world, "client", "SECRET") == value(world, HASHED, "client-secret") == "given-by-vault-1"
    assert bcrypt.checkpw(b"correct horse", (value(world, "dex", "HASH") or "").encode())
    assert report.first_user == "" and Key("", "secrets", HOME, "initial-user") not in world.server.objects
    assert world.run(shipped(), credentials=asked).findings == []
    later = world.run(shipped(), credentials=replace(ASKED, given={"default/client": {"SECRET": "given-by-vault-2"}}))
    assert later.changed is False
    assert all("holds another value than the given one" in text for text in later.findings) and len(later.findings) == 2


def test_a_given_hash_is_written_as_dex_reads_it_and_known_again_under_each_of_its_names() -> None:
    world, text = World(), "$2b$12$" + "b" * 53
    asked = [replace(ASKED, given={"default/dex": {"HASH": given}}) for given in (b64(f"{text}\n"), text.replace("$2b$", "$2y$"), HASH)]
    assert world.run(shipped(), credentials=asked[0]).failures == [] and value(world, "dex", "HASH") == text
    assert [len(world.run(shipped(), credentials=row).findings) for row in asked] == [0, 0, 1]


@pytest.mark.parametrize("check", [True, False])
def test_a_run_that_needs_a_hash_ends_before_it_writes_when_bcrypt_is_missing(check: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "bcrypt", None)
    with pytest.raises(EngineError, match="Nothing was written: The Python package bcrypt"):
        (world := World()).run(shipped(), credentials=ASKED, check=check)
    assert world.writes() == []


def test_a_run_that_needs_given_values_names_all_that_are_missing_before_it_writes() -> None:
    world = World()
    with pytest.raises(EngineError, match="Nothing was written: Secret default/dex, key HASH, Secret default/client"):
        world.run(shipped(), credentials=replace(ASKED, mode="given"))
    assert world.writes() == []


def test_a_demo_has_what_upstream_ships_and_never_loses_what_it_has() -> None:
    world, other = World(), World()
    report = world.run(shipped(), credentials=replace(ASKED, mode="demo"))
    assert value(world, "client", "SECRET") == CLIENT and set(states(report).values()) == {"default"}
    other.run(shipped(), credentials=ASKED)
    found, demo = values(other), replace(ASKED, mode="demo", given={"default/dex": {"HASH": "12341234"}})
    assert other.run(shipped(), credentials=demo).changed is False
    assert values(other) == found
    assert (fresh := World()).run(shipped(), credentials=demo).failures == []
    assert bcrypt.checkpw(b"12341234", (value(fresh, "dex", "HASH") or "").encode())


def test_adoption_that_is_refused_leaves_no_password_behind() -> None:
    world = World()
    world.server.write("kubectl-client-side-apply", Key("", "configmaps", "default", "a"), foreign("a"))
    rows = [*shipped(), *documents(thing("ConfigMap", "a", "default", data={"a": "1"}))]
    with pytest.raises(EngineError, match="exist already"):
        world.run(rows, credentials=ASKED)
    assert Key("", "secrets", HOME, "initial-user") not in world.server.objects


def foreign(name: str) -> dict[str, Any]:
    row = thing("ConfigMap", name, "default", data={"a": "1"})
    entry = {"manager": "kubectl-client-side-apply", "operation": "Update", "fieldsV1": {"f:data": {"f:a": {}}}, "apiVersion": "v1"}
    row["metadata"]["managedFields"] = [entry]
    return row


@few
@given(st.integers(0, 120), st.sampled_from(["kill", "kill-after", "lost", "503"]), st.integers(0, 50))
def test_a_run_that_is_cut_short_anywhere_is_finished_with_the_same_values(moment: int, fault: str, seed: int) -> None:
    world = World(faults={moment: fault})
    with suppress(Killed):
        world.run(shipped(), credentials=ASKED, seed=seed)
    world.revive()
    found = values(world)
    world.clock.sleep(60.0)
    report = world.run(shipped(), credentials=ASKED, seed=seed + 1)
    assert report.failures == []
    now = values(world)
    assert {name: now[name] for name in found} == found
    assert now["client/SECRET"] == now[f"{HASHED}/client-secret"] != CLIENT
    password = value(world, "initial-user", "password", HOME) or ""
    assert bcrypt.checkpw(password.encode(), (now["dex/HASH"] or "").encode())


@few
@given(st.text("abcdefghijklmnop+/=& ", min_size=12, max_size=40).map(str.strip).filter(lambda text: len(text) > 11), st.booleans())
def test_no_value_is_in_result_ledger_or_progress(canary: str, check: bool) -> None:
    world = World()
    asked = replace(ASKED, given={"default/client": {"SECRET": canary}})
    redactor = Redactor()
    report = world.run(shipped(), credentials=asked, check=check, diff=True, redactor=redactor)
    shown = json.dumps(report.as_result(redactor, diff=True)) + json.dumps(world.said) + repr(world.engine._settings)  # noqa: SLF001
    secrets = {canary, *(text for text in values(world).values() if text and text not in (CLIENT, COOKIE))}
    for text in secrets:
        assert text not in shown and b64(text) not in shown and b64(text) not in repr(world.ledger())
    ledger = world.ledger().entries.get(Identity("", "Secret", "default", "client"))
    assert check or (ledger is not None and "ensured:" in ledger.hash)
