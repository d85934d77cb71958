# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Everything at once: others edit and delete while runs meet faults, refusals and kills; once it is calm, all is as it should be."""

from __future__ import annotations

import copy
import random
from typing import Any

from ansible_collections.kubeflow.platform.plugins.module_utils.apply.inputs import Document
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.model import WRITES, EngineError
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.errors import ClusterError
from ansible_collections.kubeflow.platform.tests.unit.api_double.kinds import Key
from ansible_collections.kubeflow.platform.tests.unit.api_double.objects import REFUSALS, sets
from ansible_collections.kubeflow.platform.tests.unit.api_double.storage import HOME
from ansible_collections.kubeflow.platform.tests.unit.api_double.world import STRANGE, Killed, World
from hypothesis import given, settings
from hypothesis import strategies as st

few = settings(max_examples=settings.default.max_examples // 2)
FATAL = frozenset({"schema", "invalid", "policy", "quota", "rbac", "conflict_owner"})
FAULTS = ["429", "503", "reset", "lost", "kill", "kill-after", *sorted(STRANGE)]
EDITORS = ["kubectl-edit", "helm", "mystery", "manager", "kube-controller-manager"]
# Deleting one of the first two takes others with it on a real server; the last are a controller's, which would make them again.
LEFT_ALONE = frozenset({"namespaces", "customresourcedefinitions", "rolebindings"})


class Meddler:
    """Somebody who edits, labels and deletes objects of others at random moments."""

    def __init__(self, world: World, chance: random.Random) -> None:
        self._world = world
        self._chance = chance
        self.busy = True
        world.clock.at(chance.uniform(0.0, 2.0), self.act)

    def act(self) -> None:
        if not self.busy:
            return
        keys = [key for key in self._world.server.objects if key.plural not in LEFT_ALONE and HOME not in (key.namespace, key.name)]
        if keys:
            self._touch(self._chance.choice(sorted(keys)))
        self._world.clock.at(self._chance.uniform(0.05, 3.0), self.act)

    def _touch(self, key: Key) -> None:
        server, how = self._world.server, self._chance.choice(["label", "data", "spec", "delete"])
        if how == "delete":
            server.remove("somebody", key)
            return
        after: dict[str, Any] = copy.deepcopy(server.objects[key])
        if how == "label":
            after["metadata"].setdefault("labels", {})[self._chance.choice(["x", "y"])] = self._chance.choice(["1", "2"])
        elif how == "data" and key.plural == "configmaps":
            after.setdefault("data", {})[self._chance.choice(["a", "z"])] = self._chance.choice(["b", "c"])
        elif how == "spec" and key.plural == "deployments":
            after["spec"]["replicas"] = self._chance.randint(1, 5)
        server.update(self._chance.choice(EDITORS), key, after)


@few
@given(
    st.lists(sets(refusals=REFUSALS), min_size=1, max_size=3),
    st.integers(0, 10_000),
    st.dictionaries(st.integers(0, 250), st.sampled_from(FAULTS), max_size=6),
)
def test_cluster_is_as_desired_once_it_is_calm_when_everything_went_wrong_before(
    releases: list[list[Document]], seed: int, faults: dict[int, str]
) -> None:
    world = World(delay=1.0)
    world.faults = dict(faults)
    meddler = Meddler(world, random.Random(seed))
    options: dict[str, Any] = {"adopt": "allow", "prune": "delete", "removed": ("infra",), "no_progress_timeout": 60.0}
    for number, rows in enumerate(releases):
        try:
            world.run(rows, seed=seed + number, **options)
        except (EngineError, ClusterError) as error:
            assert str(error)
        except Killed:
            world.revive()
    meddler.busy = False
    world.faults = {}
    world.clock.sleep(60.0)
    calm = world.run(releases[-1], seed=seed, **options)
    assert {row.failure.error_class for row in calm.failures if row.failure is not None} <= FATAL
    world.clock.sleep(60.0)
    before = world.arrived
    again = world.run(releases[-1], seed=seed, **options)
    assert (again.changed, world.writes(before)) == (False, [])
    failed = {row.identity for row in again.failures}
    assert failed == {row.identity for row in calm.failures}
    live = {(key.group, obj["kind"], key.namespace, key.name) for key, obj in world.server.objects.items()}
    assert {tuple(row.identity) for row in again.rows if row.identity not in failed and row.action not in WRITES} <= live
    assert world.ledger_missed == []
