# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a real API server says, and what ``errors.classify`` makes of it: the table that the engine's retries stand on."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.connection import from_params
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.discovery import Discovery
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.errors import Failure, classify
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.requests import Client, Response
from ansible_collections.kubeflow.platform.plugins.module_utils.objects.identity import identify, split_api_version

from tests.testbed.fixtures import Bed

pytestmark = pytest.mark.bed
Object = dict[str, Any]
RBAC = "rbac.authorization.k8s.io/v1"
ADMISSION = "admissionregistration.k8s.io/v1"


def obj(api_version: str, kind: str, name: str, /, namespace: str | None = None, **body: Any) -> Object:
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": name, **({"namespace": namespace} if namespace else {})}, **body}


def config_map(name: str, namespace: str, /, **metadata: Any) -> Object:
    one = obj("v1", "ConfigMap", name, namespace, data={"x": "y"})
    one["metadata"].update(metadata)
    return one


def deployment(name: str, namespace: str, label: str = "x", selector: str = "x", **container: Any) -> Object:
    containers = [{"name": "m", "image": "example.invalid/i", **container}]
    template = {"metadata": {"labels": {"a": label}}, "spec": {"containers": containers}}
    return obj(
        "apps/v1", "Deployment", name, namespace, spec={"replicas": 0, "selector": {"matchLabels": {"a": selector}}, "template": template}
    )


def thing_crd(**spec: Any) -> Object:
    string = {"type": "string", "x-kubernetes-validations": [{"rule": "self == oldSelf", "message": "a stays"}]}
    properties = {"spec": {"type": "object", "properties": {"a": string, "n": {"type": "integer", "maximum": 5}}}}
    versions = [
        {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {"type": "object", "properties": properties}}}
    ]
    names = {"plural": "things", "kind": "Thing"}
    base = {"group": "table.example.org", "scope": "Namespaced", "names": names, "versions": versions}
    return obj("apiextensions.k8s.io/v1", "CustomResourceDefinition", "things.table.example.org", spec={**base, **spec})


class Server:
    """A real API server and a namespace in it."""

    def __init__(self, bed: Bed, namespace: str) -> None:
        self.params = {"kubeconfig": str(bed.kubeconfig)}
        self.client = Client(from_params(self.params), "kubeflow.platform/test", 4)
        self.discovery = Discovery(self.client)
        self.namespace = namespace
        self.make(obj("v1", "Namespace", namespace))

    def path(self, one: Object) -> str:
        group, version = split_api_version(one["apiVersion"])
        self.discovery.refresh()
        resource = self.discovery.find(group, version, one["kind"])
        assert resource is not None, one["kind"]
        return resource.path(one["metadata"].get("namespace", ""), one["metadata"]["name"])

    def apply(self, one: Object, **options: Any) -> Response:
        client = options.pop("client", self.client)
        path = options.pop("path", None) or self.path(one)
        response: Response = client.apply(path, one, **{"dry_run": False, "force": False, **options})
        return response

    def make(self, one: Object) -> Object:
        response = self.apply(one, force=True)
        assert response.ok, response.text
        return response.body()

    def failure(self, one: Object, **options: Any) -> Failure:
        namespaced = bool(one["metadata"].get("namespace"))
        return classify(self.apply(one, **options), identity=identify(one, namespaced))

    def eventually(self, expected: str, one: Object, **options: Any) -> Failure:
        """Admission plugins see new configurations late."""
        deadline = time.monotonic() + 15
        while True:
            failure = self.failure(one, dry_run=True, **options)
            if failure.error_class == expected or time.monotonic() > deadline:
                assert failure.error_class == expected, failure
                return failure
            time.sleep(0.2)

    def remove(self, one: Object) -> None:
        self.client.request("DELETE", self.path(one))


@pytest.fixture
def server(shared_bed: Bed, request: pytest.FixtureRequest) -> Server:
    return Server(shared_bed, f"table-{abs(hash(request.node.name)) % 10**8}")


@pytest.fixture
def made(server: Server) -> Iterator[Callable[[Object], Object]]:
    """Makes cluster-scoped objects that must not outlive the test."""
    kept: list[Object] = []

    def make(one: Object) -> Object:
        kept.append(one)
        return server.make(one)

    yield make
    for one in reversed(kept):
        server.remove(one)


