# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The ways to Dex: through a port-forward to each of its pods, or through the gateway as a browser comes."""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from ansible_collections.kubeflow.platform.plugins.module_utils.cluster import transport
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.errors import ClusterError, Unreachable
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.response import Response


class NoGateway(ClusterError):
    """The gateway cannot be reached, or not as it was given."""


@dataclass(frozen=True, slots=True)
class Gateway:
    """The address of the gateway. ``host`` is the name to ask for where the address is another one."""

    url: str
    host: str = ""
    ca_file: str = ""
    validate: bool = True

    def fault(self) -> str:
        """Return what is wrong with the address, "" where nothing is."""
        try:
            parts = urlsplit(self.url)
            usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0 and not parts.username
        except ValueError:
            usable = False
        if not usable:
            return "`gateway_url` must be an address such as https://kubeflow.example.com, without a user"
        return "" if parts.path in ("", "/") and not parts.query else "`gateway_url` must be the address alone, without a path"


class GatewayWeb:
    """Sends HTTP requests to the gateway."""

    def __init__(self, gateway: Gateway, timeout: float = 15.0) -> None:
        import urllib3

        self._gateway = gateway
        self._timeout = timeout
        settings: dict[str, Any] = {}
        if gateway.url.startswith("https"):
            settings["ssl_context"] = _context(gateway)
            if gateway.host:
                settings["server_hostname"] = gateway.host.partition(":")[0]
        self._pool = urllib3.PoolManager(**settings)

    def send(self, method: str, path: str, headers: Mapping[str, str], body: bytes | None) -> Response:
        """Send one request and return the answer. Raise NoGateway where none comes."""
        fields = [("User-Agent", "kubeflow.platform"), *headers.items()]
        if self._gateway.host:
            fields.append(("Host", self._gateway.host))
        url = self._gateway.url.rstrip("/") + path
        try:
            return transport.send(self._pool, method, url, fields, body, self._timeout, self._timeout)
        except Unreachable as error:
            raise NoGateway(f"Failed to reach the gateway at {self._gateway.url}: {error.reason}. Correct `gateway_url`.") from error


def _context(gateway: Gateway) -> ssl.SSLContext:
    try:
        context = ssl.create_default_context(cafile=gateway.ca_file or None)
    except (OSError, ValueError) as error:
        raise NoGateway(f"The file {gateway.ca_file} cannot be used: {error}. Set `gateway_ca` to a file of PEM certificates.") from error
    context.verify_flags &= ~getattr(ssl, "VERIFY_X509_STRICT", 0)
    if not gateway.validate:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context
