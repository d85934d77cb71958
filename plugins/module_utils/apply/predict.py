# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What would happen to objects that are not live yet? Asked of the server where it can answer, and of the CRD's schema where not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ansible_collections.kubeflow.platform.plugins.module_utils.apply.compare import refused
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.model import Decision, Item
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.errors import Failure, classify
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.requests import Client
from ansible_collections.kubeflow.platform.plugins.module_utils.objects import schema

# Exists on every cluster (kube-apiserver makes it) and holds no Pod Security level or quota by default.
STAND_IN_NAMESPACE = "default"
# The stand-in namespace may be stricter or laxer than the real one will be: these refusals are not the object's fault.
OF_THE_NAMESPACE = frozenset({"quota", "policy"})


@dataclass(frozen=True, slots=True)
class Predictor:
    """Predicts creations. ``crds`` are the set's CRDs by group and kind; ``served`` and ``namespaces`` describe the cluster as it is."""

    client: Client
    crds: Mapping[tuple[str, str], Item]
    served: frozenset[int]
    namespaces: frozenset[str]

    def predict(self, item: Item) -> Decision:
        """The action for an absent object: create, invalid, or blocked where the server did not say. Raises Unreachable."""
        if item.index not in self.served:
            return self._by_schema(item)
        body, path, moved = item.desired, item.path, False
        namespace = item.identity.namespace
        if namespace and namespace not in self.namespaces:
            moved = True
            body = {**body, "metadata": {**body["metadata"], "namespace": STAND_IN_NAMESPACE}}
            path = item.resource.path(STAND_IN_NAMESPACE, item.identity.name)
        answer = self.client.apply(path, body, dry_run=True, force=True)
        if answer.ok:
            return Decision("create", item.desired, predicted=moved, warnings=tuple(answer.warnings))
        failure = classify(answer, resource=item.resource, identity=item.identity)
        if moved and failure.error_class in OF_THE_NAMESPACE:
            return Decision("create", item.desired, predicted=True, reason=failure.message)
        return refused(item, item.desired, None, failure)

    def _by_schema(self, item: Item) -> Decision:
        problems = schema_problems(item, self.crds)
        if problems:
            return Decision("invalid", item.desired, failure=schema_failure(item, problems))
        return Decision("create", item.desired, predicted=True)


def schema_problems(item: Item, crds: Mapping[tuple[str, str], Item]) -> list[str]:
    """What the set's own CRD finds wrong with a custom resource; nothing for kinds that the set does not define."""
    crd = crds.get(item.group_kind)
    return schema.problems(item.desired, crd.desired, item.version) if crd is not None else []


def schema_failure(item: Item, problems: list[str]) -> Failure:
    """The failure of an object that its CRD's schema refuses, in the words that the server would use."""
    return Failure(
        "schema",
        f"Failed to apply {item.identity}: {'; '.join(problems)}",
        "Correct the field, or apply it with the release whose CustomResourceDefinition has it.",
        field=problems[0].split(":")[0],
    )
