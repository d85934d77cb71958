# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Dex's configuration and Deployment: where a user's hash stands, and the configuration with another one. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import urlsplit

Kind = Literal["Secret", "ConfigMap"]


class Unclear(Exception):
    """Dex is set up in a way that this code does not change; the text says what was found and what to do."""


@dataclass(frozen=True, slots=True)
class User:
    """An entry of ``staticPasswords``. The hash stands in the variable ``variable``, or in the configuration itself as ``inline``."""

    position: int
    email: str
    variable: str
    inline: str

    def __repr__(self) -> str:
        """Keep the hash out of tracebacks."""
        return f"User({self.email})"


@dataclass(frozen=True, slots=True)
class Setting:
    """A text of the configuration: given there, or else the value of an environment variable."""

    text: str
    variable: str

    def __repr__(self) -> str:
        """Keep secrets out of tracebacks."""
        return f"Setting({self.variable})"


@dataclass(frozen=True, slots=True)
class Application:
    """An entry of ``staticClients`` that a browser can log in for."""

    identifier: Setting
    secret: Setting
    redirect: str


@dataclass(frozen=True, slots=True)
class Configuration:
    """What of ``config.yaml`` matters here. ``prefix`` is the path of the issuer, ``port`` that of plain HTTP, 0 for none."""

    users: tuple[User, ...]
    applications: tuple[Application, ...]
    prefix: str
    port: int


@dataclass(frozen=True, slots=True)
class Source:
    """A key of an object of Dex's namespace."""

    kind: Kind
    name: str
    key: str


def read(text: str) -> Configuration:
    """Return the configuration that a text is. Raise Unclear where it is none."""
    document = _load(text)
    web = document.get("web")
    address = str(web.get("http") or "") if isinstance(web, Mapping) else ""
    port = re.search(r":(\d{1,5})$", address)
    return Configuration(
        tuple(_user(position, row) for position, row in enumerate(_rows(document, "staticPasswords"))),
        tuple(_application(row) for row in _rows(document, "staticClients") if row.get("redirectURIs")),
        urlsplit(str(document.get("issuer") or "")).path.rstrip("/"),
        int(port[1]) if port else 0,
    )


def find(users: Sequence[User], email: str) -> User | None:
    """Return the user of an e-mail address, which Dex compares without regard to case. Raise Unclear where there are two of them."""
    found = [user for user in users if user.email.lower() == email.lower()]
    if len(found) > 1:
        named = ", ".join(user.email for user in found)
        raise Unclear(
            f"the configuration has {len(found)} users of this e-mail address ({named}), and Dex takes one of them; remove the others"
        )
    return found[0] if found else None


def with_hash(text: str, user: User, new: str) -> str:
    """Return the configuration with another hash for a user who has it there; nothing else of the text changes, comments neither."""
    import yaml

    start, end = _place(yaml.compose(text, Loader=yaml.SafeLoader), user)
    changed = f"{text[:start]}'{new}'{text[end:]}"
    wanted = _load(text)
    wanted["staticPasswords"][user.position]["hash"] = new
    if _load_or_none(changed) != wanted:
        raise Unclear(f"the hash of {user.email} is written with an anchor or over several lines; write it in quotes on one line")
    return changed


