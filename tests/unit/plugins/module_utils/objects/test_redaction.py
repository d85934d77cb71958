# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Planted canaries: no spelling of a secret value may survive, and what is no secret must."""

from __future__ import annotations

import base64
import json
from typing import Any
from urllib.parse import quote, quote_plus

import pytest
from ansible_collections.kubeflow.platform.plugins.module_utils.objects.redaction import MASK, Redactor, is_credential
from hypothesis import given
from hypothesis import strategies as st

CANARY = "canary+value/4711=&%ü"
BCRYPT = "$2y$12$4K/VkmDd1q1Orb3xAt82zu8gk7Ad6ReFR4LCP9UeYE90NLiN9Df72"


def secret(**values: str) -> dict[str, Any]:
    data = {key: base64.b64encode(value.encode()).decode() for key, value in values.items()}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "data": data}


def knowing(value: str) -> Redactor:
    redactor = Redactor()
    redactor.learn(secret(key=value))
    return redactor


SPELLINGS = [
    CANARY,
    base64.b64encode(CANARY.encode()).decode(),
    base64.urlsafe_b64encode(CANARY.encode()).decode(),
    quote(CANARY),
    quote(CANARY, safe=""),
    quote_plus(CANARY),
    json.dumps(CANARY),
]


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_learned_values_are_masked_however_they_are_spelled(spelling: str) -> None:
    shown = knowing(CANARY).text(f'Invalid value: "{spelling}": no')
    assert spelling.strip('"') not in shown
    assert MASK in shown


@given(st.text(min_size=8, max_size=30).filter(lambda text: not text.isspace()), st.binary(max_size=7), st.binary(max_size=7))
def test_learned_values_are_masked_inside_longer_base64(value: str, before: bytes, after: bytes) -> None:
    raw = value.encode("utf-8", "surrogatepass")
    core = base64.b64encode(raw).decode()
    shown = Redactor([value]).text(base64.b64encode(before + raw + after).decode())
    assert core not in shown
    if len(raw) >= 12:
        assert MASK in shown


@given(st.text(st.characters(codec="ascii", exclude_categories=["C"]), min_size=8, max_size=30), st.sampled_from(["data", "stringData"]))
def test_values_of_secrets_never_survive_object_masking(value: str, field: str) -> None:
    encoded = base64.b64encode(value.encode()).decode()
    obj = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, field: {"k": encoded if field == "data" else value}}
    assert Redactor().object(obj) == {**obj, field: {"k": MASK}}
    wrapped = Redactor().object({"items": [obj]})
    assert wrapped["items"][0][field] == {"k": MASK}


def test_multi_line_values_are_masked_line_by_line() -> None:
    redactor = knowing("-----BEGIN OPAQUE-----\nAAAABBBBCCCCDDDDEEEEFFFF\n-----END OPAQUE-----\n")
    assert redactor.text("decode error near AAAABBBBCCCCDDDDEEEEFFFF") == f"decode error near {MASK}"


def test_short_values_are_masked_by_place_only() -> None:
    redactor = knowing("minio")
    assert redactor.text("Deployment kubeflow/minio is ready") == "Deployment kubeflow/minio is ready"
    assert redactor.object(secret(key="minio"))["data"] == {"key": MASK}


def test_everyday_words_are_not_blanked_even_when_a_secret_holds_them() -> None:
    assert knowing("kubeflow").text("Namespace kubeflow") == "Namespace kubeflow"


def test_only_secrets_teach() -> None:
    redactor = Redactor()
    redactor.learn({"kind": "ConfigMap", "data": {"a": "long public value"}})
    assert redactor.text("long public value") == "long public value"


def test_pair_marks_equal_and_different_values_alike_for_all_lengths() -> None:
    before, after = Redactor().pair(secret(same="a" * 20, other="b"), secret(same="a" * 20, other="c" * 99))
    assert before["data"] == {"same": MASK, "other": f"{MASK} (before)"}
    assert after["data"] == {"same": MASK, "other": f"{MASK} (after)"}


