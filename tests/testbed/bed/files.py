# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The files of a bed that its processes and users read: certificates, tokens, kubeconfigs, audit policy."""

from __future__ import annotations

import base64
import json
import secrets
from pathlib import Path
from typing import Any

from . import certificates
from .certificates import Subject
from .record import Bed

ADMIN = "testbed:admin"
READ_ONLY = "testbed:readonly"
STANDINS = "testbed:standins"
KWOK = "testbed:kwok"
_MASTERS = "system:masters"
_KCM = "system:kube-controller-manager"
_SCHEDULER = "system:kube-scheduler"

# The audit log is the judge of "nothing was written". Reads by the control plane itself are noise that costs CPU.
AUDIT_POLICY: dict[str, Any] = {
    "apiVersion": "audit.k8s.io/v1",
    "kind": "Policy",
    "omitStages": ["RequestReceived", "ResponseStarted", "Panic"],
    "rules": [
        {"level": "None", "users": ["system:apiserver", _KCM, _SCHEDULER, KWOK, STANDINS], "verbs": ["get", "list", "watch"]},
        {"level": "None", "userGroups": ["system:serviceaccounts:kube-system"], "verbs": ["get", "list", "watch"]},
        {"level": "None", "nonResourceURLs": ["/healthz*", "/readyz*", "/livez*"]},
        {"level": "Metadata"},
    ],
}


def write_all(bed: Bed) -> None:
    """Everything that does not change in a bed's life."""
    for folder in ("pki", "logs", "run", "podlogs", "kubectl-cache"):
        (bed.folder / folder).mkdir(mode=0o700, exist_ok=True)
    _certificates(bed)
    (bed.folder / "audit-policy.json").write_text(json.dumps(AUDIT_POLICY, indent=1), encoding="utf-8")
    tokens = {name: secrets.token_hex(16) for name in ("admin", "readonly")}
    lines = [f'{tokens["admin"]},{ADMIN},admin,"{_MASTERS}"', f'{tokens["readonly"]},{READ_ONLY},readonly,"testbed:readers"']
    _private(bed.folder / "tokens.csv", "\n".join(lines) + "\n")
    _kubeconfigs(bed, tokens)


def _certificates(bed: Bed) -> None:
    pki = bed.pki
    authority = certificates.create_authority(pki, "ca", "testbed")
    certificates.create_authority(pki, "other-ca", "testbed that nobody trusts")
    services = ["kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local"]
    servers = {"apiserver": ["localhost", "127.0.0.1", bed.first_service_address, *services], "kubelet": ["localhost", "127.0.0.1"]}
    for name, hosts in servers.items():
        certificates.issue(authority, pki, name, Subject(name, hosts=hosts))
    clients = {
        "admin": (ADMIN, _MASTERS),
        "standins": (STANDINS, _MASTERS),
        "kwok": (KWOK, _MASTERS),
        "kubelet-client": ("testbed:apiserver", _MASTERS),
        "kube-controller-manager": (_KCM, "testbed"),
        "kube-scheduler": (_SCHEDULER, "testbed"),
    }
    for name, (user, group) in clients.items():
        certificates.issue(authority, pki, name, Subject(user, groups=[group]))
    front = certificates.create_authority(pki, "front-proxy-ca", "testbed front proxy")
    certificates.issue(front, pki, "front-proxy-client", Subject("front-proxy-client"))
    certificates.create_signing_key(pki, "service-account")


def _kubeconfigs(bed: Bed, tokens: dict[str, str]) -> None:
    server = f"https://127.0.0.1:{bed.api_port}"
    proxy = f"https://127.0.0.1:{bed.proxy_port}"
    for name in ("standins", "kwok", "kube-controller-manager", "kube-scheduler"):
        _kubeconfig(bed, f"kubeconfig.{name}", server, _certificate_user(bed, name))
    admin = _certificate_user(bed, "admin")
    _kubeconfig(bed, "kubeconfig", server, admin)
    _kubeconfig(bed, "kubeconfig.token", server, {"token": tokens["admin"]})
    # A client certificate cannot pass through a proxy that ends TLS; a token can.
    _kubeconfig(bed, "kubeconfig.proxy", proxy, {"token": tokens["admin"]})
    _kubeconfig(bed, "kubeconfig.readonly", server, {"token": tokens["readonly"]})
    _kubeconfig(bed, "kubeconfig.badtoken", server, {"token": secrets.token_hex(16)})
    _kubeconfig(bed, "kubeconfig.wrongca", server, admin, authority="other-ca.crt")


def _certificate_user(bed: Bed, name: str) -> dict[str, str]:
    return {"client-certificate-data": _embedded(bed.pki / f"{name}.crt"), "client-key-data": _embedded(bed.pki / f"{name}.key")}


def _kubeconfig(bed: Bed, name: str, server: str, user: dict[str, str], authority: str = "ca.crt") -> None:
    content = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "testbed", "cluster": {"server": server, "certificate-authority-data": _embedded(bed.pki / authority)}}],
        "users": [{"name": "testbed", "user": user}],
        "contexts": [{"name": "testbed", "context": {"cluster": "testbed", "user": "testbed"}}],
        "current-context": "testbed",
    }
    _private(bed.folder / name, json.dumps(content, indent=1))


def _embedded(path: Path) -> str:
    return base64.b64encode(path.read_bytes()).decode()


def _private(path: Path, text: str) -> None:
    path.touch(mode=0o600)
    path.write_text(text, encoding="utf-8")
