# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the fault proxy does to which request: `proxy-faults.json`, read again when it changes."""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

REASONS = {
    401: "Unauthorized",
    403: "Forbidden",
    404: "NotFound",
    409: "Conflict",
    429: "TooManyRequests",
    503: "ServiceUnavailable",
    504: "Timeout",
}
RESOURCE = re.compile(r"^/apis/([^/]+)/[^/]+/(?:namespaces/[^/]+/)?([^/]+)")
CRD = re.compile(r"^/apis/apiextensions\.k8s\.io/v1/customresourcedefinitions(?:/([^/]+))?$")


@dataclass(slots=True)
class Rule:
    """One entry of `rules`; counts the requests that match."""

    entry: dict[str, Any]
    seen: int = 0

    def matches(self, method: str, path: str, query: str, agent: str) -> bool:
        """Whether the rule is about this request, counted or not."""
        entry = self.entry
        parts = (("path", path), ("query", query), ("agent", agent))
        return entry.get("method", method) == method and all(re.search(entry[key], text) for key, text in parts if key in entry)

    def due(self) -> bool:
        """Counts a request that matches, and says whether it is hit."""
        self.seen += 1
        entry, number = self.entry, self.seen - int(self.entry.get("skip", 0))
        if "number" in entry:
            return self.seen == int(entry["number"])
        every = int(entry.get("every", 1))
        hit = number > 0 and number % every == 0
        return hit and ("times" not in entry or number // every <= int(entry["times"]))


@dataclass(slots=True)
class Rules:
    """All faults of the proxy; used by many threads."""

    path: Path
    clock: Callable[[], float] = time.monotonic
    settings: dict[str, Any] = field(default_factory=dict)
    rules: list[Rule] = field(default_factory=list)
    _created: dict[tuple[str, str], float] = field(default_factory=dict)
    _stamp: tuple[int, int] = (0, 0)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def reload(self) -> None:
        """Reads the file if it changed; rules that stay keep their counts."""
        try:
            status = self.path.stat()
            stamp = (status.st_mtime_ns, status.st_ino)
            settings = json.loads(self.path.read_text(encoding="utf-8") or "{}") if stamp != self._stamp else None
        except FileNotFoundError:
            stamp, settings = (0, 0), {} if self._stamp != (0, 0) else None
        except (OSError, ValueError):
            return
        if settings is None:
            return
        known = {json.dumps(rule.entry, sort_keys=True): rule for rule in self.rules}
        self.rules = [known.get(json.dumps(entry, sort_keys=True)) or Rule(entry) for entry in settings.get("rules", [])]
        self.settings, self._stamp = settings, stamp

    def choose(self, method: str, target: str, agent: str) -> dict[str, Any] | None:
        """The fault of this request, if any: the first rule that is due; every rule that matches counts."""
        path, dummy, query = target.partition("?")
        with self._lock:
            self.reload()
            due = [rule.entry for rule in self.rules if rule.matches(method, path, query, agent) and rule.due()]
        return due[0] if due else None

    def created(self, method: str, path: str, status: int, body: bytes) -> None:
        """Notes that a CRD was made through the proxy."""
        found = CRD.match(path)
        if found is None or status != 201 or method not in ("POST", "PATCH", "PUT"):
            return
        name = found.group(1) or json.loads(body)["metadata"]["name"]
        plural, dummy, group = name.partition(".")
        self._created[group, plural] = self.clock()

    def hidden(self) -> frozenset[tuple[str, str]]:
        """Group and plural of the kinds that discovery does not show yet."""
        late = self.settings.get("late_discovery")
        if not late:
            return frozenset()
        since, groups = self.clock() - float(late.get("seconds", 0)), late.get("groups")
        return frozenset(key for key, at in list(self._created.items()) if at > since and (groups is None or key[0] in groups))


def hides(path: str, hidden: frozenset[tuple[str, str]]) -> bool:
    """Whether a request is for a kind that is not there yet."""
    found = RESOURCE.match(path)
    return found is not None and (found.group(1), found.group(2)) in hidden


def is_discovery(path: str) -> bool:
    """Whether the answer lists groups or kinds."""
    parts = path.strip("/").split("/")
    return parts[0] == "apis" and len(parts) <= 3


def without(document: dict[str, Any], hidden: frozenset[tuple[str, str]]) -> dict[str, Any] | None:
    """A discovery document without the hidden kinds, None where nothing is left of it."""
    kind = document.get("kind")
    if kind == "APIGroupDiscoveryList":
        groups = [_group(item, hidden) for item in document.get("items") or []]
        return document | {"items": [group for group in groups if group["versions"]]}
    if kind == "APIResourceList":
        group = document["groupVersion"].partition("/")[0]
        left = [item for item in document["resources"] if (group, item["name"].partition("/")[0]) not in hidden]
        return document | {"resources": left} if left or not document["resources"] else None
    return document


def _group(group: dict[str, Any], hidden: frozenset[tuple[str, str]]) -> dict[str, Any]:
    name, versions = group["metadata"]["name"], []
    for version in group.get("versions") or []:
        left = [item for item in version.get("resources") or [] if (name, item["resource"]) not in hidden]
        if left or not version.get("resources"):
            versions.append(version | {"resources": left})
    return group | {"versions": versions}


def failure(entry: dict[str, Any]) -> tuple[int, dict[str, str], bytes]:
    """Status, headers and body of an answer that the server itself would give."""
    status = int(entry.get("status", 503))
    reason = str(entry.get("reason") or REASONS.get(status, "InternalError"))
    body: dict[str, Any] = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "code": status, "reason": reason}
    body["message"] = entry.get("message", f"the fault proxy answers {status}")
    headers = {"Content-Type": "application/json"}
    if "retry_after" in entry:
        headers["Retry-After"] = str(entry["retry_after"])
        body["details"] = {"retryAfterSeconds": entry["retry_after"]}
    return status, headers, json.dumps(body).encode()
