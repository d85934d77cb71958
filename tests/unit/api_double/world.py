# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A cluster, a clock and faults, and whole runs of the engine in them: no threads, no waiting, the same every time."""

from __future__ import annotations

import heapq
import itertools
import json
import queue
import random
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ansible_collections.kubeflow.platform.plugins.module_utils.apply import ledger as ledgers
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.inputs import Document
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.lease import Lease
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.result import Report
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.run import Run, Tools
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.settings import Settings
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.discovery import Discovery
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.requests import Client, Response, Unreachable
from ansible_collections.kubeflow.platform.plugins.module_utils.objects.identity import Identity
from ansible_collections.kubeflow.platform.plugins.module_utils.objects.redaction import Redactor
from ansible_collections.kubeflow.platform.tests.unit.api_double.controllers import Controllers
from ansible_collections.kubeflow.platform.tests.unit.api_double.kinds import Key
from ansible_collections.kubeflow.platform.tests.unit.api_double.server import Server
from ansible_collections.kubeflow.platform.tests.unit.api_double.storage import HOME, Write
from ansible_collections.kubeflow.platform.tests.unit.doubles import status

LATENCY = 0.01
SET = "kubeflow"
HTML = Response(200, {"content-type": "text/html"}, b"<html>Please log in</html>")
STRANGE = {
    "html": HTML,
    "list": Response(200, {"content-type": "application/json"}, b"[]"),
    "empty": Response(200, {"content-type": "application/json"}, b"{}"),
    "cut": Response(200, {"content-type": "application/json"}, b'{"kind": "Sec'),
    "nobody": Response(204),
    "teapot": Response(418, {"content-type": "text/plain"}, b"short and stout"),
    "moved": Response(301, {"location": "https://elsewhere"}, b""),
    "500": Response(500, {"content-type": "text/plain"}, b"oops"),
    "599": Response(599, {}, b"\xff\xfe"),
}


class Killed(BaseException):
    """The process is gone: nothing of it runs any more, no clean-up either."""


class Clock:
    """Time that passes only by sleeping; plans run when their moment has come, in order."""

    def __init__(self) -> None:
        self.now = 1000.0
        self._plans: list[tuple[float, int, Callable[[], object]]] = []
        self._numbers = itertools.count()

    def monotonic(self) -> float:
        return self.now

    def time(self) -> float:
        return self.now + 1_800_000_000

    def sleep(self, seconds: float, /) -> None:
        until = self.now + max(0.0, seconds)
        while self._plans and self._plans[0][0] <= until:
            moment, _number, run = heapq.heappop(self._plans)
            self.now = max(self.now, moment)
            run()
        self.now = max(self.now, until)

    def at(self, seconds: float, run: Callable[[], object]) -> None:
        heapq.heappush(self._plans, (self.now + seconds, next(self._numbers), run))

    def forget(self) -> None:
        """No plan is carried out any more."""
        self._plans.clear()