@pytest.mark.parametrize(
    "text",
    [
        "Authorization: Bearer {}",
        'headers {{"Authorization": "Basic {}"}}',
        "mysql://root:{}@mysql:3306/db",
        "--client-secret={}",
        "PASSWORD={} and more",
        '{{"clientSecret": "{}"}}',
        'spec.password: Invalid value: "{}": too simple',
    ],
)
def test_texts_lose_what_looks_like_a_credential(text: str) -> None:
    shown = Redactor().text(text.format("S3cr3tCanary99"))
    assert "S3cr3tCanary99" not in shown
    assert MASK in shown


def test_config_texts_lose_secrets_and_hashes_line_by_line() -> None:
    text = f"staticClients:\n- idEnv: X\n  secret: canary-of-dex\n  name: Dex\nstaticPasswords:\n- hash: {BCRYPT}\n  username: user\n"
    shown = Redactor().object({"kind": "ConfigMap", "data": {"config.yaml": text}})["data"]["config.yaml"]
    assert "canary-of-dex" not in shown
    assert BCRYPT not in shown
    assert "username: user" in shown
    assert "name: Dex" in shown


def test_private_keys_and_tokens_are_masked_whole() -> None:
    key = "-----BEGIN RSA PRIVATE KEY-----\nMIIabc\n-----END RSA PRIVATE KEY-----"
    token = "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJhIn0abc.c2lnbmF0dXJl"
    shown = Redactor().text(f"key {key} token {token} end")
    assert shown == f"key {MASK} token {MASK} end"


def test_objects_lose_credentials_in_variables_arguments_and_keys() -> None:
    pod = {
        "containers": [
            {
                "env": [{"name": "DB_PASSWORD", "value": "canary"}, {"name": "DB_HOST", "value": "mysql"}],
                "args": ["--token", "canary", "--v=2", "--api-key=canary"],
            }
        ]
    }
    shown = Redactor().object(pod)["containers"][0]
    assert shown["env"] == [{"name": "DB_PASSWORD", "value": MASK}, {"name": "DB_HOST", "value": "mysql"}]
    assert shown["args"] == ["--token", MASK, "--v=2", f"--api-key={MASK}"]
    config = {"kind": "ConfigMap", "data": {"clientSecret": "canary", "dbHost": "mysql"}}
    assert Redactor().object(config)["data"] == {"clientSecret": MASK, "dbHost": "mysql"}


@pytest.mark.parametrize(
    "text",
    [
        'error looking up secret: secret "kserve-webhook-server-secret" not found',
        "volumes:\n- name: tls\n  secret:\n    secretName: webhook-certs\n",
        "automountServiceAccountToken: true\n",
        "pod-template-hash: 7d9c7b5f4",
        "spec.password: Required value",
        "DB_PASSWORD=$(OTHER)",
        "token-path=/var/run/secrets/tokens/istio-token",
        "cookie_secret_file=/etc/x",
        "https://example.org:8080/path",
    ],
)
def test_texts_keep_what_is_no_credential(text: str) -> None:
    assert Redactor().text(text) == text


@pytest.mark.parametrize(
    "name",
    [
        "PASSWORD",
        "db_password",
        "MYSQL_ROOT_PASSWORD",
        "clientSecret",
        "client-secret",
        "OAUTH2_PROXY_COOKIE_SECRET",
        "api-key",
        "secretkey",
        "token",
        "secret",
    ],
)
def test_names_of_credentials_are_known(name: str) -> None:
    assert is_credential(name)


