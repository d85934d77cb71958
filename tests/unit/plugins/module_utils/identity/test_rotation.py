# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from typing import Any

import bcrypt
import pytest
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.errors import Refused, Unreachable
from ansible_collections.kubeflow.platform.plugins.module_utils.identity import passwords
from ansible_collections.kubeflow.platform.plugins.module_utils.identity.dex import Unclear
from ansible_collections.kubeflow.platform.plugins.module_utils.identity.rotation import Failed
from ansible_collections.kubeflow.platform.tests.unit.dex_objects import CONFIGURATION, INLINE, SHIPPED
from ansible_collections.kubeflow.platform.tests.unit.dex_world import CORE, DEPLOYMENT, OLD, PASSWORDS, STORED, World, encoded

PASSWORD = "correct horse"
SECRET = f"{CORE}/secrets/dex-passwords"
OLDER = INLINE.replace(SHIPPED, STORED)
MADE = passwords.make(PASSWORD, 10)


def low(password: str = PASSWORD) -> str:
    return bcrypt.hashpw(password.encode(), bcrypt.gensalt(4)).decode()


def test_the_new_password_lets_in_and_the_old_one_does_not() -> None:
    world = World()
    run = world.rotation()
    run.run()
    assert (run.outcome.changed, run.outcome.restarted, run.outcome.proved) == (True, True, "login")
    assert world.writes == [SECRET, DEPLOYMENT]
    assert world.lets_in(PASSWORD)
    assert not world.lets_in(OLD)


def test_a_second_run_changes_nothing_and_proves_the_login() -> None:
    world = World()
    world.rotation().run()
    writes = list(world.writes)
    run = world.rotation()
    run.run()
    assert (run.outcome.changed, run.outcome.restarted, run.outcome.proved) == (False, False, "login")
    assert world.writes == writes


def test_check_mode_asks_the_server_and_writes_nothing() -> None:
    world = World()
    run = world.rotation(check=True)
    run.run()
    assert run.outcome.changed
    assert world.writes == []
    assert world.counts["PATCH"] == 2
    assert world.lets_in(OLD)


def test_a_run_that_was_cut_off_before_the_restart_is_brought_to_its_end() -> None:
    world = World()
    world.store(MADE.text)
    run = world.rotation(cost=0)
    run.run()
    assert (run.outcome.changed, run.outcome.restarted, run.outcome.proved) == (True, True, "login")
    assert world.writes == [DEPLOYMENT]
    assert world.lets_in(PASSWORD)


def test_a_stored_hash_is_kept_whatever_its_cost_and_made_anew_when_another_is_asked_for() -> None:
    world = World(stored=MADE.text)
    run = world.rotation(cost=0)
    run.run()
    assert not run.outcome.changed
    run = world.rotation(cost=11)
    run.run()
    assert run.outcome.changed
    assert world.stored.startswith("$2b$11$")


@pytest.mark.parametrize("stored", [low(), "plain text", ""])
def test_a_hash_that_lets_nobody_in_is_replaced(stored: str) -> None:
    world = World(stored=stored)
    run = world.rotation()
    run.run()
    assert run.outcome.proved == "login"
    assert world.lets_in(PASSWORD)


def test_dex_that_does_not_come_up_gets_the_old_hash_back() -> None:
    world = World()
    world.broken = lambda environment: environment["DEX_USER_PASSWORD"] != STORED
    run = world.rotation()
    with pytest.raises(Failed, match="does not come up.*ended 3 times.*runs with it again") as end:
        run.run()
    assert end.value.restored is True
    assert not run.outcome.changed
    assert world.stored == STORED
    assert world.writes == [SECRET, DEPLOYMENT, SECRET, DEPLOYMENT]
    assert world.lets_in(OLD)


def test_dex_that_does_not_come_up_with_the_old_hash_either_is_said() -> None:
    world = World()
    world.broken = lambda _environment: True
    with pytest.raises(Failed, match="did not come up with it either") as end:
        world.rotation().run()
    assert end.value.restored is True
    assert world.stored == STORED


