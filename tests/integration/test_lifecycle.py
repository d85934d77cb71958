# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the engine believes about Leases, ledgers, webhooks, schemas and recreation, asked of a real API server."""

from __future__ import annotations

import copy
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
from ansible_collections.kubeflow.platform.plugins.module_utils.apply import probes
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.home import ensure_home
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.lease import Lease, LeaseHeld
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.ledger import Entry, Ledger, LedgerError, LedgerStore
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.model import Decision, Item, Outcome, Part
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.readiness import Readiness, ReadinessContext, state
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.recreate import recreate
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.connection import from_params
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.discovery import Resource, resource_from_crd
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.errors import classify
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.requests import Client, Response
from ansible_collections.kubeflow.platform.plugins.module_utils.objects import schema
from ansible_collections.kubeflow.platform.plugins.module_utils.objects.identity import Identity

from tests.testbed.fixtures import Bed

pytestmark = pytest.mark.bed

PODS = Resource("", "v1", "Pod", "pods", True)
DEPLOYMENTS = Resource("apps", "v1", "Deployment", "deployments", True)
STATEFUL_SETS = Resource("apps", "v1", "StatefulSet", "statefulsets", True)
RESTRICTED = {"pod-security.kubernetes.io/enforce": "restricted"}


def eventually(condition: Callable[[], Any], seconds: float = 30) -> Any:
    """The first true value of the condition, or its last value."""
    deadline = time.monotonic() + seconds
    while True:
        value = condition()
        if value or time.monotonic() > deadline:
            return value
        time.sleep(0.2)


@pytest.fixture(scope="module")
def client(shared_bed: Bed) -> Client:
    return Client(from_params({"kubeconfig": str(shared_bed.kubeconfig)}), "kubeflow.platform tests")


@pytest.fixture
def namespace(client: Client) -> Iterator[str]:
    """A namespace of the test's own, with Pod Security "restricted" and a default ServiceAccount."""
    name = f"t-{uuid.uuid4().hex[:8]}"
    body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": {**RESTRICTED, "test": name}}}
    made = client.create("/api/v1/namespaces", body)
    assert made.ok, made.text
    assert eventually(lambda: client.get(f"/api/v1/namespaces/{name}/serviceaccounts/default").ok)
    yield name
    client.delete(f"/api/v1/namespaces/{name}", made.json()["metadata"]["uid"])


def apply(client: Client, resource: Resource, body: dict[str, Any], *, dry_run: bool = False) -> Response:
    metadata = body["metadata"]
    return client.apply(resource.path(metadata.get("namespace", ""), metadata["name"]), body, dry_run=dry_run, force=True)


# -- one run at a time


@pytest.fixture
def set_name(client: Client) -> str:
    ensure_home(client, time)
    return f"s-{uuid.uuid4().hex[:8]}"


def test_a_real_server_takes_renews_and_gives_back_a_lease(client: Client, set_name: str) -> None:
    first, second = Lease(client, time, set_name, "first"), Lease(client, time, set_name, "second")
    first.acquire(0)
    with pytest.raises(LeaseHeld, match="first"):
        second.acquire(0)
    assert first.renew()
    assert not first.lost
    assert first.release()
    second.acquire(0)
    assert second.release()


def test_a_killed_run_is_waited_out_on_a_real_server(client: Client, set_name: str) -> None:
    Lease(client, time, set_name, "killed", duration=2).acquire(0)
    started = time.monotonic()
    Lease(client, time, set_name, "next", duration=2).acquire(2)
    assert 1.9 <= time.monotonic() - started < 4


def test_a_renewed_lease_is_not_taken_by_a_run_that_waits_longer_than_its_duration(client: Client, set_name: str) -> None:
    first = Lease(client, time, set_name, "first", duration=3)
    first.acquire(0)
    first.start_renewing()
    with pytest.raises(LeaseHeld):
        Lease(client, time, set_name, "second", duration=3).acquire(5)
    assert not first.lost
    assert first.release()


