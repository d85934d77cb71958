# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The answers of a server that does not do what it was asked to, in the words of Kubernetes 1.36."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ansible_collections.kubeflow.platform.plugins.module_utils.apply import probes
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.response import Response
from ansible_collections.kubeflow.platform.tests.unit.api_double.fields import Path
from ansible_collections.kubeflow.platform.tests.unit.api_double.kinds import Key
from ansible_collections.kubeflow.platform.tests.unit.doubles import said, status

QUOTA = "exceeded quota: small, requested: pods=1, used: pods=5, limited: pods=5"
POLICY = 'violates PodSecurity "restricted:latest": privileged (container "x" must not set securityContext.privileged=true)'


def not_served() -> Response:
    """A group, version or resource that nobody serves."""
    return Response(404, {"content-type": "text/plain; charset=utf-8"}, b"404 page not found\n")


def not_found(key: Key) -> Response:
    return status(404, "NotFound", f'{key.plural} "{key.name}" not found', kind=key.plural, name=key.name)


def namespace_missing(key: Key) -> Response:
    return status(404, "NotFound", f'namespaces "{key.namespace}" not found', kind="namespaces", name=key.namespace)


def namespace_terminating(key: Key) -> Response:
    causes = [{"reason": "NamespaceTerminating", "message": f"namespace {key.namespace} is being terminated"}]
    return status(403, "Forbidden", "because it is being terminated", kind=key.plural, name=key.name, causes=causes)


def stale(key: Key) -> Response:
    return status(409, "Conflict", "the object has been modified", kind=key.plural, name=key.name)


def exists(key: Key) -> Response:
    return status(409, "AlreadyExists", "already exists", kind=key.plural, name=key.name)


def guarded() -> Response:
    text = "the server rejected our request due to an error in our request"
    return said(422, {"kind": "Status", "code": 422, "reason": "Invalid", "message": text, "details": {}})


def conflicts(key: Key, found: list[tuple[str, Path]]) -> Response:
    causes = [
        {"reason": "FieldManagerConflict", "message": f'conflict with "{manager}" using v1', "field": printed(path)}
        for manager, path in found
    ]
    return status(409, "Conflict", f"Apply failed with {len(found)} conflicts", name=key.name, causes=causes)


def printed(path: Path) -> str:
    """A path as conflicts print it."""
    return "".join(
        f".{step[2:]}" if step.startswith("f:") else f"[name={json.dumps(json.loads(step[2:])['name'])}]" for step in path if step != "."
    )


def webhook_down(hook: probes.Webhook) -> Response:
    where = f"https://{hook.service.name}.{hook.service.namespace}.svc:443" if hook.service else "https://nowhere"
    cause = f'failed to call webhook: Post "{where}": dial tcp 127.0.0.1:443: connect: connection refused'
    return status(500, "InternalError", f'Internal error occurred: failed calling webhook "{hook.name}": {cause}')


def wish(obj: Mapping[str, Any]) -> str:
    """How an object asks to be refused."""
    return str(((obj.get("metadata") or {}).get("annotations") or {}).get("refuse") or "")


def at_the_door(key: Key, body: Mapping[str, Any]) -> Response | None:
    """What is refused before any webhook is asked: permissions, and fields that the schema does not know (without a reason even)."""
    if wish(body) == "rbac":
        where = f' in the namespace "{key.namespace}"' if key.namespace else " at the cluster scope"
        text = f'User "bob" cannot patch resource "{key.plural}" in API group "{key.group}"{where}'
        return status(403, "Forbidden", text, kind=key.plural, name=key.name)
    if wish(body) == "schema":
        text = f"failed to create typed patch object (x; v1, Kind={body['kind']}): .spec.typo: field not declared in schema"
        return said(500, {"kind": "Status", "code": 500, "message": text})
    return None


def refused(key: Key, live: Mapping[str, Any] | None, after: Mapping[str, Any]) -> Response | None:
    """What validation, quota and policy refuse."""
    how = wish(after)
    details = {"kind": key.plural, "name": key.name}
    if how == "invalid":
        causes = [{"reason": "FieldValueInvalid", "message": "Invalid value", "field": "spec.size"}]
        return status(422, "Invalid", f'{key.name} is invalid: spec.size: Invalid value: "x"', **details, causes=causes)
    if how == "quota":
        return status(403, "Forbidden", f'{key.plural} "{key.name}" is forbidden: {QUOTA}', **details)
    if how == "policy":
        return status(403, "Forbidden", f'{key.plural} "{key.name}" is forbidden: {POLICY}', **details)
    if how == "transition" and live is not None:
        causes = [{"reason": "FieldValueInvalid", "message": "Value is immutable", "field": "spec"}]
        return status(422, "Invalid", f"{key.name} is invalid: spec: Value is immutable", **details, causes=causes)
    before = ((live or {}).get("spec") or {}).get("selector")
    if key.plural == "deployments" and live is not None and before != (after.get("spec") or {}).get("selector"):
        causes = [{"reason": "FieldValueInvalid", "message": "Invalid value: field is immutable", "field": "spec.selector"}]
        return status(422, "Invalid", f"{key.name} is invalid: spec.selector: field is immutable", **details, causes=causes)
    return None
