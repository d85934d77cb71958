# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""In whatever form a text gives a credential its value, the value does not survive; what only names places does."""

from __future__ import annotations

import json
import time

import pytest
from ansible_collections.kubeflow.platform.plugins.module_utils.objects.credentials import is_credential
from ansible_collections.kubeflow.platform.plugins.module_utils.objects.redaction import MASK, Redactor
from hypothesis import given
from hypothesis import strategies as st

# A value is a few of these, so that a piece of it that survives is seen as well.
PIECES = ["Qx7hunter", "4711Zebra", "kLmNoPqR", "98765432", "vWxYz012"]
NAMES = [
    *("password", "db_password", "PASSWORD", "MYSQL_ROOT_PASSWORD", "clientSecret", "client-secret", "api_key", "token"),
    *("spring.datasource.password", "smtp_pass", "PGPASSWORD"),
]
# What may join the pieces: whatever a value of the form can hold as it is.
WORD, LINE, QUOTED = "-_.+/~%^*@", " -_.+/~%^*@;,&|(){}[]<>$!?=#:\\", " -_.+/~%^*@;,&|(){}[]<>$!?=#:"
FORMS: list[tuple[str, str]] = [
    # INI, properties, env files
    ("[db]\nuser = root\n{name} = {value}\nhost = x\n", LINE),
    ("[db]\n{name}={value}\nhost=x\n", LINE),
    ("{name}:{value}\nhost:x", LINE),
    ("export {name}={value}\n", LINE),
    ('{name} = "{value}"\n', QUOTED),
    ("[db]\n{name} = first\n  {value}\n", WORD),
    # YAML
    ("a: b\n{name}: {value}\nc: d\n", "-_.+/~%^*@"),
    ("- x: y\n  {name}: {value}\n", WORD),
    ("{name}: '{value}'\n", QUOTED),
    ('{name}: "first\n  {value}"\nc: d\n', " -_.+/"),
    ("x:\n  {name}: |\n    first\n    {value}\n  y: z\n", LINE),
    ("- {name}: >-\n    {value}\n  y: z\n", LINE),
    ("{name}: &anchor {value}\n", WORD),
    ("{name}: !!str {value}\n", WORD),
    ("{name}:\n  {value}\nother: x\n", WORD),
    ("{name}:\n- {value}\n- second\nother: x\n", WORD),
    ("{{{name}: {value}}}", "-_.+/~%^*@ "),
    ("db: {{user: root, {name}: {value}, host: x}}", "-_.+/~%^*@ "),
    ("[{{a: b}}, {{{name}: '{value}'}}]", QUOTED),
    ("env:\n- name: {name}\n  value: {value}\n- name: A\n  value: b\n", WORD),
    ("env:\n- name: {name}\n  value: |\n    {value}\n- name: A\n", LINE),
    ("env: [{{name: {name}, value: {value}}}]", WORD),
    ("env:\n- value: {value}\n  name: {name}\n- name: A\n  value: b\n", WORD),
    ("env:\n  - name: A\n    value: b\n  - value: |\n      {value}\n    name: {name}\n", LINE),
    ('{{"env":[{{"value":"{value}","name":"{name}"}}]}}', QUOTED),
    ("args:\n- --{name}\n- {value}\n- --v=2\n", WORD),
    ("args: [--{name}, {value}, --v=2]", WORD),
    # JSON
    ('{{"user":"root","{name}":"{value}","host":"x"}}', QUOTED),
    ('{{"env":[{{"name":"{name}","value":"{value}"}}]}}', QUOTED),
    ('{{"args":["--{name}","{value}"]}}', QUOTED),
    ('text "{{\\"{name}\\":\\"{value}\\",\\"host\\":\\"x\\"}}" end', WORD + " "),
    # XML
    ("<db><{name}>{value}</{name}></db>", " -_.+/~%^*@;,|(){}[]$!?=#:"),
    ("<{name} type='x'><![CDATA[{value}]]></{name}>", QUOTED),
    ("<property><name>{name}</name><value>{value}</value></property>", WORD),
    ('<user {name}="{value}"/>', QUOTED),
    ('<add key="{name}" value="{value}"/>', QUOTED),
    # command lines
    ("exec app --{name} {value} --v=2", WORD),
    ("exec app --{name}={value} --v=2", WORD),
    ("exec app --{name} '{value}' --v=2", QUOTED),
    ("exec app -{name} \\\n  {value}", WORD),
    ("A=b {name}={value} app", WORD),
    ("mysql -h db -uroot -p{value} -e 'select 1'", "_.+/~%^*@"),
    ("curl -s -u admin:{value} http://x/", "-_.+/~%^*"),
    ("redis-cli -h x -a {value} ping", "_.+/~%^*"),
    # URLs and connections
    ("postgres://root:{value}@db:5432/x?sslmode=off", "-_.+/~%^*@:"),
    ("redis://:{value}@cache:6379", "-_.+~%^*"),
    ("jdbc:mysql://db/x?user=root&{name}={value}&ssl=true", "-_.+/~%^*"),
    ("Server=db;{name}={value};Database=x", "-_.+/~%^*@"),
    ("host=db {name}={value} dbname=x", "-_.+/~%^*@&;,"),
    ("https://x.org/a.tar.xz?X-Amz-Signature={value}&x=1", "-_.+/~%"),
    ("https://x.org/a.tar.xz?sv=1&sig={value}", "-_.+/~%"),
    ("CREATE USER 'a'@'%' IDENTIFIED BY '{value}';", QUOTED),
    ("ALTER ROLE a WITH PASSWORD '{value}';", QUOTED),
    ("machine x login y password {value}\n", WORD),
    # what servers and Go print
    ('spec.{name}: Invalid value: "{value}": must be short', QUOTED),
    ("spec.{name}: Invalid value: {value}: must be short", WORD),
    ("got map[{name}:{value} user:root] here", WORD),
    ("got {{Name:x {name}:{value}}} here", WORD),
    ('Invalid value: "user = root\\n{name} = {value}\\nhost = x": no', WORD),
    ('Invalid value: "user: root\\n{name}: {value} x\\nhost: x": no', WORD),
    # whole Secrets in texts
    ("apiVersion: v1\nkind: Secret\nmetadata:\n  name: x\nstringData:\n  any: {value}\n  other: x\n", WORD),
    ("kind: Secret\ndata:\n  any: {value}\nmetadata:\n  name: x\n", WORD),
    ("stringData: {{any: {value}}}", WORD),
    ('{{"op":"replace","path":"/stringData/any","value":"{value}"}}', QUOTED),
]


