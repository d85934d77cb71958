# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.kubeflow.platform.plugins.module_utils.objects import ownership
from ansible_collections.kubeflow.platform.plugins.module_utils.objects.fieldpaths import locate, merge_fields
from ansible_collections.kubeflow.platform.plugins.module_utils.objects.identity import Identity
from ansible_collections.kubeflow.platform.plugins.module_utils.objects.ownership import (
    MANAGER,
    Conflict,
    absent_own_paths,
    drop_path,
    entry_key,
    human_entries,
    manager_class,
    own_entry,
    own_fields,
    parse_conflicts,
    rename_patch,
    yields,
)
from hypothesis import given
from hypothesis import strategies as st

OBJECT: dict[str, Any] = {
    "metadata": {
        "annotations": {"cert-manager.io/inject-ca-from": "a/b", "cert-manager": {"io/inject-ca-from": "decoy"}},
        "finalizers": ["kubernetes", 'odd"]one'],
    },
    "data": {"some.key": "1", "some": "2"},
    "rules": [],
    "webhooks": [{"name": "a.b", "failurePolicy": "Fail"}, {"name": "c.d", "failurePolicy": "Ignore"}],
    "spec": {
        "ports": [{"port": 80, "protocol": "UDP", "targetPort": 1}, {"port": 80, "targetPort": 2}],
        "args": ["x", "y"],
        "template": {"spec": {"containers": [{"name": "manager", "env": [{"name": "X", "value": "v"}, {"name": "a,b=]", "value": "w"}]}]}},
    },
}


def field(obj: Any, path: str) -> Any:
    steps = locate(obj, path)
    assert steps is not None
    for _sort, where in steps:
        obj = obj[where]
    return obj


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ('.spec.template.spec.containers[name="manager"].env[name="X"].value', "v"),
        ('.spec.template.spec.containers[name="manager"].env[name="a,b=]"].value', "w"),
        ('.webhooks[name="a.b"].failurePolicy', "Fail"),
        ('.spec.ports[port=80,protocol="TCP"].targetPort', 2),
        ('.spec.ports[port=80,protocol="UDP"].targetPort', 1),
        (".metadata.annotations.cert-manager.io/inject-ca-from", "a/b"),
        (".data.some.key", "1"),
        (".data.some", "2"),
        ('.metadata.finalizers[="kubernetes"]', "kubernetes"),
        ('.metadata.finalizers[="odd\\"]one"]', 'odd"]one'),
        (".spec.args[1]", "y"),
        (".rules", []),
    ],
)
def test_locate_finds_the_field_when_the_server_printed_its_path(path: str, value: Any) -> None:
    assert field(OBJECT, path) == value
    dropped = drop_path(OBJECT, path)
    assert dropped != OBJECT
    assert locate(dropped, path) is None or path == ".spec.args[1]" or value not in [field(dropped, path)]


@pytest.mark.parametrize(
    "path",
    [".nothing", ".spec.ports[port=81].x", ".data.some.other", '.spec.args[="z"]', ".spec.args[7]", ".rules[", "x", ".spec.ports[port]"],
)
def test_drop_path_returns_the_object_itself_when_it_has_no_such_field(path: str) -> None:
    assert drop_path(OBJECT, path) is OBJECT


def test_drop_path_takes_exactly_one_field_and_leaves_its_parents() -> None:
    source = {"spec": {"replicas": 1, "strategy": {"type": "Recreate"}}, "other": [1]}
    dropped = drop_path(source, ".spec.strategy.type")
    assert dropped == {"spec": {"replicas": 1, "strategy": {}}, "other": [1]}
    assert source["spec"] == {"replicas": 1, "strategy": {"type": "Recreate"}}


@given(st.text(max_size=40))
def test_drop_path_survives_any_text(path: str) -> None:
    drop_path(OBJECT, path)
    drop_path(OBJECT, "." + path)
    drop_path(OBJECT, ".spec.args[" + path)


keys = st.text(st.sampled_from("ab./-"), min_size=1, max_size=6)
trees = st.recursive(st.integers(), lambda inner: st.dictionaries(keys, inner, min_size=1, max_size=3), max_leaves=12)


@given(st.dictionaries(keys, trees, min_size=1, max_size=4), st.data())
def test_drop_path_drops_one_field_that_prints_like_the_path_when_keys_hold_dots(tree: dict[str, Any], data: st.DataObject) -> None:
    node: Any = tree
    printed = ""
    while isinstance(node, dict) and (not printed or data.draw(st.booleans())):
        key = data.draw(st.sampled_from(sorted(node)))
        node, printed = node[key], f"{printed}.{key}"
    steps = locate(tree, printed)
    assert steps is not None
    assert "".join(f".{where}" for _sort, where in steps) == printed
    assert drop_path(tree, printed) != tree


def entry(manager: str, fields: dict[str, Any], **more: Any) -> dict[str, Any]:
    base = {"manager": manager, "operation": "Update", "apiVersion": "v1", "time": "2026-01-01T00:00:00Z", "fieldsType": "FieldsV1"}
    return {**base, "fieldsV1": fields, **more}


