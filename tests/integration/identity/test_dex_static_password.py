# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The module against a real API server, its Deployment controller and port-forward, and a Dex that answers as Dex does."""

from __future__ import annotations

import base64
import json
from typing import Any
from urllib.parse import quote

import pytest
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.connection import from_params
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.errors import Refused
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.portforward import PodWeb, PortClosed
from ansible_collections.kubeflow.platform.plugins.module_utils.identity import passwords
from ansible_collections.kubeflow.platform.plugins.module_utils.identity.login import prove_client

from tests.integration.identity.conftest import CLIENT, OLD, STORED, Site
from tests.integration.tenancy.driver import Result
from tests.unit.dex_objects import INLINE, SHIPPED

pytestmark = pytest.mark.bed

NEW = "correct horse & battery"
MODULE = "dex_static_password"
AGENT = "kubeflow.platform"


def rotate(site: Site, **options: Any) -> Result:
    given = {"email": "user@example.com", "wait_timeout": 60, "proof_timeout": 3, **options}
    if "user_hash" not in given:
        given = {"user_password": NEW, "cost": 10, **given}
    return site.platform.run(MODULE, **given)


def writes(site: Site, start: int) -> list[object]:
    return list(site.bed.audit(start).by(agent=AGENT).writes())


def test_the_new_password_logs_in_and_a_second_run_writes_nothing(site: Site) -> None:
    before = set(site.pods())
    first = rotate(site, diff=True)
    assert (first.failed, first.changed, first.json["proved"]) == (False, True, "login"), first.message
    assert before.isdisjoint(site.pods())
    assert site.login(NEW).right
    assert site.login(OLD).state == "wrong"
    start = site.bed.audit().end
    again = rotate(site)
    assert (again.failed, again.changed, again.json["proved"]) == (False, False, "login"), again.message
    assert writes(site, start) == []


def test_check_mode_writes_nothing(site: Site) -> None:
    start = site.bed.audit().end
    result = rotate(site, check=True, diff=True)
    assert (result.failed, result.changed) == (False, True), result.message
    assert writes(site, start) == []
    assert site.stored() == STORED


def test_dex_that_does_not_come_up_runs_with_the_old_password_again(site: Site) -> None:
    def spoil(environment: dict[str, str]) -> dict[str, str]:
        return environment if environment["DEX_USER_PASSWORD"] == STORED else {**environment, "DEX_USER_PASSWORD": "no hash"}

    site.node.spoil = spoil
    result = rotate(site)
    assert (result.failed, result.changed, result.json["restored"]) == (True, False, True), result.json
    assert "does not come up" in result.message
    assert "runs with it again" in result.message
    assert site.stored() == STORED
    assert site.login(OLD).right


def test_a_login_that_fails_brings_the_old_password_back(site: Site) -> None:
    site.node.spoil = lambda environment: {**environment, "DEX_USER_PASSWORD": STORED}
    result = rotate(site)
    assert (result.failed, result.json["restored"]) == (True, True), result.json
    assert "refused the password" in result.message
    assert site.stored() == STORED
    assert site.login(OLD).right


def test_a_run_that_was_cut_off_is_brought_to_its_end(site: Site) -> None:
    made = passwords.make(NEW, 10).text
    site.platform.patch("secret", "auth", "dex-passwords", {"stringData": {"DEX_USER_PASSWORD": made}})
    result = rotate(site)
    assert (result.failed, result.changed, result.json["restarted"]) == (False, True, True), result.message
    assert site.stored() == made
    assert site.login(NEW).right


def test_a_ready_hash_works(site: Site) -> None:
    made = passwords.make(NEW, 10).text.replace("$2b$", "$2y$")
    result = rotate(site, user_hash=base64.b64encode(made.encode()).decode())
    assert (result.failed, result.json["proved"]) == (False, "answers"), result.message
    assert site.stored() == made
    assert site.login(NEW).right


def test_a_hash_in_the_configuration_of_an_older_release_is_rotated(site: Site) -> None:
    site.install(INLINE.replace(SHIPPED, STORED))
    result = rotate(site)
    assert (result.failed, result.json["proved"]) == (False, "login"), result.message
    assert result.json["place"] == "ConfigMap auth/dex, key config.yaml"
    assert "brings the former one back" in result.warnings


@pytest.mark.parametrize("given", ["plain text as a hash", "$2b$04$" + "a" * 53, "$2b$17$" + "a" * 53, STORED[:-1]])
def test_a_hash_that_dex_would_not_take_is_refused_before_anything_is_asked(site: Site, given: str) -> None:
    start = site.bed.audit().end
    result = rotate(site, user_hash=given)
    assert result.failed
    assert result.json["findings"]
    assert site.bed.audit(start).by(agent=AGENT).requests == ()
    assert site.stored() == STORED


def test_a_user_who_may_only_read_is_refused_with_the_permission_and_nothing_is_written(site: Site) -> None:
    result = rotate(site, kubeconfig=str(site.bed.kubeconfig_of("readonly")))
    assert result.failed
    assert result.json["missing_permissions"]["rules"], result.json
    assert site.stored() == STORED


def test_nothing_that_is_secret_leaves_a_run(site: Site) -> None:
    start = site.bed.audit().end
    results = [rotate(site, check=True, diff=True), rotate(site, diff=True)]
    told = json.dumps([result.json for result in results])
    log = (site.bed.folder / "audit.log").read_text(encoding="utf-8")[start:]
    for value in (NEW, STORED, site.stored()):
        for form in (value, quote(value), base64.b64encode(value.encode()).decode()):
            assert form not in told
            assert form not in log


def test_the_secret_of_a_client_is_proved_through_the_port_forward(site: Site) -> None:
    assert prove_client(site.web(), "/dex", CLIENT["OIDC_CLIENT_ID"], CLIENT["OIDC_CLIENT_SECRET"]).right
    assert prove_client(site.web(), "/dex", CLIENT["OIDC_CLIENT_ID"], "another").state == "wrong"
    assert prove_client(site.web("token"), "/dex", CLIENT["OIDC_CLIENT_ID"], CLIENT["OIDC_CLIENT_SECRET"]).right


def test_a_port_forward_that_is_refused_or_leads_nowhere_is_said(site: Site) -> None:
    with pytest.raises(Refused) as refusal:
        prove_client(site.web("readonly"), "/dex", "id", "secret")
    assert refusal.value.failure.rbac == ("create", "", "pods/portforward", "auth"), str(refusal.value)
    with pytest.raises(Refused):
        prove_client(site.web("badtoken"), "/dex", "id", "secret")
    connection = from_params({"kubeconfig": str(site.bed.kubeconfig)})
    with pytest.raises(PortClosed):
        prove_client(PodWeb(connection, "auth", site.pods()[0], 9999, 5), "/dex", "id", "secret")
    nobody = from_params({"kubeconfig": str(site.bed.kubeconfig), "impersonate_user": "nobody"})
    with pytest.raises(Refused, match="nobody"):
        prove_client(PodWeb(nobody, "auth", site.pods()[0], 5556), "/dex", "id", "secret")
