# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Does every webhook answer? A dry run of something that it must see says so, and nothing else does."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from tests.bench.cluster import Cluster, Object, Resource
from tests.bench.samples import pod, sample

_ADMISSION = "/apis/admissionregistration.k8s.io/v1/"
_FAILED = re.compile(r"failed calling webhook|failed to call webhook")
Server = tuple[str, str, int]


@dataclass(frozen=True)
class Webhook:
    """One webhook of one configuration."""

    kind: str
    configuration: str
    name: str
    definition: Object

    def __str__(self) -> str:
        return f"{self.kind} {self.configuration}: {self.name}"

    @property
    def server(self) -> Server:
        """Namespace, Service and port."""
        service = self.definition["clientConfig"].get("service") or {}
        return service.get("namespace", ""), service.get("name", ""), service.get("port", 443)


class Probes:
    """Asks every webhook of the cluster once."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self._namespaces = {item["metadata"]["name"]: item["metadata"].get("labels") or {} for item in cluster.items("/api/v1/namespaces")}

    def run(self) -> tuple[list[str], list[str]]:
        """Webhooks that do not answer, and those that no request of ours reached although their server has answered another."""
        silent, open_questions, answered = [], [], set()
        for webhook in self._webhooks():
            if not webhook.definition.get("rules"):
                continue
            answer = self._ask(webhook)
            if answer is True:
                answered.add(webhook.server)
            elif answer is None:
                open_questions.append(webhook)
            else:
                silent.append(f"{webhook} does not answer: {answer}")
        for webhook in open_questions:
            if webhook.server not in answered:
                silent.append(f"{webhook} was not reached, and no other webhook of its server answered")
        return silent, [str(webhook) for webhook in open_questions]

    def _webhooks(self) -> Iterator[Webhook]:
        for kind in ("mutating", "validating"):
            for item in self.cluster.items(f"{_ADMISSION}{kind}webhookconfigurations"):
                for definition in item.get("webhooks") or []:
                    yield Webhook(kind, item["metadata"]["name"], definition["name"], definition)

    def _ask(self, webhook: Webhook) -> bool | str | None:
        """True if it answers, the reason if it does not, None if our requests do not get as far."""
        for rule in webhook.definition["rules"]:
            creates = bool({"CREATE", "*"} & set(rule["operations"]))
            for resource in self._resources(rule):
                for namespace in self._places(webhook, resource):
                    answer = self._create(webhook, resource, namespace) if creates else None
                    answer = self._touch(resource) if answer is None else answer
                    if answer is not None:
                        return answer
        return None

    def _resources(self, rule: Object) -> list[Resource]:
        plurals = [name.partition("/")[0] for name in rule["resources"] if "/" not in name or name.endswith("/*")]
        groups, versions = rule["apiGroups"], rule["apiVersions"]
        served = self.cluster.resources
        return [r for r in served if _fits(r.group, groups) and _fits(r.version, versions) and _fits(r.plural, plurals)][:3]

    def _places(self, webhook: Webhook, resource: Resource) -> list[str]:
        if not resource.namespaced:
            return [""]
        selector = webhook.definition.get("namespaceSelector") or {}
        return [name for name, labels in self._namespaces.items() if _selects(selector, labels) and not name.startswith("kube-")][:2]

    def _create(self, webhook: Webhook, resource: Resource, namespace: str) -> bool | str | None:
        labels = _labels(webhook.definition.get("objectSelector") or {})
        thing = pod() if resource.plural == "pods" else sample(self.cluster, resource)
        if thing is None:
            return None
        thing["metadata"] = {"name": "bench-probe", "labels": labels}
        status, answer = self.cluster.request("POST", resource.path(namespace) + "?dryRun=All", thing)
        return _judge(status, answer, seen_before_validation=webhook.kind == "mutating")

    def _touch(self, resource: Resource) -> bool | str | None:
        existing = self.cluster.items(resource.path() + "?limit=1", metadata=True)
        if not existing:
            return None
        metadata = existing[0]["metadata"]
        patch = {"metadata": {"annotations": {"bench.example.com/probe": "x"}}}
        path = resource.path(metadata.get("namespace", ""), metadata["name"]) + "?dryRun=All"
        return _judge(*self.cluster.request("PATCH", path, patch, sent="application/merge-patch+json"), seen_before_validation=True)


def _judge(status: int, answer: Object, *, seen_before_validation: bool) -> bool | str | None:
    text = str(answer.get("message", ""))
    if _FAILED.search(text):
        return text[:300]
    if status < 300 or "denied the request" in text:
        return True
    if status == 422:
        return True if seen_before_validation else None
    if status in (400, 403, 404, 405):
        return None
    return text[:300] or f"status {status}"


def _selects(selector: Object, labels: Object) -> bool:
    if any(labels.get(key) != value for key, value in (selector.get("matchLabels") or {}).items()):
        return False
    for entry in selector.get("matchExpressions") or []:
        value, values = labels.get(entry["key"]), entry.get("values") or []
        holds = {"In": value in values, "NotIn": value not in values, "Exists": value is not None, "DoesNotExist": value is None}
        if not holds[entry["operator"]]:
            return False
    return True


def _labels(selector: Object) -> dict[str, str]:
    """Labels that the selector selects."""
    labels = dict(selector.get("matchLabels") or {})
    for entry in selector.get("matchExpressions") or []:
        if entry["operator"] in ("In", "Exists"):
            labels[entry["key"]] = (entry.get("values") or ["x"])[0]
    return labels


def _fits(value: str, wanted: list[str]) -> bool:
    return "*" in wanted or value in wanted