OWN = entry(MANAGER, {"f:data": {"f:a": {}}}, operation="Apply")


def test_own_entry_is_the_apply_entry_without_subresource() -> None:
    status = entry(MANAGER, {"f:status": {}}, operation="Apply", subresource="status")
    update = entry(MANAGER, {"f:data": {}})
    assert own_entry({"managedFields": [status, update, OWN]}) == OWN
    assert own_entry({"managedFields": [status, update]}) is None
    assert own_entry({}) is None
    assert own_fields({"managedFields": [OWN]}) == {"f:data": {"f:a": {}}}
    assert own_fields({"managedFields": None}) == {}


def test_entry_key_moves_when_fields_time_or_version_move_and_not_with_key_order() -> None:
    fields: dict[str, Any] = {"f:data": {"f:a": {}, "f:b": {}}}
    turned: dict[str, Any] = {"f:data": {"f:b": {}, "f:a": {}}}
    assert entry_key(entry(MANAGER, fields)) == entry_key(entry(MANAGER, turned))
    variants = [entry(MANAGER, fields), entry(MANAGER, fields, time="later"), entry(MANAGER, fields, apiVersion="v2"), entry(MANAGER, {})]
    assert len({entry_key(variant) for variant in variants}) == 4


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (MANAGER, "own"),
        ("kubectl", "human"),
        ("kubectl-client-side-apply", "human"),
        ("kubectl-edit", "human"),
        ("before-first-apply", "human"),
        ("helm", "human"),
        ("OpenAPI-Generator", "human"),
        ("kube-controller-manager", "controller"),
        ("clusterrole-aggregation-controller", "controller"),
        ("cert-manager-cainjector", "controller"),
        ("pilot-discovery", "controller"),
        ("webhook", "controller"),
        ("manager", "controller"),
        ("evil", "unknown"),
        ("kubectlish", "unknown"),
        ("argocd-controller", "unknown"),
        ("kustomize-controller", "unknown"),
    ],
)
def test_manager_class_follows_the_table(name: str, expected: str) -> None:
    assert manager_class(name) == expected


def test_manager_class_is_human_when_the_user_names_the_manager() -> None:
    assert manager_class("argocd-controller", ["argocd-controller"]) == "human"


def test_conflicts_name_manager_and_field() -> None:
    status = {
        "details": {
            "causes": [
                {"reason": "FieldManagerConflict", "message": 'conflict with "kubectl-edit" using apps/v1', "field": ".spec.replicas"},
                {
                    "reason": "FieldManagerConflict",
                    "message": 'conflict with "odd \\"name\\"" with subresource "scale" using apps/v1 at 2026-01-01T00:00:00Z',
                    "field": ".rules",
                },
                {"reason": "Other"},
            ]
        }
    }
    assert parse_conflicts(status) == [Conflict("kubectl-edit", ".spec.replicas"), Conflict('odd "name"', ".rules")]


@pytest.mark.parametrize(
    "status", [{}, {"details": None}, {"details": []}, {"details": {"causes": None}}, {"details": {"causes": [None, 3]}}]
)
def test_conflicts_are_none_when_the_status_has_no_such_causes(status: dict[str, Any]) -> None:
    assert parse_conflicts(status) == []


def test_human_entries_leave_out_hand_edits_and_status_since_adoption_must_not_drop_their_additions() -> None:
    entries = [
        entry("kubectl-client-side-apply", {"f:data": {}}),
        entry("kubectl-rollout", {"f:spec": {}}),
        entry("kubectl", {"f:status": {}}, subresource="status"),
        entry("somebody", {"f:data": {}}),
    ]
    assert [one["manager"] for one in human_entries({"managedFields": entries}, [])] == ["kubectl-client-side-apply"]
    assert [one["manager"] for one in human_entries({"managedFields": entries}, ["somebody"])] == ["kubectl-client-side-apply", "somebody"]


def test_rename_patch_merges_human_entries_into_ours_and_keeps_the_others() -> None:
    controller = entry("manager", {"f:data": {"f:z": {}}})
    kubectl = entry(
        "kubectl", {"f:data": {".": {}, "f:b": {}}, "f:metadata": {"f:labels": {"f:x": {}}}}, operation="Apply", time="2026-02-01T00:00:00Z"
    )
    patch = rename_patch({"resourceVersion": "7", "managedFields": [controller, OWN, kubectl]}, [])
    assert patch == [
        {"op": "test", "path": "/metadata/resourceVersion", "value": "7"},
        {
            "op": "replace",
            "path": "/metadata/managedFields",
            "value": [
                {
                    "manager": MANAGER,
                    "operation": "Apply",
                    "apiVersion": "v1",
                    "fieldsType": "FieldsV1",
                    "fieldsV1": {"f:data": {".": {}, "f:a": {}, "f:b": {}}, "f:metadata": {"f:labels": {"f:x": {}}}},
                    "time": "2026-02-01T00:00:00Z",
                },
                controller,
            ],
        },
    ]


