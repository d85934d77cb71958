# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Gives a user of Dex another password: written, Dex restarted, the login proved; or everything as it was before."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Literal

from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.errors import ClusterError, Refused
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.patience import Clock
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.requests import Client
from ansible_collections.kubeflow.platform.plugins.module_utils.identity import change, live, passwords, restart
from ansible_collections.kubeflow.platform.plugins.module_utils.identity.dex import Unclear
from ansible_collections.kubeflow.platform.plugins.module_utils.identity.live import Found
from ansible_collections.kubeflow.platform.plugins.module_utils.identity.login import Pages, Proof, State, Web, prove_password
from ansible_collections.kubeflow.platform.plugins.module_utils.identity.passwords import Hash
from ansible_collections.kubeflow.platform.plugins.module_utils.identity.restart import NotUp

Way = Literal["port_forward", "gateway", "none"]
_PAUSE = 2.0


class NotProved(Exception):
    """The login did not work; the text says how."""


class Failed(Exception):
    """The run ended without the new password. ``restored``: the old one is in place again, None where nothing had been written."""

    def __init__(self, text: str, restored: bool | None = None, refused: Refused | None = None) -> None:
        super().__init__(text)
        self.restored = restored
        self.refused = refused


@dataclass(frozen=True, slots=True)
class Wish:
    """What is asked for. One of ``password`` and ``hash`` is given, or both."""

    email: str
    password: str = field(default="", repr=False)
    hash: Hash | None = None
    cost: int = 0
    namespace: str = "auth"
    deployment: str = "dex"
    way: Way = "port_forward"
    wait_timeout: float = 300.0
    proof_timeout: float = 60.0


@dataclass(slots=True)
class Outcome:
    """What was done. ``proved``: "login", or "answers" where the password is not known, "" where nothing was tried."""

    email: str = ""
    place: str = ""
    changed: bool = False
    restarted: bool = False
    proved: str = ""
    before: str = ""
    after: str = ""
    warnings: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Tools:
    """The edges of a run. ``pod_web`` gives the way to one pod (its name and the port), ``gateway_web`` the one through the gateway."""

    client: Client
    clock: Clock
    pod_web: Callable[[str, int], Web]
    gateway_web: Callable[[], Web]
    learn: Callable[[str], None] = lambda _value: None


