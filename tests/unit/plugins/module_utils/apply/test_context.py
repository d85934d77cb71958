# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What readiness depends on is read only where it is needed, and unknown where it may not be read."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.context import gather
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.errors import Refused
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.requests import Response
from ansible_collections.kubeflow.platform.tests.unit.api_double.kinds import Key
from ansible_collections.kubeflow.platform.tests.unit.api_double.objects import config, crd, custom, deployment, documents, items, thing
from ansible_collections.kubeflow.platform.tests.unit.api_double.world import DirectClient, World
from ansible_collections.kubeflow.platform.tests.unit.doubles import status

CLAIM = thing("PersistentVolumeClaim", "data", "default", spec={})
PROFILE = [crd("Profile", namespaced=False, group="kubeflow.org"), custom("Profile", "team", group="kubeflow.org")]


class Barred(DirectClient):
    """A client that may not list one kind, or gets another answer for it."""

    def __init__(self, world: World, plural: str, answer: Response | None = None) -> None:
        super().__init__(world)
        self._plural = plural
        text = f'User "bob" cannot list resource "{plural}" in API group "x.io" at the cluster scope'
        self._answer = answer or status(403, "Forbidden", text)

    def _send(self, method: str, url: str, payload: bytes | None, extra: Mapping[str, str], timeout: float) -> Response:
        if url.split("?")[0].endswith(f"/{self._plural}"):
            return self._answer
        return super()._send(method, url, payload, extra, timeout)


def stored(world: World, name: str, mode: str, **annotations: str) -> None:
    row = thing("StorageClass", name, api="storage.k8s.io/v1", volumeBindingMode=mode)
    row["metadata"]["annotations"] = annotations
    world.server.write("x", Key("storage.k8s.io", "storageclasses", "", name), row)


def test_nothing_is_read_when_nothing_depends_on_it() -> None:
    client = DirectClient(World())
    found = gather(client, items(config("c"), deployment("d")), with_pods=False)
    assert (client.counts, found.binding_modes, found.owner_bindings, found.pods) == ({}, None, None, {})


def test_claims_are_judged_by_classes_and_by_the_pods_that_mount_them() -> None:
    world = World()
    stored(world, "slow", "WaitForFirstConsumer")
    stored(world, "fast", "Immediate", **{"storageclass.kubernetes.io/is-default-class": "true"})
    volume = {"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}, {"name": "w", "emptyDir": {}}]}
    world.server.write("x", Key("", "pods", "default", "p"), thing("Pod", "p", "default", spec=volume))
    found = gather(DirectClient(world), items(CLAIM), with_pods=False)
    assert found.binding_modes == {"slow": "WaitForFirstConsumer", "fast": "Immediate"}
    assert (found.default_class, found.claims_in_use) == ("fast", {("default", "data")})


def test_pods_are_read_for_late_workloads_only_when_asked_for() -> None:
    world = World()
    world.server.write("x", Key("", "pods", "default", "p"), thing("Pod", "p", "default", spec={}))
    found = gather(DirectClient(world), items(deployment("d")), with_pods=True)
    assert [pod["metadata"]["name"] for pod in found.pods["default"]] == ["p"]


def test_profiles_are_judged_by_their_namespace_and_owner_binding() -> None:
    world = World()
    world.run(documents(*PROFILE))
    found = gather(DirectClient(world), items(*PROFILE)[1:], with_pods=False)
    assert "team" in (found.namespaces or ()) and found.owner_bindings == {"team"}


def test_owner_bindings_and_storage_classes_are_unknown_when_they_may_not_be_read() -> None:
    assert gather(Barred(World(), "rolebindings"), items(*PROFILE)[1:], with_pods=False).owner_bindings is None
    assert gather(Barred(World(), "storageclasses"), items(CLAIM), with_pods=False).binding_modes is None


def test_passing_fault_is_raised_so_that_it_is_looked_again() -> None:
    with pytest.raises(Refused):
        gather(Barred(World(), "rolebindings", Response(503)), items(*PROFILE)[1:], with_pods=False)
