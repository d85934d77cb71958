# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads a bed's audit log: who asked for what, and above all who wrote."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

WRITES = frozenset({"create", "update", "patch", "delete", "deletecollection"})
# Asked for with a POST, kept nowhere.
_REVIEWS = frozenset({"authentication.k8s.io", "authorization.k8s.io"})
_PASSING = frozenset({"exec", "attach", "portforward", "proxy", "token"})


@dataclass(frozen=True, slots=True)
class Request:
    """One finished request."""

    time: str
    user: str
    agent: str
    verb: str
    uri: str
    group: str
    resource: str
    subresource: str
    namespace: str
    name: str
    status: int

    @property
    def dry_run(self) -> bool:
        """Whether the query asks for a dry run. (One asked for in the body of a DELETE alone is not seen.)"""
        return "All" in parse_qs(urlsplit(self.uri).query).get("dryRun", [])

    @property
    def persisted(self) -> bool:
        """Whether this was a write that the server accepted, even one that changed nothing."""
        passing = self.group in _REVIEWS or self.subresource in _PASSING
        return self.verb in WRITES and 200 <= self.status < 300 and not self.dry_run and not passing

    def __str__(self) -> str:
        kind = ".".join(filter(None, [self.resource, self.group])) + (f"/{self.subresource}" if self.subresource else "")
        return f"{self.verb} {kind} {'/'.join(filter(None, [self.namespace, self.name]))} -> {self.status} ({self.user}, {self.agent})"


@dataclass(frozen=True, slots=True)
class AuditLog:
    """The requests of a span of time, and where the log ended then."""

    requests: tuple[Request, ...]
    end: int

    def by(self, agent: str = "", user: str = "") -> AuditLog:
        """Only those whose user agent or user name contains the text."""
        return AuditLog(tuple(each for each in self.requests if agent in each.agent and user in each.user), self.end)

    def writes(self, ignore: Iterable[str] = ()) -> list[Request]:
        """Persisted writes, but for those to the resources named in `ignore` ("leases", "events", ...)."""
        left_out = frozenset(ignore)
        return [each for each in self.requests if each.persisted and each.resource not in left_out]

    def counts(self) -> Counter[str]:
        """Requests by verb, dry runs apart."""
        return Counter(f"{each.verb} dry-run" if each.dry_run else each.verb for each in self.requests)

    def agents(self) -> Counter[str]:
        """Persisted writes by user agent."""
        return Counter(each.agent for each in self.writes())


def read(path: Path, since: int = 0) -> AuditLog:
    """The log from byte `since` on (the `end` of an earlier reading). A line that is still being written waits for the next reading."""
    try:
        with path.open("rb") as handle:
            handle.seek(since)
            data = handle.read()
    except FileNotFoundError:
        return AuditLog((), since)
    whole = data[: data.rfind(b"\n") + 1]
    return AuditLog(tuple(_request(json.loads(line)) for line in whole.splitlines()), since + len(whole))


def _request(event: dict[str, Any]) -> Request:
    reference = event.get("objectRef") or {}
    user = (event.get("impersonatedUser") or event.get("user") or {}).get("username", "")
    return Request(
        time=event.get("requestReceivedTimestamp", ""),
        user=user,
        agent=event.get("userAgent", ""),
        verb=event.get("verb", ""),
        uri=event.get("requestURI", ""),
        group=reference.get("apiGroup", ""),
        resource=reference.get("resource", ""),
        subresource=reference.get("subresource", ""),
        namespace=reference.get("namespace", ""),
        name=reference.get("name", ""),
        status=(event.get("responseStatus") or {}).get("code", 0),
    )
