# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Programs that make their own serving certificates: they fill the Secrets that the manifests ship empty."""

from __future__ import annotations

import base64

from .api import ApiError, Object, Watch
from .world import Duty, namespaced

# Service -> (Secret, field manager, names of the CA, certificate and key in it, whether the program makes the Secret itself)
CERT_CONTROLLER = ("ca.crt", "tls.crt", "tls.key")
KNATIVE = ("ca-cert.pem", "server-cert.pem", "server-key.pem")
SECRETS = {
    ("knative-serving", "webhook"): ("webhook-certs", "webhook", KNATIVE, False),
    ("knative-serving", "net-istio-webhook"): ("net-istio-webhook-certs", "webhook", KNATIVE, False),
    ("knative-eventing", "eventing-webhook"): ("eventing-webhook-certs", "webhook", KNATIVE, False),
    ("kubeflow-system", "jobset-webhook-service"): ("jobset-webhook-server-cert", "manager", CERT_CONTROLLER, False),
    ("kubeflow-system", "kubeflow-trainer-controller-manager"): ("kubeflow-trainer-webhook-cert", "manager", CERT_CONTROLLER, False),
    ("kubeflow", "training-operator"): ("training-operator-webhook-cert", "training-operator", CERT_CONTROLLER, False),
    ("kubeflow", "spark-operator-webhook-svc"): ("spark-operator-webhook-certs", "spark-operator", CERT_CONTROLLER, True),
}


class Rotators(Duty):
    """Each works while its own Service has a ready endpoint."""

    duty = "rotators"
    group = "ca"

    def watches(self) -> list[Watch]:
        """Endpoints, and the Secrets' metadata."""
        return [self.world.slices, self.world.secrets]

    def reconcile(self) -> None:
        """Looks at each Secret that changed since it was last seen filled."""
        for (namespace, service), (secret, manager, keys, makes) in SECRETS.items():
            ready = self.world.endpoints_ready(namespace, service)
            if not ready or not self.state(f"{namespace}/{service}", ready, f"ca:{namespace}/{service}").acts:
                continue
            found = self.world.secrets.find(namespace, secret)
            if found is not None or makes:
                self._fill(namespace, secret, manager, keys, found)

    def _fill(self, namespace: str, secret: str, manager: str, keys: tuple[str, str, str], found: Object | None) -> None:
        version = "" if found is None else found["metadata"]["resourceVersion"]
        if self._seen.get((namespace, secret)) == version:
            return
        path = namespaced("v1", "secrets", namespace, secret)
        live = self.api.get(path)
        if live is None or not (live.get("data") or {}).get(keys[0]):
            pair = self.world.authority.issue([secret])
            values = (self.world.authority.pem, pair.certificate, pair.key)
            data = {key: base64.b64encode(value).decode() for key, value in zip(keys, values, strict=True)}
            if live is None:
                body = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": secret}, "data": data}
                self.api.create(namespaced("v1", "secrets", namespace), body, manager)
            else:
                try:
                    self.api.merge_patch(path, {"data": data}, manager)
                except ApiError as error:
                    if error.status != 404:
                        raise
        self._seen[namespace, secret] = version

    def __init__(self, world: object) -> None:
        super().__init__(world)  # type: ignore[arg-type]
        self._seen: dict[tuple[str, str], str] = {}
