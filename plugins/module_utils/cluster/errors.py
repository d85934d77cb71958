# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What an answer means: one class for each way of failing, the reason in few words, and one sentence that says what to do.

The table was verified against Kubernetes 1.36. Codes alone say little: a misspelled field and a webhook that is still
starting are both a 500, an immutable field and a bad label both a 422. All wording for operators is in this file and ``wording``.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from ansible_collections.kubeflow.platform.plugins.module_utils.cluster import wording
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.response import Response
from ansible_collections.kubeflow.platform.plugins.module_utils.objects.identity import Identity
from ansible_collections.kubeflow.platform.plugins.module_utils.objects.ownership import Conflict, parse_conflicts

UnreachableKind = Literal["refused", "reset", "timeout", "tls", "resolve", "other"]


class ClusterError(Exception):
    """Base of what this package raises. The text says what happened and what to do."""


class ConnectionFailed(ClusterError):
    """The options lead to no usable connection; nothing was sent."""


class Unreachable(ClusterError):
    """No whole answer came. ``kind`` says how: "refused", "reset", "timeout", "tls", "resolve", "other"; ``reason`` is the bare cause.

    ``where`` names the server as ``Connection.where`` does; ``words`` is the reason with it.
    """

    def __init__(self, reason: str, kind: UnreachableKind, where: str = wording.SOMEWHERE) -> None:
        self.reason = reason
        self.kind: UnreachableKind = kind
        self.words = wording.TRANSPORT[kind].format(reason=reason, where=where)
        super().__init__(f"Failed to reach the API server: {self.words}. {wording.TRANSPORT_ADVICE[kind]}")


class Refused(ClusterError):
    """The server answered something else than was needed for the run as a whole (discovery, a list)."""

    def __init__(self, request: str, response: Response) -> None:
        self.request = request
        self.response = response
        self.failure = classify(response)
        super().__init__(f"{request}: HTTP {response.status}: {self.failure.reason}. {self.failure.advice}")


@dataclass(frozen=True, slots=True)
class Failure:
    """Why one request did not do what it should.

    ``message``: "Failed to apply Deployment kubeflow/x: <reason>"; ``advice``: one sentence; ``reason``: the bare reason.
    ``webhook``: the name in the error text (not unique in a cluster). ``namespace``: the one that is missing or terminating.
    ``rbac``: (verb, group, resource, namespace), namespace "" for the whole cluster. ``field``: path of the field at fault.
    """

    error_class: str
    message: str
    advice: str
    retry_after: float | None = None
    webhook: str = ""
    namespace: str = ""
    conflicts: tuple[Conflict, ...] = ()
    rbac: tuple[str, str, str, str] | None = None
    field: str = ""
    reason: str = ""

    def __str__(self) -> str:
        """Return message and advice as one text."""
        return f"{self.message}. {self.advice}"


@dataclass(frozen=True, slots=True)
class _Answer:
    """An answer taken apart. ``reason`` is the Status reason; ``status`` is {} where the body is no Status."""

    code: int
    status: dict[str, Any]
    text: str
    reason: str
    details: dict[str, Any]
    causes: tuple[dict[str, Any], ...]
    response: Response
    identity: Identity | None

    def has(self, pattern: str) -> re.Match[str] | None:
        return re.search(pattern, self.text, re.DOTALL)


_Verdict = tuple[str, str, dict[str, Any]]  # class, reason, further fields of Failure


def classify(response: Response, *, resource: Any = None, identity: Identity | None = None, verb: str = "apply") -> Failure:
    """Return what ``response`` means, for any response: unknown codes and bodies become "internal" or "invalid", never an error.

    A 2xx whose object is being deleted is class "terminating". ``resource`` (a ``discovery.Resource``) adds the kind's
    words where there is no ``identity``. "transition" is never returned: only a probe tells it from "invalid".
    """
    answer = _take_apart(response, identity)
    for rule in _RULES:
        verdict = rule(answer)
        if verdict is not None:
            error_class, reason, more = verdict
            break
    else:
        error_class, reason, more = "internal", _short(answer), {}
    what = str(identity) if identity else str(getattr(resource, "kind", "") or "request")
    advice = more.pop("advice", None) or wording.ADVICE[error_class]
    return Failure(
        error_class,
        f"Failed to {verb} {what}: {reason}",
        advice,
        retry_after=response.retry_after,
        reason=reason,
        **more,
    )


