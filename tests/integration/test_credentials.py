# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Passwords of the platform's own: made once, in no place where they can be read. One journey on one cluster, in the order of the file."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import bcrypt
import pytest
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.credentials import Credential, decoded
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.credentials import Credentials as Asked
from ansible_collections.kubeflow.platform.plugins.plugin_utils.plan.model import Request
from ansible_collections.kubeflow.platform.plugins.plugin_utils.plan.planner import plan
from ansible_collections.kubeflow.platform.plugins.plugin_utils.plan.result import as_result
from ansible_collections.kubeflow.platform.plugins.plugin_utils.records.library import collection_root, load

from tests.integration.site import ROOT, Ran, Site
from tests.testbed.fixtures import Bed

CANARY = "canary/+given=5f1d77?&x"
GIVEN = {"auth/dex-oidc-client": {"OIDC_CLIENT_SECRET": CANARY}}
FIRST_USER = ("kubeflow-platform", "initial-user")

pytestmark = [pytest.mark.bed, pytest.mark.xdist_group("credentials")]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A fresh cluster and the small distribution, which ships upstream's own values; one value is given."""
    variables = {
        "kubeflow_release": "26.03.1",
        "kubeflow_distribution_source": str(ROOT / "tests" / "distribution"),
        "kubeflow_credentials_given": GIVEN,
    }
    with Bed.up(tmp_path_factory.mktemp("bed")) as bed:
        yield Site(bed, tmp_path_factory.mktemp("site"), variables)


def asked() -> Asked:
    """The credentials of a default selection."""
    made = plan(load(collection_root()), Request("26.03.1"))
    return Asked.from_params({"mode": "generate", "secrets": as_result(made, None)["credentials"]})


def live(site: Site) -> dict[str, str]:
    """Every value that is live and ought not to be upstream's."""
    known = asked()
    found = {}
    for row in site.bed.get("secret", "--all-namespaces")["items"]:
        name, namespace = row["metadata"]["name"], row["metadata"]["namespace"]
        for value in (known.find(namespace, name) or Credential("", "")).values:
            found[f"{namespace}/{name} {value.key}"] = decoded(row, value.key) or ""
    return found


def public(site: Site) -> set[str]:
    """Those of them that everybody knows."""
    known = asked()
    values = {f"{row} {value.key}": value for row in known.secrets for value in row.values}
    found = live(site).items()
    return {name for name, text in found for key, value in values.items() if bare(name) == key and value.is_shipped(text)}


def bare(name: str) -> str:
    secret, _space, key = name.partition(" ")
    namespace, _slash, rest = secret.partition("/")
    credential = asked().find(namespace, rest)
    return f"{credential} {key}"


def first_password(site: Site) -> str:
    return decoded(site.bed.get("secret", FIRST_USER[1], "-n", FIRST_USER[0]), "password") or ""


def forms(text: str) -> list[str]:
    """A value as it is, in base64, and as in a URL."""
    return [text, base64.b64encode(text.encode()).decode(), quote(text, safe="")]


def secrets(site: Site) -> list[str]:
    """What nobody may read: generated and given values, and the first user's password."""
    return [text for text in [*live(site).values(), first_password(site), CANARY] if text]


def leaks(site: Site, text: str, known: list[str]) -> list[str]:
    return [name for value in known for name in forms(value) if name in text]


def on_disk(site: Site) -> str:
    """Everything that runs left on disk, the inventory's own variables aside: caches, work folders and the audit log."""
    texts = []
    for path in [*(site.folder / "work").rglob("*"), *Path(site.bed.folder).glob("**/audit*.log")]:
        if path.is_file() and path.stat().st_size < 64 * 1024 * 1024:
            data = path.read_bytes()
            texts.append((gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data).decode("utf-8", "replace"))
    assert texts
    return "\n".join(texts)


@pytest.fixture(scope="module")
def installed(site: Site) -> Ran:
    """Check mode first, then the install, both as talkative as can be."""
    predicted = site.run("--check", "--diff", "-vvv")
    assert predicted.code == 0, predicted.output
    assert leaks(site, predicted.output + json.dumps(predicted.result), [CANARY]) == []
    assert site.bed.audit().by(agent="kubeflow.platform").writes() == []
    ran = site.run("--diff", "-vvv")
    assert ran.actions() == predicted.actions()
    return ran


