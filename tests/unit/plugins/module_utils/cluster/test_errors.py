# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Bodies are those of Kubernetes 1.36 (``tests/bed/test_error_table.py`` asks a real server for them), or what proxies send."""

from __future__ import annotations

import json
from typing import Any

import pytest
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster import wording
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.errors import (
    Refused,
    Unreachable,
    UnreachableKind,
    classify,
    classify_transport,
)
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.response import Response
from ansible_collections.kubeflow.platform.plugins.module_utils.objects.identity import Identity
from ansible_collections.kubeflow.platform.plugins.module_utils.objects.ownership import Conflict
from hypothesis import given
from hypothesis import strategies as st

DEPLOYMENT = Identity("apps", "Deployment", "kubeflow", "x")


def status(code: int, message: str, reason: str = "", headers: dict[str, str] | None = None, **details: Any) -> Response:
    body = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "message": message, "details": details, "code": code}
    if reason:
        body["reason"] = reason
    return Response(code, {"content-type": "application/json", **(headers or {})}, json.dumps(body).encode())


def plain(code: int, text: str, **headers: str) -> Response:
    return Response(code, {"content-type": "text/plain; charset=utf-8", **headers}, text.encode())


def cause(field: str, message: str, reason: str = "FieldValueInvalid") -> dict[str, str]:
    return {"reason": reason, "message": message, "field": field}


CALL = 'Internal error occurred: failed calling webhook "v.cert-manager.io": failed to call webhook: '
TABLE = [
    ("throttled", plain(429, "slow", **{"retry-after": "3"})),
    ("throttled", plain(503, "slow", **{"retry-after": "1"})),
    ("server_down", plain(503, "service unavailable")),
    ("server_down", plain(502, "bad gateway")),
    ("server_down", plain(504, "gateway timeout")),
    ("server_down", status(500, "etcdserver: request timed out")),
    ("server_down", status(500, "etcdserver: leader changed")),
    ("server_down", status(500, "storage is (re)initializing")),
    ("server_down", status(500, "rpc error: code = Unavailable desc = transport is closing")),
    ("internal", status(500, "etcdserver: mvcc: database space exceeded")),
    ("schema", status(500, "failed to create typed patch object (a/b; v1, Kind=C): .spec.q: field not declared in schema")),
    ("schema", status(500, 'something new: errors:\n  .spec.ports: duplicate entries for key [port=80,protocol="TCP"]')),
    ("schema", status(500, "any text at all")),
    ("schema", status(400, 'C in version "v1" cannot be handled as a C: strict decoding error: unknown field "spec.q"', "BadRequest")),
    ("live_schema", status(500, "failed to create typed live object: .spec.q: field not declared in schema")),
    (
        "webhook_down",
        status(500, CALL + 'Post "https://w.c.svc:443/v?timeout=30s": dial tcp 10.0.0.1:443: connect: connection refused', "InternalError"),
    ),
    ("webhook_down", status(500, CALL + 'Post "https://w.c.svc:443/v?timeout=30s": context deadline exceeded', "InternalError")),
    ("webhook_down", status(500, CALL + "unexpected EOF", "InternalError")),
    ("webhook_down", status(500, 'conversion webhook for a.io/v1, Kind=B failed: Post "https://c.d.svc:443/c": service "c" not found')),
    ("internal", status(500, "Internal error occurred: something", "InternalError")),
    ("internal", plain(500, "<html>oops</html>")),
    ("auth", status(401, "Unauthorized", "Unauthorized")),
    ("rbac", status(403, 'x is forbidden: User "u" cannot patch resource "x" in API group "" in the namespace "n"', "Forbidden")),
    ("rbac", status(403, 'user "u" (groups=["g"]) is attempting to grant RBAC permissions not currently held:\n{}', "Forbidden")),
    (
        "ns_terminating",
        status(403, "no", "Forbidden", causes=[cause("metadata.namespace", "n is being terminated", "NamespaceTerminating")]),
    ),
    ("quota", status(403, "pods is forbidden: exceeded quota: q, requested: pods=1, used: pods=2, limited: pods=2", "Forbidden")),
    ("quota", status(403, "pods is forbidden: failed quota: q: must specify limits.cpu for: main", "Forbidden")),
    ("conflict_version", status(403, "pods is forbidden: status unknown for quota: q, resources: pods", "Forbidden")),
    ("policy", status(403, 'pods "x" is forbidden: violates PodSecurity "restricted:latest": runAsNonRoot != true', "Forbidden")),
    ("policy", status(403, "pods is forbidden: no PriorityClass with name p was found", "Forbidden")),
    ("policy", status(422, "x is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no", "Invalid")),
    ("policy", status(400, 'admission webhook "w.example.org" denied the request: no', "BadRequest")),
    ("policy", status(403, 'admission webhook "w.example.org" denied the request: not yours', "Forbidden")),
    ("kind_missing", plain(404, "404 page not found\n")),
    ("kind_missing", status(404, "the server could not find the requested resource", "NotFound")),
    ("ns_missing", status(404, 'namespaces "n" not found', "NotFound", name="n", kind="namespaces")),
    ("conflict_version", status(404, 'configmaps "n" not found', "NotFound", name="n", kind="configmaps")),
    (
        "conflict_owner",
        status(409, "Apply failed", "Conflict", causes=[cause(".a", 'conflict with "kubectl" using v1', "FieldManagerConflict")]),
    ),
    ("conflict_version", status(409, "the object has been modified", "Conflict", name="a")),
    ("conflict_version", status(409, 'configmaps "a" already exists', "AlreadyExists", name="a")),
    ("conflict_version", status(422, "the server rejected our request due to an error in our request", "Invalid")),
    ("terminating", status(409, 'object is being deleted: pods "a" already exists', "AlreadyExists", name="a")),
    ("invalid", status(422, "invalid", "Invalid", causes=[cause("spec.selector", "Invalid value: {}: field is immutable")])),
    ("invalid", status(400, "metadata.managedFields must be nil", "BadRequest")),
    ("invalid", status(413, "Request entity too large: limit is 3145728", "RequestEntityTooLarge")),
    ("invalid", status(415, "415: Unsupported Media Type", "UnsupportedMediaType")),
    ("invalid", plain(405, "no")),
    ("internal", plain(302, "")),
    ("internal", plain(599, "")),
]


