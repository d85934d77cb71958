# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""How a connection is secured: whom it trusts, and by which certificate it shows itself."""

from __future__ import annotations

import ssl
from collections.abc import Callable
from typing import Any

from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.errors import ConnectionFailed


def tls_context(configuration: Any) -> ssl.SSLContext:
    """Return a TLS context of our own: HTTP/1.1 only, whatever else in this process negotiates. Raise ConnectionFailed on bad files."""
    context = ssl.create_default_context() if not configuration.ssl_ca_cert else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    # Cluster CAs are often made without the extensions that Python 3.13 began to demand.
    context.verify_flags &= ~getattr(ssl, "VERIFY_X509_STRICT", 0)
    if configuration.verify_ssl is False:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    elif configuration.ssl_ca_cert:
        _load("CA certificate", configuration.ssl_ca_cert, lambda: context.load_verify_locations(cafile=configuration.ssl_ca_cert))
    if configuration.cert_file:
        _load(
            "client certificate", configuration.cert_file, lambda: context.load_cert_chain(configuration.cert_file, configuration.key_file)
        )
    context.set_alpn_protocols(["http/1.1"])
    return context


def _load(what: str, path: str, action: Callable[[], None]) -> None:
    try:
        action()
    except (OSError, ValueError) as error:  # ssl.SSLError is an OSError
        reason = "it does not exist" if isinstance(error, FileNotFoundError) else str(getattr(error, "reason", None) or error)
        raise ConnectionFailed(
            f"The {what} {path} cannot be used: {reason}. "
            "Set `ca_cert`, `client_cert` and `client_key` to PEM files that belong together, or mend the kubeconfig."
        ) from error
