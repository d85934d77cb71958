# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How to get through to a server: proxy, certificate authority, credentials. Nothing of it is ever part of a command or URL."""

from __future__ import annotations

import base64
import os
import ssl
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.errors import RenderError

_AGENT = "kubeflow.platform"


@dataclass(frozen=True, slots=True)
class Access:
    """Without ``proxy`` the environment's proxies count. ``timeout`` is that of one whole git command or download."""

    proxy: str | None = None
    ca_cert: str | None = None
    username: str | None = None
    password: str | None = field(default=None, repr=False)
    timeout: float = 600.0

    def authorization(self) -> str | None:
        """The value of the Authorization header, if there are credentials."""
        if not self.password:
            return None
        # Hosts that take a token as password accept any name beside it.
        pair = f"{self.username or 'git'}:{self.password}"
        return "Basic " + base64.b64encode(pair.encode()).decode()

    def for_git(self, url: str) -> dict[str, str]:
        """The environment in which git reaches ``url``; it never asks for anything."""
        environment = dict(os.environ)
        environment |= {"GIT_TERMINAL_PROMPT": "0", "GIT_ASKPASS": "", "SSH_ASKPASS": "", "LC_ALL": "C"}
        environment.setdefault("GIT_SSH_COMMAND", "ssh -o BatchMode=yes")
        settings: dict[str, str] = {"protocol.ext.allow": "never", "core.hooksPath": os.devnull}
        if self.proxy:
            settings["http.proxy"] = self.proxy
        if self.ca_cert:
            settings["http.sslCAInfo"] = self.ca_cert
        authorization = self.authorization()
        parts = urlsplit(url)
        if authorization and parts.scheme in {"http", "https"}:
            # Bound to the host: a redirect elsewhere does not get it.
            settings[f"http.{parts.scheme}://{parts.netloc}/.extraHeader"] = f"Authorization: {authorization}"
        environment["GIT_CONFIG_COUNT"] = str(len(settings))
        for number, (name, value) in enumerate(settings.items()):
            environment[f"GIT_CONFIG_KEY_{number}"] = name
            environment[f"GIT_CONFIG_VALUE_{number}"] = value
        return environment

    def download(self, url: str, target: Path, known: Mapping[str, str]) -> dict[str, str] | None:
        """Download ``url`` to ``target``; gives what the server says of its version, or None when it is still ``known``.

        Raises RenderError.
        """
        request = urllib.request.Request(url, headers={"User-Agent": _AGENT})  # noqa: S310 - http(s) only, see Source
        for header, value in (("If-None-Match", known.get("etag")), ("If-Modified-Since", known.get("modified"))):
            if value:
                request.add_header(header, value)
        authorization = self.authorization()
        if authorization:
            # Not sent on to where a redirect leads.
            request.add_unredirected_header("Authorization", authorization)
        try:
            with self._opener().open(request, timeout=60.0) as answer, open(target, "wb") as sink:
                while block := answer.read(1 << 20):
                    sink.write(block)
                return {"etag": answer.headers.get("ETag") or "", "modified": answer.headers.get("Last-Modified") or ""}
        except urllib.error.HTTPError as error:
            if error.code == 304:
                return None
            advice = "Set `username` and `password`." if error.code in {401, 403} else "Check the address."
            raise RenderError(f"Failed to download {url}: the server answered {error.code} {error.reason}. {advice}") from error
        except (OSError, ValueError) as error:
            reason = error.reason if isinstance(error, urllib.error.URLError) else error
            raise RenderError(
                f"Failed to download {url}: {reason}. Check the address, `proxy` and `ca_cert`, or fetch it by hand and give its path."
            ) from error

    def _opener(self) -> urllib.request.OpenerDirector:
        try:
            context = ssl.create_default_context(cafile=self.ca_cert)
        except OSError as error:
            raise RenderError(f"Failed to read `ca_cert` {self.ca_cert}: {error.strerror or error}.") from error
        proxies = urllib.request.ProxyHandler({"http": self.proxy, "https": self.proxy} if self.proxy else None)
        return urllib.request.build_opener(proxies, urllib.request.HTTPSHandler(context=context))
