# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import bcrypt
import pytest
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.response import Response
from ansible_collections.kubeflow.platform.plugins.module_utils.identity.login import Pages, prove_client, prove_password
from ansible_collections.kubeflow.platform.tests.testbed.standins.dex import Dex, NoStart
from ansible_collections.kubeflow.platform.tests.unit.dex_objects import CONFIGURATION, INLINE, SHIPPED

PASSWORD = "correct horse+battery & staple"
PAGES = Pages("/dex", "kubeflow-oidc-authservice", "/oauth2/callback")


def hashed(cost: int = 10) -> str:
    return bcrypt.hashpw(PASSWORD.encode(), bcrypt.gensalt(cost)).decode()


def started(value: str, secret: str = "a+secret/%", text: str = CONFIGURATION) -> Dex:
    environment = {"DEX_USER_PASSWORD": value, "OIDC_CLIENT_ID": "kubeflow-oidc-authservice", "OIDC_CLIENT_SECRET": secret}
    return Dex(text, environment)


class Near:
    """Dex without a network in between."""

    def __init__(self, dex: Dex) -> None:
        self.dex = dex

    def send(self, method: str, path: str, headers: dict[str, str], body: bytes | None) -> Response:
        answer = self.dex.answer(method, path, headers, (body or b"").decode())
        return Response(answer.status, {name.lower(): value for name, value in answer.headers.items()}, answer.body.encode())


class Scripted:
    """Gives the answers that it was made with."""

    def __init__(self, *answers: Response) -> None:
        self.answers = list(answers)

    def send(self, *_request: object) -> Response:
        return self.answers.pop(0)


PAGE = Response(302, {"location": "/dex/auth/local/login?back=&state=abc"})


def to(target: str, status: int = 303) -> Response:
    return Response(status, {"location": target})


def test_the_right_password_logs_in_whatever_the_case_of_the_address() -> None:
    web = Near(started(hashed()))
    assert prove_password(web, PAGES, "User@example.com", PASSWORD).right
    assert len(web.dex.codes) == 1


def test_a_wrong_password_is_wrong() -> None:
    assert prove_password(Near(started(hashed())), PAGES, "user@example.com", "something else").state == "wrong"


def test_a_hash_of_low_cost_is_no_wrong_password() -> None:
    proof = prove_password(Near(started(hashed(4))), PAGES, "user@example.com", PASSWORD)
    assert proof.state == "unclear"
    assert "cost" in proof.words


def test_the_login_of_an_older_release_works_with_its_own_application() -> None:
    pages = Pages("/dex", "kubeflow-oidc-authservice", "/authservice/oidc/callback")
    assert prove_password(Near(started("", text=INLINE)), pages, "user@example.com", "12341234").right


def test_an_unknown_application_is_said() -> None:
    proof = prove_password(Near(started(hashed())), Pages("/dex", "other", "/oauth2/callback"), "user@example.com", PASSWORD)
    assert proof.state == "unclear"
    assert "application" in proof.words


@pytest.mark.parametrize(
    ("answers", "state"),
    [
        ([PAGE, to("/oauth2/callback?code=x&state=proof")], "right"),
        ([PAGE, to("/dex/approval?req=x&hmac=y")], "right"),
        ([PAGE, to("http://dex.example.com/dex/approval?req=x")], "right"),
        ([to("http://dex:5556/dex/auth/local/login?state=x"), to("/oauth2/callback?code=x")], "right"),
        ([PAGE, Response(200, {}, b"<html>")], "wrong"),
        ([PAGE, Response(401)], "wrong"),
        ([PAGE, to("/oauth2/callback?error=server_error")], "unclear"),
        ([PAGE, to("/oauth2/callback")], "unclear"),
        ([PAGE, to("https://elsewhere/oauth2/callback?code=x")], "unclear"),
        ([PAGE, Response(500)], "unclear"),
        ([PAGE, Response(503)], "unclear"),
        ([to("https://kubeflow.example.com/dex/auth/local", 301)], "unclear"),
        ([to("/oauth2/start", 302)], "unclear"),
        ([to("", 302)], "unclear"),
        ([Response(200, {}, b"<html>")], "unclear"),
        ([Response(400)], "unclear"),
        ([Response(404)], "unclear"),
        ([Response(503)], "unclear"),
    ],
)
def test_only_a_login_proves_a_login(answers: list[Response], state: str) -> None:
    proof = prove_password(Scripted(*answers), PAGES, "user@example.com", PASSWORD)
    assert proof.state == state
    assert proof.right or proof.words
    assert PASSWORD not in proof.words


def test_the_secret_of_a_client_is_proved_alone() -> None:
    web = Near(started(hashed()))
    assert prove_client(web, "/dex", "kubeflow-oidc-authservice", "a+secret/%").right
    assert prove_client(web, "/dex", "kubeflow-oidc-authservice", "another").state == "wrong"
    assert prove_client(web, "/dex", "another", "a+secret/%").state == "wrong"
    assert prove_client(Near(started(hashed(), secret="")), "/dex", "kubeflow-oidc-authservice", "").state == "wrong"
    assert web.dex.codes == []


@pytest.mark.parametrize("answer", [Response(400, {}, b"{}"), Response(401), Response(404), Response(200, {}, b'{"access_token": "x"}')])
def test_other_answers_prove_no_secret(answer: Response) -> None:
    assert prove_client(Scripted(answer), "/dex", "id", "secret").state == "unclear"


@pytest.mark.parametrize(
    ("value", "message"), [("", "no password hash"), (PASSWORD, "malformed"), (SHIPPED.replace("$12$", "$17$"), "cost")]
)
def test_the_stand_in_ends_where_dex_does_not_start(value: str, message: str) -> None:
    with pytest.raises(NoStart, match=message):
        started(value)