def test_kinds_and_namespaces_that_are_not_there(server: Server) -> None:
    absent = obj("nope.example.org/v1", "Foo", "a", server.namespace)
    assert server.failure(absent, path=f"/apis/nope.example.org/v1/namespaces/{server.namespace}/foos/a").error_class == "kind_missing"
    unknown = obj("apps/v1", "Foo", "a", server.namespace)
    assert server.failure(unknown, path=f"/apis/apps/v1/namespaces/{server.namespace}/foos/a").error_class == "kind_missing"
    for dry_run in (False, True):
        failure = server.failure(config_map("a", "not-there"), dry_run=dry_run)
        assert (failure.error_class, failure.namespace) == ("ns_missing", "not-there")


@pytest.mark.parametrize(
    ("container", "field", "problem"),
    [
        ({"imge": "x"}, '.spec.template.spec.containers[name="m"].imge', "not declared in schema"),
        ({"terminationMessagePath": 1}, '.spec.template.spec.containers[name="m"].terminationMessagePath', "expected string"),
        ({"env": [{"name": "A"}, {"name": "A"}]}, '.spec.template.spec.containers[name="m"].env', "duplicate entries"),
    ],
)
def test_schema_mistakes_name_their_path(server: Server, container: Object, field: str, problem: str) -> None:
    failure = server.failure(deployment("d", server.namespace, **container), dry_run=True)
    assert (failure.error_class, failure.field) == ("schema", field)
    assert problem in failure.reason


def test_schema_mistakes_on_create_are_the_same_class(server: Server) -> None:
    response = server.client.create(f"/api/v1/namespaces/{server.namespace}/configmaps", {**config_map("a", server.namespace), "foo": 1})
    failure = classify(response)
    assert (failure.error_class, failure.field) == ("schema", ".foo")


def test_immutable_and_invalid_fields_look_alike(server: Server) -> None:
    server.make(deployment("d", server.namespace))
    immutable = server.failure(deployment("d", server.namespace, label="y", selector="y"))
    assert (immutable.error_class, immutable.field) == ("invalid", ".spec.selector")
    assert immutable.reason.endswith("field is immutable")
    invalid = server.failure(deployment("e", server.namespace, label="x", selector="y"), dry_run=True)
    assert (invalid.error_class, invalid.field) == ("invalid", ".spec.template.metadata.labels")
    bad_label = server.failure(config_map("a", server.namespace, labels={"a": "b c"}), dry_run=True)
    assert (bad_label.error_class, bad_label.field) == ("invalid", ".metadata.labels")