def test_rename_patch_is_none_when_nobody_has_to_be_renamed() -> None:
    assert rename_patch({"resourceVersion": "7", "managedFields": [OWN, entry("manager", {})]}, []) is None


field_sets: st.SearchStrategy[dict[str, Any]] = st.recursive(
    st.just({}), lambda inner: st.dictionaries(st.sampled_from(["f:a", "f:b", 'k:{"name":"x"}', "."]), inner, max_size=3), max_leaves=10
)


def members(fields: dict[str, Any], path: tuple[str, ...] = ()) -> set[tuple[str, ...]]:
    found: set[tuple[str, ...]] = set()
    for key, below in fields.items():
        if key == ".":
            found.add(path)
        else:
            found |= members(below, (*path, key)) if below else {(*path, key)}
    return found


@given(field_sets, field_sets)
def test_merged_fields_are_the_union_of_both(left: dict[str, Any], right: dict[str, Any]) -> None:
    assert members(merge_fields(left, right)) == members(left) | members(right)


def test_absent_own_paths_name_what_the_server_moved_elsewhere() -> None:
    fields = {"f:stringData": {"f:a": {}}, "f:metadata": {"f:labels": {"f:x": {}}}, "f:type": {}}
    assert absent_own_paths({"data": {"a": "YQ=="}, "metadata": {"labels": {"x": "y"}}, "type": "Opaque"}, fields) == [".stringData"]


def test_absent_own_paths_are_none_when_lists_hold_every_owned_item() -> None:
    fields: dict[str, Any] = {
        "f:ports": {'k:{"port":80,"protocol":"TCP"}': {".": {}, "f:port": {}}},
        "f:finalizers": {'v:"a"': {}},
        "f:args": {"i:0": {}},
    }
    assert absent_own_paths({"ports": [{"port": 80}], "finalizers": ["a"], "args": ["x"]}, fields) == []
    assert absent_own_paths({"ports": [{"port": 81}], "finalizers": ["b"], "args": []}, fields) == [
        '.ports[port=80,protocol="TCP"]',
        '.finalizers[="a"]',
        ".args[0]",
    ]


def test_absent_own_paths_ignore_what_was_sent_empty_when_the_sent_object_is_known() -> None:
    sent = {"metadata": {"annotations": {}}, "spec": {"hostNetwork": False, "value": ""}, "stringData": {"a": "b"}}
    fields: dict[str, Any] = {
        "f:metadata": {"f:annotations": {}},
        "f:spec": {"f:hostNetwork": {}, "f:value": {}},
        "f:stringData": {"f:a": {}},
    }
    assert absent_own_paths({"metadata": {}, "spec": {}}, fields, sent) == [".stringData"]


@pytest.mark.parametrize(
    ("identity", "path", "expected"),
    [
        (
            Identity("admissionregistration.k8s.io", "ValidatingWebhookConfiguration", "", "istio-validator-istio-system"),
            '.webhooks[name="a"].failurePolicy',
            True,
        ),
        (
            Identity("admissionregistration.k8s.io", "ValidatingWebhookConfiguration", "", "katib.kubeflow.org"),
            '.webhooks[name="a"].failurePolicy',
            False,
        ),
        (
            Identity("admissionregistration.k8s.io", "ValidatingWebhookConfiguration", "", "config.webhook.serving.knative.dev"),
            '.webhooks[name="a"].rules',
            True,
        ),
        (
            Identity("admissionregistration.k8s.io", "MutatingWebhookConfiguration", "", "webhook.serving.knative.dev"),
            '.webhooks[name="a"].namespaceSelector.matchExpressions',
            True,
        ),
        (
            Identity("admissionregistration.k8s.io", "MutatingWebhookConfiguration", "", "katib.kubeflow.org"),
            '.webhooks[name="a"].clientConfig.caBundle',
            True,
        ),
        (Identity("rbac.authorization.k8s.io", "ClusterRole", "", "kubeflow-admin"), ".rules", True),
        (Identity("rbac.authorization.k8s.io", "Role", "x", "kubeflow-admin"), ".rules", False),
        (Identity("apps", "Deployment", "x", "y"), ".spec.replicas", True),
        (Identity("apps", "Deployment", "x", "y"), ".spec.template.metadata.annotations.kubeflow.platform/restarted-at", True),
        (Identity("apps", "Deployment", "x", "y"), '.spec.template.spec.containers[name="main"].image', False),
        (Identity("", "ConfigMap", "x", "y"), ".data.a", False),
    ],
)
def test_yields_only_on_named_paths(identity: Identity, path: str, expected: bool) -> None:
    assert yields(identity, path) is expected


def test_everything_the_contract_names_is_importable_from_one_place() -> None:
    assert all(hasattr(ownership, name) for name in ownership.__all__)
