# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a client asked of the API server, counted from the audit log."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

from tests.bench.cluster import USER_AGENT

_USER = "testbed:admin"
_NAMES = {"get": "GET", "list": "LIST", "watch": "WATCH", "create": "POST", "update": "PUT", "patch": "PATCH", "delete": "DELETE"}


def size(log: Path) -> int:
    """Where the log ends now."""
    return log.stat().st_size if log.exists() else 0


def requests(log: Path, start: int) -> Counter[str]:
    """Requests by kind since `start`, of everybody who used the administrator's kubeconfig, but for the judge."""
    found: Counter[str] = Counter()
    with log.open("rb") as lines:
        lines.seek(start)
        for line in lines:
            event = json.loads(line)
            if event["user"].get("username") == _USER and not event.get("userAgent", "").startswith(USER_AGENT):
                found[_kind(event)] += 1
    return found


def _kind(event: dict[str, str]) -> str:
    if "objectRef" not in event:
        return "discovery"
    dry = " dry run" if "dryRun=" in event["requestURI"] else ""
    return _NAMES.get(event["verb"], event["verb"]) + dry
