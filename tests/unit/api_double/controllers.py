# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Controllers that act on what is written, some time later."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ansible_collections.kubeflow.platform.tests.unit.api_double.kinds import RBAC, Key
from ansible_collections.kubeflow.platform.tests.unit.api_double.server import Server

Obj = dict[str, Any]
RULE = {"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}


@dataclass
class Controllers:
    """Plays kube-controller-manager, cainjector, the profile controller and an operator that keys a Secret.

    ``pause`` is how many seconds they take; ``at`` runs a function after so many seconds. ``never`` names Deployments that
    do not become ready. ``fewest_rules`` is the least number of rules that a filled aggregated role had afterwards.
    """

    server: Server
    at: Callable[[float, Callable[[], object]], None]
    pause: float = 1.0
    never: set[str] = field(default_factory=set)
    fewest_rules: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.server.on_write.append(self.seen)

    def seen(self, by: str, key: Key, obj: Obj | None) -> None:
        """Somebody wrote an object: act on it later."""
        if obj is None:
            return
        if key.plural == "clusterroles" and key.name in self.fewest_rules:
            self.fewest_rules[key.name] = min(self.fewest_rules[key.name], len(obj.get("rules") or []))
        act = {
            "deployments": self._roll,
            "clusterroles": self._aggregate,
            "mutatingwebhookconfigurations": self._inject,
            "validatingwebhookconfigurations": self._inject,
            "profiles": self._house,
            "secrets": self._fill,
        }.get(key.plural)
        if act is not None:
            self.at(self.pause, lambda: key in self.server.objects and act(key))

    def _change(self, by: str, key: Key, change: Callable[[Obj], None], subresource: str = "") -> None:
        after = copy.deepcopy(self.server.objects[key])
        change(after)
        self.server.update(by, key, after, subresource)

    def _roll(self, key: Key) -> None:
        wanted = self.server.objects[key]["spec"].get("replicas", 1)
        ready = 0 if key.name in self.never else wanted
        generation = self.server.objects[key]["metadata"]["generation"]

        def change(obj: Obj) -> None:
            obj["status"] = {"observedGeneration": generation, "replicas": wanted, "updatedReplicas": wanted}
            obj["status"].update({"availableReplicas": ready, "readyReplicas": ready} if ready else {})

        self._change("kube-controller-manager", key, change, "status")

    def _aggregate(self, key: Key) -> None:
        if self.server.objects[key].get("aggregationRule"):
            self._change("clusterrole-aggregation-controller", key, lambda obj: obj.update(rules=[RULE]))
            self.fewest_rules.setdefault(key.name, 1)

    def _inject(self, key: Key) -> None:
        def change(obj: Obj) -> None:
            for row in obj["webhooks"]:
                row["clientConfig"].setdefault("caBundle", "Y2E=")

        self._change("cainjector", key, change)

    def _house(self, key: Key) -> None:
        namespace = Key("", "namespaces", "", key.name)
        if namespace not in self.server.objects:
            body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": key.name, "labels": {"profile": "true"}}}
            self.server.write("manager", namespace, body)
            binding = {"apiVersion": f"{RBAC}/v1", "kind": "RoleBinding", "metadata": {"name": "namespaceAdmin", "namespace": key.name}}
            self.server.write("manager", Key(RBAC, "rolebindings", key.name, "namespaceAdmin"), binding)

    def _fill(self, key: Key) -> None:
        if (self.server.objects[key]["metadata"].get("annotations") or {}).get("keyed") == "true":
            self._change("manager", key, lambda obj: obj.setdefault("data", {}).setdefault("tls.key", "a2V5"))