@dataclass
class World:
    """A server with controllers, and faults by the number of a request.

    Faults: "429", "503", "reset" (the request never arrives), "hang" (nor does an answer, for as long as one is waited for),
    "lost" (its answer never arrives), "kill", "kill-after", and the strange answers above.
    """

    delay: float = 0.0
    pause: float = 1.0
    faults: dict[int, str] = field(default_factory=dict)
    clock: Clock = field(default_factory=Clock)
    ledger_missed: list[Identity] = field(default_factory=list)
    said: list[str] = field(default_factory=list)
    engine: Run = field(init=False)

    def __post_init__(self) -> None:
        self.server = Server(self.clock.monotonic, self.delay)
        self.controllers = Controllers(self.server, self.clock.at, self.pause)
        self.dead = False
        self.count = 0
        self.server.on_write.append(self._watch_ledger)

    # -- the engine in it

    def run(
        self, documents: Sequence[Document], *, seed: int = 0, holder: str = "", redactor: Redactor | None = None, **options: Any
    ) -> Report:
        """One call of the engine; raises what it raises."""
        settings = Settings(**{"set_name": SET, "run_timeout": 600.0, "no_progress_timeout": 200.0, **options})
        tools = self.tools(settings, seed)
        tools.learn = (redactor or Redactor()).learn_values
        self.engine = Run(settings, tools, holder or f"holder-{seed}-{self.count}")
        return self.engine.execute(documents, [])

    def tools(self, settings: Settings, seed: int) -> Tools:
        """The edges of a run in this world; the seed decides about jitter and in which order workers get done."""
        client = DirectClient(self)
        workers = Workers(self.clock, random.Random(seed))
        return Tools(
            client,
            Discovery(client),
            self.clock,
            random.Random(seed).random,
            workers,  # type: ignore[arg-type]
            self.said.append,
            lambda: workers,
            ClockedLease,
        )

    def send(self, method: str, url: str, body: Any, headers: Mapping[str, str], timeout: float) -> Response:
        """Let a request pass, unless there is a fault for it."""
        if self.dead:
            raise Killed
        self.clock.sleep(LATENCY)
        fault = self.faults.get(self.count, "")
        self.count += 1
        if fault == "kill":
            self.dead = True
            raise Killed
        if fault == "reset":
            raise Unreachable("connection reset", "reset")
        if fault == "hang":
            self.clock.sleep(timeout)
            raise Unreachable("read timed out", "timeout")
        if fault == "429":
            return replace(status(429, "TooManyRequests"), headers={"content-type": "application/json", "retry-after": "2"})
        if fault == "503":
            return Response(503, {"content-type": "text/plain"}, b"apiserver is starting")
        if fault in STRANGE:
            return STRANGE[fault]
        answer = self.server.handle(method, url, body, headers)
        if fault == "kill-after":
            self.dead = True
            raise Killed
        if fault == "lost":
            raise Unreachable("connection reset", "reset")
        return answer

    def revive(self) -> None:
        """After a kill: controllers and others go on, the killed process does not."""
        self.dead = False
        self.faults = {}

    # -- looking at it

    def writes(self, since: int = 0) -> list[Write]:
        """The engine's persisted changes of the set, from the request numbered ``since`` on (of those that arrived)."""
        return [row for row in self.server.writes if row.counts and row.request >= since]

    @property
    def arrived(self) -> int:
        """How many requests arrived at the server."""
        return len(self.server.requests)

    def content(self) -> dict[Key, Any]:
        """What is in the cluster, but for what differs from run to run; Leases aside."""
        return {key: _settled(row) for key, row in self.server.objects.items() if HOME not in (key.namespace, key.name)}

    def ledger(self) -> ledgers.Ledger:
        """The stored ledger, an empty one where there is none."""
        secret = self.server.objects.get(Key("", "secrets", HOME, f"ledger-{SET}"))
        return ledgers.decode(secret, SET) if secret is not None else ledgers.Ledger(SET)

    def _watch_ledger(self, by: str, key: Key, obj: Mapping[str, Any] | None) -> None:
        """Note each object of the engine that is made while the ledger does not know it (E10.13)."""
        if by == "engine" and obj is not None and HOME not in (key.namespace, key.name):
            identity = Identity(key.group, str(obj["kind"]), key.namespace, key.name)
            if identity not in self.ledger().entries:
                self.ledger_missed.append(identity)


def _settled(obj: Mapping[str, Any]) -> dict[str, Any]:
    metadata = {
        key: value
        for key, value in obj["metadata"].items()
        if key not in ("uid", "resourceVersion", "generation", "creationTimestamp", "managedFields")
    }
    owners = {(row["manager"], row["operation"]): row["fieldsV1"] for row in obj["metadata"].get("managedFields") or []}
    status = {key: value for key, value in (obj.get("status") or {}).items() if key != "observedGeneration"}
    return {**obj, "metadata": metadata, "owners": owners, "status": status}


class DirectClient(Client):
    """The real client whose requests go to a world instead of a socket."""

    def __init__(self, world: World) -> None:  # pylint: disable=super-init-not-called
        self.counts = Counter()
        self.connect_timeout = 1.0
        self._lock = threading.Lock()
        self._generation = 0
        self._world = world

    def _send(self, method: str, url: str, payload: bytes | None, extra: Mapping[str, str], timeout: float) -> Response:
        body = None if payload is None else json.loads(payload)
        return self._world.send(method, url, body, extra, timeout)

    def _renew(self, generation: int) -> bool:
        return False


class Workers:
    """Pool and mailbox in one: a task is done when its result is asked for, and chance says which comes first."""

    def __init__(self, clock: Clock, chance: random.Random) -> None:
        self._clock = clock
        self._chance = chance
        self._tasks: list[Callable[[], object]] = []
        self._results: list[Any] = []

    def submit(self, function: Callable[..., object], *arguments: Any) -> None:
        self._tasks.append(lambda: function(*arguments))

    def map(self, function: Callable[..., Any], *rows: Iterable[Any]) -> Iterator[Any]:
        calls = list(zip(*rows))
        found: dict[int, Any] = {}
        for index in self._chance.sample(range(len(calls)), len(calls)):
            found[index] = function(*calls[index])
        return iter([found[index] for index in range(len(calls))])

    def put(self, result: Any) -> None:
        self._results.append(result)

    def get(self, timeout: float) -> Any:
        if not self._results and self._tasks:
            self._tasks.pop(self._chance.randrange(len(self._tasks)))()
        elif not self._results:
            self._clock.sleep(timeout)
        return self.get_nowait()

    def get_nowait(self) -> Any:
        if not self._results:
            raise queue.Empty
        return self._results.pop(0)


class ClockedLease(Lease):
    """A Lease that is renewed by the clock instead of a thread."""

    def start_renewing(self) -> None:
        self._stop.clear()
        self._clock.at(10.0, self._again)  # type: ignore[attr-defined]

    def _again(self) -> None:
        if self._stop.is_set():
            return
        try:
            held = self.renew()
        except Killed:
            return
        self._clock.at(10.0 if held else 1.0, self._again)  # type: ignore[attr-defined]
