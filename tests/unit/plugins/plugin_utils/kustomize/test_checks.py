# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is done to, and asked of, all parts together."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize import checks
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.errors import RenderError
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.parse import Rendered, rendered
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.parts import Part


def obj(kind: str, name: str, namespace: str = "", api_version: str = "v1", **fields: Any) -> Rendered:
    metadata = {"name": name} | ({"namespace": namespace} if namespace else {})
    return rendered({"apiVersion": api_version, "kind": kind, "metadata": metadata, **fields})


def part(name: str, *omit: dict[str, str]) -> Part:
    return Part(name, name, "/", omit=omit)


def test_omitted_objects_are_left_out_also_under_a_generated_name() -> None:
    found = [obj("ConfigMap", "settings-9h2h2b6hbk", "a"), obj("ConfigMap", "other", "a"), obj("Secret", "settings", "b")]
    kept = checks.omit(
        part("p", {"kind": "ConfigMap", "name": "settings"}, {"kind": "Secret", "name": "settings", "namespace": "b"}), found
    )
    assert [entry.name for entry in kept] == ["other"]


def test_an_omission_that_matches_nothing_is_an_error() -> None:
    with pytest.raises(RenderError, match="omit ConfigMap settings in namespace z from part p: the part renders no such object"):
        checks.omit(part("p", {"kind": "ConfigMap", "name": "settings", "namespace": "z"}), [obj("ConfigMap", "settings", "a")])


def test_quirks_drop_fields_of_the_object_they_name_and_what_is_left_empty() -> None:
    quirk = {"kind": "Widget", "name": "w", "drop": ["/metadata/annotations/cert-manager.io~1inject-ca-from", "/spec/absent/x"]}
    with_annotation = rendered(
        {"apiVersion": "v1", "kind": "Widget", "metadata": {"name": "w", "annotations": {"cert-manager.io/inject-ca-from": "$(A)/$(B)"}}}
    )
    other = obj("Widget", "x")
    mended, same = checks.mend([with_annotation, other], [quirk])
    assert json.loads(mended.text) == {"apiVersion": "v1", "kind": "Widget", "metadata": {"name": "w"}}
    assert mended.sha256 != with_annotation.sha256
    assert same is other


def test_a_quirk_can_leave_a_whole_object_out_whatever_the_hash_in_its_name() -> None:
    quirk = {"kind": "ConfigMap", "name": "default-install-config", "drop": [], "omit": True}
    kept = [obj("ConfigMap", "other"), obj("Secret", "default-install-config-9h2h2b6hbk")]
    assert checks.mend([obj("ConfigMap", "default-install-config-9h2h2b6hbk"), *kept], [quirk]) == kept


def test_unreplaced_variables_are_refused_with_the_reason() -> None:
    profile = obj("Profile", "$(profile-name)", api_version="kubeflow.org/v1")
    with pytest.raises(RenderError, match=r"part user, Profile: metadata.name is '\$\(profile-name\)'") as error:
        checks.refuse_variables([(part("user"), [profile])])
    assert "inside the release's window" in str(error.value)


def test_one_object_in_two_parts_is_refused_with_both_names() -> None:
    with pytest.raises(RenderError, match="ConfigMap a/x is in the parts first and second"):
        checks.refuse_duplicates([(part("first"), [obj("ConfigMap", "x", "a")]), (part("second"), [obj("ConfigMap", "x", "a")])])


def test_objects_are_told_apart_by_group_and_namespace() -> None:
    found = [
        obj("Service", "x", "a"),
        obj("Service", "x", "b"),
        obj("Service", "x", "a", "serving.knative.dev/v1"),
        obj("Role", "x", "a", "rbac.authorization.k8s.io/v1"),
    ]
    checks.refuse_duplicates([(part("p"), found)])


