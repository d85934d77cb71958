# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""One run of a set at a time: a Kubernetes Lease, taken, renewed by a thread and given back.

As client-go's leader election, a holder counts as dead only when *this* process saw its Lease unchanged for the whole
duration on its own monotonic clock: the time stamps in the Lease are other machines' and prove nothing.
A released Lease stays, without holder (as client-go's ReleaseOnCancel leaves it): deleting and creating would need more
rights and lose the count of transitions.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from ansible_collections.kubeflow.platform.plugins.module_utils.apply.home import HOME, MANAGED_BY, ensure_home, message
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.model import EngineError
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.patience import Clock, patiently
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.requests import Client, Response, Unreachable

__all__ = ["Lease", "LeaseError", "LeaseHeld", "ensure_home"]

_COLLECTION = f"/apis/coordination.k8s.io/v1/namespaces/{HOME}/leases"
_PATIENCE = 5.0  # seconds of trouble with the server that taking the Lease outlasts
_POLL = 1.0  # seconds between looks at a Lease that another run holds


class LeaseError(EngineError):
    """The Lease could be neither taken nor read."""


class LeaseHeld(LeaseError):
    """Another run holds the Lease; ``holder`` is its name."""

    def __init__(self, text: str, holder: str) -> None:
        """Remember who holds it."""
        super().__init__(text)
        self.holder = holder


class Lease:
    """The right to write the objects of one set. ``duration`` is in seconds; ``holder`` names this run for others."""

    def __init__(self, client: Client, clock: Clock, set_name: str, holder: str, duration: int = 30) -> None:
        """Remember whose Lease it will be; nothing is sent."""
        self._client = client
        self._clock = clock
        self._set_name = set_name
        self._holder = holder
        self._duration = duration
        self._name = f"apply-{set_name}"
        self._path = f"{_COLLECTION}/{self._name}"
        self._lock = threading.Lock()
        self._held: dict[str, Any] | None = None
        self._renewed = 0.0
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    @property
    def lost(self) -> bool:
        """Whether this run may no longer write: taken over, or not renewed for two thirds of the duration.

        The last third is the margin for requests that are under way when this turns true.
        """
        with self._lock:
            return self._held is None or self._clock.monotonic() - self._renewed >= self._duration * 2 / 3

    def assure(self) -> None:
        """Raise LeaseError when this run may no longer write."""
        if self.lost:
            raise LeaseError(
                "The Lease of this set was lost: the API server could not be reached in time. Run again; the next run goes on."
            )

    def acquire(self, timeout: float, tell: Callable[[str], object] = str) -> None:
        """Take the Lease, waiting up to ``timeout`` seconds for another run to end or to be seen dead; ``tell`` says for whom.

        Raises LeaseHeld (names the holder), LeaseError and Unreachable. With a timeout of at least the holder's duration,
        a run that was killed is always waited out.
        """
        started = self._clock.monotonic()
        seen, seen_at, told = "", started, ""
        while True:
            current = self._read(max(5.0, timeout))
            version = str((current or {}).get("metadata", {}).get("resourceVersion", ""))
            if version != seen:
                seen, seen_at = version, self._clock.monotonic()
            spec = (current or {}).get("spec") or {}
            holder = str(spec.get("holderIdentity") or "")
            expires = seen_at + float(spec.get("leaseDurationSeconds") or self._duration)
            now = self._clock.monotonic()
            if (not holder or holder == self._holder or now >= expires) and self._take(current):
                return
            left = started + timeout - now
            if left <= 0 and expires - now > _POLL:  # a run that dies this very second is still waited out
                raise LeaseHeld(self._held_by(holder, spec), holder)
            if holder and holder != told:
                told = holder
                since = spec.get("acquireTime")
                tell(f"waiting up to {max(0.0, left):.0f} s for another run of the set {self._set_name} to end: {holder}, since {since}")
            self._clock.sleep(max(0.05, min(_POLL, expires - now, left if left > 0 else _POLL)))

    def start_renewing(self) -> None:
        """Renew in a thread of its own until ``release``."""
        self._stop.clear()
        self._thread = threading.Thread(target=self._renew_until_stopped, name=f"lease-{self._set_name}", daemon=True)
        self._thread.start()

    def renew(self) -> bool:
        """Renew once; False when it did not work, which ``lost`` judges. Never raises for what the cluster does."""
        held = self._held
        if held is None:
            return False
        sent = self._clock.monotonic()
        try:
            answer = self._put(held, self._spec(held))
            if answer.status == 409:
                self._adopt_or_lose()
                return False
        except Unreachable:
            return False
        if not answer.ok:
            return False
        self._hold(answer, sent)
        return True

    def release(self) -> bool:
        """Give the Lease back, so that the next run need not wait; False when that did not work (then it expires)."""
        self._stop.set()
        thread, self._thread = self._thread, None
        if thread is not None and thread is not threading.current_thread():
            thread.join(timeout=self._request_timeout + 1)
        with self._lock:
            held, self._held = self._held, None
        if held is None:
            return False
        spec = {key: value for key, value in self._spec(held).items() if key != "holderIdentity"}
        try:
            return self._put(held, {**spec, "leaseDurationSeconds": 1}).ok
        except Unreachable:
            return False

    @property
    def _request_timeout(self) -> float:
        return max(2.0, self._duration / 3)

    def _renew_until_stopped(self) -> None:
        while not self._stop.wait(self._duration / 3):
            while not self.renew() and not self.lost and not self._stop.wait(min(1.0, self._duration / 10)):
                pass
            if self._held is None:
                return

    def _read(self, patience: float) -> dict[str, Any] | None:
        answer = patiently(lambda: self._client.request("GET", self._path, timeout=self._request_timeout), self._clock, patience)
        if answer.status == 404:
            return None
        if answer.ok and answer.body().get("kind") == "Lease":
            return answer.body()
        raise self._refused("read", answer)

    def _take(self, current: dict[str, Any] | None) -> bool:
        """Write our name into the Lease; False when somebody was faster."""
        sent = self._clock.monotonic()
        if current is None:
            metadata = {"name": self._name, "namespace": HOME, "labels": MANAGED_BY}
            body = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": metadata, "spec": self._spec(None)}
            answer = patiently(
                lambda: self._client.request("POST", _COLLECTION, body=body, timeout=self._request_timeout), self._clock, _PATIENCE
            )
        else:
            spec = self._spec(current)
            answer = patiently(lambda: self._put(current, spec), self._clock, _PATIENCE)
        if answer.status == 409:
            return False
        if not answer.ok:
            raise self._refused("take", answer)
        self._hold(answer, sent)
        return True

    def _put(self, lease: dict[str, Any], spec: dict[str, Any]) -> Response:
        """Replace the Lease, if it is still the one that was read (its resourceVersion is sent)."""
        return self._client.request("PUT", self._path, body={**lease, "spec": spec}, timeout=self._request_timeout)

    def _spec(self, current: dict[str, Any] | None) -> dict[str, Any]:
        old = (current or {}).get("spec") or {}
        now = datetime.fromtimestamp(self._clock.time(), UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        mine = old.get("holderIdentity") == self._holder
        return {
            "holderIdentity": self._holder,
            "leaseDurationSeconds": self._duration,
            "acquireTime": old.get("acquireTime") if mine else now,
            "renewTime": now,
            "leaseTransitions": int(old.get("leaseTransitions") or 0) + (0 if mine or current is None else 1),
        }

    def _hold(self, answer: Response, sent: float) -> None:
        """Remember the Lease as the server has it. It counts from when we asked: others may have seen it since then."""
        with self._lock:
            self._held = answer.body()
            self._renewed = sent

    def _adopt_or_lose(self) -> None:
        """Somebody changed the Lease: go on from what is there if it still names us, else it is lost."""
        answer = self._client.request("GET", self._path, timeout=self._request_timeout)
        current = answer.body()
        if answer.ok and (current.get("spec") or {}).get("holderIdentity") == self._holder:
            with self._lock:
                self._held = current
        elif answer.ok or answer.status == 404:
            with self._lock:
                self._held = None

    def _held_by(self, holder: str, spec: dict[str, Any]) -> str:
        return (
            f"Failed to begin: another run of the set {self._set_name} is under way ({holder or 'just begun'}, "
            f"since {spec.get('acquireTime')}, last sign of life {spec.get('renewTime')}). Wait until it ends "
            "or set a longer `lease_timeout`; a run that was killed is taken over after "
            f"{spec.get('leaseDurationSeconds')} seconds."
        )

    def _refused(self, verb: str, answer: Response) -> LeaseError:
        advice = "Check the API server, then run again."
        if answer.status == 403:
            advice = f"Let this user get, create and update Leases (coordination.k8s.io) in the namespace {HOME}."
        return LeaseError(f"Failed to {verb} Lease {HOME}/{self._name}: {message(answer)}. {advice}")
