# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Proof of a login without a browser, and of the secret of a client, by Dex's own pages. Nothing is configured for it.

The requests were seen to work against Dex as the distribution sets it up; its password grant is not enabled there. Each proof that
succeeds leaves an unused code in Dex's storage for half an hour.
"""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import Literal, Protocol
from urllib.parse import parse_qs, quote_plus, urlencode, urlsplit

from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.response import Response

State = Literal["right", "wrong", "unclear"]
_FORM = "application/x-www-form-urlencoded"


class Web(Protocol):
    """A way to Dex: one request, one answer, redirects not followed. It raises ClusterError where no answer came."""

    def send(self, method: str, path: str, headers: dict[str, str], body: bytes | None) -> Response:
        """Send one request."""


@dataclass(frozen=True, slots=True)
class Proof:
    """What a proof showed. "wrong": it was refused for what was to be proved; "unclear": for something else, said in ``words``.

    ``misplaced``: there is no login at all where it was looked for, whatever the password.
    """

    state: State
    words: str = ""
    misplaced: bool = False

    @property
    def right(self) -> bool:
        """Say whether it was shown to work."""
        return self.state == "right"


@dataclass(frozen=True, slots=True)
class Pages:
    """Where Dex's pages are and which application asks for a login: ``prefix`` is the issuer's path, "/dex" as shipped."""

    prefix: str
    client: str
    redirect: str


def prove_password(web: Web, pages: Pages, email: str, password: str) -> Proof:
    """Log in as a user would, up to the code that an application would exchange for a token."""
    asked = {"client_id": pages.client, "redirect_uri": pages.redirect, "response_type": "code", "state": "proof", "scope": "openid email"}
    first = web.send("GET", f"{pages.prefix}/auth/local?{urlencode(asked)}", {}, None)
    page = urlsplit(first.headers.get("location", ""))
    if first.status not in (302, 303) or not page.path.startswith(f"{pages.prefix}/auth/local"):
        return Proof("unclear", _no_page(first, page.netloc), misplaced=200 <= first.status < 500 and first.status != 429)
    form = urlencode({"login": email, "password": password}).encode()
    query = f"?{page.query}" if page.query else ""
    return _judged(pages, web.send("POST", page.path + query, {"Content-Type": _FORM}, form))


def prove_client(web: Web, prefix: str, client: str, secret: str) -> Proof:
    """Show that Dex has this secret for a client. No user is needed: the code that is offered is none."""
    if not secret:  # Dex accepts an empty one, and then it is the secret
        return Proof("wrong", "the client's secret is empty, so anybody has it")
    # Dex decodes both parts (RFC 6749 2.3.1).
    pair = base64.b64encode(f"{quote_plus(client)}:{quote_plus(secret)}".encode()).decode()
    form = urlencode({"grant_type": "authorization_code", "code": "bogus", "redirect_uri": "/oauth2/callback"}).encode()
    answer = web.send("POST", f"{prefix}/token", {"Authorization": f"Basic {pair}", "Content-Type": _FORM}, form)
    error = answer.body().get("error")
    if answer.status == 400 and error == "invalid_grant":
        return Proof("right")
    if answer.status == 401 and error == "invalid_client":
        return Proof("wrong", "Dex does not know the client by this secret")
    return Proof("unclear", f"Dex answered HTTP {answer.status} to a request for a token")


def _judged(pages: Pages, answer: Response) -> Proof:
    target = urlsplit(answer.headers.get("location", ""))
    if answer.status in (302, 303):
        query = parse_qs(target.query)
        back = target._replace(query="", fragment="").geturl() == pages.redirect
        # Older releases, and those that ask for consent, stop at their page of approval; only a right password leads there.
        if (back and "code" in query) or target.path == f"{pages.prefix}/approval":
            return Proof("right")
        reason = query.get("error", [""])[0]
        return Proof("unclear", f"Dex ended the login with {reason[:80] or 'a redirect to another page'}")
    if answer.status in (200, 401):  # older releases show the page again with 200
        return Proof("wrong", "Dex refused the password")
    if answer.status == 500:
        return Proof("unclear", "Dex answered HTTP 500, as it does when the hash of the user has a cost below 10 or its storage fails")
    return Proof("unclear", f"Dex answered HTTP {answer.status} to the login")


def _no_page(answer: Response, elsewhere: str) -> str:
    if answer.status in (301, 302, 303, 307, 308):
        return f"the address leads to another one ({elsewhere or 'another page'}) and not to Dex's login; give that as `gateway_url`"
    if answer.status == 400:
        return "Dex answered HTTP 400: it does not know the application or its redirect URI"
    if answer.status == 404:
        return "there is no login by password at this address (HTTP 404); Dex offers it with `enablePasswordDB: true`"
    return f"Dex answered HTTP {answer.status} instead of its login page"
