# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""cert-manager's controller: issuers become ready, Certificates get their Secret."""

from __future__ import annotations

import base64
from typing import Any

from .api import ApiError, Object, Watch
from .authority import Authority
from .world import RETRY, Duty, condition, namespaced, now

MANAGER = "cert-manager-certificates-issuing"
GROUP = "cert-manager.io"


class Issuers(Duty):
    """Works while the Deployment cert-manager is available."""

    duty = "issuers"

    def __init__(self, world: Any) -> None:
        super().__init__(world)
        self._issued: dict[str, str] = {}

    def watches(self) -> list[Watch]:
        """cert-manager's kinds and its Deployments."""
        world = self.world
        return [world.issuers, world.clusterissuers, world.certificates, world.deployments, world.secrets]

    def reconcile(self) -> None:
        """The webhook's own CA first, then issuers, then Certificates."""
        webhook = self.world.deployed("cert-manager-webhook")
        if webhook is not None:
            self._webhook_secret(webhook["metadata"]["namespace"])
        state = self.state("cert-manager", self.world.deployed("cert-manager") is not None)
        if not state.acts:
            return
        failed = state.mode in ("deny", "error")
        for plural, watch in (("issuers", self.world.issuers), ("clusterissuers", self.world.clusterissuers)):
            for issuer in watch.all():
                reason = ("ErrGetKeyPair", "the test bed wants an error") if failed else ("IsReady", "")
                self._ready(plural, issuer, not failed, *reason)
        authority = self.world.wrong_authority if state.mode == "wrong-ca" else self.world.authority
        for certificate in self.world.certificates.all():
            self._certificate(certificate, authority)

    def _certificate(self, certificate: Object, authority: Authority) -> None:
        if not self._issuer_ready(certificate):
            self._ready("certificates", certificate, False, "DoesNotExist", "Issuing certificate as Secret does not exist")
            return
        metadata, spec = certificate["metadata"], certificate["spec"]
        path = namespaced("v1", "secrets", metadata["namespace"], spec["secretName"])
        wanted = f"{metadata['uid']} {metadata['generation']} {authority.bundle}"
        if self._issued.get(metadata["uid"]) != wanted:
            self._write(path, certificate, authority)
            self._issued[metadata["uid"]] = wanted
        elif self.world.secrets.find(metadata["namespace"], spec["secretName"]) is None:
            self._write(path, certificate, authority)
        self._ready("certificates", certificate, True, "Ready", "Certificate is up to date and has not expired")

    def _write(self, path: str, certificate: Object, authority: Authority) -> None:
        """Makes the Secret, or replaces one of another authority."""
        metadata, spec = certificate["metadata"], certificate["spec"]
        found = self.api.get(path)
        ca = authority.bundle
        if found is not None and (found.get("data") or {}).get("ca.crt") == ca:
            return
        pair = authority.issue(list(spec.get("dnsNames") or [spec.get("commonName") or metadata["name"]]))
        data = {"ca.crt": ca, "tls.crt": base64.b64encode(pair.certificate).decode(), "tls.key": base64.b64encode(pair.key).decode()}
        annotations = {f"{GROUP}/certificate-name": metadata["name"], f"{GROUP}/issuer-name": spec["issuerRef"]["name"]}
        if found is not None:
            self.api.merge_patch(path, {"data": data, "metadata": {"annotations": annotations}}, MANAGER)
            return
        body = {"apiVersion": "v1", "kind": "Secret", "type": "kubernetes.io/tls", "data": data}
        body["metadata"] = {"name": spec["secretName"], "annotations": annotations}
        self.api.create(namespaced("v1", "secrets", metadata["namespace"]), body, MANAGER)

    def _issuer_ready(self, certificate: Object) -> bool:
        reference = certificate["spec"]["issuerRef"]
        if reference.get("kind") == "ClusterIssuer":
            issuer = self.world.clusterissuers.find("", reference["name"])
        else:
            issuer = self.world.issuers.find(certificate["metadata"]["namespace"], reference["name"])
        return issuer is not None and condition(issuer, "Ready") == "True"

    def _ready(self, plural: str, item: Object, ready: bool, reason: str, message: str) -> None:
        metadata = item["metadata"]
        status, namespace = ("True" if ready else "False"), metadata.get("namespace")
        present: Object = next((row for row in item.get("status", {}).get("conditions") or [] if row["type"] == "Ready"), {})
        told = (present.get("status"), present.get("observedGeneration")) == (status, metadata["generation"])
        if told or "deletionTimestamp" in metadata:
            return
        entry = {"type": "Ready", "status": status, "reason": reason, "message": message, "lastTransitionTime": now()}
        entry["observedGeneration"] = metadata["generation"]
        path = f"/apis/{GROUP}/v1/{plural}/{metadata['name']}"
        if namespace:
            path = namespaced(GROUP + "/v1", plural, namespace, metadata["name"])
        try:
            self.api.merge_patch(path + "/status", {"status": {"conditions": [entry]}}, "cert-manager-" + plural)
        except ApiError as error:
            if error.status != 404:
                raise
            self.look_again(RETRY)

    def _webhook_secret(self, namespace: str) -> None:
        """cert-manager's webhook makes its own authority when it starts."""
        if self._issued.get("webhook") == namespace:
            return
        pair = self.world.authority.issue(["cert-manager-webhook"])
        data = {"ca.crt": self.world.authority.bundle, "tls.crt": base64.b64encode(pair.certificate).decode()}
        body: Object = {"apiVersion": "v1", "kind": "Secret", "data": data}
        annotations = {f"{GROUP}/allow-direct-injection": "true"}
        body["metadata"] = {"name": "cert-manager-webhook-ca", "namespace": namespace, "annotations": annotations}
        self.api.create(namespaced("v1", "secrets", namespace), body, "cert-manager-webhook")
        self._issued["webhook"] = namespace