def test_a_login_that_fails_gets_the_old_hash_back() -> None:
    """Another source of the variable wins: the Secret's hash is never read."""
    world = World()
    world.after_write[0] = lambda: world.put(f"{CORE}/secrets/dex-oidc-client", other(world))
    obj = world.objects[DEPLOYMENT]
    container = obj["spec"]["template"]["spec"]["containers"][0]
    world.after_write[1] = lambda: world.objects[DEPLOYMENT]["spec"]["template"]["spec"]["containers"][0].update(
        envFrom=[*container["envFrom"], {"secretRef": {"name": "dex-oidc-client"}}]
    )
    with pytest.raises(Failed, match="Dex refused the password.*old one was put back") as end:
        world.rotation().run()
    assert end.value.restored is True
    assert world.stored == STORED


def other(world: World) -> dict[str, Any]:
    data = world.objects[f"{CORE}/secrets/dex-oidc-client"]["data"]
    return {"data": {**data, "DEX_USER_PASSWORD": encoded(STORED)}}


@pytest.mark.parametrize("number", [0, 1])
@pytest.mark.parametrize("fault", ["lost", "down"])
def test_an_answer_that_is_lost_loses_nothing(number: int, fault: str) -> None:
    world = World()
    world.faults[number] = fault
    run = world.rotation()
    run.run()
    assert run.outcome.proved == "login"
    assert world.lets_in(PASSWORD)
    assert world.writes.count(SECRET) == 1


def test_a_restart_that_the_server_refuses_gets_the_old_hash_back() -> None:
    world = World()
    world.faults[1] = "forbidden"
    with pytest.raises(Failed, match="put back") as end:
        world.rotation().run()
    assert end.value.restored is True
    assert end.value.refused is not None
    assert world.stored == STORED


def test_a_server_that_is_gone_for_good_is_said_with_what_could_not_be_put_back() -> None:
    world = World()
    world.faults = dict.fromkeys(range(1, 40), "down")
    with pytest.raises(Failed, match="NOT be put back") as end:
        world.rotation().run()
    assert end.value.restored is False
    world.faults = {}
    run = world.rotation(cost=0)
    run.run()
    assert run.outcome.proved == "login"


def test_a_secret_that_somebody_else_writes_at_the_same_time_is_left() -> None:
    world = World()
    third = passwords.make("a third one", 10).text
    world.after_write[-1] = lambda: world.store(third)  # after the dry run
    with pytest.raises(Unclear, match="somebody else"):
        world.rotation().run()
    assert world.stored == third
    assert world.writes == []


def test_a_ready_hash_is_written_and_dex_answers() -> None:
    world = World()
    run = world.rotation(hash=MADE)
    run.run()
    assert (world.stored, run.outcome.proved) == (MADE.text, "answers")
    again = world.rotation(hash=passwords.read_hash(MADE.text.replace("$2b$", "$2y$")))
    again.run()
    assert not again.outcome.changed


def test_hash_and_password_together_prove_the_login() -> None:
    world = World()
    run = world.rotation(hash=MADE, password=PASSWORD)
    run.run()
    assert (world.stored, run.outcome.proved) == (MADE.text, "login")


def test_without_a_proof_dex_is_restarted_and_not_asked() -> None:
    world = World()
    run = world.rotation(way="none")
    run.run()
    assert (run.outcome.restarted, run.outcome.proved) == (True, "")
    assert world.lets_in(PASSWORD)


def test_the_gateway_proves_as_well() -> None:
    run = World().rotation(way="gateway")
    run.run()
    assert run.outcome.proved == "login"


def test_a_hash_inside_the_configuration_is_rotated_and_its_return_warned_of() -> None:
    world = World(OLDER)
    run = world.rotation()
    run.run()
    assert run.outcome.proved == "login"
    assert world.writes == [f"{CORE}/configmaps/dex", DEPLOYMENT]
    assert STORED not in world.configuration
    assert "# FIXME: Use hashFromEnv instead" in world.configuration
    assert any("brings the former one back" in text for text in run.outcome.warnings)


