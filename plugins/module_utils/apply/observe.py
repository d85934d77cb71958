# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Looking at the cluster: metadata of what is live, and the surroundings that gates are derived from. Reads only."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

from ansible_collections.kubeflow.platform.plugins.module_utils.apply.gates import Surroundings
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.model import EngineError
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.owners import Records
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.probes import ADMISSION_GROUP
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.discovery import Resource
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.errors import Failure, Refused, classify, classify_transport
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.patience import LONGEST_REQUESTED
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.requests import Client, Response, Unreachable
from ansible_collections.kubeflow.platform.plugins.module_utils.objects.identity import Identity

# Half a minute in all: as long as an API server takes to start anew.
READ_TRIES = 9
CONTACT_TRIES = {"refused": 3, "resolve": 1, "timeout": 1}
PASSING = frozenset({"throttled", "server_down", "internal"})
NO_RECORDS = Records()
ADMISSION = f"/apis/{ADMISSION_GROUP}/v1"


class Forbidden(EngineError):
    """Reads that this user may not do; ``failures`` are those of the single requests."""

    def __init__(self, failures: Sequence[Failure]) -> None:
        """Name all of them in one text."""
        self.failures = tuple(failures)
        told = "; ".join(dict.fromkeys(failure.reason for failure in failures))
        super().__init__(f"Failed to look at the cluster: {told}. {failures[0].advice}")


def reading(read: Callable[[], Any], what: str, sleep: Callable[[float], None], *, first_contact: bool = False) -> Any:
    """Do one read, again after passing faults; what still fails ends the run with one sentence. Reads are free to repeat.

    An address where nobody answers the very first request is a wrong address rather than a passing fault, and told soon.
    """
    failure = None
    for attempt in range(READ_TRIES):
        try:
            answer = read()
        except Unreachable as error:
            failure = classify_transport(error)
            if failure.error_class == "tls" or (first_contact and attempt + 1 >= CONTACT_TRIES.get(error.kind, READ_TRIES)):
                break
        except Refused as error:
            failure = error.failure
            if failure.error_class not in PASSING:
                break
        else:
            if not isinstance(answer, Response) or answer.ok or answer.status == 404:
                return answer
            failure = classify(answer, resource=None, identity=None)
            if failure.error_class not in PASSING:
                break
        sleep(min(LONGEST_REQUESTED, failure.retry_after) if failure.retry_after is not None else min(4.0, 0.5 * 2**attempt))
    if failure is None:
        raise EngineError(f"Failed to read {what}: no answer.")
    if failure.error_class == "rbac":
        raise Forbidden([failure])
    raise EngineError(f"Failed to read {what}: {failure.reason or failure.message}. {failure.advice}")


def live_metadata(
    client: Client, resources: Iterable[Resource], pool: ThreadPoolExecutor, sleep: Callable[[float], None]
) -> dict[Identity, dict[str, Any]]:
    """Metadata of every live object of the given resources, cluster-wide, by identity; one LIST for each resource.

    Raises Forbidden with all kinds that this user may not list.
    """
    wanted = {(row.group, row.plural): row for row in resources}

    def one(resource: Resource) -> list[tuple[Identity, dict[str, Any]]] | Forbidden:
        path = resource.collection(None)
        try:
            rows = reading(lambda: client.list_metadata(path), f"the {resource.kind} objects", sleep)
        except Forbidden as error:
            return error
        return [
            (Identity(resource.group, resource.kind, row.get("namespace", "") if resource.namespaced else "", row["name"]), row)
            for row in rows
        ]

    found: dict[Identity, dict[str, Any]] = {}
    barred: list[Failure] = []
    for answer in pool.map(one, wanted.values()):
        if isinstance(answer, Forbidden):
            barred += answer.failures
        else:
            found.update(answer)
    if barred:
        raise Forbidden(barred)
    return found


def surroundings(
    client: Client, live: Mapping[Identity, Mapping[str, Any]], sleep: Callable[[float], None], records: Records = NO_RECORDS
) -> Surroundings:
    """Labels of live namespaces, live webhook configurations, and what is known of who applied them."""
    labels = {
        identity.name: dict(metadata.get("labels") or {})
        for identity, metadata in live.items()
        if (identity.group, identity.kind) == ("", "Namespace")
    }
    configurations = []
    for kind, plural in (
        ("MutatingWebhookConfiguration", "mutatingwebhookconfigurations"),
        ("ValidatingWebhookConfiguration", "validatingwebhookconfigurations"),
    ):
        answer = reading(partial(client.get, f"{ADMISSION}/{plural}"), f"the {kind} objects", sleep)
        for row in answer.json().get("items") or []:
            configurations.append({**row, "apiVersion": f"{ADMISSION_GROUP}/v1", "kind": kind})
    return Surroundings(labels, configurations, records)
