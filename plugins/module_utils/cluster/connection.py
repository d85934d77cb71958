# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""How to reach a cluster, from kubernetes.core's connection options. The kubernetes package is imported at first use."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any
from urllib.parse import urlsplit

from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.errors import ConnectionFailed
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.tls import tls_context

# Option of kubernetes.core -> attribute of kubernetes.client.Configuration.
_DIRECT = {
    "ca_cert": "ssl_ca_cert",
    "client_cert": "cert_file",
    "client_key": "key_file",
    "host": "host",
    "no_proxy": "no_proxy",
    "proxy": "proxy",
    "validate_certs": "verify_ssl",
}
_ALIASES = {"validate_certs": "verify_ssl", "ca_cert": "ssl_ca_cert", "client_cert": "cert_file", "client_key": "key_file"}
_OPTIONS = (
    *_DIRECT,
    *("kubeconfig", "context", "api_key", "username", "password", "persist_config"),
    *("impersonate_user", "impersonate_groups", "proxy_headers"),
)


@dataclass(frozen=True)
class Connection:
    """A way to a cluster. ``load`` gives a fresh kubernetes ``Configuration``: re-reads files, runs exec plugins again."""

    host: str
    source: str
    impersonation: tuple[tuple[str, str], ...]
    configuration: Any
    load: Callable[[], Any]
    find_context: Callable[[], str]

    @cached_property
    def where(self) -> str:
        """The server in words: its address, and which kubeconfig and context lead to it. For messages, so it is asked for late."""
        context = self.find_context()
        return f"{self.host} ({self.source}{f', context {context}' if context else ''})"


def from_params(params: Mapping[str, Any]) -> Connection:
    """Return the connection that kubernetes.core's options describe; its ``K8S_AUTH_*`` variables fill what is not given.

    Order, as there: host with credentials; else kubeconfig or context; else the pod's service account; else the default
    kubeconfig. Raise ConnectionFailed with what to do where that leads nowhere. Nothing is sent to the cluster.
    """
    options = _with_environment(params)
    load, source, find_context = _loader(options)
    configuration = load()
    return Connection(str(configuration.host), source, _impersonation(options), configuration, load, find_context)


def _with_environment(params: Mapping[str, Any]) -> dict[str, Any]:
    options = {name: params.get(name) for name in _OPTIONS if params.get(name) is not None}
    for name in _OPTIONS:
        if name in options or name == "proxy_headers":
            continue
        text = os.environ.get(f"K8S_AUTH_{name.upper()}") or os.environ.get(f"K8S_AUTH_{_ALIASES.get(name, name).upper()}")
        if text:
            options[name] = _from_text(name, text)
    headers = {name: os.environ.get(f"K8S_AUTH_PROXY_HEADERS_{name.upper()}") for name in ("proxy_basic_auth", "basic_auth", "user_agent")}
    if "proxy_headers" not in options and any(headers.values()):
        options["proxy_headers"] = headers
    return {name: value for name, value in options.items() if value not in ("", [], {})}


def _from_text(name: str, text: str) -> Any:
    if name in ("validate_certs", "persist_config"):
        return text.lower() not in ("0", "false", "no")
    if name == "impersonate_groups":
        return [group for group in text.split(",") if group]
    return text