@st.composite
def written(draw: st.DrawFn) -> tuple[str, list[str]]:
    """A text with a credential in it, and the pieces of the value."""
    form, joints = draw(st.sampled_from(FORMS))
    pieces = draw(st.lists(st.sampled_from(PIECES), min_size=1, max_size=3, unique=True))
    value = pieces[0]
    for piece in pieces[1:]:
        value += draw(st.text(st.sampled_from(joints), min_size=1, max_size=2)) + piece
    name = draw(st.sampled_from(NAMES))
    before, after = draw(st.sampled_from([("", ""), ("# comment\nx: 1\n", "\nlast: 1\n"), ("kind: ConfigMap\ndata:\n  a: b\n", "")]))
    return before + form.format(name=name, value=value) + after, pieces


def survivors(text: str, pieces: list[str], shown: str) -> list[str]:
    return [piece for piece in pieces if piece in shown]


@pytest.mark.parametrize(("form", "joints"), FORMS, ids=range(len(FORMS)))
def test_value_is_masked_in_each_form(form: str, joints: str) -> None:
    for name in NAMES:
        text = form.format(name=name, value="Qx7hunter")
        shown = Redactor().text(text)
        assert "Qx7hunter" not in shown, text
        assert MASK in shown


@given(written())
def test_no_piece_of_a_value_survives_whatever_it_holds(case: tuple[str, list[str]]) -> None:
    text, pieces = case
    shown = Redactor().text(text)
    assert survivors(text, pieces, shown) == [], f"{text!r} -> {shown!r}"


@given(written())
def test_no_piece_survives_inside_objects_annotations_and_json(case: tuple[str, list[str]]) -> None:
    text, pieces = case
    obj = {"kind": "ConfigMap", "metadata": {"annotations": {"x": json.dumps({"data": {"file": text}})}}, "data": {"file": text}}
    shown = json.dumps(Redactor().object(obj))
    assert survivors(text, pieces, shown) == [], f"{text!r} -> {shown!r}"


@given(written())
def test_masking_twice_is_masking_once(case: tuple[str, list[str]]) -> None:
    once = Redactor().text(case[0])
    assert Redactor().text(once) == once


@given(st.integers(1000, 10**12), st.sampled_from(NAMES))
def test_numbers_are_masked_like_texts(number: int, name: str) -> None:
    redactor = Redactor()
    for form in (
        *("{name}: {value}\n", "{name} = {value}\n", '{{"{name}": {value}}}', '{{"{name}":{value},"x":1}}', "{{x: 1, {name}: {value}}}"),
        *("--{name} {value}", "--{name}={value}", "<{name}>{value}</{name}>"),
    ):
        text = form.format(name=name, value=number)
        assert str(number) not in redactor.text(text), text
    shown = json.dumps(redactor.object({name: number, "list": [f"--{name}", number], "pair": [{"name": name, "value": number}]}))
    assert str(number) not in shown


