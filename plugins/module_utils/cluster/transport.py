# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The edge to urllib3: one request, one answer, and one exception for all the ways of not getting an answer."""

from __future__ import annotations

import errno
import http.client
import re
import socket
import ssl
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.errors import Unreachable, UnreachableKind
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.response import Response


def send(
    pool: Any, method: str, url: str, headers: Sequence[tuple[str, str]], payload: bytes | None, connect_timeout: float, read_timeout: float
) -> Response:
    """Send one request over ``pool`` (a urllib3 PoolManager). Raise Unreachable where no whole answer came."""
    import urllib3
    from urllib3._collections import HTTPHeaderDict

    fields = HTTPHeaderDict()
    for name, value in headers:  # several Impersonate-Group are several headers
        fields.add(name, value)
    # By name: Timeout(5, 60) would mean 5 seconds in total.
    timeout = urllib3.Timeout(connect=min(connect_timeout, read_timeout), read=read_timeout)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", urllib3.exceptions.InsecureRequestWarning)  # validate_certs: false is the user's choice
            answer = pool.request(method, url, body=payload, headers=fields, timeout=timeout, retries=False, redirect=False)
    except (urllib3.exceptions.HTTPError, http.client.HTTPException, OSError, ValueError) as error:
        raise Unreachable(_reason(error), _kind(error)) from error
    return Response(int(answer.status), {name.lower(): answer.headers[name] for name in answer.headers}, bytes(answer.data))


def _chain(error: BaseException) -> Iterator[BaseException]:
    """Yield ``error`` and what caused it; urllib3 puts causes into arguments as well."""
    seen: list[BaseException] = []
    queue: list[BaseException] = [error]
    while queue:
        one = queue.pop(0)
        if any(one is other for other in seen):
            continue
        seen.append(one)
        yield one
        queue.extend(item for item in (*one.args, one.__cause__, one.__context__) if isinstance(item, BaseException))


def _kind(error: BaseException) -> UnreachableKind:
    from urllib3 import exceptions

    chain = list(_chain(error))

    def has(*types: type[BaseException]) -> bool:
        return any(isinstance(one, types) for one in chain)

    numbers = {one.errno for one in chain if isinstance(one, OSError)}
    if has(socket.gaierror):
        return "resolve"
    # A connection cut inside the handshake is an SSLError too, but it is no matter of certificates.
    if has(ConnectionResetError, BrokenPipeError, ssl.SSLEOFError, ssl.SSLZeroReturnError):
        return "reset"
    if has(exceptions.SSLError, ssl.SSLError):
        return "tls"
    if has(ConnectionRefusedError) or numbers & {errno.EHOSTUNREACH, errno.ENETUNREACH}:
        return "refused"
    if has(exceptions.TimeoutError, TimeoutError):
        return "timeout"
    if has(exceptions.ProtocolError, exceptions.DecodeError, http.client.HTTPException, ConnectionError):
        return "reset"
    return "other"


def _reason(error: BaseException) -> str:
    """Return the innermost words: urllib3 wraps them in representations of its own objects."""
    texts = [str(one) for one in _chain(error) if not any(isinstance(arg, BaseException) for arg in one.args)]
    words = next((text for text in reversed(texts) if text and "object at 0x" not in text), "") or type(error).__name__
    return re.sub(r"^\[Errno -?\d+\] ", "", words.splitlines()[0])[:300]