def _impersonation(options: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    user = options.get("impersonate_user")
    groups = options.get("impersonate_groups") or []
    headers = [("Impersonate-User", str(user))] if user else []
    return (*headers, *(("Impersonate-Group", str(group)) for group in groups))


def _loader(options: Mapping[str, Any]) -> tuple[Callable[[], Any], str, Callable[[], str]]:
    """Return how to build the configuration, words for where it comes from, and how to find the context that counts."""
    has = options.get
    alone = has("host") and (has("api_key") or (has("username") and has("password")) or (has("client_cert") and has("client_key")))
    if alone:
        return (lambda: _finish(options, lambda _configuration: None)), "the connection options", _no_context
    kubeconfig = has("kubeconfig")
    if not kubeconfig and not has("context") and _in_cluster():
        return (lambda: _finish(options, _read_service_account)), "the service account of this pod", _no_context
    source = "the given kubeconfig" if isinstance(kubeconfig, dict) else f"kubeconfig {_path(kubeconfig)}"
    load = partial(_finish, options, lambda configuration: _read_kubeconfig(configuration, options, source))
    return load, source, lambda: _context(options)


def _path(kubeconfig: Any) -> str:
    return str(kubeconfig or os.environ.get("KUBECONFIG") or "~/.kube/config")


def _no_context() -> str:
    return ""


def _context(options: Mapping[str, Any]) -> str:
    """The name of the context of a kubeconfig that counts; "" where it cannot be told."""
    kubeconfig = options.get("kubeconfig")
    if options.get("context"):
        return str(options["context"])
    if isinstance(kubeconfig, dict):
        return str(kubeconfig.get("current-context") or "")
    _client, config = _kubernetes()
    try:
        return str(config.list_kube_config_contexts(config_file=_path(kubeconfig))[1]["name"])
    except Exception:  # pylint: disable=broad-except  # it is about to tell an error, and need not tell of another
        return ""


def _in_cluster() -> bool:
    token = "/var/run/secrets/kubernetes.io/serviceaccount/token"
    return bool(os.environ.get("KUBERNETES_SERVICE_HOST")) and os.path.exists(token)


def _kubernetes() -> tuple[Any, Any]:
    try:
        import kubernetes.client
        import kubernetes.config
    except ImportError as error:
        raise ConnectionFailed(
            f"The Python package kubernetes cannot be imported ({error}). "
            "Install it for the Python that runs this module: pip install -r requirements.txt."
        ) from error
    return kubernetes.client, kubernetes.config


def _finish(options: Mapping[str, Any], read: Callable[[Any], None]) -> Any:
    """Return a configuration with ``read``'s values and the options laid over them.

    The hook that refreshes tokens is dropped: it writes the kubeconfig's host and TLS settings back over options. A token
    that ends shows as a 401, and then the client loads everything anew.
    """
    client, _config = _kubernetes()
    configuration = client.Configuration()
    read(configuration)
    if "host" in options:
        _check_host(str(options["host"]))
    for option, attribute in _DIRECT.items():
        if option in options:
            setattr(configuration, attribute, options[option])
    if "api_key" in options:
        configuration.api_key = {"BearerToken": f"Bearer {options['api_key']}"}
    elif "username" in options and "password" in options:
        configuration.api_key = {"BearerToken": _basic(str(options["username"]), str(options["password"]))}
    if "proxy_headers" in options:
        configuration.proxy_headers = _proxy_headers(options["proxy_headers"])
    configuration.refresh_api_key_hook = None
    configuration.host = str(configuration.host).rstrip("/")
    if configuration.host.startswith("https"):
        tls_context(configuration)
    return configuration


def _check_host(host: str) -> None:
    try:
        parts = urlsplit(host)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable:
        raise ConnectionFailed(f"The host {host} is no address of an API server. Set `host` to a URL such as https://10.0.0.1:6443.")


def _basic(username: str, password: str) -> str:
    import urllib3

    return str(urllib3.util.make_headers(basic_auth=f"{username}:{password}")["authorization"])


def _proxy_headers(given: Any) -> Any:
    import urllib3

    return urllib3.util.make_headers(**{name: value for name, value in given.items() if value}) if isinstance(given, dict) else None


def _read_service_account(configuration: Any) -> None:
    _client, config = _kubernetes()
    try:
        config.load_incluster_config(client_configuration=configuration)
    except (config.ConfigException, OSError) as error:
        raise ConnectionFailed(f"The service account of this pod cannot be read: {error}. Set `kubeconfig` instead.") from error


def _read_kubeconfig(configuration: Any, options: Mapping[str, Any], source: str) -> None:
    _client, config = _kubernetes()
    kubeconfig = options.get("kubeconfig")
    common = {
        "context": options.get("context"),
        "client_configuration": configuration,
        "persist_config": bool(options.get("persist_config")),
    }
    if not isinstance(kubeconfig, dict):
        _check_files(_path(kubeconfig))
    with _logged_errors() as logged:
        try:
            if isinstance(kubeconfig, dict):
                config.load_kube_config_from_dict(config_dict=kubeconfig, **common)
            else:
                config.load_kube_config(config_file=_path(kubeconfig), **common)
        except Exception as error:  # the package raises whatever a malformed file leads to
            raise ConnectionFailed(_explain(error, source, options.get("context"))) from error
    # The package only logs a failing exec plugin and goes on as nobody.
    if logged and not configuration.api_key and not configuration.cert_file:
        raise ConnectionFailed(
            f"The credential plugin of {source} failed: {' '.join(logged)}. "
            "Run its command by hand on the host that runs this module, and mend it or give other credentials."
        )


def _check_files(paths: str) -> None:
    existing = [path for path in map(os.path.expanduser, paths.split(os.pathsep)) if path and os.path.exists(path)]
    if not existing:
        raise ConnectionFailed(
            f"The kubeconfig {paths} does not exist on the host that runs this module. "
            "Set `kubeconfig`, or the environment variable K8S_AUTH_KUBECONFIG, to a file that does."
        )
    for path in existing:
        if not os.access(path, os.R_OK) or os.path.isdir(path):
            raise ConnectionFailed(
                f"The kubeconfig {path} cannot be read by this user. Give the user read permission, or set another file."
            )


def _explain(error: Exception, source: str, context: Any) -> str:
    text = str(error).replace("\n", " ")
    if "/contexts list" in text or (context and f"name {context} in" in text):
        named = f"context {context}" if context else "context of the name that current-context gives"
        return f"There is no {named} in {source}. Set `context` to one that `kubectl config get-contexts` lists."
    if "current-context" in text:
        return f"{source} names no current context. Set `context`."
    return f"{source} cannot be used: {_words(error)}. Check it with `kubectl version` on the host that runs this module."


def _words(error: Exception) -> str:
    """Say what is wrong without quoting the file, which holds credentials: YAML errors carry a snippet of it."""
    mark = getattr(error, "problem_mark", None)
    if mark is not None:
        return f"it is not valid YAML (line {mark.line + 1})"
    kind = type(error).__name__
    return (
        str(error).splitlines()[0] if kind in ("ConfigException", "FileNotFoundError", "PermissionError") else f"it is malformed ({kind})"
    )


@contextmanager
def _logged_errors() -> Iterator[list[str]]:
    """Collect what the kubernetes package logs as errors, and keep it off stderr."""
    texts: list[str] = []

    class Collector(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            texts.append(record.getMessage().replace("\n", " "))

    handler, root = Collector(logging.ERROR), logging.getLogger()
    root.addHandler(handler)
    try:
        yield texts
    finally:
        root.removeHandler(handler)