def test_other_immutable_fields_are_short(server: Server, made: Callable[[Object], Object]) -> None:
    claim = obj(
        "v1",
        "PersistentVolumeClaim",
        "p",
        server.namespace,
        spec={"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
    )
    server.make(claim)
    failure = server.failure({**claim, "spec": {**claim["spec"], "storageClassName": "other"}})
    assert failure.error_class == "invalid"
    assert failure.reason.startswith("spec: Forbidden: spec is immutable after creation")
    assert "@@" not in failure.reason
    job = {"template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "m", "image": "a"}]}}}
    server.make(obj("batch/v1", "Job", "j", server.namespace, spec=job))
    job["template"]["spec"]["containers"] = [{"name": "m", "image": "b"}]
    failure = server.failure(obj("batch/v1", "Job", "j", server.namespace, spec=job))
    assert failure.reason == "spec.template: Invalid value: ...: field is immutable"
    binding = obj(
        RBAC, "ClusterRoleBinding", "table-test", roleRef={"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "a"}
    )
    made(binding)
    assert server.failure({**binding, "roleRef": {**binding["roleRef"], "name": "b"}}).reason.endswith("cannot change roleRef")


def test_bodies_that_cannot_be(server: Server) -> None:
    for field, value in (("managedFields", []), ("uid", "x")):
        assert server.failure(config_map("a", server.namespace, **{field: value})).error_class in ("invalid", "conflict_version")
    elsewhere = f"/api/v1/namespaces/{server.namespace}/configmaps/other"
    assert server.failure(config_map("a", server.namespace), path=elsewhere).error_class == "invalid"
    wrong_type = server.client.request("PATCH", elsewhere, body={}, content_type="text/x")
    assert (wrong_type.status, classify(wrong_type).error_class) == (415, "invalid")
    for size in (1_100_000, 3_300_000):
        big = {**config_map("a", server.namespace), "data": {"x": "y" * size}}
        assert server.failure(big).error_class == "invalid"


def test_conflicts_of_owners_and_of_versions(server: Server) -> None:
    one = config_map("a", server.namespace)
    path = server.path(one)
    server.make(one)
    stolen = server.failure({**one, "data": {"x": "z"}}, manager="kubectl")
    assert [(found.manager, found.field_path) for found in stolen.conflicts] == [("kubeflow.platform", ".data.x")]
    assert stolen.error_class == "conflict_owner"
    assert server.failure(config_map("a", server.namespace, resourceVersion="1")).error_class == "conflict_version"
    assert classify(server.client.delete(path, "wrong-uid")).error_class == "conflict_version"
    assert classify(server.client.create(path.rpartition("/")[0], one)).error_class == "conflict_version"
    guarded = [{"op": "test", "path": "/metadata/resourceVersion", "value": "1"}]
    assert classify(server.client.json_patch(path, guarded)).error_class == "conflict_version"
    assert classify(server.client.json_patch(path + "x", guarded)).error_class == "conflict_version"


def test_quota_says_used_and_limit(server: Server) -> None:
    server.make(obj("v1", "ResourceQuota", "q", server.namespace, spec={"hard": {"count/configmaps": "1"}}))
    failure = server.eventually("quota", config_map("over", server.namespace))
    assert failure.reason.startswith("quota q is exhausted (requested count/configmaps=1, used count/configmaps=")


def test_refused_permissions_are_named(server: Server) -> None:
    bob = Client(from_params({**server.params, "impersonate_user": "bob", "impersonate_groups": ["g1", "g2"]}), "kubeflow.platform/test", 2)
    failure = server.failure(deployment("d", server.namespace), client=bob)
    assert (failure.error_class, failure.rbac) == ("rbac", ("patch", "apps", "deployments", server.namespace))
    failure = server.failure(obj("v1", "Namespace", "x"), client=bob)
    assert (failure.error_class, failure.rbac) == ("rbac", ("patch", "", "namespaces", ""))
    assert classify(bob.get("/logs")).error_class == "rbac"


def test_roles_cannot_grant_more_than_their_author_holds(server: Server, made: Callable[[Object], Object]) -> None:
    rules = [{"apiGroups": ["rbac.authorization.k8s.io"], "resources": ["roles"], "verbs": ["get", "create", "patch"]}]
    made(obj(RBAC, "ClusterRole", "table-roles", rules=rules))
    reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "table-roles"}
    subjects = [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "carol"}]
    made(obj(RBAC, "ClusterRoleBinding", "table-roles", roleRef=reference, subjects=subjects))
    carol = Client(from_params({**server.params, "impersonate_user": "carol"}), "kubeflow.platform/test", 2)
    role = obj(RBAC, "Role", "r", server.namespace, rules=[{"apiGroups": [""], "resources": ["secrets"], "verbs": ["*"]}])
    deadline = time.monotonic() + 10
    while (failure := server.failure(role, client=carol)).rbac and time.monotonic() < deadline:
        time.sleep(0.2)
    assert failure.error_class == "rbac"
    assert "grant permissions" in failure.reason


def test_webhooks_that_do_not_answer_are_told_from_those_that_deny(server: Server, made: Callable[[Object], Object]) -> None:
    def hook(**config: Any) -> Object:
        rules = [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["*"], "resources": ["configmaps"]}]
        selector = {"matchLabels": {"kubernetes.io/metadata.name": server.namespace}}
        webhook = {"name": "w.table.example.org", "clientConfig": config, "rules": rules, "namespaceSelector": selector}
        common = {"sideEffects": "None", "admissionReviewVersions": ["v1"], "timeoutSeconds": 2}
        return obj(ADMISSION, "ValidatingWebhookConfiguration", f"w-{server.namespace}", webhooks=[{**webhook, **common}])

    one = config_map("w", server.namespace)
    made(hook(service={"name": "absent", "namespace": server.namespace}))
    failure = server.eventually("webhook_down", one)
    assert failure.webhook == "w.table.example.org"
    assert 'service "absent" not found' in failure.reason
    server.make(hook(url="https://127.0.0.1:1/x"))
    while "refused" not in failure.reason:
        failure = server.eventually("webhook_down", one)
    server.make(hook(url=f"{server.client.connection.host}/x"))
    while "x509" not in failure.reason:
        failure = server.eventually("webhook_down", one)


