# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Finds a user of Dex in a cluster: where the hash stands, what it is, and how Dex can be asked for a login."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.errors import Refused
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.requests import Client
from ansible_collections.kubeflow.platform.plugins.module_utils.identity import dex, passwords
from ansible_collections.kubeflow.platform.plugins.module_utils.identity.dex import Configuration, Setting, Source, Unclear, User
from ansible_collections.kubeflow.platform.plugins.module_utils.identity.login import Pages

_PLURALS = {"Secret": "secrets", "ConfigMap": "configmaps"}


@dataclass(frozen=True, slots=True)
class Place:
    """Where a hash stands: a text in an object of the cluster. With ``user``, the text is Dex's whole configuration."""

    kind: str
    name: str
    key: str
    path: str
    pointer: str
    encoded: bool
    user: User | None = None

    def __str__(self) -> str:
        return f"{self.kind} {self.name}" + (f", key {self.key}" if self.key else "")

    @property
    def needs_restart(self) -> bool:
        """Say whether Dex reads it only when it starts."""
        return self.kind != "Password"

    def text_in(self, obj: Mapping[str, Any]) -> str:
        """Return the text that stands in the object, "" where there is none."""
        value: Any = obj
        for step in self.pointer.strip("/").split("/"):
            value = (value or {}).get(step.replace("~1", "/").replace("~0", "~"))
        return _decoded(value) if self.encoded else str(value or "")

    def as_stored(self, text: str) -> str:
        """Return the text in the form in which the object holds it."""
        return base64.b64encode(text.encode()).decode() if self.encoded else text

    def with_hash(self, text: str, new: str) -> str:
        """Return the text that is to stand there with a new hash."""
        return dex.with_hash(text, self.user, new) if self.user else new

    def hash_in(self, text: str) -> str:
        """Return the text of the hash alone."""
        return self.user.inline if self.user else text


@dataclass(frozen=True, slots=True)
class Found:
    """A user of Dex. ``text`` stands at the place, and is kept out of ``repr``."""

    email: str
    place: Place
    text: str
    deployment: Mapping[str, Any]
    configuration: Configuration
    variables: Reader

    def __repr__(self) -> str:
        """Keep hashes out of tracebacks."""
        return f"Found({self.email}, {self.place})"

    @property
    def stored(self) -> passwords.Hash | None:
        """The hash that is stored, None where Dex would not start with what is."""
        return passwords.parse(self.place.hash_in(self.text))

    def pages(self) -> Pages:
        """Return how to ask Dex for a login. Raise Unclear where its configuration leaves no way."""
        if not self.configuration.applications:
            raise Unclear("Dex's configuration has no static client with a redirect URI, so no login can be tried; set `proof: none`")
        application = self.configuration.applications[0]
        client = self.variables.value(self.deployment, application.identifier)
        if not client:
            raise Unclear("the id of Dex's first static client is empty, so no login can be tried; mend it, or set `proof: none`")
        return Pages(self.configuration.prefix, client, application.redirect)


class Reader:
    """Reads objects of Dex's namespace, each of them once."""

    def __init__(self, client: Client, namespace: str) -> None:
        self._client = client
        self._namespace = namespace
        self._known: dict[str, dict[str, Any]] = {}

    def path(self, kind: str, name: str) -> str:
        """Return the path of a Secret or ConfigMap."""
        return f"/api/v1/namespaces/{quote(self._namespace)}/{_PLURALS[kind]}/{quote(name)}"

    def get(self, path: str) -> dict[str, Any]:
        """Return an object, {} where there is none. Raise Refused where it may not be read."""
        if path not in self._known:
            response = self._client.get(path)
            if not response.ok and response.status != 404:
                raise Refused(f"GET {path}", response)
            self._known[path] = response.body() if response.ok else {}
        return self._known[path]

    def place(self, source: Source, user: User | None = None) -> Place:
        """Return the place that a key of a Secret or ConfigMap is."""
        pointer = "/data/" + source.key.replace("~", "~0").replace("/", "~1")
        path = self.path(source.kind, source.name)
        return Place(source.kind, f"{self._namespace}/{source.name}", source.key, path, pointer, source.kind == "Secret", user)

    def variable(self, deployment: Mapping[str, Any], name: str) -> tuple[Place, str] | None:
        """Return where the value of an environment variable stands, and the value; None where nothing holds it."""
        for source in dex.sources(deployment, name):
            obj = self.get(self.path(source.kind, source.name))
            if source.key in (obj.get("data") or {}):
                place = self.place(source)
                return place, place.text_in(obj)
        return None

    def value(self, deployment: Mapping[str, Any], setting: Setting) -> str:
        """Return the value of a setting, "" where there is none."""
        if setting.text or not setting.variable:
            return setting.text
        found = self.variable(deployment, setting.variable)
        return found[1] if found else ""


def deployment_path(namespace: str, name: str) -> str:
    """Return the path of Dex's Deployment."""
    return f"/apis/apps/v1/namespaces/{quote(namespace)}/deployments/{quote(name)}"


def find(client: Client, namespace: str, name: str, email: str) -> Found:
    """Find a user. Raise Unclear where there is none, or the hash stands where this code changes nothing."""
    reader = Reader(client, namespace)
    deployment = reader.get(deployment_path(namespace, name))
    if not deployment:
        raise Unclear(f"there is no Deployment {namespace}/{name}; name the one that runs Dex by `namespace` and `deployment`")
    source = dex.configuration_source(deployment)
    configured = reader.place(source)
    text = configured.text_in(reader.get(configured.path))
    if not text:
        raise Unclear(f"{source.kind} {namespace}/{source.name} has no key {source.key}, in which Dex's configuration should be")
    configuration = dex.read(text)
    user = dex.find(configuration.users, email)
    if user is None:
        found = _stored_user(client, namespace, email)
        if found is None:
            known = ", ".join(row.email for row in configuration.users) or "none"
            raise Unclear(f"Dex has no user {email}; its users by password in the configuration: {known}")
        return Found(*found, deployment, configuration, reader)
    if user.inline:
        return Found(user.email, reader.place(source, user), text, deployment, configuration, reader)
    held = reader.variable(deployment, user.variable) if user.variable else None
    if held is None:
        raise Unclear(
            f"the hash of {user.email} is to be in the variable {user.variable or '(none is named)'}, "
            "which no Secret of the Deployment holds; add the key to one of them, even empty"
        )
    return Found(user.email, *held, deployment, configuration, reader)


def _stored_user(client: Client, namespace: str, email: str) -> tuple[str, Place, str] | None:
    """Return a user whom Dex keeps as an object, which takes effect without a restart."""
    collection = f"/apis/dex.coreos.com/v1/namespaces/{quote(namespace)}/passwords"
    for row in _objects(client, collection):
        if str(row.get("email") or "").lower() == email.lower():
            name = str((row.get("metadata") or {}).get("name"))
            place = Place("Password", f"{namespace}/{name}", "", f"{collection}/{quote(name)}", "/hash", True)
            return str(row["email"]), place, place.text_in(row)
    return None


def _objects(client: Client, collection: str) -> Iterator[Mapping[str, Any]]:
    yield from client.list_objects(collection)


def _decoded(value: Any) -> str:
    try:
        return base64.b64decode(str(value or ""), validate=True).decode()
    except (ValueError, binascii.Error):
        return ""
