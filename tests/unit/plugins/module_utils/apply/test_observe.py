# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads outlast passing faults, end soon where nothing will help, and tell all that is forbidden at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.model import EngineError
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.observe import Forbidden, live_metadata, reading, surroundings
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.settings import Settings
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.errors import UnreachableKind
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.requests import Response, Unreachable
from ansible_collections.kubeflow.platform.plugins.module_utils.objects.identity import Identity
from ansible_collections.kubeflow.platform.tests.unit.api_double.kinds import BUILT_IN
from ansible_collections.kubeflow.platform.tests.unit.api_double.objects import config, documents, webhook
from ansible_collections.kubeflow.platform.tests.unit.api_double.world import Clock, DirectClient, World
from ansible_collections.kubeflow.platform.tests.unit.doubles import status

FORBIDDEN = status(403, "Forbidden", 'User "bob" cannot list resource "secrets" in API group "" at the cluster scope')


def script(*answers: Any) -> Callable[[], Any]:
    """A read that gives one answer after the other, the last one for ever."""
    left = list(answers)

    def read() -> Any:
        answer = left.pop(0) if len(left) > 1 else left[0]
        if isinstance(answer, Exception):
            raise answer
        return answer

    return read


def lost(kind: UnreachableKind = "reset") -> Unreachable:
    return Unreachable("connection reset", kind)


@pytest.mark.parametrize("trouble", [lost(), lost("timeout"), lost("refused"), Response(503), status(429, "TooManyRequests")])
def test_read_is_repeated_until_a_passing_fault_is_over(trouble: Any) -> None:
    clock = Clock()
    assert reading(script(trouble, trouble, Response(200)), "it", clock.sleep).status == 200
    assert clock.now - 1000.0 < 5.0


@pytest.mark.parametrize("answer", [[], "v1.36", Response(404), Response(200)])
def test_read_is_done_once_when_it_is_answered(answer: Any) -> None:
    clock = Clock()
    assert reading(script(answer), "it", clock.sleep) == answer and clock.now == 1000.0


def test_read_gives_up_after_half_a_minute_and_says_what_could_not_be_read() -> None:
    clock = Clock()
    with pytest.raises(EngineError, match="Failed to read the namespaces: .*connection reset"):
        reading(script(lost()), "the namespaces", clock.sleep)
    assert 15.0 < clock.now - 1000.0 < 40.0


@pytest.mark.parametrize("final", [lost("tls"), FORBIDDEN, status(401, "Unauthorized"), status(400, "BadRequest")])
def test_read_is_not_repeated_when_no_waiting_helps(final: Any) -> None:
    clock = Clock()
    with pytest.raises(EngineError, match="Failed to"):
        reading(script(final), "it", clock.sleep)
    assert clock.now == 1000.0


@pytest.mark.parametrize("kind", ["refused", "resolve", "timeout"])
def test_wrong_address_is_told_within_seconds_at_the_first_contact(kind: UnreachableKind) -> None:
    clock = Clock()
    with pytest.raises(EngineError):
        reading(script(lost(kind)), "it", clock.sleep, first_contact=True)
    assert clock.now - 1000.0 < 2.0


def test_server_that_starts_anew_is_waited_for_even_at_the_first_contact() -> None:
    clock = Clock()
    assert reading(script(lost(), Response(503), []), "it", clock.sleep, first_contact=True) == []


def test_proxy_that_asks_for_an_hour_is_obeyed_for_half_a_minute() -> None:
    clock = Clock()
    busy = Response(429, {"retry-after": "3600"})
    reading(script(busy, Response(200)), "it", clock.sleep)
    assert clock.now - 1000.0 == 30.0


def test_metadata_of_all_kinds_is_listed_by_identity() -> None:
    world = World()
    world.run(documents(config("a")))
    tools = world.tools(Settings("kubeflow"), 0)
    resources = [row for row in BUILT_IN if row.kind in ("ConfigMap", "Namespace")]
    found = live_metadata(tools.client, [*resources, *resources], tools.pool, world.clock.sleep)
    assert Identity("", "ConfigMap", "default", "a") in found and Identity("", "Namespace", "", "default") in found
    assert tools.client.counts == {"LIST": 2}
    assert found[Identity("", "ConfigMap", "default", "a")]["uid"]


def test_everything_that_may_not_be_listed_is_told_at_once() -> None:
    class Barred(DirectClient):
        def _send(self, method: str, url: str, *more: Any) -> Response:
            plural = url.split("?")[0].rpartition("/")[2]
            text = f'User "bob" cannot list resource "{plural}" in API group "" at the cluster scope'
            return status(403, "Forbidden", text) if plural != "namespaces" else super()._send(method, url, *more)

    world = World()
    pool = world.tools(Settings("kubeflow"), 0).pool
    with pytest.raises(Forbidden) as caught:
        live_metadata(Barred(world), [row for row in BUILT_IN if row.group == ""], pool, world.clock.sleep)
    assert {failure.rbac[2] for failure in caught.value.failures if failure.rbac} >= {"secrets", "configmaps", "pods"}
    assert "secrets" in str(caught.value) and "configmaps" in str(caught.value)


def test_surroundings_are_namespaces_with_labels_and_whole_webhook_configurations() -> None:
    world = World()
    world.run(documents(*webhook("guard", ["widgets"])))
    live = {Identity("", "Namespace", "", "one"): {"labels": {"a": "b"}}, Identity("", "ConfigMap", "one", "c"): {}}
    found = surroundings(DirectClient(world), live, world.clock.sleep)
    assert found.namespace_labels == {"one": {"a": "b"}}
    (configuration,) = found.webhook_configurations
    assert (configuration["kind"], configuration["apiVersion"]) == ("MutatingWebhookConfiguration", "admissionregistration.k8s.io/v1")
