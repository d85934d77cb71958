# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Dex as the distribution sets it up, at 26.03.1 and at 1.8.1."""

from __future__ import annotations

from typing import Any

SHIPPED = "$2y$12$4K/VkmDd1q1Orb3xAt82zu8gk7Ad6ReFR4LCP9UeYE90NLiN9Df72"

CONFIGURATION = """\
issuer: http://dex.auth.svc.cluster.local:5556/dex
storage:
  type: kubernetes
  config:
    inCluster: true
web:
  http: 0.0.0.0:5556
oauth2:
  skipApprovalScreen: true
enablePasswordDB: true
staticPasswords:
- email: user@example.com
  hashFromEnv: DEX_USER_PASSWORD
  username: user
  userID: "15841185641784"
staticClients:
# https://github.com/dexidp/dex/pull/1664
- idEnv: OIDC_CLIENT_ID
  redirectURIs: ["/oauth2/callback"]
  name: 'Dex Login Application'
  secretEnv: OIDC_CLIENT_SECRET
"""
INLINE = CONFIGURATION.replace("hashFromEnv: DEX_USER_PASSWORD", f"hash: {SHIPPED}\n  # FIXME: Use hashFromEnv instead").replace(
    "/oauth2/callback", "/authservice/oidc/callback"
)


def deployment(*secrets: str, replicas: int = 2) -> dict[str, Any]:
    """The Deployment, with its Secrets in the environment."""
    container = {
        "name": "dex",
        "image": "ghcr.io/dexidp/dex:v2.45.1",
        "command": ["dex", "serve", "/etc/dex/cfg/config.yaml"],
        "ports": [{"name": "http", "containerPort": 5556}],
        "volumeMounts": [{"name": "config", "mountPath": "/etc/dex/cfg"}],
        "envFrom": [{"secretRef": {"name": name}} for name in secrets or ("dex-oidc-client", "dex-passwords")],
        "env": [{"name": "KUBERNETES_POD_NAMESPACE", "valueFrom": {"fieldRef": {"fieldPath": "metadata.namespace"}}}],
    }
    volume = {"name": "config", "configMap": {"name": "dex", "items": [{"key": "config.yaml", "path": "config.yaml"}]}}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "dex", "namespace": "auth"},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {"app": "dex"}},
            "template": {"metadata": {"labels": {"app": "dex"}}, "spec": {"containers": [container], "volumes": [volume]}},
        },
    }
