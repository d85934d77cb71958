# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The words of errors: what to do for each class, and how long texts of the server become short ones."""

from __future__ import annotations

import re
from collections.abc import Sequence

# One sentence for each class of ``errors.Failure``.
ADVICE = {
    "auth": "Renew the credentials (log in again, or set a valid `kubeconfig` or `api_key`) and run again.",
    "conflict_owner": (
        "Leave the fields out of the manifest so that the named manager keeps them, or add the manager to `takeover` to take them over."
    ),
    "conflict_version": "Something else changed the object at the same time; run again.",
    "internal": "This is a fault inside the server: look at its log, and run again once it is mended.",
    "invalid": "Correct the named field in the manifest or in the patch that makes it.",
    "kind_missing": "Install the CustomResourceDefinition or the API server extension that defines the kind, or remove the object.",
    "live_schema": "The live object holds fields that its schema no longer knows: remove them from it, or delete and recreate the object.",
    "ns_missing": "Add the Namespace (or the Profile that makes it) to the selection, or create it.",
    "ns_terminating": "Wait until the namespace is gone; if it stays, look for objects with finalizers in it and mend their controller.",
    "policy": "Change the object so that the policy accepts it, or have the policy's owner grant an exception.",
    "quota": "Raise the ResourceQuota, or free what it counts, and run again.",
    "rbac": "Grant the user of this run the missing permission; the report prints one role with all that is missing.",
    "schema": "Correct the named field: it is misspelled, has the wrong type, is given twice, or belongs to another version of the API.",
    "server_down": "Wait until the API server and etcd answer again (`kubectl get --raw /readyz?verbose`) and run again.",
    "terminating": "Wait until the object is gone; if it stays, find out which controller should remove its finalizers.",
    "throttled": "Run again with fewer `workers`, or when the API server is less busy.",
    "tls": "Set `ca_cert` (or certificate-authority in the kubeconfig) to the CA of the API server.",
    "transition": "The field cannot be changed in place: add the kind to `recreate`, or save what the object holds and delete it.",
    "transport": "Check that the API server is up and that nothing between cuts connections, and run again.",
    "webhook_down": "Look at the Service behind the webhook, its pods and its certificate; the object is sent again once it answers.",
}
ESCALATION = "Run as a user who holds these permissions, or grant the verb escalate (bind for bindings) on roles and clusterroles."
EXTENSION_DOWN = "Look at the APIService of the group (`kubectl get apiservices`) and at the pods behind it."
ETCD_FULL = "Compact and defragment etcd or raise its quota, then disarm its alarm (`etcdctl alarm disarm`)."

# The server, where nobody says which.
SOMEWHERE = "the address of the API server"
TRANSPORT = {
    "other": "{where} gave no usable answer: {reason}",
    "refused": "nothing accepts connections at {where}: {reason}",
    "reset": "the connection to {where} was cut: {reason}",
    "resolve": "the host name of {where} cannot be resolved: {reason}",
    "timeout": "{where} did not answer in time: {reason}",
    "tls": "no trusted TLS connection can be made to {where}: {reason}",
}
TRANSPORT_ADVICE = {
    "other": "Check `host`, `proxy` and `no_proxy` of the connection.",
    "refused": "Check that the API server is up, and that `kubeconfig` and `context` are the right ones.",
    "reset": "Check that the API server is up and that no proxy cuts connections, and run again.",
    "resolve": "Correct the server's name in the kubeconfig or in `host`, or the name service of the host that runs this module.",
    "timeout": "Check the network between this host and the API server (firewall, VPN, proxy), and the load of the server.",
    "tls": "Set `ca_cert` (certificate-authority in the kubeconfig) to the CA of the API server, and connect by a name in its certificate.",
}

# Texts of 500s that pass: etcd and the server's own connections, as any Go error reaches the client with an empty reason.
TRANSIENT = (
    r"etcdserver: (?!mvcc|request is too large|duplicate|user|role|permission|authentication)|storage is \(re\)initializing"
    r"|rpc error: code = (Unavailable|Canceled|DeadlineExceeded|Unknown)|transport is closing|connection (refused|reset)"
    r"|context (deadline exceeded|canceled)|i/o timeout|TLS handshake timeout|unexpected EOF|leader changed|request timed out"
)
_LIMIT = 400
# Go's JSON decoder prints numbers that do not fit; they may be a Secret's.
_NUMBER = re.compile(r"(cannot unmarshal number) -?[\d.]+(?:[eE][-+]?\d+)?")
_BRIEF = 110
# A URL and its host; the punctuation behind it is not part of it.
_URL = re.compile(r""""?https?://([^\s/"?:]+)(?:[^\s"]*[^\s":,;.)])?"?""")


def cut(text: str, limit: int = _LIMIT) -> str:
    """Return ``text`` on one line, at most ``limit`` characters long."""
    line = " ".join(text.split())
    return line if len(line) <= limit else f"{line[: limit - 4].rstrip()} ..."