def test_of_ten_runs_that_begin_together_one_gets_the_lease(client: Client, set_name: str) -> None:
    won: list[str] = []

    def begin(holder: str) -> None:
        try:
            Lease(client, time, set_name, holder).acquire(0)
        except LeaseHeld:
            return
        won.append(holder)

    threads = [threading.Thread(target=begin, args=(f"run-{number}",)) for number in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(won) == 1


# -- the ledger


def test_a_ledger_of_727_objects_survives_a_real_server_and_two_writers(client: Client, set_name: str) -> None:
    rows = {
        Identity("apps", "Deployment", "n", f"w-{number}"): Entry("katib", f"{number}" * 20, str(uuid.uuid4())) for number in range(727)
    }
    book = Ledger(set_name, run_id="1", entries=rows)
    first, second = LedgerStore(client, time, set_name), LedgerStore(client, time, set_name)
    assert first.save(book)
    assert second.load() == book
    assert not second.save(replace(book, run_id="2"))
    assert second.save(replace(book, release="26.03.1"))
    with pytest.raises(LedgerError, match="another run wrote it meanwhile"):
        first.save(replace(book, adopted=True))


# -- webhooks: our matching against the server's

RULES: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"resources": ["pods"]}, {}),
    ({"resources": ["pods/*"]}, {}),
    ({"resources": ["pods/status"]}, {}),
    ({"resources": ["*"]}, {}),
    ({"resources": ["*/*"]}, {}),
    ({"resources": ["*/scale"]}, {}),
    ({"resources": ["pods"], "scope": "Cluster"}, {}),
    ({"resources": ["pods"], "scope": "Namespaced"}, {}),
    ({"resources": ["pods"], "operations": ["UPDATE"]}, {}),
    ({"resources": ["pods"], "operations": ["*"]}, {}),
    ({"resources": ["pods"], "apiVersions": ["v2"]}, {"matchPolicy": "Exact"}),
    ({"resources": ["pods"], "apiGroups": ["apps"]}, {}),
    ({"resources": ["pods"], "apiGroups": ["*"]}, {}),
    ({"resources": ["pods"]}, {"namespaceSelector": {"matchLabels": {"absent": "x"}}}),
    ({"resources": ["pods"]}, {"namespaceSelector": {"matchExpressions": [{"key": "kubernetes.io/metadata.name", "operator": "Exists"}]}}),
    ({"resources": ["pods"]}, {"objectSelector": {"matchExpressions": [{"key": "absent", "operator": "NotIn", "values": ["x"]}]}}),
]


def test_webhooks_match_as_the_server_matches_them(client: Client, namespace: str) -> None:
    """Each case is a fail-closed webhook without backend that sees pods of one label: refused pods were matched."""
    webhooks = []
    for number, (rule, more) in enumerate(RULES):
        selector = more.get("objectSelector", {})
        webhooks.append(
            {
                "name": f"case{number}.test.example.com",
                "clientConfig": {"service": {"namespace": namespace, "name": "nobody"}},
                "rules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], **rule}],
                "sideEffects": "None",
                "admissionReviewVersions": ["v1"],
                **more,
                "objectSelector": {**selector, "matchLabels": {"case": f"{namespace}-{number}"}},
            }
        )
    name = f"match-{namespace}"
    kind = {"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration", "metadata": {"name": name}}
    collection = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
    made = client.create(collection, {**kind, "webhooks": webhooks})
    assert made.ok, made.text
    labels = client.get(f"/api/v1/namespaces/{namespace}").json()["metadata"]["labels"]

    def refused(number: int) -> bool:
        pod = probes.probe_pod(namespace, {"case": f"{namespace}-{number}"}, {}, f"case-{number}")
        answer = apply(client, PODS, pod, dry_run=True)
        return not answer.ok and classify(answer).error_class == "webhook_down"

    try:
        assert eventually(lambda: refused(0))
        expected = [
            hook.matches("", "v1", "pods", "CREATE", labels, {"case": f"{namespace}-{number}"}, True)
            for number, hook in enumerate(probes.webhooks_of(made.json()))
        ]
        assert [refused(number) for number in range(len(RULES))] == expected
    finally:
        client.delete(f"{collection}/{name}", made.json()["metadata"]["uid"])


def test_the_probe_pod_satisfies_pod_security_restricted_and_a_quota_that_demands_limits(client: Client, namespace: str) -> None:
    hard = {"requests.cpu": "1", "requests.memory": "1Gi", "limits.cpu": "1", "limits.memory": "1Gi", "pods": "1"}
    quota = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "q", "namespace": namespace}, "spec": {"hard": hard}}
    assert client.create(f"/api/v1/namespaces/{namespace}/resourcequotas", quota).ok

    def send() -> Response:
        return apply(client, PODS, probes.probe_pod(namespace, {"app": "x"}, {"a": "b"}, "probe"), dry_run=True)

    assert eventually(lambda: send().ok), send().text
    assert client.get(PODS.path(namespace, "probe")).status == 404


# -- schemas: our judgement against the server's


