# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Sends changes to the cluster. Passing faults are waited out; a change that was lost on its way is sent again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.errors import Failure, Unreachable, classify, classify_transport
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.patience import PASSING, Clock, pauses, wait_after
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.requests import Client, Response
from ansible_collections.kubeflow.platform.plugins.module_utils.tenancy.changes import Change


@dataclass(frozen=True, slots=True)
class Sent:
    """A change and how it ended; ``wrote``: something was persisted."""

    change: Change
    failure: Failure | None = None
    wrote: bool = True


class Sender:
    """Sends changes over one client; thread-safe."""

    def __init__(self, client: Client, clock: Clock, jitter: Callable[[], float], *, dry_run: bool = False) -> None:
        self._client = client
        self._clock = clock
        self._jitter = jitter
        self._dry_run = dry_run

    def send(self, change: Change) -> Sent:
        """Send one change until it is done, or refused for good."""
        waits, repeated = pauses(self._jitter), False
        while True:
            try:
                response = self._once(change)
                if response.ok or self._done_already(change, response, repeated):
                    return Sent(change, wrote=not self._dry_run)
                failure = classify(response, identity=change.identity, verb=_VERBS[change.verb])
            except Unreachable as error:
                failure = classify_transport(error, identity=change.identity, verb=_VERBS[change.verb])
                repeated = True  # it may have arrived all the same
            exists = change.verb == "create" and failure.error_class == "conflict_version"
            pause = next(waits, None)
            if failure.error_class not in PASSING or exists or pause is None:
                break
            self._clock.sleep(wait_after(failure, pause))
        return Sent(change, failure, wrote=False)

    def _done_already(self, change: Change, response: Response, repeated: bool) -> bool:
        if change.verb == "delete":
            return response.status == 404
        return change.verb in ("create", "recreate") and repeated and response.status == 409

    def _once(self, change: Change) -> Response:
        if change.verb == "create":
            return self._client.create(change.collection, change.body, self._dry_run)
        if change.verb == "patch":
            return self._client.merge_patch(change.path, change.body, self._dry_run)
        gone = self._client.delete(change.path, change.uid, dry_run=self._dry_run)
        if change.verb == "delete" or self._dry_run or not (gone.ok or gone.status in (404, 409)):
            return gone
        return self._client.create(change.collection, change.body)


_VERBS = {"create": "create", "patch": "change", "delete": "delete", "recreate": "recreate"}