@pytest.mark.parametrize(
    "text",
    [
        "passwordSecretRef: my-secret\n",
        "passwordSecretRef:\n  name: my-secret\n  key: password\n",
        "tokenReviews: true\n",
        'resources: ["tokenreviews", "secrets"]',
        "secretName: mlpipeline-minio-artifact\n",
        "--password-file=/etc/app/password",
        "--password-file /etc/app/password --v 2",
        "exec app --token-path /var/run/token && sleep 1",
        "secretKeyRef:\n  name: x\n  key: password\n",
        "password: $(DB_PASSWORD)\n",
        "password: ${DB_PASSWORD}\n",
        "password: {{ .Values.password }}\n",
        "mysql -uroot -p$MYSQL_PASSWORD",
        "mkdir -p /var/lib/mysql && cd /x",
        "password: *default\n",
        "secret:\n  secretName: x\n  items:\n  - key: a\n",
        "https://example.org:8080/path@v1",
        "image: docker.io/istio/pilot@sha256:0123456789abcdef",
        "ssh://git@example.org/x",
        'error looking up secret: secret "kserve-webhook-server-secret" not found',
        'failed to get "db-password": timed out after 3 s',
        "spec.password: Required value",
        "spec.token: Forbidden: may not be set",
        "the secret is there, the token: not yet",
        "<secret><name>x</name></secret>",
        "properties:\n  password:\n    type: string\n    description: x\n",
        "imagePullSecrets:\n- name: registry\n",
        "required:\n- password\n- token\n",
        "accessTokenLifespan: 300",
        "tokenHeader: X-Auth-Token",
        "secret_store: vault",
        "enable_password=true",
        "password: ''\nhost: x\n",
        "- name: PASSWORD_FILE\n  value: /etc/x\n",
        "- name: DB_PASSWORD\n  valueFrom:\n    secretKeyRef:\n      name: x\n",
        "- value: shown\n  name: A\n- name: DB_PASSWORD\n  valueFrom: x\n",
        "- name: A\n  value: shown\n- value: also\n  name: B\n",
        "compass: north\nbypass: all-of-it\nproxy_pass http://backend;\n",
        "Failed to apply Secret kubeflow/login: the server is busy (HTTP 429). Run again with fewer workers.",
    ],
)
def test_text_stays_as_it_is_when_it_only_names_places(text: str) -> None:
    assert Redactor().text(text) == text


def test_what_stands_around_a_value_stays_readable() -> None:
    text = "[db]\nuser = root\npassword = hunter22\nhost = db.example.org\n"
    assert Redactor().text(text) == f"[db]\nuser = root\npassword = {MASK}\nhost = db.example.org\n"
    text = "sh -c 'app --user root --password hunter22 --port 80'"
    assert Redactor().text(text) == f"sh -c 'app --user root --password {MASK} --port 80'"
    assert Redactor().text("postgres://root:hunter22@db:5432/x") == f"postgres://root:{MASK}@db:5432/x"
    assert Redactor().text("{user: root, password: hunter22, host: x}") == f"{{user: root, password: {MASK}, host: x}}"
    assert Redactor().text("x:\n  password: |\n    a\n    b\n  y: z\n") == f"x:\n  password: |\n    {MASK}\n  y: z\n"


def test_lists_below_a_credentials_name_are_masked_in_objects() -> None:
    shown = Redactor().object({"passwords": ["a1", 7, {"name": "n"}], "password": {"minLength": 8}})
    assert shown == {"passwords": [MASK, MASK, {"name": "n"}], "password": {"minLength": 8}}


@pytest.mark.parametrize("name", ["pass", "DB_PASS", "pgpassword", "/stringData/anything", "signing-key"])
def test_further_names_of_credentials_are_known(name: str) -> None:
    assert is_credential(name)


@pytest.mark.parametrize(
    "name", ["tokenReviews", "passwordSecretRef", "secretName", "password-file", "bypass", "passthrough", "tokenLifetime"]
)
def test_further_names_of_places_are_no_credentials(name: str) -> None:
    assert not is_credential(name)


@pytest.mark.parametrize(
    "text",
    ["password=" * 30_000, "a" * 200_000 + "token", "{" * 50_000 + "password: x", "<password>" * 20_000, "secret:\n" * 30_000]
    + ['password: "' * 5_000, "-p " * 30_000 + "mysql ", "\\" * 50_000 + "password", "x://a:" * 20_000, "mysql " * 10_000],
)
def test_masking_takes_time_in_proportion_to_the_text(text: str) -> None:
    begun = time.process_time()
    Redactor().text(text)
    assert time.process_time() - begun < 5


def test_document_inside_a_block_is_masked_by_what_it_says() -> None:
    text = 'credentials: |-\n  {\n    "gcs": {"secretName": "x"},\n    "useAnonymousCredential": "",\n    "s3Password": "hunter22"\n  }\n'
    assert Redactor().text(text) == text.replace("hunter22", MASK)


@pytest.mark.parametrize(
    "text", ["# ====== CREDENTIALS ======\n", 'echo "-access_key $accesskey -secret_key $secretkey"', "--native-password=ON"]
)
def test_ornaments_variables_and_switches_stay(text: str) -> None:
    assert Redactor().text(text) == text