@pytest.mark.parametrize(("expected", "response"), TABLE)
def test_classify_tells_apart_what_the_server_means(expected: str, response: Response) -> None:
    failure = classify(response, identity=DEPLOYMENT)
    assert failure.error_class == expected
    assert failure.message.startswith("Failed to apply Deployment kubeflow/x: ")
    assert failure.reason
    assert failure.advice.endswith(".")
    assert str(failure) == f"{failure.message}. {failure.advice}"


@given(
    st.integers(100, 999),
    st.sampled_from(["application/json", "text/html", "", "application/json; charset=utf-8"]),
    st.binary(max_size=60)
    | st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=8),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(
                    ["message", "reason", "details", "causes", "metadata", "field", "name", "kind", "deletionTimestamp", "finalizers"]
                ),
                inner,
                max_size=4,
            )
        ),
        max_leaves=12,
    ).map(lambda value: json.dumps(value).encode()),
)
def test_classify_never_fails_whatever_the_answer_is(code: int, content_type: str, body: bytes) -> None:
    failure = classify(Response(code, {"content-type": content_type}, body))
    assert failure.error_class in wording.ADVICE
    assert len(str(failure)) < 3000


def test_classify_calls_success_on_a_dying_object_terminating() -> None:
    body = {"kind": "Namespace", "metadata": {"name": "n", "deletionTimestamp": "2026-01-01T00:00:00Z", "finalizers": ["a/b"]}}
    failure = classify(
        Response(200, {"content-type": "application/json"}, json.dumps(body).encode()), identity=Identity("", "Namespace", "", "n")
    )
    assert failure.error_class == "terminating"
    assert failure.reason == "it is being deleted (finalizers: a/b)"


def test_schema_failure_is_path_and_problem() -> None:
    text = 'failed to create typed patch object (a/x; apps/v1, Kind=D): .spec.containers[name="m"].imge: field not declared in schema'
    failure = classify(status(500, text), identity=DEPLOYMENT)
    assert failure.reason == '.spec.containers[name="m"].imge: field not declared in schema'
    assert failure.field == '.spec.containers[name="m"].imge'


def test_webhook_failure_names_webhook_and_cause() -> None:
    response = status(
        500, CALL + 'Post "https://w.c.svc:443/v?timeout=30s": dial tcp 10.0.0.1:443: connect: connection refused', "InternalError"
    )
    failure = classify(response, identity=DEPLOYMENT)
    assert failure.webhook == "v.cert-manager.io"
    assert (
        failure.reason
        == 'webhook "v.cert-manager.io" does not answer: https://w.c.svc:443/v: dial tcp 10.0.0.1:443: connect: connection refused'
    )


def test_rbac_failure_says_verb_resource_and_place() -> None:
    text = (
        'deployments.apps "x" is forbidden: User "bob" cannot patch resource "deployments" in API group "apps" in the namespace "kubeflow"'
    )
    assert classify(status(403, text, "Forbidden")).rbac == ("patch", "apps", "deployments", "kubeflow")
    text = 'nodes is forbidden: User "bob" cannot list resource "nodes" in API group "" at the cluster scope'
    assert classify(status(403, text, "Forbidden")).rbac == ("list", "", "nodes", "")


def test_quota_failure_says_used_and_limit() -> None:
    text = "c is forbidden: exceeded quota: q, requested: count/configmaps=1, used: count/configmaps=2, limited: count/configmaps=2"
    assert classify(status(403, text, "Forbidden")).reason == (
        "quota q is exhausted (requested count/configmaps=1, used count/configmaps=2, limited to count/configmaps=2)"
    )


