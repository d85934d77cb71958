# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The few requests that the bed itself makes to its API server, with the standard library only."""

from __future__ import annotations

import http.client
import json
import ssl
from typing import Any

from .record import Bed


class Api:
    """The bed's administrator."""

    def __init__(self, bed: Bed) -> None:
        self._port = bed.api_port
        self._context = ssl.create_default_context(cafile=str(bed.pki / "ca.crt"))
        self._context.load_cert_chain(bed.pki / "admin.crt", bed.pki / "admin.key")

    def request(self, method: str, path: str, body: dict[str, Any] | None = None) -> tuple[int, bytes]:
        """Status and body of the answer; status 0 when there is none."""
        connection = http.client.HTTPSConnection("127.0.0.1", self._port, context=self._context, timeout=10)
        headers = {"Content-Type": "application/json", "User-Agent": "testbed"}
        try:
            connection.request(method, path, json.dumps(body) if body is not None else None, headers)
            response = connection.getresponse()
            return response.status, response.read()
        except (OSError, http.client.HTTPException):
            return 0, b""
        finally:
            connection.close()

    def get(self, path: str) -> dict[str, Any] | None:
        """An object or list, None if there is none."""
        status, data = self.request("GET", path)
        if status != 200:
            return None
        content: dict[str, Any] = json.loads(data)
        return content

    def ready(self) -> bool:
        """Whether the API server calls itself ready."""
        return self.request("GET", "/readyz")[0] == 200