def classify_transport(error: Unreachable, *, identity: Identity | None = None, verb: str = "apply") -> Failure:
    """Return what a missing answer means: "tls" for wrong certificates, which no waiting mends, else "transport"."""
    error_class = "tls" if error.kind == "tls" else "transport"
    what = f"Failed to {verb} {identity}" if identity else "Failed to reach the API server"
    return Failure(error_class, f"{what}: {error.words}", wording.TRANSPORT_ADVICE[error.kind], reason=error.words)


def _take_apart(response: Response, identity: Identity | None) -> _Answer:
    status = response.body()
    details = status.get("details")
    details = details if isinstance(details, dict) else {}
    causes = details.get("causes")
    listed = tuple(cause for cause in causes if isinstance(cause, dict)) if isinstance(causes, list) else ()
    text = str(status.get("message") or "") or response.text
    return _Answer(response.status, status, text, str(status.get("reason") or ""), details, listed, response, identity)


def _short(answer: _Answer) -> str:
    return wording.shorten(answer.text, [(str(c.get("field") or ""), str(c.get("message") or "")) for c in answer.causes], answer.code)


def _terminating(answer: _Answer) -> _Verdict | None:
    metadata = answer.status.get("metadata")
    if 200 <= answer.code < 300 and isinstance(metadata, dict) and metadata.get("deletionTimestamp"):
        listed = metadata.get("finalizers")
        finalizers = ", ".join(map(str, listed)) if isinstance(listed, list) and listed else "none"
        return "terminating", f"it is being deleted (finalizers: {finalizers})", {}
    if answer.code == 409 and answer.has("object is being deleted"):
        return "terminating", "it is being deleted", {}
    return None


def _busy(answer: _Answer) -> _Verdict | None:
    if answer.code == 429 or (answer.code == 503 and answer.response.retry_after is not None):
        return "throttled", f"the server is busy (HTTP {answer.code})", {}
    if answer.code == 500 and answer.has("etcdserver: mvcc: database space exceeded"):
        return "internal", "etcd is full (database space exceeded)", {"advice": wording.ETCD_FULL}
    if answer.code == 500 and answer.has(r"etcdserver: request is too large|larger than max"):
        return "invalid", "the object is too large for etcd", {}
    if answer.code == 503 and not answer.response.is_json and answer.identity and "." in answer.identity.group:
        return (
            "server_down",
            f"the server of the API group {answer.identity.group} does not answer (HTTP 503)",
            {"advice": wording.EXTENSION_DOWN},
        )
    if answer.code in (502, 503, 504) or (answer.code == 500 and not _calls_webhook(answer) and answer.has(wording.TRANSIENT)):
        return "server_down", _short(answer), {}
    if answer.code < 400:
        return "internal", f"HTTP {answer.code} is no failure that is known here", {}
    return None


def _calls_webhook(answer: _Answer) -> bool:
    return answer.has(r"failed calling webhook|conversion webhook for") is not None


def _schema(answer: _Answer) -> _Verdict | None:
    strict = answer.has(r"strict decoding error: (.*)")
    if answer.code == 400 and strict:
        found = re.search(r'unknown field "([^"]*)"', answer.text)
        return "schema", wording.cut(strict.group(1)), {"field": f".{found.group(1)}" if found else ""}
    if answer.code != 500 or _calls_webhook(answer):
        return None
    if answer.has(r"typed live object"):
        return "live_schema", wording.typed_problem(answer.text), {}
    if answer.has(r"typed patch object|not declared in schema|duplicate entries for key") or (answer.status and not answer.reason):
        problem = wording.typed_problem(answer.text)
        path = re.match(r"(\.[^\s:]+)", problem)
        return "schema", problem, {"field": path.group(1) if path else ""}
    return None


def _webhook(answer: _Answer) -> _Verdict | None:
    denied = answer.has(r'admission webhook "([^"]+)" denied the request(?::\s*(.*))?')
    if denied:
        reason = f'webhook "{denied.group(1)}" denied the request'
        return "policy", reason + (f": {wording.cut(denied.group(2))}" if denied.group(2) else ""), {"webhook": denied.group(1)}
    called = answer.has(r'failed calling webhook "([^"]+)": (.*)')
    if called:
        reason = wording.webhook_reason(called.group(2))
        return "webhook_down", f'webhook "{called.group(1)}" does not answer: {reason}', {"webhook": called.group(1)}
    converted = answer.has(r"conversion webhook for ([^\s,]+), Kind=(\S+) failed: (.*)")
    if converted:
        name = f"conversion of {converted.group(2)} ({converted.group(1)})"
        return "webhook_down", f"the webhook for {name} does not answer: {wording.webhook_reason(converted.group(3))}", {"webhook": name}
    return None


