# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Values of Secrets come out nowhere: not in results, diffs, progress, warnings or the texts of failures."""

from __future__ import annotations

import base64
import json

import pytest

from . import objects
from .conftest import Place
from .driver import Result

OLD = "canary-old-5f1d77"
NEW = "canary-new-90ab31"
FILE = f"issuer: https://dex\nstaticClients:\n- id: app\n  secret: {NEW}\n"


def forms(canary: str) -> list[str]:
    return [canary, base64.b64encode(canary.encode()).decode()]


def leaks(result: Result) -> list[str]:
    """The canaries that an operator could read."""
    text = result.all_text()
    return [form for canary in (OLD, NEW) for form in forms(canary) if form in text]


def rows(place: Place, password: str, **data: str) -> list[objects.Object]:
    app = objects.deployment(place.name, "app")
    app["spec"]["template"]["spec"]["containers"][0]["env"] = [{"name": "DB_PASSWORD", "value": password}, {"name": "MODE", "value": "on"}]
    return [
        objects.namespace(place.name),
        objects.secret(place.name, "login", password=password),
        objects.config_map(place.name, "settings", **({"colour": "blue"} | data)),
        app,
    ]


def test_values_are_masked_while_their_change_shows(place: Place) -> None:
    first = place.engine.succeeds(rows(place, OLD), diff=True)
    assert leaks(first) == []
    changed = rows(place, NEW, **{"colour": "red", "config.yaml": FILE})
    plan = place.engine(changed, check=True, diff=True)
    assert leaks(plan) == []
    diff = {entry["before_header"]: entry for entry in plan.json["diff"]}
    (secret,) = [entry for name, entry in diff.items() if "Secret" in name]
    assert secret["before"] != secret["after"], "that a value changed is seen"
    (settings,) = [entry for name, entry in diff.items() if "ConfigMap" in name]
    assert "colour: blue" in settings["before"]
    assert "colour: red" in settings["after"]
    assert "issuer: https://dex" in settings["after"]
    done = place.engine.succeeds(changed, diff=True)
    assert leaks(done) == []
    assert done.actions() == {"Secret login": "configure", "ConfigMap settings": "configure", "Deployment app": "configure"}


@pytest.mark.parametrize("check", [False, True])
def test_value_that_the_server_quotes_in_its_refusal_is_masked(place: Place, check: bool) -> None:
    broken = objects.deployment(place.name, "broken")
    broken["spec"]["template"]["spec"]["containers"][0]["env"] = [{"name": NEW, "value": "x"}, {"name": f"= {NEW}", "value": "x"}]
    label = objects.config_map(place.name, "labelled")
    label["metadata"]["labels"] = {"is": f"{NEW} no label"}
    result = (
        place.engine.fails([*rows(place, NEW), broken, label], check=check)
        if not check
        else place.engine([*rows(place, NEW), broken, label], check=True)
    )
    assert len(result.failures()) == 2
    assert leaks(result) == []


def test_live_value_that_nobody_renders_is_masked_in_a_refusal(place: Place) -> None:
    """An immutable Secret: the refusal and the plan speak of the live object."""
    before = rows(place, OLD)
    before[1]["immutable"] = True
    place.engine.succeeds(before)
    after = rows(place, NEW)
    after[1]["immutable"] = True
    for result in (place.engine.fails(after, diff=True), place.engine(after, check=True, diff=True, recreate=["Secret"])):
        assert leaks(result) == []
    assert leaks(place.engine.succeeds(after, recreate=["Secret"], diff=True)) == []


def test_invocation_shows_no_secret(place: Place) -> None:
    engine = place.engine.through(place.bed.kubeconfig_of("token"))
    result = engine.fails([objects.namespace(place.name)], api_key=NEW)
    assert "credentials" in result.message
    assert leaks(result) == []


@pytest.mark.parametrize("value", [4711, 471147114711, 47.11, True, [NEW], {"deep": NEW}], ids=str)
@pytest.mark.parametrize("field", ["data", "stringData"])
@pytest.mark.parametrize("check", [False, True])
def test_value_that_is_no_text_is_not_quoted_by_anybody(place: Place, field: str, value: object, check: bool) -> None:
    """The server refuses such a Secret, and prints what it got."""
    wrong = objects.secret(place.name, "wrong")
    wrong.pop("data", None)
    wrong[field] = {"pin": value}
    result = place.engine([objects.namespace(place.name), wrong], check=check, diff=True)
    assert list(result.failures()) == ["Secret wrong"]
    assert leaks(result) == []
    text = result.all_text().replace(place.name, "")
    assert "471147114711" not in text and "47.11" not in text
    assert not any(word in text for word in ("Value:4711", "got 4711", "number 4711"))


def test_what_kubectl_keeps_of_a_secret_is_masked_in_a_diff(place: Place) -> None:
    """Also values that are too short to be recognised."""
    made = rows(place, "pin-a1")
    place.bed.kubectl("create", "namespace", place.name)
    for obj in made[1:]:
        place.bed.kubectl("apply", "-f", "-", stdin=json.dumps(obj))
    plan = place.engine(rows(place, "pin-b2"), check=True, diff=True, adopt="allow")
    text = json.dumps(plan.json["diff"])
    assert "last-applied-configuration" in text
    assert "pin-a1" not in text and "pin-b2" not in text
    assert base64.b64encode(b"pin-a1").decode() not in text and base64.b64encode(b"pin-b2").decode() not in text