@pytest.mark.parametrize(
    "name",
    [
        "secretName",
        "tokenPath",
        "passwordFile",
        "imagePullSecrets",
        "SECRET_NAME",
        "tokenTTL",
        "host",
        "key",
        "secretRef",
        "credentialName",
        "compass",
        "PASSWORD_ENABLED",
    ],
)
def test_names_of_places_and_settings_are_no_credentials(name: str) -> None:
    assert not is_credential(name)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=20),
        lambda i: st.lists(i, max_size=3) | st.dictionaries(st.text(max_size=8), i, max_size=3),
        max_leaves=10,
    )
)
def test_masking_keeps_the_shape_and_is_idempotent(value: Any) -> None:
    redactor = Redactor(["some secret value"])
    once = redactor.object(value)
    assert redactor.object(once) == once
    assert type(once) is type(value)


LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"


def applied(obj: dict[str, Any]) -> dict[str, Any]:
    """An object as kubectl's older way leaves it."""
    return {**obj, "metadata": {**obj["metadata"], "annotations": {LAST_APPLIED: json.dumps(obj), "note": "stays"}}}


@pytest.mark.parametrize("value", ["pin", "x" * 40])
@pytest.mark.parametrize("field", ["data", "stringData"])
def test_what_kubectl_keeps_of_a_secret_is_masked_wholly(field: str, value: str) -> None:
    live = applied({"kind": "Secret", "metadata": {"name": "s"}, field: {"k": value}})
    shown = Redactor().object(live)
    assert shown["metadata"]["annotations"] == {LAST_APPLIED: MASK, "note": "stays"}
    assert value not in json.dumps(shown)
    changed = applied({"kind": "Secret", "metadata": {"name": "s"}, field: {"k": value + "2"}})
    before, after = Redactor().pair(live, changed)
    assert before["metadata"]["annotations"][LAST_APPLIED] == f"{MASK} (before)"
    assert after["metadata"]["annotations"][LAST_APPLIED] == f"{MASK} (after)"


@pytest.mark.parametrize("text", ['{"kind":"Secret","data":{"k":"cGlu"', '["pin"]', "pin"])
def test_what_kubectl_keeps_is_masked_wholly_when_it_cannot_be_read(text: str) -> None:
    shown = Redactor().object({"kind": "ConfigMap", "metadata": {"name": "c", "annotations": {LAST_APPLIED: text}}})
    assert shown["metadata"]["annotations"] == {LAST_APPLIED: MASK}


def test_what_kubectl_keeps_of_others_is_masked_by_its_structure() -> None:
    pod = {
        "kind": "Pod",
        "metadata": {"name": "p"},
        "spec": {"env": [{"name": "DB_PASSWORD", "value": "pin"}, {"name": "A", "value": "b"}]},
    }
    shown = json.loads(Redactor().object(applied(pod))["metadata"]["annotations"][LAST_APPLIED])
    assert shown["spec"]["env"] == [{"name": "DB_PASSWORD", "value": MASK}, {"name": "A", "value": "b"}]


def test_earlier_values_that_kubectl_keeps_are_learned() -> None:
    redactor = Redactor()
    redactor.learn(applied({"kind": "Secret", "metadata": {"name": "s"}, "stringData": {"k": "an-earlier-value"}}))
    assert redactor.text("was an-earlier-value") == f"was {MASK}"


WRONG = [47114711, 4711.47114, ["a-longer-text"], {"deep": ["a-longer-text"]}, [[47114711]]]


@pytest.mark.parametrize("field", ["data", "stringData"])
@pytest.mark.parametrize("value", WRONG, ids=str)
def test_values_that_no_secret_should_hold_are_masked_and_learned(field: str, value: Any) -> None:
    plain = [text for text in ("47114711", "4711.47114", "a-longer-text") if text in json.dumps(value)]
    for content in ({"k": value}, [value], value):
        obj = {"kind": "Secret", "metadata": {"name": "s"}, field: content}
        redactor = Redactor()
        redactor.learn(obj)
        assert [text for text in plain if text in json.dumps(redactor.object(obj))] == []
        assert [text for text in plain if text in redactor.text(f'expected string, got {json.dumps(value)} or "{value}"')] == []
