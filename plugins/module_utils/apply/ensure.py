# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Secrets with public values are ensured: what is live stays, what is absent gets a value of its own.

The values that upstream ships are taken out before anything is compared, so neither a digest nor the ledger knows any value. Under
the Lease each Secret is completed in memory: from the live one, from one of an earlier name (a content hash changes with the
release), from a live copy, or anew. So a run that was killed between two copies is finished by the next with the same value, and
an object that is completed from what is live has nothing to write.
"""

from __future__ import annotations

import base64
import secrets as chance
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from ansible_collections.kubeflow.platform.plugins.module_utils.apply.credentials import (
    Credential,
    Credentials,
    Value,
    decoded,
    with_values,
)
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.home import HOME, MANAGED_BY, message
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.model import EngineError, Item
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.observe import reading
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.shipped import Place
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.patience import Clock, patiently
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.requests import Client
from ansible_collections.kubeflow.platform.plugins.module_utils.identity import passwords
from ansible_collections.kubeflow.platform.plugins.module_utils.objects.normalise import digest

FIRST_USER = "initial-user"
_FIRST_USER_PATH = f"/api/v1/namespaces/{HOME}/secrets"
_PASSWORD = "password"


@dataclass(frozen=True, slots=True)
class State:
    """What becomes of one key, in a word, and of which Secret.

    ``made`` (generated), ``given``, ``shared`` (as its live copy), ``carried`` (from its earlier name), ``kept`` (live already), or
    ``default``: everybody can know it.
    """

    credential: Credential
    value: Value
    name: str
    word: str

    def as_result(self) -> dict[str, str]:
        """The row of the module's result."""
        purpose = self.credential.purpose
        return {"namespace": self.credential.namespace, "name": self.name, "key": self.value.key, "state": self.word, "purpose": purpose}


@dataclass(slots=True)
class Ensured:
    """Items with their values. ``first_password`` is set when a Secret for the first user has to be written before all others."""

    items: list[Item]
    states: list[State] = field(default_factory=list)
    first_user: str = ""
    first_password: str = field(default="", repr=False)
    findings: list[str] = field(default_factory=list)