def test_the_namespace_of_a_cluster_scoped_object_does_not_count() -> None:
    roles = [obj("ClusterRole", "x", "a", "rbac.authorization.k8s.io/v1"), obj("ClusterRole", "x", "", "rbac.authorization.k8s.io/v1")]
    with pytest.raises(RenderError, match="ClusterRole x is in part p twice"):
        checks.refuse_duplicates([(part("p"), roles)])
    crd = obj(
        "CustomResourceDefinition",
        "issuers.example.org",
        api_version="apiextensions.k8s.io/v1",
        spec={"group": "example.org", "scope": "Cluster", "names": {"kind": "Issuer"}},
    )
    issuers = [obj("Issuer", "x", "a", "example.org/v1"), obj("Issuer", "x", "b", "example.org/v1")]
    checks.refuse_duplicates([(part("p"), issuers)])
    with pytest.raises(RenderError, match="Issuer b/x is in the parts p and q"):
        checks.refuse_duplicates([(part("p"), [issuers[0]]), (part("q"), [issuers[1], crd])])


def test_one_object_under_two_groups_is_one_object() -> None:
    events = [obj("Event", "x", "a"), obj("Event", "x", "a", "events.k8s.io/v1")]
    with pytest.raises(RenderError, match="Event a/x is in part p twice"):
        checks.refuse_duplicates([(part("p"), events)])
    checks.refuse_duplicates([(part("p"), [obj("Ingress", "x", "a", "networking.k8s.io/v1"), obj("Ingress", "x", "a", "example.org/v1")])])


MIB = 1024 * 1024


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (obj("ConfigMap", "x", "a", data={"k": "x" * (MIB + 1)}), f"its data hold {MIB + 1} bytes, at most {MIB}"),
        (obj("ConfigMap", "x", "a", data={"k": "ü" * (MIB // 2 + 1)}), f"its data hold {MIB + 2} bytes"),
        (obj("ConfigMap", "x", "a", binaryData={"k": base64.b64encode(b"x" * (MIB + 1)).decode()}), f"its data hold {MIB + 1} bytes"),
        (obj("Secret", "x", "a", data={"k": base64.b64encode(b"x" * (MIB + 1)).decode()}), f"its data hold {MIB + 1} bytes"),
        (obj("Secret", "x", "a", stringData={"k": "x" * MIB, "l": "x"}), f"its data hold {MIB + 1} bytes"),
        (obj("Widget", "x", "a", "example.org/v1", spec={"k": "x" * (2 * MIB)}), "it has 2097"),
        (obj("Deployment", "x", "a", "apps/v1", spec={"k": "x" * (2 * MIB)}), "it has 2097"),
    ],
)
def test_object_that_cannot_be_stored_is_told_before_anything_is_sent(found: Rendered, words: str) -> None:
    with pytest.raises(RenderError, match="objects are too large") as caught:
        checks.refuse_oversize([(part("p"), [obj("ConfigMap", "small", "a"), found])])
    assert f"{found} (part p): {words}" in str(caught.value)
    assert "small" not in str(caught.value)


def test_annotations_that_cannot_be_stored_are_told_before_anything_is_sent() -> None:
    wide = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "x", "annotations": {"a": "x" * (256 * 1024)}}}
    with pytest.raises(RenderError, match="its annotations hold 262145 bytes, at most 262144"):
        checks.refuse_oversize([(part("p"), [rendered(wide)])])


@pytest.mark.parametrize(
    "found",
    [
        obj("ConfigMap", "x", "a", data={"k": "x" * MIB}),
        obj("Secret", "x", "a", data={"k": base64.b64encode(b"x" * MIB).decode()}),
        obj("Secret", "x", "a", data={"k": "no base64!" * 30_000, "l": 5}),
        obj("Widget", "x", "a", "example.org/v1", spec={"k": "x" * (MIB + 500_000)}),
        obj("Deployment", "x", "a", "apps/v1", spec={"k": [{"f": "x"} for _row in range(200_000)]}),
    ],
    ids=range(5),
)
def test_object_that_may_be_stored_is_left_to_the_server(found: Rendered) -> None:
    checks.refuse_oversize([(part("p"), [found])])