def brief(text: str, limit: int = _BRIEF) -> str:
    """Return a reason for a line that is read in passing: hosts in place of URLs, and of a long chain its beginning and its last cause."""
    line = _URL.sub(r"\1", " ".join(text.split())).rstrip(".")
    if len(line) <= limit:
        return line
    *chain, last = line.split(": ")
    room = limit - len("...: ")
    last = last if len(last) <= room else f"... {last[4 - room :].partition(' ')[2] or last[4 - room :]}"
    head = ""
    for piece in chain:
        if len(head) + len(piece) + len(last) + len(": ...: ") > limit:
            break
        head += f"{piece}: "
    return f"{head}...: {last}" if chain else last


def lasting(waited: float, left: float) -> str:
    """Return how long something has been waited for and when that ends, both in seconds."""
    return f"for {max(0.0, waited):.0f} s, gives up in {max(0.0, left):.0f} s"


def shorten(message: str, causes: Sequence[tuple[str, str]], code: int) -> str:
    """Return the reason of a Status: "path: problem" for each cause, else its message without the object's name in front."""
    message = _NUMBER.sub(r"\1", message)
    problems = [f"{field}: {_problem(text)}" if re.match(r"\w", field) else _problem(text) for field, text in causes if text]
    problems = list(dict.fromkeys(problems))
    if problems:
        shown = "; ".join(problems[:5])
        return shown if len(problems) <= 5 else f"{shown}; and {len(problems) - 5} more"
    if re.match(r"\s*<(!doctype|html)", message, re.IGNORECASE):
        title = re.search(r"<title>(.*?)</title>", message, re.IGNORECASE | re.DOTALL)
        return f"HTTP {code} and a web page{': ' + cut(title.group(1), 100) if title else ''} (is there a proxy between?)"
    message = re.sub(r"^Operation cannot be fulfilled on \S+ \"[^\"]*\": ", "", message)
    return cut(message).rstrip(".") or f"HTTP {code} without an explanation"


def _problem(text: str) -> str:
    """Shorten 'Invalid value: core.PodTemplateSpec{...pages...}: field is immutable' to its ends."""
    line = " ".join(_NUMBER.sub(r"\1", text).partition("\n@@")[0].split()).rstrip(".")  # PVCs put a unified diff behind the problem
    if len(line) <= 300:
        return line
    head, _colon, _rest = line.partition(": ")
    tail = line.rpartition(": ")[2]
    return f"{head}: ...: {tail}" if len(head) < 60 and len(tail) < 200 else cut(line, 300)


def typed_problem(message: str) -> str:
    """Return "path: problem" of the errors of typed patch and live objects, which put the object's whole name in front.

    Of a value with the wrong type they print the value; here stands its type, since the value may be a Secret's.
    """
    line = " ".join(_WRONG_TYPE.sub(lambda match: f"{match[1]}, got {_type_of(match[2])}", message).split())
    found = re.search(r"typed (?:patch|live) object(?: \([^)]*\))?: (?:errors: )?(.*)", line)
    problem = found.group(1) if found else line
    return cut(re.sub(r"^error(s)?: ", "", problem))


# structured-merge-diff, typed/validate.go and helpers.go; each error begins on a line of its own, a printed text may hold more lines.
_WRONG_TYPE = re.compile(
    r"(expected (?:string|boolean|any scalar|list|map|numeric \(int or float\))), got (.*?)(?=\n\s*\.[\w\[]|\Z)", re.DOTALL
)
_PRINTED = (
    (re.compile(r"-?\d[\d.e+-]*"), "a number"),
    (re.compile(r"true|false|bool"), "a boolean"),
    (re.compile(r"(?:map\[|\{).*", re.DOTALL), "a map"),
    (re.compile(r"\[.*", re.DOTALL), "a list"),
    (re.compile(r"nil|<nil>|null|interface \{\}\(nil\)"), "null"),
)


def _type_of(printed: str) -> str:
    """Return what kind of value Go printed."""
    value = re.sub(r"^&?value\.\w+\{Value:(.*)\}$", r"\1", printed.strip(), flags=re.DOTALL)
    return next((name for pattern, name in _PRINTED if pattern.fullmatch(value)), "a text")


def webhook_reason(text: str) -> str:
    """Return the end of the chain of a failed call: 'connect: connection refused', 'service "x" not found'."""
    line = re.sub(r'^failed to call webhook: (Post "([^"?]*)[^"]*": )?', r"\2: ", " ".join(text.split()))
    return cut(line.removeprefix(": "), 300)


def policy(text: str) -> str:
    """Return the name of the policy first where a built-in policy refused, else ""."""
    line = " ".join(text.split())
    admission = re.search(r"ValidatingAdmissionPolicy '([^']+)' with binding '([^']+)' denied request: (.*)", line)
    if admission:
        return f"ValidatingAdmissionPolicy {admission.group(1)} (binding {admission.group(2)}) denied it: {cut(admission.group(3))}"
    security = re.search(r'violates PodSecurity "([^"]+)": (.*)', line)
    return f"PodSecurity {security.group(1)} is violated: {cut(security.group(2))}" if security else ""