class Ensurer:
    """Completes the items of one run. ``check``: nothing is made, absent values are predicted as empty ones."""

    def __init__(
        self, client: Client, clock: Clock, asked: Credentials, *, check: bool, random: Callable[[int], bytes] = chance.token_bytes
    ) -> None:
        self._client = client
        self._clock = clock
        self._asked = asked
        self._check = check
        self._random = random
        self._live: dict[Place, dict[str, Any]] = {}
        self._made: dict[str, str] = {}
        self._ensured = Ensured([])
        self._first_read = False

    def complete(self, items: Sequence[Item], taken: Mapping[Place, Mapping[str, str]]) -> Ensured:
        """The items with their values. Raises EngineError before anything is written, Refused and Unreachable."""
        self._ensured = Ensured(list(items))
        if not self._asked.mode:
            return self._ensured
        self._read(taken)
        missing: list[str] = []
        for number, item in enumerate(items):
            place = item.identity.namespace, item.identity.name
            if item.group_kind == ("", "Secret") and place in taken:
                self._ensured.items[number] = self._completed(item, taken[place], missing)
        if missing:
            raise EngineError(
                f"Nothing was written: {', '.join(missing)} {'has' if len(missing) == 1 else 'have'} no value yet and none was given. "
                "Give one in `credentials.given`, or let the run make one with the mode generate."
            )
        self._start_servers()
        return self._ensured

    def write_first(self) -> None:
        """Write the password of the first user, before the hash of it is. Raises EngineError."""
        password = self._ensured.first_password
        if not password:
            return
        body = {
            "apiVersion": "v1",
            "kind": "Secret",
            "type": "Opaque",
            "metadata": {"name": FIRST_USER, "namespace": HOME, "labels": MANAGED_BY},
            "data": {_PASSWORD: base64.b64encode(password.encode()).decode()},
        }
        answer = patiently(lambda: self._client.request("POST", _FIRST_USER_PATH, body=body), self._clock, 30.0)
        if not answer.ok and not (answer.status == 409 and self._first_password() == password):
            raise EngineError(f"Failed to write Secret {HOME}/{FIRST_USER}: {message(answer)}. Mend this and run again.")

    def _read(self, taken: Mapping[Place, Mapping[str, str]]) -> None:
        """The live Secrets that are meant, and those with copies of their values; others may lie where this user may not read."""
        mine = [row for row in self._asked.secrets if any(place[0] == row.namespace and row.is_called(place[1]) for place in taken)]
        same = {value.same for row in mine for value in row.values if value.same}
        copies = [row for row in self._asked.secrets if any(value.same in same for value in row.values)]
        for namespace in sorted({row.namespace for row in (*mine, *copies)}):
            path = f"/api/v1/namespaces/{namespace}/secrets"
            rows = reading(partial(self._client.list_metadata, path), f"the Secrets of {namespace}", self._clock.sleep)
            for row in rows:
                name = str(row.get("name"))
                if self._asked.find(namespace, name) is None or row.get("deletionTimestamp"):
                    continue
                answer = reading(partial(self._client.get, f"{path}/{name}"), f"Secret {namespace}/{name}", self._clock.sleep)
                if answer.ok:
                    self._live[namespace, name] = answer.body()

    def _completed(self, item: Item, shipped: Mapping[str, str], missing: list[str]) -> Item:
        credential = self._asked.find(item.identity.namespace, item.identity.name)
        if credential is None:
            return item  # nothing of it was taken out
        values = {}
        for value in credential.values:
            if value.key not in shipped:
                continue
            word, text = self._decided(credential, value, item.identity.name, shipped[value.key])
            if text is None:
                missing.append(f"Secret {credential}, key {value.key}")
                continue
            if word in ("kept", "carried", "shared") and value.is_shipped(text):
                word = "default"
            values[value.key] = text
            self._ensured.states.append(State(credential, value, item.identity.name, word))
        return replace(item, desired=with_values(item.desired, values))

    def _decided(self, credential: Credential, value: Value, name: str, shipped: str) -> tuple[str, str | None]:
        live = decoded(self._live.get((credential.namespace, name)) or {}, value.key)
        if value.make == "bcrypt":
            self._note_first_user()
        if live is not None:
            self._note_unlike(credential, value, live)
            return "kept", live
        earlier = self._earlier(credential, value, name)
        if earlier is not None:
            return "carried", earlier
        copy = self._copy(value)
        if copy is not None:
            return "shared", copy
        return self._new(credential, value, shipped)

    def _new(self, credential: Credential, value: Value, shipped: str) -> tuple[str, str | None]:
        given = self._asked.given_for(credential, value)
        if given is not None:
            return "given", self._hash(given) if value.make == "bcrypt" else given
        if self._asked.mode == "demo":
            return "default", shipped
        if value.make == "none":
            return "made", ""
        if self._asked.mode == "given":
            return "given", None
        if value.make == "bcrypt":
            return "made", self._hash(self._first())
        if self._check:
            return "made", ""
        known = value.same or f"{credential} {value.key}"
        if known not in self._made:
            self._made[known] = base64.urlsafe_b64encode(self._random(32)).decode() if value.make == "cookie" else self._random(20).hex()
        return "made", self._made[known]

    def _earlier(self, credential: Credential, value: Value, name: str) -> str | None:
        """The value under the newest other name of the same Secret: its content hash was another."""
        rows = [
            secret
            for (namespace, other), secret in self._live.items()
            if namespace == credential.namespace and other != name and credential.is_called(other)
        ]
        rows.sort(key=lambda secret: str(secret["metadata"].get("creationTimestamp")), reverse=True)
        return next((text for secret in rows if (text := decoded(secret, value.key)) is not None), None)

    def _copy(self, value: Value) -> str | None:
        """The value of a live copy, wherever it is."""
        for (namespace, name), secret in sorted(self._live.items(), key=lambda entry: entry[0]):
            credential = self._asked.find(namespace, name)
            for other in credential.values if credential is not None and value.same else ():
                if other.same == value.same and (text := decoded(secret, other.key)) is not None:
                    return text
        return None

    def _note_unlike(self, credential: Credential, value: Value, live: str) -> None:
        given = self._asked.given_for(credential, value)
        if given is None or live == given or (value.make == "bcrypt" and self._fits(given, live)):
            return
        self._ensured.findings.append(
            f"Secret {credential}, key {value.key}: holds another value than the given one and keeps it; to change it is a rotation"
        )

    def _fits(self, given: str, live: str) -> bool:
        """Whether a live hash is the given one, or one of the given password; where that cannot be told, it counts as one."""
        stored, wanted = passwords.parse(live), passwords.parse(given)
        if stored is None or wanted is not None:
            return stored is not None and wanted is not None and wanted.same_as(stored)
        try:
            return passwords.matches(given, stored)
        except passwords.Uninstalled:
            return True

    def _note_first_user(self) -> None:
        if not self._first_read:
            self._first_read = True
            self._ensured.first_user = f"{HOME}/{FIRST_USER}" if self._first_password() else ""

    def _first_password(self) -> str:
        answer = patiently(lambda: self._client.get(f"{_FIRST_USER_PATH}/{FIRST_USER}"), self._clock, 30.0)
        return decoded(answer.body(), _PASSWORD) or "" if answer.ok else ""

    def _first(self) -> str:
        """The first user's password: the one that a killed run has written already, or a new one."""
        found = self._first_password() if self._ensured.first_user else ""
        if not found:
            found = "" if self._check else base64.urlsafe_b64encode(self._random(15)).decode()
            self._ensured.first_password = found
            self._ensured.first_user = f"{HOME}/{FIRST_USER}"
        return found

    def _hash(self, given: str) -> str:
        """The hash that was given, or one of the password that was; in check mode "", as what is made has no value yet."""
        ready = passwords.parse(given)
        if ready is not None:
            return ready.text
        try:
            passwords.package()
            return "" if self._check else passwords.make(given, known=self._asked.mode == "demo").text
        except passwords.Uninstalled as error:
            raise EngineError(f"Nothing was written: {error} Or give a ready hash in `credentials.given`.") from error

    def _start_servers(self) -> None:
        """Start databases with the password that their Secret holds, unless that is upstream's: then they run without one as before.

        So does one that is live without the variable: it would read it only for an empty volume, and restart for nothing.
        """
        starting = {
            (state.credential.namespace, state.value.workload): state
            for state in self._ensured.states
            if state.value.starts and state.word != "default"
        }
        for number, item in enumerate(self._ensured.items):
            state = starting.get((item.identity.namespace, item.identity.name))
            if state is not None and item.group_kind == ("apps", "Deployment") and self._starts(item, state):
                reference = {"name": state.value.starts, "valueFrom": {"secretKeyRef": {"name": state.name, "key": state.value.key}}}
                desired = _with_environment(item.desired, reference)
                self._ensured.items[number] = replace(item, desired=desired, digest=f"{item.digest}+{digest(reference)[:16]}")

    def _starts(self, item: Item, state: State) -> bool:
        live = reading(partial(self._client.get, item.path), str(item.identity), self._clock.sleep)
        if not live.ok:
            return True
        containers = live.body()["spec"]["template"]["spec"]["containers"]
        return any(row.get("name") == state.value.starts for row in containers[0].get("env") or [])


def _with_environment(workload: dict[str, Any], entry: dict[str, Any]) -> dict[str, Any]:
    """The Deployment with one more variable in its first container, unless it has it."""
    template = workload["spec"]["template"]
    first, *others = template["spec"]["containers"]
    env = [row for row in first.get("env") or [] if row.get("name") != entry["name"]]
    pod = {**template["spec"], "containers": [{**first, "env": [*env, entry]}, *others]}
    return {**workload, "spec": {**workload["spec"], "template": {**template, "spec": pod}}}


def secret_values(ensured: Ensured) -> list[str]:
    """All values in it, so that they can be kept out of the output."""
    places = {(state.credential.namespace, state.name): state.value.key for state in ensured.states}
    found = [ensured.first_password] if ensured.first_password else []
    for item in ensured.items:
        if item.group_kind == ("", "Secret") and (item.identity.namespace, item.identity.name) in places:
            found += [text for key in item.desired.get("data") or {} if (text := decoded(item.desired, key))]
    return found
