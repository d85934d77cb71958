# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from typing import Any

from ansible_collections.kubeflow.platform.plugins.module_utils.objects.additions import foreign_additions


def deployment(*containers: dict[str, Any], **spec: Any) -> dict[str, Any]:
    return {"apiVersion": "apps/v1", "kind": "Deployment", "spec": {"template": {"spec": {"containers": list(containers), **spec}}}}


POD = ".spec.template.spec"


def test_additions_name_a_foreign_container_volume_and_variable() -> None:
    ours = deployment({"name": "main", "env": [{"name": "A", "value": "1"}]})
    live = deployment(
        {
            "name": "main",
            "env": [{"name": "A", "value": "2"}, {"name": "B", "value": "hidden"}],
            "command": ["sh"],
            "imagePullPolicy": "Always",
        },
        {"name": "miner"},
        volumes=[{"name": "host", "hostPath": {"path": "/"}}],
    )
    assert foreign_additions(live, ours) == [
        f'{POD}.containers[name="main"].env[name="B"]',
        f'{POD}.containers[name="main"].command',
        f'{POD}.containers[name="miner"]',
        f'{POD}.volumes[name="host"]',
    ]


def test_additions_are_none_when_the_server_only_defaulted() -> None:
    ours = deployment({"name": "main", "image": "x"})
    live = deployment({"name": "main", "image": "x", "resources": {}, "terminationMessagePath": "/dev/x"}, dnsPolicy="ClusterFirst")
    assert foreign_additions(live, ours) == []


def test_additions_name_keys_of_a_config_map_without_their_values() -> None:
    ours = {"apiVersion": "v1", "kind": "ConfigMap", "data": {"a": "1"}}
    assert foreign_additions({**ours, "data": {"a": "1", "b": "value"}, "binaryData": {"c": "eA=="}}, ours) == [".data.b", ".binaryData.c"]


def test_additions_are_none_when_a_secret_is_shipped_empty_for_a_controller_to_fill() -> None:
    ours = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "webhook-certs"}}
    assert foreign_additions({**ours, "data": {"tls.key": "eA=="}}, ours) == []
