# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Why a webhook does not answer is told from its configuration, Service, endpoints and CA."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from ansible_collections.kubeflow.platform.plugins.module_utils.apply import probes
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.explain import explain
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.requests import Response, Unreachable
from ansible_collections.kubeflow.platform.tests.unit.api_double.kinds import ADMISSION, Key
from ansible_collections.kubeflow.platform.tests.unit.api_double.objects import crd, thing, webhook
from ansible_collections.kubeflow.platform.tests.unit.api_double.world import DirectClient, World

CONFIGURATION, SERVICE, _WORKLOAD = webhook("guard", ["widgets"])
(HOOK,) = probes.webhooks_of(CONFIGURATION)


class Flaky(DirectClient):
    """A client whose requests for some paths get a scripted end."""

    def __init__(self, world: World, ends: Mapping[str, Response | Unreachable]) -> None:
        super().__init__(world)
        self._ends = ends

    def _send(self, method: str, url: str, payload: bytes | None, extra: Mapping[str, str], timeout: float) -> Response:
        for part, end in self._ends.items():
            if part in url:
                if isinstance(end, Unreachable):
                    raise end
                return end
        return super()._send(method, url, payload, extra, timeout)


def cluster(*, bundle: str = "", service: bool = True, ready: tuple[bool, ...] = ()) -> World:
    world = World(pause=1e9)
    config = {**CONFIGURATION, "webhooks": [{**CONFIGURATION["webhooks"][0], "clientConfig": {"caBundle": bundle}}]}
    world.server.write("x", Key(ADMISSION, "mutatingwebhookconfigurations", "", "guard"), config)
    if service:
        world.server.write("x", Key("", "services", "default", "guard"), SERVICE)
    for index, state in enumerate(ready):
        piece = thing("EndpointSlice", f"guard-{index}", "default", "discovery.k8s.io/v1", endpoints=[{"conditions": {"ready": state}}])
        piece["metadata"]["labels"] = {"kubernetes.io/service-name": "guard"}
        world.server.write("x", Key("discovery.k8s.io", "endpointslices", "default", f"guard-{index}"), piece)
    return world


@pytest.mark.parametrize(
    ("world", "words"),
    [
        (cluster(), "caBundle is empty; Service default/guard has 0 of 0 endpoints ready"),
        (cluster(bundle="Y2E=", ready=(True, False)), "caBundle is set; Service default/guard has 1 of 2 endpoints ready"),
        (cluster(service=False), "caBundle is empty; Service default/guard does not exist"),
        (World(), "the configuration is not live; Service default/guard does not exist"),
    ],
)
def test_state_of_everything_between_server_and_webhook_is_told(world: World, words: str) -> None:
    told = explain(DirectClient(world), HOOK, "connection refused", ["Widget a", "Widget b"])
    assert told == (
        f"Webhook guard.example.com of MutatingWebhookConfiguration guard does not answer: connection refused ({words})."
        " Waiting behind it: Widget a, Widget b."
    )


def test_first_few_parked_objects_are_named_when_many_wait() -> None:
    told = explain(DirectClient(World()), HOOK, "", [f"W{index}" for index in range(8)])
    assert told.endswith("Waiting behind it: W0, W1, W2, W3, W4 and 3 more.")


def test_webhook_that_is_gone_from_its_configuration_is_told() -> None:
    world = cluster()
    world.server.objects[Key(ADMISSION, "mutatingwebhookconfigurations", "", "guard")]["webhooks"] = None
    assert "the live configuration has no such webhook" in explain(DirectClient(world), HOOK, "", [])


def test_conversion_webhook_is_named_as_one() -> None:
    definition = crd("Widget")
    client = {"service": {"namespace": "default", "name": "guard"}}
    definition["spec"]["conversion"] = {"strategy": "Webhook", "webhook": {"clientConfig": client}}
    (hook,) = probes.webhooks_of(definition)
    assert "a conversion webhook; Service default/guard does not exist" in explain(DirectClient(World()), hook, "", [])


@pytest.mark.parametrize("end", [Response(503), Response(403), Unreachable("connection reset", "reset"), Response(200, {}, b"<html>")])
@pytest.mark.parametrize("part", ["webhookconfigurations", "services", "endpointslices"])
def test_explanation_never_ends_the_run_when_the_cluster_cannot_be_asked(part: str, end: Response | Unreachable) -> None:
    assert "does not answer: refused" in explain(Flaky(cluster(), {part: end}), HOOK, "refused", [])