def test_no_known_default_is_live_after_an_install(site: Site, installed: Ran) -> None:
    assert installed.code == 0, installed.output
    assert public(site) == set()
    assert len(live(site)) >= 8
    assert live(site)["auth/dex-oidc-client OIDC_CLIENT_SECRET"] == CANARY
    assert "WARNING: " not in installed.output.partition("Reach it:")[2]


def test_both_ends_of_the_login_know_one_client_secret(site: Site, installed: Ran) -> None:
    (proxy,) = [text for name, text in live(site).items() if name.endswith(" client-secret")]
    assert proxy == CANARY
    used = json.dumps(site.bed.get("deployment", "oauth2-proxy", "-n", "oauth2-proxy"))
    (name,) = {name.partition("/")[2].partition(" ")[0] for name in live(site) if name.startswith("oauth2-proxy/")}
    assert f'"{name}"' in used


def test_the_first_user_has_a_password_that_the_table_says_where_to_find(site: Site, installed: Ran) -> None:
    assert bcrypt.checkpw(first_password(site).encode(), live(site)["auth/dex-passwords DEX_USER_PASSWORD"].encode())
    assert "--namespace kubeflow-platform get secret initial-user" in installed.output


def test_the_database_of_pipelines_is_started_with_its_password(site: Site, installed: Ran) -> None:
    found = site.bed.get("deployment", "mysql", "-n", "kubeflow")["spec"]["template"]["spec"]["containers"][0]["env"]
    (row,) = [row for row in found if row["name"] == "MYSQL_ROOT_PASSWORD"]
    assert row["valueFrom"]["secretKeyRef"] == {"name": "mysql-secret", "key": "password"}


def test_values_are_nowhere_to_be_read(site: Site, installed: Ran) -> None:
    known = secrets(site)
    assert leaks(site, installed.output + json.dumps(installed.result), known) == []
    assert leaks(site, on_disk(site), known) == []
    ledger = site.bed.get("secret", "ledger-kubeflow", "-n", "kubeflow-platform")
    assert leaks(site, gzip.decompress(base64.b64decode(ledger["data"]["ledger"])).decode(), known) == []


def test_a_second_run_changes_nothing_and_keeps_every_value(site: Site, installed: Ran) -> None:
    before = {**live(site), "": first_password(site)}
    again = site.run("--diff", "-vvv")
    assert (again.code, again.changed) == (0, 0), again.output
    assert {**live(site), "": first_password(site)} == before
    assert leaks(site, again.output, secrets(site)) == []


def test_a_failed_run_and_a_refused_value_say_nothing_either(site: Site, installed: Ran) -> None:
    refused = site.run("-vvv", kubeflow_credentials_given={"auth/dex-oidc-client": {"OIDC_CLIENT_SECRET": f"{CANARY}\n"}})
    assert refused.failed == 1 and "line break" in refused.output and "kubeflow_credentials_given" in refused.output
    assert leaks(site, refused.output, [CANARY]) == []
    broken = [{"target": {"kind": "Deployment", "name": "dex"}, "patch": [{"op": "add", "path": "/spec/replicas", "value": "many"}]}]
    failed = site.run("--diff", "-vvv", dex_patches=broken)
    assert failed.failed == 1, failed.output
    assert leaks(site, failed.output + json.dumps(failed.result), secrets(site)) == []


def test_another_given_value_is_no_rotation_and_that_is_told(site: Site, installed: Ran) -> None:
    later = site.run(kubeflow_credentials_given={"auth/dex-oidc-client": {"OIDC_CLIENT_SECRET": "another-canary-77"}})
    assert (later.code, later.changed) == (0, 0), later.output
    assert "holds another value than the given one" in later.output and "another-canary-77" not in later.output


def test_a_platform_of_public_passwords_keeps_them_and_every_run_says_so(site: Site, installed: Ran) -> None:
    site.bed.reset()
    demo = site.run(kubeflow_credentials="demo", kubeflow_credentials_given={})
    assert demo.code == 0 and "WARNING: this is a demo: " in demo.output, demo.output
    assert "auth/dex-passwords" in demo.output.partition("WARNING: this is a demo")[2]
    before = live(site)
    later = site.run(kubeflow_credentials_given={})
    assert (later.code, later.changed) == (0, 0), later.output
    assert live(site) == before and "values that everybody can read upstream" in later.output