class Rotation:
    """One run for one user."""

    def __init__(self, wish: Wish, tools: Tools, *, check: bool = False) -> None:
        self.wish = wish
        self.outcome = Outcome()
        self._tools = tools
        self._check = check
        self._path = live.deployment_path(wish.namespace, wish.deployment)
        self._pages: Pages | None = None

    def run(self) -> None:
        """Do it. Raise Failed, Unclear, Unusable or ClusterError; but for Failed, nothing had been written."""
        found = live.find(self._tools.client, self.wish.namespace, self.wish.deployment, self.wish.email)
        stored = found.stored
        self._tools.learn(found.place.hash_in(found.text))
        self._describe(found, stored)
        if self.wish.way != "none":
            self._pages = found.pages()
        if stored is not None and self._is_wanted(stored):
            self._keep(found)
            return
        new = self.wish.hash or passwords.make(self.wish.password, self.wish.cost or passwords.USUAL_COST)
        self._tools.learn(new.text)
        self.outcome.changed = True
        self.outcome.after = f"{found.place}: another bcrypt hash, cost {new.cost}\n"
        self._check_deployment(found)
        text = found.place.with_hash(found.text, new.text)
        # What the server would refuse is to be refused before anything is written.
        change.put(self._tools.client, found.place, found.text, text, self._tools.clock, dry_run=True)
        if found.place.needs_restart:
            restart.roll(self._tools.client, self._path, _now(self._tools.clock), self._tools.clock, dry_run=True)
        if not self._check:
            self._look_ahead(found)
            self._replace(found, text)

    # -- what is asked and what is there

    def _is_wanted(self, stored: Hash) -> bool:
        wish = self.wish
        if wish.hash is not None:
            return stored.same_as(wish.hash)
        return stored.usable and wish.cost in (0, stored.cost) and passwords.matches(wish.password, stored)

    def _describe(self, found: Found, stored: Hash | None) -> None:
        outcome = self.outcome
        outcome.email, outcome.place = found.email, str(found.place)
        words = f"a bcrypt hash, cost {stored.cost}" if stored else "nothing that Dex takes"
        outcome.before = outcome.after = f"{found.place}: {words}\n"
        if found.place.user is not None:
            outcome.warnings.append(
                f"The hash of {found.email} stands in Dex's configuration itself ({found.place}). "
                "Whoever applies the manifests again brings the former one back; change it there too, or use hashFromEnv."
            )
        if found.email != self.wish.email:
            outcome.warnings.append(f"Dex knows the user as {found.email}, and so do Profiles: the case of the letters counts there.")

    def _keep(self, found: Found) -> None:
        """The hash is the right one already; but Dex may have been started before it was written, when a run was cut off."""
        if self._check or self._pages is None or not self.wish.password:
            return
        known = f"The password of {found.email} is the stored one"
        try:
            if found.place.needs_restart:
                restart.wait(self._tools.client, self._path, self.wish.wait_timeout, self._tools.clock)
            proof = self._attempt(found, self._pages, self.wish.password, "right")
            if proof.state == "wrong" and found.place.needs_restart:
                self.outcome.changed = True
                self._restart()
                self._prove(found)
            elif not proof.right:
                raise NotProved(proof.words)
        except NotUp as error:
            raise Failed(f"{known}, but Dex does not come up: {_bare(error)}.") from error
        except NotProved as error:
            also = ", also after a restart" if self.outcome.restarted else ""
            raise Failed(f"{known}, but it does not let anybody in{also}: {_bare(error)}.") from error
        self.outcome.proved = "login"

    def _check_deployment(self, found: Found) -> None:
        spec = found.deployment["spec"]
        where = f"Deployment {self.wish.namespace}/{self.wish.deployment}"
        if found.place.needs_restart and spec.get("paused"):
            raise Unclear(f"{where} is paused, so Dex cannot be restarted; resume it first (kubectl rollout resume)")
        if found.place.needs_restart and spec.get("replicas") == 0:
            raise Unclear(f"{where} has no replicas, so nothing can be proved; scale it up first")
        if self.wish.way == "port_forward" and not found.configuration.port:
            raise Unclear("Dex's configuration serves no plain HTTP (web.http), so a port-forward cannot reach it; set `proof: gateway`")

    def _look_ahead(self, found: Found) -> None:
        """Before anything is written, see that a proof can be tried: a wrong address must not undo a good password later."""
        if self._pages is None:
            return
        proof = Proof("unclear")
        try:
            proof = self._attempt(found, self._pages, secrets.token_urlsafe(24), "wrong")
        except Refused:
            raise
        except ClusterError:  # Dex may be down for the very hash that is about to be replaced
            if self.wish.way == "gateway":
                raise
        if proof.misplaced:
            raise Unclear(f"a login could not be proved, so nothing was written: {proof.words}")

    # -- changing it

    def _replace(self, found: Found, text: str) -> None:
        client, clock = self._tools.client, self._tools.clock
        try:
            change.put(client, found.place, found.text, text, clock)
            if found.place.needs_restart:
                self._restart()
            self._prove(found)
        except (NotUp, NotProved, ClusterError) as error:
            refused = error if isinstance(error, Refused) else None
            restored, words = self._restore(found, text)
            what = (
                "Dex does not come up with the new hash" if isinstance(error, NotUp) else "The login with the new password was not proved"
            )
            raise Failed(f"{what} of {found.email}: {_bare(error)}. {words}", restored, refused) from error

    def _restore(self, found: Found, text: str) -> tuple[bool, str]:
        """Put back what was there; return whether it is, and that in words."""
        client, clock = self._tools.client, self._tools.clock
        try:
            change.put(client, found.place, text, found.text, clock)
        except (Unclear, ClusterError) as error:
            return False, f"The old one could NOT be put back into {found.place}: {_bare(error)}."
        self.outcome.changed = False
        if not self.outcome.restarted:
            return True, "The old one was put back."
        try:
            restart.roll(client, self._path, _now(clock), clock)
            restart.wait(client, self._path, self.wish.wait_timeout, clock)
        except (NotUp, ClusterError) as error:
            return True, f"The old one was put back into {found.place}, but Dex did not come up with it either: {_bare(error)}."
        return True, "The old one was put back, and Dex runs with it again."

    def _restart(self) -> None:
        self.outcome.restarted = True  # also where the answer is lost
        restart.roll(self._tools.client, self._path, _now(self._tools.clock), self._tools.clock)
        restart.wait(self._tools.client, self._path, self.wish.wait_timeout, self._tools.clock)

    # -- proving it

    def _prove(self, found: Found) -> None:
        """Try the login until it works or the time is over: a gateway needs a moment to notice that pods have gone."""
        if self._pages is None:
            return
        wanted: State = "right" if self.wish.password else "wrong"
        password = self.wish.password or secrets.token_urlsafe(24)
        deadline = self._tools.clock.monotonic() + self.wish.proof_timeout
        while True:
            try:
                proof = self._attempt(found, self._pages, password, wanted)
                if proof.state == wanted:
                    self.outcome.proved = "login" if wanted == "right" else "answers"
                    return
                words = proof.words
            except Refused:
                raise
            except ClusterError as error:
                words = _bare(error)
            if self._tools.clock.monotonic() >= deadline:
                raise NotProved(words)
            self._tools.clock.sleep(_PAUSE)

    def _attempt(self, found: Found, pages: Pages, password: str, wanted: State) -> Proof:
        """Try the login once by each way there is; the first proof that is not the wanted one counts."""
        proof = Proof("unclear", "Dex has no ready pod")
        for web in self._ways(found.configuration.port):
            proof = prove_password(web, pages, found.email, password)
            if proof.state != wanted:
                break
        return proof

    def _ways(self, port: int) -> Iterator[Web]:
        if self.wish.way == "gateway":
            yield self._tools.gateway_web()
            return
        deployment = restart.read(self._tools.client, self._path)
        for name in restart.ready_pods(restart.pods_of(self._tools.client, self._path, deployment)):
            yield self._tools.pod_web(name, port)


def _now(clock: Clock) -> str:
    return datetime.fromtimestamp(clock.time(), UTC).isoformat(timespec="microseconds")


def _bare(error: Exception) -> str:
    return str(error).rstrip(".")
