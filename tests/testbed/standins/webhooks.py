# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Webhooks: answers admission and conversion reviews on the ClusterIP of each webhook's Service."""

from __future__ import annotations

import json
import threading
import time
from typing import Any

from .api import Object, Watch
from .faults import State
from .listener import Listener, Reply, Request
from .world import Duty

Address = tuple[str, int]
Reference = tuple[str, str, int]


class Webhooks(Duty):
    """Opens a listener while the Service has a ready endpoint, closes it otherwise."""

    duty = "webhooks"

    def __init__(self, world: Any) -> None:
        super().__init__(world)
        self._listeners: dict[Address, tuple[str, Listener]] = {}
        self._states: dict[Address, State] = {}
        self._conversions: dict[str, tuple[str, Reference | None]] = {}

    def watches(self) -> list[Watch]:
        """Services, their endpoints, and what refers to them."""
        world = self.world
        return [world.services, world.slices, world.mutating, world.validating, world.crds]

    def reconcile(self) -> None:
        """Brings the listeners in line with Services, endpoints and faults."""
        wanted: dict[Address, tuple[str, Reference, State]] = {}
        for namespace, name, port in self._references():
            service = self.world.services.find(namespace, name)
            if service is None:
                continue
            spec, uid = service["spec"], service["metadata"]["uid"]
            ready = self.world.endpoints_ready(namespace, name) and any(p["port"] == port for p in spec.get("ports") or [])
            state = self.state(f"{namespace}/{name}/{uid}", ready, f"{namespace}/{name}", f"webhooks:{namespace}/{name}")
            if state.mode != "down" and spec.get("clusterIP", "None") != "None":
                certificate = "wrong" if state.mode == "wrong-ca" else "right"
                wanted[spec["clusterIP"], port] = (certificate, (namespace, name, port), state)
        for address in [a for a, (certificate, dummy) in self._listeners.items() if a not in wanted or wanted[a][0] != certificate]:
            self._listeners.pop(address)[1].close()
            self._states.pop(address, None)
        for address, (certificate, reference, state) in wanted.items():
            self._states[address] = state
            if address not in self._listeners:
                self._open(address, certificate, reference)

    def _open(self, address: Address, certificate: str, reference: Reference) -> None:
        authority = self.world.wrong_authority if certificate == "wrong" else self.world.authority
        file = authority.serving_file(reference[1], reference[0])
        listener = Listener(address, file, lambda request, closed: self._answer(address, request, closed))
        listener.open()
        self._listeners[address] = (certificate, listener)
        self.tell(f"{reference[0]}/{reference[1]} answers on {address[0]}:{address[1]}")

    def _references(self) -> set[Reference]:
        """The Services that webhook configurations and CRDs name."""
        found: set[Reference] = set()
        for configuration in self.world.mutating.all() + self.world.validating.all():
            for webhook in configuration.get("webhooks") or []:
                found |= _reference(webhook["clientConfig"])
        names = set()
        for item in self.world.crds.all():
            name, version = item["metadata"]["name"], str(item["metadata"].get("generation"))
            names.add(name)
            if self._conversions.get(name, ("", None))[0] != version:
                self._conversions[name] = (version, self._conversion(name))
        for name in self._conversions.keys() - names:
            del self._conversions[name]
        return found | {reference for dummy, reference in self._conversions.values() if reference}

    def _conversion(self, name: str) -> Reference | None:
        if name.split(".", 1)[1] in NO_CONVERSION:
            return None
        crd = self.api.get(f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{name}")
        webhook = ((crd or {}).get("spec", {}).get("conversion") or {}).get("webhook") or {}
        return next(iter(_reference(webhook.get("clientConfig") or {})), None)

    def _answer(self, address: Address, request: Request, closed: threading.Event) -> Reply | None:
        asked = time.monotonic()
        while (state := self._states.get(address, State("down"))).mode == "hang":
            if closed.wait(0.1) or (state.seconds and time.monotonic() - asked >= state.seconds):
                break
        if state.mode == "down":
            return None
        if state.mode == "error":
            return Reply(500, b"the test bed wants an error", "text/plain")
        review = json.loads(request.body)
        answer = {"uid": review["request"]["uid"]} | _verdict(review, denied=state.mode == "deny")
        return Reply(body=json.dumps({"apiVersion": review["apiVersion"], "kind": review["kind"], "response": answer}).encode())


# groups whose CRDs are known to convert without a webhook; each saves reading CRDs of up to 700 kB
NO_CONVERSION = frozenset({"networking.istio.io", "argoproj.io", "cert-manager.io", "acme.cert-manager.io", "trainer.kubeflow.org"})


def _reference(client_config: Object) -> set[Reference]:
    service = client_config.get("service")
    return {(service["namespace"], service["name"], int(service.get("port") or 443))} if service else set()


def _verdict(review: Object, *, denied: bool) -> Object:
    if review["kind"] == "ConversionReview":
        version = review["request"]["desiredAPIVersion"]
        if denied:
            return {"convertedObjects": [], "result": {"status": "Failed", "message": "denied by the test bed"}}
        converted = [item | {"apiVersion": version} for item in review["request"]["objects"]]
        return {"convertedObjects": converted, "result": {"status": "Success"}}
    if denied:
        return {"allowed": False, "status": {"code": 403, "reason": "Forbidden", "message": "denied by the test bed"}}
    return {"allowed": True}
