# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the API server answered."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any


@dataclass(frozen=True, slots=True)
class Response:
    """One answer. Header names are lower case; ``data`` is the decoded body."""

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    data: bytes = b""

    @property
    def ok(self) -> bool:
        """Whether the code is 2xx. For a terminating object that is not yet a success (see ``errors.classify``)."""
        return 200 <= self.status < 300

    @property
    def is_json(self) -> bool:
        """Whether the body claims to be JSON. A kind that is not served answers text/plain."""
        return self.headers.get("content-type", "").partition(";")[0].strip().lower().endswith("json")

    @property
    def text(self) -> str:
        """The body as text, whatever it is."""
        return self.data.decode("utf-8", "replace")

    @property
    def retry_after(self) -> float | None:
        """Seconds that the server asks to wait, from ``Retry-After`` as a number or as a date."""
        value = self.headers.get("retry-after", "").strip()
        if re.fullmatch(r"\d{1,6}(\.\d+)?", value):
            return float(value)
        try:
            when = parsedate_to_datetime(value)
        except (TypeError, ValueError, IndexError, OverflowError):
            return None
        if when.tzinfo is None:
            when = when.replace(tzinfo=UTC)
        return max(0.0, (when - datetime.now(UTC)).total_seconds())

    @property
    def warnings(self) -> list[str]:
        """Texts of ``Warning`` headers (RFC 7234 5.5), without code and agent."""
        quoted = re.findall(r'\d{3} \S+ "((?:[^"\\]|\\.)*)"', self.headers.get("warning", ""))
        return [re.sub(r"\\(.)", r"\1", text) for text in quoted]

    def json(self) -> Any:
        """Return the parsed body. Raise ValueError where it is no JSON."""
        return json.loads(self.data)

    def body(self) -> dict[str, Any]:
        """Return the body where it is a JSON object, else {}: for reading answers that may be anything."""
        try:
            parsed = json.loads(self.data)
        except ValueError:
            return {}
        return parsed if isinstance(parsed, dict) else {}