def thing_crd(name: str) -> dict[str, Any]:
    item = {
        "type": "object",
        "required": ["name"],
        "properties": {"name": {"type": "string"}, "protocol": {"type": "string", "default": "TCP"}, "value": {"type": "string"}},
    }
    spec: dict[str, Any] = {
        "type": "object",
        "required": ["mode"],
        "properties": {
            "mode": {"type": "string", "enum": ["Late", "Early"]},
            "size": {"type": "integer", "minimum": 1, "maximum": 9},
            "port": {"x-kubernetes-int-or-string": True},
            "text": {"type": "string", "pattern": "^[a-z]+$", "maxLength": 5},
            "maybe": {"type": "string", "nullable": True},
            "loose": {"type": "object", "x-kubernetes-preserve-unknown-fields": True, "properties": {"known": {"type": "integer"}}},
            "labels": {"type": "object", "additionalProperties": {"type": "string"}},
            "template": {"type": "object", "x-kubernetes-embedded-resource": True, "x-kubernetes-preserve-unknown-fields": True},
            "rows": {
                "type": "array",
                "items": item,
                "x-kubernetes-list-type": "map",
                "x-kubernetes-list-map-keys": ["name", "protocol"],
            },
            "words": {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set"},
            "one": {
                "type": "object",
                "properties": {"a": {"type": "string"}, "b": {"type": "string"}},
                "oneOf": [{"required": ["a"]}, {"required": ["b"]}],
            },
        },
    }
    group = f"{name}.example.com"
    root = {"type": "object", "required": ["spec"], "properties": {"spec": spec}}
    versions = [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": root}}]
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"things.{group}"},
        "spec": {"group": group, "scope": "Namespaced", "names": {"kind": "Thing", "plural": "things"}, "versions": versions},
    }


SPECS: list[dict[str, Any]] = [
    {"mode": "Late"},
    {},
    {"mode": "late"},
    {"mode": "Late", "mod": "x"},
    {"mode": "Late", "size": 0},
    {"mode": "Late", "size": 10},
    {"mode": "Late", "size": "5"},
    {"mode": "Late", "size": 5},
    {"mode": "Late", "port": "http"},
    {"mode": "Late", "port": 80},
    {"mode": "Late", "port": True},
    {"mode": "Late", "text": "abc"},
    {"mode": "Late", "text": "ABC"},
    {"mode": "Late", "text": "abcdefg"},
    {"mode": "Late", "maybe": None},
    {"mode": "Late", "loose": {"anything": {"goes": 1}}},
    {"mode": "Late", "loose": {"known": "x"}},
    {"mode": "Late", "labels": {"a": "b"}},
    {"mode": "Late", "labels": {"a": 1}},
    {"mode": "Late", "template": {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "x"}, "spec": {}}},
    {"mode": "Late", "template": {"spec": {}}},
    {"mode": "Late", "rows": [{"name": "a"}, {"name": "b"}]},
    {"mode": "Late", "rows": [{"name": "a"}, {"name": "a"}]},
    {"mode": "Late", "rows": [{"name": "a"}, {"name": "a", "protocol": "UDP"}]},
    {"mode": "Late", "rows": [{"name": "a"}, {"name": "a", "protocol": "TCP"}]},
    {"mode": "Late", "rows": [{"value": "a"}]},
    {"mode": "Late", "rows": [{"name": "a", "valeu": "x"}]},
    {"mode": "Late", "words": ["a", "b"]},
    {"mode": "Late", "words": ["a", "a"]},
    {"mode": "Late", "one": {"a": "x"}},
    {"mode": "Late", "one": {}},
    {"mode": "Late", "one": {"a": "x", "b": "x"}},
]


def test_schemas_are_judged_as_the_server_judges_them(client: Client, namespace: str) -> None:
    crd = thing_crd(namespace)
    made = client.create("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", crd)
    assert made.ok, made.text
    resource = resource_from_crd(crd, "v1")
    try:
        assert eventually(lambda: client.get(resource.collection(namespace)).ok)
        differing = []
        for number, spec in enumerate(SPECS):
            body = {
                "apiVersion": f"{namespace}.example.com/v1",
                "kind": "Thing",
                "metadata": {"name": f"x{number}", "namespace": namespace},
                "spec": copy.deepcopy(spec),
            }
            answer = apply(client, resource, body, dry_run=True)
            found = schema.problems(body, crd, "v1")
            if answer.ok == bool(found):
                differing.append((spec, answer.text[:300], found))
        assert differing == []
        made_up = schema.minimal(crd, "v1", namespace, "probe")
        assert made_up is not None
        assert apply(client, resource, made_up, dry_run=True).ok
    finally:
        client.delete(
            f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/things.{namespace}.example.com", made.json()["metadata"]["uid"]
        )


# -- recreation and readiness


def workload(namespace: str, kind: str, selector: dict[str, str], **spec: Any) -> dict[str, Any]:
    pod = probes.probe_pod(namespace, {"app": "x", "tier": "y"}, {}, "x")
    pod["spec"].pop("restartPolicy")
    return {
        "apiVersion": "apps/v1",
        "kind": kind,
        "metadata": {"name": "x", "namespace": namespace},
        "spec": {
            "selector": {"matchLabels": selector},
            "template": {"metadata": {"labels": pod["metadata"]["labels"]}, "spec": pod["spec"]},
            **spec,
        },
    }