def test_a_configuration_with_which_dex_does_not_start_is_put_back_as_it_was() -> None:
    world = World(OLDER)
    world.broken = lambda _environment: STORED not in world.configuration
    with pytest.raises(Failed):
        world.rotation().run()
    assert world.configuration == OLDER
    assert world.lets_in(OLD)


def test_a_user_who_is_an_object_needs_no_restart() -> None:
    world = World()
    row = {"email": "bob@example.com", "hash": encoded(STORED), "metadata": {"name": "mjxweqdf", "resourceVersion": "7"}}
    world.collections[PASSWORDS] = [row]
    run = world.rotation(email="Bob@example.com")
    run.run()
    assert (run.outcome.email, run.outcome.proved, run.outcome.restarted) == ("bob@example.com", "login", False)
    assert run.outcome.place == "Password auth/mjxweqdf"
    assert world.writes == [f"{PASSWORDS}/mjxweqdf"]


def test_the_case_of_the_address_is_told() -> None:
    run = World().rotation(email="User@Example.com")
    run.run()
    assert run.outcome.email == "user@example.com"
    assert any("case" in text for text in run.outcome.warnings)


@pytest.mark.parametrize("what", ["nobody", "paused", "none", "port", "literal", "missing", "clients", "deployment"])
def test_what_cannot_be_done_is_said_before_anything_is_written(what: str) -> None:
    texts = {
        "port": CONFIGURATION.replace("http: 0.0.0.0:5556", "https: 0.0.0.0:5554"),
        "clients": CONFIGURATION.split("staticClients", maxsplit=1)[0],
    }
    world = World()
    world.put(f"{CORE}/configmaps/dex", {"data": {"config.yaml": texts.get(what, CONFIGURATION)}})
    obj = world.objects[DEPLOYMENT]
    if what == "paused":
        obj["spec"]["paused"] = True
    elif what == "none":
        obj["spec"]["replicas"] = 0
    elif what == "literal":
        obj["spec"]["template"]["spec"]["containers"][0]["env"].append({"name": "DEX_USER_PASSWORD", "value": STORED})
    elif what == "missing":
        world.put(SECRET, {"data": {"OTHER": ""}})
    elif what == "deployment":
        del world.objects[DEPLOYMENT]
    with pytest.raises(Unclear) as refusal:
        world.rotation(email="nobody@example.com" if what == "nobody" else "user@example.com").run()
    assert world.writes == []
    assert STORED not in str(refusal.value)


def test_an_address_where_no_login_is_leaves_the_old_hash_alone() -> None:
    world = World(CONFIGURATION.replace("/dex\n", "/other\n", 1))
    world.put(f"{CORE}/configmaps/dex", {"data": {"config.yaml": CONFIGURATION}})  # Dex still runs with the other one
    with pytest.raises(Unclear, match="nothing was written"):
        world.rotation().run()
    assert world.writes == []


def test_a_write_that_is_forbidden_is_refused_with_the_permission() -> None:
    world = World()
    world.faults[0] = "forbidden"
    with pytest.raises(Failed) as end:
        world.rotation().run()
    assert end.value.refused is not None
    assert end.value.refused.failure.rbac == ("patch", "", "secrets", "auth")
    assert world.stored == STORED


def test_a_server_that_does_not_answer_at_first_is_no_reason_to_write() -> None:
    world = World()

    def silent(*_path: object, **_more: object) -> object:
        raise Unreachable("refused", "refused")

    world.get = silent  # type: ignore[assignment,method-assign]
    with pytest.raises(Unreachable):
        world.rotation().run()
    assert world.writes == []


def test_no_secret_stands_in_what_a_run_tells() -> None:
    world = World()
    world.broken = lambda environment: environment["DEX_USER_PASSWORD"] != STORED
    run = world.rotation()
    with pytest.raises(Failed) as end:
        run.run()
    told = f"{end.value} {run.outcome} {run.wish}"
    assert all(value not in told for value in (PASSWORD, STORED, world.stored))
    assert isinstance(end.value, Failed)
    assert not isinstance(end.value.__cause__, Refused)