def container_of(deployment: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the container that runs Dex: the one of that name, or the only one."""
    containers = _pod(deployment).get("containers") or []
    named = [row for row in containers if row.get("name") == "dex"] or (containers if len(containers) == 1 else [])
    if not named:
        raise Unclear("the Deployment has no container `dex`; name the Deployment that runs Dex by `deployment`")
    return named[0]  # type: ignore[no-any-return]


def configuration_source(deployment: Mapping[str, Any]) -> Source:
    """Return the object and the key that hold the file which Dex is started with."""
    container = container_of(deployment)
    words = [str(word) for word in [*(container.get("command") or []), *(container.get("args") or [])]]
    path = next((word for word in reversed(words) if word.startswith("/") and word.endswith((".yaml", ".yml", ".json"))), "")
    mounts = [row for row in container.get("volumeMounts") or [] if path and _inside(path, str(row.get("mountPath")))]
    if not mounts:
        raise Unclear("the Deployment does not say which file Dex is started with, or no volume holds it; Dex's users cannot be found")
    mount = max(mounts, key=lambda row: len(str(row.get("mountPath"))))
    below = str(mount.get("subPath") or "") or path[len(str(mount["mountPath"]).rstrip("/")) :].lstrip("/")
    volume: Mapping[str, Any] = next((row for row in _pod(deployment).get("volumes") or [] if row.get("name") == mount.get("name")), {})
    for kind, field, name in (("ConfigMap", "configMap", "name"), ("Secret", "secret", "secretName")):
        if isinstance(volume.get(field), Mapping):
            items = {str(row.get("path")): str(row.get("key")) for row in volume[field].get("items") or []}
            return Source("Secret" if kind == "Secret" else "ConfigMap", str(volume[field].get(name)), items.get(below, below))
    raise Unclear(f"the volume {mount.get('name')} with Dex's configuration is neither a ConfigMap nor a Secret; change the password there")


def sources(deployment: Mapping[str, Any], variable: str) -> Iterator[Source]:
    """Yield where an environment variable of Dex can come from, what wins first. Raise Unclear where it is written into the Deployment."""
    container = container_of(deployment)
    for row in reversed(container.get("env") or []):
        if row.get("name") != variable:
            continue
        origin = row.get("valueFrom") or {}
        for kind, field in (("Secret", "secretKeyRef"), ("ConfigMap", "configMapKeyRef")):
            if field in origin:
                yield Source("Secret" if kind == "Secret" else "ConfigMap", str(origin[field].get("name")), str(origin[field].get("key")))
                return
        raise Unclear(f"the variable {variable} is written into the Deployment itself; move it into a Secret")
    for row in reversed(container.get("envFrom") or []):
        prefix = str(row.get("prefix") or "")
        if variable.startswith(prefix):
            for kind, field in (("Secret", "secretRef"), ("ConfigMap", "configMapRef")):
                if field in row:
                    yield Source("Secret" if kind == "Secret" else "ConfigMap", str(row[field].get("name")), variable[len(prefix) :])


def _pod(deployment: Mapping[str, Any]) -> Mapping[str, Any]:
    return ((deployment.get("spec") or {}).get("template") or {}).get("spec") or {}


def _inside(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def _load(text: str) -> dict[str, Any]:
    document = _load_or_none(text)
    if not isinstance(document, dict):
        raise Unclear("Dex's configuration is not valid YAML; Dex itself would not start with it")
    return document


def _load_or_none(text: str) -> Any:
    import yaml

    try:
        return yaml.safe_load(text)
    except yaml.YAMLError:  # its message quotes the text
        return None


def _rows(document: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    rows = document.get(name) or []
    if not isinstance(rows, list) or not all(isinstance(row, Mapping) for row in rows):
        raise Unclear(f"{name} of Dex's configuration is no list of mappings; Dex itself would not start with it")
    return rows


def _user(position: int, row: Mapping[str, Any]) -> User:
    inline = str(row.get("hash") or "")  # it wins where both are given
    return User(position, str(row.get("email") or ""), "" if inline else str(row.get("hashFromEnv") or ""), inline)


def _application(row: Mapping[str, Any]) -> Application:
    identifier = Setting(str(row.get("id") or ""), str(row.get("idEnv") or ""))
    secret = Setting(str(row.get("secret") or ""), str(row.get("secretEnv") or ""))
    return Application(identifier, secret, str(row["redirectURIs"][0]))


def _place(root: Any, user: User) -> tuple[int, int]:
    """Return from which sign to which the hash of a user stands in the text that ``root`` was made of."""

    def child(node: Any, name: str) -> Any:
        return next(value for key, value in node.value if key.value == name)

    try:
        node = child(child(root, "staticPasswords").value[user.position], "hash")
    except (StopIteration, AttributeError, TypeError, IndexError) as error:
        raise Unclear(
            f"the hash of {user.email} cannot be found in the text of the configuration; write it in quotes on one line"
        ) from error
    return int(node.start_mark.index), int(node.end_mark.index)
