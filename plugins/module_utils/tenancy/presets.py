# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""PodDefaults that every company needs, from a few values, and back: a package index, a certificate authority, a proxy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

PIP, CA, PROXY = "kubeflow-platform-pip-index", "kubeflow-platform-ca", "kubeflow-platform-proxy"
CA_MAP = CA
CA_KEY = "ca.crt"
_CA_FOLDER = "/etc/kubeflow-platform/ca"
_CA_VARIABLES = ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "PIP_CERT", "NODE_EXTRA_CA_CERTS", "GIT_SSL_CAINFO")
_PROXY_VARIABLES = {"http": "http_proxy", "https": "https_proxy", "no_proxy": "no_proxy"}
_WORDS = {PIP: "Use the company's package index", CA: "Trust the company's certificate authority", PROXY: "Use the company's proxy"}


def problems(raw: Mapping[str, Any]) -> list[str]:
    """Return what is wrong with ``pod_defaults``, each as half a sentence."""
    found = []
    pip, proxy, authority = raw.get("pip_index"), raw.get("proxy"), raw.get("ca")
    if pip is not None and not _is_url(pip.get("url")):
        found.append("pod_defaults.pip_index.url must be a URL that begins with http:// or https://")
    if authority is not None and "-----BEGIN CERTIFICATE-----" not in str(authority.get("certificate") or ""):
        found.append("pod_defaults.ca.certificate must be PEM text with at least one certificate")
    if proxy is not None:
        given = {key: proxy.get(key) for key in ("http", "https") if proxy.get(key)}
        if not given:
            found.append("pod_defaults.proxy needs http or https")
        found.extend(
            f"pod_defaults.proxy.{key} must be a URL that begins with http:// or https://" for key in given if not _is_url(given[key])
        )
    names: set[str] = set()
    for row in raw.get("own") or ():
        name = str(row.get("name") or "")
        spec = row.get("spec")
        if not isinstance(spec, Mapping) or not (spec.get("selector") or {}).get("matchLabels"):
            # Without matchLabels the notebook form of the whole namespace answers with an error.
            found.append(f"pod_defaults.own: {name or 'an entry'} needs a spec with selector.matchLabels")
        if name in names or name in _WORDS:
            found.append(f"pod_defaults.own: the name {name} is taken")
        names.add(name)
    return found


def _is_url(text: Any) -> bool:
    parts = urlsplit(str(text or ""))
    return parts.scheme in ("http", "https") and bool(parts.hostname)


def specs(raw: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the wanted PodDefaults: name -> spec."""
    found: dict[str, dict[str, Any]] = {}
    if raw.get("pip_index"):
        found[PIP] = _spec(PIP, env=_pip(raw["pip_index"]))
    if raw.get("ca"):
        env = [{"name": name, "value": f"{_CA_FOLDER}/{CA_KEY}"} for name in _CA_VARIABLES]
        mounts = [{"mountPath": _CA_FOLDER, "name": CA, "readOnly": True}]
        volumes = [{"configMap": {"name": CA_MAP}, "name": CA}]
        found[CA] = _spec(CA, env=env, volumeMounts=mounts, volumes=volumes)
    if raw.get("proxy"):
        found[PROXY] = _spec(PROXY, env=_proxy(raw["proxy"]))
    for row in raw.get("own") or ():
        found[str(row["name"])] = dict(row["spec"])
    return found


def certificate(raw: Mapping[str, Any]) -> str | None:
    """Return the PEM text that the namespace's ConfigMap is to hold; None where there is none."""
    return str(raw["ca"]["certificate"]) if raw.get("ca") else None


def _spec(name: str, **parts: Any) -> dict[str, Any]:
    # The notebook form offers each PodDefault by the first label of its selector, and sets that label on the pods that shall get it.
    return {"desc": _WORDS[name], "selector": {"matchLabels": {name: "true"}}, **parts}


def _pip(raw: Mapping[str, Any]) -> list[dict[str, str]]:
    env = [{"name": "PIP_INDEX_URL", "value": str(raw["url"])}]
    if raw.get("extra_urls"):
        env.append({"name": "PIP_EXTRA_INDEX_URL", "value": " ".join(raw["extra_urls"])})
    if raw.get("trusted_hosts"):
        env.append({"name": "PIP_TRUSTED_HOST", "value": " ".join(raw["trusted_hosts"])})
    return env


def _proxy(raw: Mapping[str, Any]) -> list[dict[str, str]]:
    env = []
    for key, variable in _PROXY_VARIABLES.items():
        if raw.get(key):
            # Programs disagree about the case of these variables.
            env += [{"name": name, "value": str(raw[key])} for name in (variable, variable.upper())]
    return env


def from_live(live: Mapping[str, Mapping[str, Any]], pem: str | None) -> dict[str, Any]:
    """Return the data that would make the live PodDefaults (name -> spec); what no preset makes is told as one's own."""
    found: dict[str, Any] = {}
    for name, key, value in _candidates(live, pem):
        if specs({key: value})[name] == live[name]:
            found[key] = value
    made = specs(found)
    own = [{"name": name, "spec": dict(spec)} for name, spec in sorted(live.items()) if made.get(name) != spec]
    return {**found, **({"own": own} if own else {})}


def _candidates(live: Mapping[str, Mapping[str, Any]], pem: str | None) -> list[tuple[str, str, dict[str, Any]]]:
    """Return (name, key of the data, value) for each live PodDefault that bears a preset's name."""
    found: list[tuple[str, str, dict[str, Any]]] = []
    if PIP in live:
        env = _values(live[PIP])
        lists = {"extra_urls": env.get("PIP_EXTRA_INDEX_URL", ""), "trusted_hosts": env.get("PIP_TRUSTED_HOST", "")}
        value = {"url": env.get("PIP_INDEX_URL", ""), **{key: text.split() for key, text in lists.items() if text}}
        found.append((PIP, "pip_index", value))
    if CA in live and pem is not None:
        found.append((CA, "ca", {"certificate": pem}))
    if PROXY in live:
        env = _values(live[PROXY])
        found.append((PROXY, "proxy", {key: env[name] for key, name in _PROXY_VARIABLES.items() if name in env}))
    return found


def _values(spec: Mapping[str, Any]) -> dict[str, str]:
    return {str(row.get("name")): str(row.get("value") or "") for row in spec.get("env") or ()}