def test_policies_are_named(server: Server, made: Callable[[Object], Object]) -> None:
    constraints = {"resourceRules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["configmaps"]}]}
    validations = [{"expression": "object.metadata.name != 'deny-me'", "message": "no such name"}]
    made(obj(ADMISSION, "ValidatingAdmissionPolicy", "table-policy", spec={"matchConstraints": constraints, "validations": validations}))
    made(
        obj(
            ADMISSION,
            "ValidatingAdmissionPolicyBinding",
            "table-binding",
            spec={"policyName": "table-policy", "validationActions": ["Deny"]},
        )
    )
    failure = server.eventually("policy", config_map("deny-me", server.namespace))
    assert failure.reason == "ValidatingAdmissionPolicy table-policy (binding table-binding) denied it: no such name"
    labelled = obj("v1", "Namespace", server.namespace)
    labelled["metadata"]["labels"] = {"pod-security.kubernetes.io/enforce": "restricted"}
    server.make(labelled)
    pod = obj("v1", "Pod", "p", server.namespace, spec={"containers": [{"name": "m", "image": "i"}]})
    assert server.eventually("policy", pod).reason.startswith("PodSecurity restricted:latest is violated: allowPrivilegeEscalation")


def test_terminating_objects_answer_with_success_and_are_no_success(server: Server) -> None:
    doomed = obj("v1", "Namespace", f"{server.namespace}-doomed")
    uid = server.make(doomed)["metadata"]["uid"]
    name = doomed["metadata"]["name"]
    server.make(config_map("f", name, finalizers=["example.org/keep"]))
    server.client.delete(server.path(doomed), uid)
    try:
        assert server.failure(doomed).error_class == "terminating"
        failure = server.failure(config_map("g", name))
        assert (failure.error_class, failure.namespace) == ("ns_terminating", name)
        held = server.client.get(server.path(config_map("f", name))).body()
        server.client.delete(server.path(config_map("f", name)), held["metadata"]["uid"])
        failure = server.failure(config_map("f", name, finalizers=["example.org/keep"]))
        assert (failure.error_class, failure.reason) == ("terminating", "it is being deleted (finalizers: example.org/keep)")
    finally:
        server.apply(config_map("f", name))


def test_custom_resources_fail_like_built_in_ones(server: Server, made: Callable[[Object], Object]) -> None:
    made(thing_crd())

    def thing(**spec: Any) -> Object:
        return obj("table.example.org/v1", "Thing", "t", server.namespace, spec=spec)

    path = f"/apis/table.example.org/v1/namespaces/{server.namespace}/things/t"
    deadline = time.monotonic() + 15
    while not (response := server.apply(thing(a="x"), path=path)).ok and time.monotonic() < deadline:
        assert classify(response).error_class == "kind_missing"
        time.sleep(0.1)
    assert server.failure(thing(a="x", q=1), path=path).field == ".spec.q"
    assert server.failure(thing(a=1), path=path).error_class == "schema"
    assert server.failure(thing(a="y"), path=path).reason == 'spec.a: Invalid value: "y": a stays'
    assert server.failure(thing(a="x", n=9), path=path).field == ".spec.n"
    assert server.failure(thing(a="x"), path=path.replace("things", "nothings")).error_class == "kind_missing"
    assert server.failure(thing_crd(scope="Cluster")).field == ".spec.scope"
    renamed = thing_crd()
    renamed["spec"]["versions"][0]["name"] = "v2"
    assert server.failure(renamed).field == ".status.storedVersions[0]"


def test_an_extension_server_that_is_down_is_stale_and_named(server: Server, made: Callable[[Object], Object]) -> None:
    service = {"name": "absent", "namespace": server.namespace}
    spec = {"group": "down.example.org", "version": "v1", "groupPriorityMinimum": 1, "versionPriority": 1, "service": service}
    made(obj("apiregistration.k8s.io/v1", "APIService", "v1.down.example.org", spec=spec))
    deadline = time.monotonic() + 15
    while not server.discovery.group_is_stale("down.example.org") and time.monotonic() < deadline:
        time.sleep(0.2)
        server.discovery.refresh()
    assert server.discovery.group_is_stale("down.example.org")
    failure = server.failure(obj("down.example.org/v1", "X", "x"), path="/apis/down.example.org/v1/xs/x")
    assert failure.error_class == "server_down"
    assert "down.example.org" in failure.reason
    server.discovery.refresh()