def _unauthorized(answer: _Answer) -> _Verdict | None:
    return ("auth", "the server does not accept the credentials (HTTP 401)", {}) if answer.code == 401 else None


def _forbidden(answer: _Answer) -> _Verdict | None:
    if answer.code != 403:
        return None
    if any(cause.get("reason") == "NamespaceTerminating" for cause in answer.causes) or answer.has("because it is being terminated"):
        namespace = answer.identity.namespace if answer.identity else ""
        return "ns_terminating", f"namespace {namespace or 'of the object'} is being deleted", {"namespace": namespace}
    cannot = answer.has(
        r'User "([^"]*)" cannot (\S+) resource "([^"]+)" in API group "([^"]*)"(?: in the namespace "([^"]+)"| at the cluster scope)?'
    )
    if cannot:
        user, verb, resource, group, namespace = cannot.groups()
        if (group, resource) == ("", "namespaces"):  # authorised as if it lay in itself, but a role for it must be the cluster's
            namespace = ""
        where = f"in namespace {namespace}" if namespace else "in the whole cluster"
        reason = f"user {user} may not {verb} {resource}{'.' + group if group else ''} {where}"
        return "rbac", reason, {"rbac": (verb, group, resource, namespace or "")}
    if answer.has(r"attempting to grant RBAC permissions not currently held"):
        return "rbac", "it would grant permissions that the user of this run does not hold", {"advice": wording.ESCALATION}
    if answer.has(r'User "[^"]*" cannot '):
        return "rbac", _short(answer), {}
    return _quota(answer) or ("policy", wording.policy(answer.text) or _short(answer), {})


def _quota(answer: _Answer) -> _Verdict | None:
    exceeded = answer.has(r"exceeded quota: ([^,]+), requested: (.*), used: (.*), limited: (.*)")
    if exceeded:
        name, requested, used, limited = (text.strip() for text in exceeded.groups())
        return "quota", f"quota {name} is exhausted (requested {requested}, used {used}, limited to {limited})", {}
    lacking = answer.has(r"failed quota: ([^:]+): (.*)")
    if lacking:
        return "quota", f"quota {lacking.group(1)}: {wording.cut(lacking.group(2))}", {}
    unknown = answer.has(r"status unknown for quota: ([^,]+)")
    if unknown:  # the quota is seconds old and not yet counted
        return "conflict_version", f"quota {unknown.group(1)} has not been counted yet", {}
    return None


def _not_found(answer: _Answer) -> _Verdict | None:
    if answer.code != 404:
        return None
    kind, name = str(answer.details.get("kind") or ""), str(answer.details.get("name") or "")
    if answer.status and kind == "namespaces" and name and not (answer.identity and answer.identity.kind == "Namespace"):
        return "ns_missing", f"namespace {name} does not exist", {"namespace": name}
    if answer.status and name:
        return "conflict_version", f"{kind or 'the object'} {name} is gone", {}
    served = f"{answer.identity.kind}{'.' + answer.identity.group if answer.identity.group else ''}" if answer.identity else "this kind"
    return "kind_missing", f"the server does not serve {served} in this version", {}


def _conflict(answer: _Answer) -> _Verdict | None:
    if answer.code != 409:
        return None
    conflicts = tuple(parse_conflicts(answer.status))
    if not conflicts:
        return "conflict_version", _short(answer), {}
    owned = ", ".join(f"{one.field_path} ({one.manager})" for one in conflicts[:5]) + (" ..." if len(conflicts) > 5 else "")
    return "conflict_owner", f"other managers own {owned}", {"conflicts": conflicts, "field": conflicts[0].field_path}


def _invalid(answer: _Answer) -> _Verdict | None:
    if answer.code == 422 and not answer.details.get("name") and answer.has("rejected our request due to an error in our request"):
        return "conflict_version", "a guarded patch was refused: the object is not as it was read", {}
    policy = wording.policy(answer.text)
    if answer.code in (400, 422) and policy:
        return "policy", policy, {}
    if 400 <= answer.code < 500:
        field = str(answer.causes[0].get("field") or "") if answer.causes else ""
        return "invalid", _short(answer), {"field": f".{field}" if re.match(r"[\w]", field) else ""}
    return None


_RULES: tuple[Callable[[_Answer], _Verdict | None], ...] = (
    _terminating,
    _busy,
    _schema,
    _webhook,
    _unauthorized,
    _forbidden,
    _not_found,
    _conflict,
    _invalid,
)