def judge(client: Client, path: str) -> Readiness:
    now = time.time()
    return state(client.get(path).json(), now=now, since=now, context=ReadinessContext())


def pod_uids(client: Client, namespace: str) -> set[str]:
    return {metadata["uid"] for metadata in client.list_metadata(PODS.collection(namespace)) if not metadata.get("deletionTimestamp")}


def replaced(client: Client, resource: Resource, body: dict[str, Any]) -> Outcome:
    namespace = body["metadata"]["namespace"]
    path = resource.path(namespace, "x")
    identity = Identity(resource.group, resource.kind, namespace, "x")
    item = Item(0, identity, "v1", body, "hash", Part("p", "c", None, ()), resource)
    decision = Decision("recreate", body, client.get(path).json())
    return recreate(client, time.monotonic, time.sleep, item, decision, None)


def test_a_deployment_with_another_selector_is_recreated_and_its_old_pods_are_gone(client: Client, namespace: str) -> None:
    path = DEPLOYMENTS.path(namespace, "x")
    assert apply(client, DEPLOYMENTS, workload(namespace, "Deployment", {"app": "x"})).ok
    assert eventually(lambda: judge(client, path).status == "ready"), judge(client, path)
    old = pod_uids(client, namespace)
    wanted = workload(namespace, "Deployment", {"app": "x", "tier": "y"})
    assert apply(client, DEPLOYMENTS, wanted).status == 422
    outcome = replaced(client, DEPLOYMENTS, wanted)
    assert outcome.failure is None, outcome.failure
    assert not old & pod_uids(client, namespace)
    assert eventually(lambda: judge(client, path).status == "ready"), judge(client, path)


def test_a_stateful_set_of_the_same_selector_is_recreated_around_its_running_pods(client: Client, namespace: str) -> None:
    path = STATEFUL_SETS.path(namespace, "x")
    assert apply(client, STATEFUL_SETS, workload(namespace, "StatefulSet", {"app": "x"}, serviceName="one")).ok
    assert eventually(lambda: judge(client, path).status == "ready"), judge(client, path)
    old = pod_uids(client, namespace)
    wanted = workload(namespace, "StatefulSet", {"app": "x"}, serviceName="two")
    assert apply(client, STATEFUL_SETS, wanted).status == 422
    outcome = replaced(client, STATEFUL_SETS, wanted)
    assert outcome.failure is None, outcome.failure
    assert eventually(lambda: judge(client, path).status == "ready"), judge(client, path)
    assert pod_uids(client, namespace) == old


def test_an_object_whose_successor_the_server_refuses_is_put_back(client: Client, namespace: str) -> None:
    path = DEPLOYMENTS.path(namespace, "x")
    assert apply(client, DEPLOYMENTS, workload(namespace, "Deployment", {"app": "x"}, replicas=0)).ok
    outcome = replaced(client, DEPLOYMENTS, workload(namespace, "Deployment", {"app": "no such label"}, replicas=0))
    assert outcome.failure is not None
    assert "the old object was put back" in outcome.failure.message
    assert client.get(path).json()["spec"]["selector"]["matchLabels"] == {"app": "x"}


def test_a_deployment_whose_pods_a_webhook_or_a_quota_refuses_says_so_at_once(client: Client, namespace: str) -> None:
    quota = {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": "q", "namespace": namespace},
        "spec": {"hard": {"pods": "0"}},
    }
    assert client.create(f"/api/v1/namespaces/{namespace}/resourcequotas", quota).ok
    assert apply(client, DEPLOYMENTS, workload(namespace, "Deployment", {"app": "x"})).ok
    path = DEPLOYMENTS.path(namespace, "x")
    assert eventually(lambda: judge(client, path).status == "failed"), judge(client, path)
    assert "exceeded quota: q" in judge(client, path).reason


def test_a_real_claim_is_ready_while_its_class_waits_for_a_consumer(client: Client, namespace: str) -> None:
    classes = {row["metadata"]["name"]: row["volumeBindingMode"] for row in client.list_objects("/apis/storage.k8s.io/v1/storageclasses")}
    name = next(name for name, mode in classes.items() if mode == "WaitForFirstConsumer")
    spec = {"storageClassName": name, "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    claim = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "c", "namespace": namespace}, "spec": spec}
    made = client.create(f"/api/v1/namespaces/{namespace}/persistentvolumeclaims", claim)
    context = ReadinessContext(binding_modes=classes)
    assert state(made.json(), now=0, since=0, context=context).status == "ready"