def test_missing_namespace_is_named_and_a_missing_namespace_object_is_no_missing_namespace() -> None:
    response = status(404, 'namespaces "n" not found', "NotFound", name="n", kind="namespaces")
    assert classify(response, identity=Identity("", "ConfigMap", "n", "a")).namespace == "n"
    assert classify(response, identity=Identity("", "Namespace", "", "n")).error_class == "conflict_version"


def test_owner_conflict_lists_fields_and_managers() -> None:
    causes = [cause(".spec.replicas", 'conflict with "evil" using apps/v1', "FieldManagerConflict")]
    failure = classify(status(409, "Apply failed", "Conflict", causes=causes), identity=DEPLOYMENT)
    assert failure.conflicts == (Conflict("evil", ".spec.replicas"),)
    assert failure.reason == "other managers own .spec.replicas (evil)"
    assert "takeover" in failure.advice


def test_long_problems_are_shortened_to_their_ends() -> None:
    whole_template = "Invalid value: " + '{"Spec":' * 400 + ": field is immutable"
    failure = classify(status(422, "m", "Invalid", causes=[cause("spec.template", whole_template)]))
    assert failure.reason == "spec.template: Invalid value: ...: field is immutable"
    diff = "Forbidden: spec is immutable after creation except resources.requests\n@@ -10,7 +10,7 @@\n   }\n"
    failure = classify(status(422, "m", "Invalid", causes=[cause("spec", diff, "FieldValueForbidden")]))
    assert failure.reason == "spec: Forbidden: spec is immutable after creation except resources.requests"


def test_a_web_page_is_not_shown_but_its_title() -> None:
    page = Response(403, {"content-type": "text/html"}, b"<html><head><title>Access denied</title></head>" + b"x" * 5000)
    assert classify(page).reason == "HTTP 403 and a web page: Access denied (is there a proxy between?)"


def test_retry_after_is_passed_on() -> None:
    assert classify(plain(429, "slow", **{"retry-after": "7"})).retry_after == 7.0
    assert classify(plain(429, "slow", **{"retry-after": "soon"})).retry_after is None


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("refused", "transport"),
        ("reset", "transport"),
        ("timeout", "transport"),
        ("tls", "tls"),
        ("resolve", "transport"),
        ("other", "transport"),
    ],
)
def test_transport_failures_say_what_to_check(kind: UnreachableKind, expected: str) -> None:
    failure = classify_transport(Unreachable("words", kind))
    assert str(failure) == str(Unreachable("words", kind))
    assert failure.error_class == expected
    assert "words" in failure.message
    assert failure.advice == wording.TRANSPORT_ADVICE[kind]


def test_refused_carries_its_failure() -> None:
    refused = Refused("GET /apis", status(401, "Unauthorized", "Unauthorized"))
    assert refused.failure.error_class == "auth"
    assert "Renew the credentials" in str(refused)


@pytest.mark.parametrize(
    ("printed", "told"),
    [
        ("&value.valueUnstructured{Value:4711}", "a number"),
        ("&value.valueUnstructured{Value:47.11}", "a number"),
        ("&value.valueUnstructured{Value:true}", "a boolean"),
        ('&value.valueUnstructured{Value:map[string]interface {}{"k":"pin-4711"}}', "a map"),
        ('&value.valueUnstructured{Value:[]interface {}{"pin-4711"}}', "a list"),
        ("map[k:pin-4711 b:2]", "a map"),
        ("[pin-4711 2]", "a list"),
        ("pin-4711", "a text"),
        ("several\nlines of 4711", "a text"),
    ],
)
def test_value_of_the_wrong_type_is_not_quoted(printed: str, told: str) -> None:
    text = f"failed to create typed patch object (a/s; v1, Kind=Secret): .data.pin: expected string, got {printed}"
    failure = classify(status(500, text))
    assert failure.reason == f".data.pin: expected string, got {told}"
    assert failure.field == ".data.pin"


def test_each_of_several_values_of_the_wrong_type_is_not_quoted() -> None:
    text = (
        "failed to create typed patch object (a/s; v1, Kind=Secret): errors:\n  .data.pin: expected string, got &value.valueUnstructured{"
        "Value:4711}\n  .data.list: expected map, got [x\ny]\n  .data: field not declared in schema"
    )
    wanted = ".data.pin: expected string, got a number .data.list: expected map, got a list .data: field not declared in schema"
    assert classify(status(500, text)).reason == wanted


def test_number_that_cannot_be_decoded_is_not_quoted() -> None:
    text = 'Secret in version "v1" cannot be handled as a Secret: json: cannot unmarshal number 4711.5 into Go struct field Secret.data'
    assert "4711" not in classify(status(400, text, "BadRequest")).reason
