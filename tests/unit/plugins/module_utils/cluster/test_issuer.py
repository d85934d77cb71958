# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.connection import from_params
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.errors import ClusterError
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.issuer import Issuer, read_issuer
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.requests import Client

from .conftest import Reply, Scripted

CONFIGURATION = {
    "issuer": "https://kubernetes.default.svc.cluster.local",
    "jwks_uri": "https://10.0.0.1:6443/openid/v1/jwks",
    "response_types_supported": ["id_token"],
    "subject_types_supported": ["public"],
    "id_token_signing_alg_values_supported": ["RS256"],
}


def ask(scripted: Scripted, reply: Reply) -> Issuer:
    scripted.script(reply)
    return read_issuer(Client(from_params({"host": scripted.url, "api_key": "token"}), "kubeflow.platform/test", 1))


def test_the_issuer_is_what_the_api_server_says(scripted: Scripted) -> None:
    found = ask(scripted, Reply(200, CONFIGURATION))
    assert found == Issuer(CONFIGURATION["issuer"], CONFIGURATION["jwks_uri"], ("RS256",))
    assert scripted.seen[0].path == "/.well-known/openid-configuration"


@pytest.mark.parametrize(
    ("reply", "told"),
    [
        (Reply(403, {"kind": "Status", "code": 403, "reason": "Forbidden", "message": "no"}), "system:service-account-issuer-discovery"),
        (Reply(404, b"404 page not found", {"Content-Type": "text/plain"}), "it has no /.well-known/openid-configuration"),
        (Reply(200, b"<html>", {"Content-Type": "text/html"}), "is no OpenID configuration"),
        (Reply(200, ["issuer"]), "is no OpenID configuration"),
        (Reply(200, {"issuer": "https://x"}), "is no OpenID configuration"),
        (Reply(500, {"kind": "Status", "code": 500, "message": "broken"}), "HTTP 500"),
    ],
)
def test_an_answer_that_tells_no_issuer_is_explained(scripted: Scripted, reply: Reply, told: str) -> None:
    with pytest.raises(ClusterError, match=told):
        ask(scripted, reply)
