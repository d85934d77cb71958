# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The record of a set, kept in the cluster, of the objects that this collection applied.

It is a Secret and not a ConfigMap since it holds hashes of Secrets' contents, from which short values could be guessed.
It holds no times, so that two runs that did the same differ in run id, uids and ``own`` only.
"""

from __future__ import annotations

import base64
import binascii
import gzip
import json
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from ansible_collections.kubeflow.platform.plugins.module_utils.apply.home import HOME, MANAGED_BY, message
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.model import EngineError
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.patience import Clock, patiently
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.requests import Client, Response
from ansible_collections.kubeflow.platform.plugins.module_utils.objects.identity import Identity
from ansible_collections.kubeflow.platform.plugins.module_utils.objects.ownership import entry_key, own_entry

FORMAT = 1
SECRET_TYPE = "kubeflow.platform/ledger"
_KEY = "ledger"
# A Secret holds at most 1 MiB of data; 727 objects take about 90 kB.
_LARGEST = 1024 * 1024


class LedgerError(EngineError):
    """The ledger cannot be used: of another set, of a newer version, damaged, or written by somebody else meanwhile."""


class LedgerUnavailable(LedgerError):
    """The server did not take or give the ledger, and may do so later."""


class Intent(NamedTuple):
    """What is about to be written: ``creates`` when the object is not there yet, ``pending`` "recreate", "prune" or ""."""

    identity: Identity
    component: str
    creates: bool = False
    pending: str = ""


@dataclass(frozen=True, slots=True)
class Entry:
    """What is known of one object since it was last verified or written.

    ``hash`` is the desired object's, ``own`` the key of our entry in its managedFields, ``generation`` None for kinds
    that have none. ``intent``: a write was announced and its result is not known. ``created``: this set made the object.
    """

    component: str
    hash: str = ""
    uid: str = ""
    own: str = ""
    generation: int | None = None
    intent: bool = False
    pending: str = ""
    created: bool = False


@dataclass(frozen=True, slots=True)
class Ledger:
    """The record of one set. ``selection`` and ``scope`` are those of the last run; entries cover all earlier ones."""

    set_name: str
    run_id: str = ""
    release: str = ""
    selection: tuple[str, ...] = ()
    scope: tuple[str, ...] = ()
    adopted: bool = False
    entries: Mapping[Identity, Entry] = field(default_factory=dict)
    format: int = FORMAT

    @property
    def components(self) -> frozenset[str]:
        """The components that own at least one object."""
        return frozenset(entry.component for entry in self.entries.values())

    def says_the_same_as(self, other: Ledger) -> bool:
        """Say whether both record the same, whichever run wrote them."""
        return replace(self, run_id="") == replace(other, run_id="")


def with_intent(ledger: Ledger, items: Iterable[Intent]) -> Ledger:
    """Return the ledger as it must be stored before the first write: the union of old and new, new ones marked.

    An object that another component recorded is handed over to the one that now wants it.
    """
    entries = dict(ledger.entries)
    for item in items:
        entry = entries.get(item.identity) or Entry(item.component)
        uid = "" if item.creates else entry.uid  # an object that is to be created is not there, whatever was
        made = entry.created or item.creates
        entries[item.identity] = replace(entry, component=item.component, uid=uid, intent=True, pending=item.pending, created=made)
    return replace(ledger, entries=entries)


def with_result(
    ledger: Ledger, identity: Identity, digest: str, uid: str, own: str, generation: int | None, component: str, created: bool | None = None
) -> Ledger:
    """Return the ledger with the outcome of a write, or of a comparison that found the object as desired.

    ``created`` says whether this set made the object; None keeps what is known of the very same one, or of one that was announced.
    """
    known = ledger.entries.get(identity)
    if created is None:
        created = known is not None and known.created and (known.uid in ("", uid) or known.pending == "recreate")
    return replace(ledger, entries={**ledger.entries, identity: Entry(component, digest, uid, own, generation, created=created)})


def handed_over(ledger: Ledger, owners: Mapping[Identity, str]) -> Ledger:
    """Return the ledger with recorded objects under the components that want them now; nothing else of an entry changes."""
    moved = {
        identity: replace(ledger.entries[identity], component=component)
        for identity, component in owners.items()
        if identity in ledger.entries and ledger.entries[identity].component != component
    }
    return replace(ledger, entries={**ledger.entries, **moved}) if moved else ledger


def without(ledger: Ledger, *identities: Identity) -> Ledger:
    """Return the ledger without objects that were pruned or are gone."""
    gone = frozenset(identities)
    return replace(ledger, entries={identity: entry for identity, entry in ledger.entries.items() if identity not in gone})


def verified(entry: Entry | None, metadata: Mapping[str, Any], desired_hash: str) -> bool:
    """Say whether an object need not be compared: nothing that we sent, and nothing else in its spec, has moved.

    Same desired hash, same uid, same entry of ours in managedFields (it loses every field that another manager changes)
    and same generation (our entry does not show that a list was reordered). An announced write makes the record stale.
    """
    if entry is None or entry.intent or entry.pending or not entry.own or not entry.uid:
        return False
    if entry.hash != desired_hash or entry.uid != metadata.get("uid") or metadata.get("deletionTimestamp"):
        return False
    mine = own_entry(dict(metadata))
    return mine is not None and entry_key(mine) == entry.own and metadata.get("generation") == entry.generation


def encode(ledger: Ledger) -> dict[str, Any]:
    """Return the Secret that stores ``ledger``; the same ledger always gives the same bytes. Raises LedgerError when too big."""
    document = {
        "format": ledger.format,
        "set": ledger.set_name,
        "run": ledger.run_id,
        "release": ledger.release,
        "selection": list(ledger.selection),
        "scope": list(ledger.scope),
        "adopted": ledger.adopted,
        "entries": [_row(identity, entry) for identity, entry in sorted(ledger.entries.items())],
    }
    text = json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
    packed = gzip.compress(text, compresslevel=6, mtime=0)
    if len(packed) >= _LARGEST:
        raise LedgerError(
            f"Failed to record the set {ledger.set_name}: {len(ledger.entries)} objects do not fit into one Secret. "
            "Split it into several sets."
        )
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "type": SECRET_TYPE,
        "metadata": {"name": f"ledger-{ledger.set_name}", "namespace": HOME, "labels": MANAGED_BY},
        "data": {_KEY: base64.b64encode(packed).decode()},
    }


def decode(secret: Mapping[str, Any], set_name: str) -> Ledger:
    """Read the Secret of a set. Raises LedgerError."""
    where = f"Secret {HOME}/ledger-{set_name}"
    try:
        packed = base64.b64decode((secret.get("data") or {})[_KEY], validate=True)
        document = json.loads(gzip.decompress(packed))
        version = int(document["format"])
    except (KeyError, TypeError, ValueError, EOFError, OSError, binascii.Error, zlib.error) as error:
        raise LedgerError(f"Failed to read {where}: it is damaged ({type(error).__name__}). {_RESTORE}") from error
    if version > FORMAT:
        raise LedgerError(
            f"Failed to read {where}: it was written by a newer version of this collection (format {version}, this one knows {FORMAT}). "
            "Run with that version or a newer one."
        )
    if document.get("set") != set_name:
        raise LedgerError(f"Failed to read {where}: it records the set {document.get('set')!r}. {_RESTORE}")
    try:
        return _ledger(document)
    except (KeyError, TypeError, ValueError) as error:
        raise LedgerError(f"Failed to read {where}: it is damaged ({type(error).__name__}). {_RESTORE}") from error


_RESTORE = "Restore it from a backup, or delete it; then the next run finds the objects again, if `adopt` is `allow`."


class LedgerStore:
    """The ledger of one set in the cluster. Used by one thread; a Lease keeps other runs away."""

    def __init__(self, client: Client, clock: Clock, set_name: str) -> None:
        """Remember whose ledger it is; nothing is sent."""
        self._client = client
        self._clock = clock
        self._set_name = set_name
        self._collection = f"/api/v1/namespaces/{HOME}/secrets"
        self._path = f"{self._collection}/ledger-{set_name}"
        self._where = f"Secret {HOME}/ledger-{set_name}"
        self._resource_version = ""
        self._stored: Ledger | None = None

    def load(self, patience: float = 30.0) -> Ledger:
        """Return the recorded ledger, an empty one when there is none. Raises LedgerError and Unreachable."""
        answer = patiently(lambda: self._client.request("GET", self._path), self._clock, patience)
        if answer.status == 404:
            self._resource_version, self._stored = "", None
            return Ledger(self._set_name)
        if not answer.ok:
            raise self._refused("read", answer)
        return self._remember(answer)

    def save(self, ledger: Ledger, patience: float = 0.0) -> bool:
        """Store ``ledger``; True if something was written, False when it says what is stored already.

        Raises LedgerUnavailable or Unreachable when it could not be written now (try again, with ``patience`` in seconds or
        later), LedgerError when somebody else wrote it meanwhile.
        """
        if ledger.says_the_same_as(self._stored or Ledger(self._set_name)):
            return False
        answer = self._send(ledger, patience)
        if answer.status == 409:  # ours, if an earlier attempt arrived and its answer did not
            seen = self._stored
            current = self.load(patience)
            if current == ledger:
                return True
            if seen is None or current != seen:
                raise LedgerError(f"Failed to write {self._where}: another run wrote it meanwhile. Let one run end before the next.")
            answer = self._send(ledger, patience)
        if not answer.ok:
            raise self._refused("write", answer)
        self._remember(answer)
        return True

    def _send(self, ledger: Ledger, patience: float) -> Response:
        body = encode(ledger)
        if self._resource_version:
            body["metadata"]["resourceVersion"] = self._resource_version
            return patiently(lambda: self._client.request("PUT", self._path, body=body), self._clock, patience)
        return patiently(lambda: self._client.request("POST", self._collection, body=body), self._clock, patience)

    def _remember(self, answer: Response) -> Ledger:
        secret = answer.body()
        if secret.get("kind") != "Secret":
            raise LedgerUnavailable(
                f"Failed to read {self._where}: the answer is no Secret. Check what stands between here and the API server."
            )
        self._stored = decode(secret, self._set_name)
        self._resource_version = str(secret["metadata"]["resourceVersion"])
        return self._stored

    def _refused(self, verb: str, answer: Response) -> LedgerError:
        text = f"Failed to {verb} {self._where}: {message(answer)}."
        if answer.status == 403:
            return LedgerError(f"{text} Let this user get, create and update Secrets in the namespace {HOME}.")
        if answer.status in (429, 500, 502, 503, 504):
            return LedgerUnavailable(f"{text} Check the API server, then run again.")
        return LedgerError(f"{text} Mend this and run again.")


def _row(identity: Identity, entry: Entry) -> list[Any]:
    flags = ("i" if entry.intent else "") + ("c" if entry.created else "")
    return [*identity, entry.component, entry.hash, entry.uid, entry.own, entry.generation, flags, entry.pending]


def _ledger(document: Mapping[str, Any]) -> Ledger:
    entries = {}
    for group, kind, namespace, name, component, digest, uid, own, generation, flags, pending in document["entries"]:
        entries[Identity(group, kind, namespace, name)] = Entry(
            component, digest, uid, own, generation, intent="i" in flags, pending=pending, created="c" in flags
        )
    return Ledger(
        set_name=document["set"],
        run_id=document["run"],
        release=document["release"],
        selection=tuple(document["selection"]),
        scope=tuple(document["scope"]),
        adopted=bool(document["adopted"]),
        entries=entries,
        format=int(document["format"]),
    )
