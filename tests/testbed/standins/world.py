# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the duties share: the watched kinds, the authorities, the faults; and the base of a duty."""

from __future__ import annotations

import sys
import threading
import time
from pathlib import Path

from .api import Api, Object, Watch
from .authority import Authority
from .faults import NEVER, Faults, State

ADMISSION = "/apis/admissionregistration.k8s.io/v1/"
RETRY = 0.5


class World:
    """One cluster, seen through watches."""

    def __init__(self, api: Api, directory: Path) -> None:
        self.api, self.directory = api, directory
        self.faults = Faults(directory / "faults.json")
        self.authority = Authority(directory / "standins", "authority")
        self.wrong_authority = Authority(directory / "standins", "wrong-authority")
        self.services = Watch(api, "/api/v1/services")
        self.slices = Watch(api, "/apis/discovery.k8s.io/v1/endpointslices")
        self.deployments = Watch(api, "/apis/apps/v1/deployments")
        self.statefulsets = Watch(api, "/apis/apps/v1/statefulsets")
        self.namespaces = Watch(api, "/api/v1/namespaces")
        self.secrets = Watch(api, "/api/v1/secrets", metadata_only=True)
        self.claims = Watch(api, "/api/v1/persistentvolumeclaims")
        self.volumes = Watch(api, "/api/v1/persistentvolumes")
        self.mutating = Watch(api, ADMISSION + "mutatingwebhookconfigurations")
        self.validating = Watch(api, ADMISSION + "validatingwebhookconfigurations")
        # CRDs are large: only their metadata is watched, and the few that matter are read when they change
        self.crds = Watch(api, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", metadata_only=True)
        self.issuers = self.custom("cert-manager.io/v1", "issuers")
        self.clusterissuers = self.custom("cert-manager.io/v1", "clusterissuers")
        self.certificates = self.custom("cert-manager.io/v1", "certificates")
        self.profiles = self.custom("kubeflow.org/v1", "profiles")
        owned = [
            Watch(api, "/api/v1/serviceaccounts", metadata_only=True, keep=of_profile),
            Watch(api, "/apis/rbac.authorization.k8s.io/v1/rolebindings", metadata_only=True, keep=of_profile),
            self.custom("security.istio.io/v1", "authorizationpolicies", of_profile),
        ]
        self.owned_by_profiles = owned

    def custom(self, version: str, plural: str, keep: object = None) -> Watch:
        """A watch of a custom kind, which asks the server only while its CRD exists."""
        name = f"{plural}.{version.split('/')[0]}"

        def served() -> bool:
            return self.crds.find("", name) is not None

        if keep is of_profile:
            return Watch(self.api, f"/apis/{version}/{plural}", metadata_only=True, keep=of_profile, served=served)
        return Watch(self.api, f"/apis/{version}/{plural}", served=served)

    def start(self) -> None:
        """Starts all watches and the reader of the faults."""
        for value in [*vars(self).values(), *self.owned_by_profiles]:
            if isinstance(value, Watch):
                value.start()
        self.faults.follow()

    def deployed(self, name: str, namespace: str | None = None) -> Object | None:
        """The Deployment or StatefulSet of that name, wherever it is, if a pod of it is available."""
        for workload in self.deployments.all() + self.statefulsets.all():
            metadata = workload["metadata"]
            if metadata["name"] == name and namespace in (None, metadata["namespace"]):
                status = workload.get("status") or {}
                return workload if status.get("availableReplicas") and "deletionTimestamp" not in metadata else None
        return None

    def endpoints_ready(self, namespace: str, service: str) -> bool:
        """Whether a Service has a ready endpoint."""
        for item in self.slices.all():
            metadata = item["metadata"]
            labels = metadata.get("labels") or {}
            if metadata["namespace"] != namespace or labels.get("kubernetes.io/service-name") != service:
                continue
            if any((endpoint.get("conditions") or {}).get("ready") is not False for endpoint in item.get("endpoints") or []):
                return True
        return False


def of_profile(item: Object) -> bool:
    """Whether a Profile owns the object."""
    return any(owner.get("kind") == "Profile" for owner in item["metadata"].get("ownerReferences") or [])


def namespaced(version: str, plural: str, namespace: str, name: str = "") -> str:
    """The path of a collection or an object."""
    root = "/api/" if "/" not in version else "/apis/"
    return f"{root}{version}/namespaces/{namespace}/{plural}" + (f"/{name}" if name else "")


def condition(item: Object, kind: str) -> str:
    """The status of a condition, empty where there is none."""
    for entry in (item.get("status") or {}).get("conditions") or []:
        if entry.get("type") == kind:
            return str(entry.get("status", ""))
    return ""


def now() -> str:
    """The time as the API server writes it."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


class Duty(threading.Thread):
    """A thread that looks at the whole of its duty whenever something it watches changes."""

    duty = "duty"
    group = ""

    def __init__(self, world: World) -> None:
        super().__init__(daemon=True, name=self.duty)
        self.world, self.api = world, world.api
        self._changed = threading.Event()
        self._changed.set()
        self._again = NEVER
        for watch in self.watches():
            watch.listen(self._changed.set)
        world.faults.listen(self._changed.set)

    def watches(self) -> list[Watch]:
        """The watches that wake this duty."""
        raise NotImplementedError

    def reconcile(self) -> None:
        """Looks at everything; safe to repeat."""
        raise NotImplementedError

    def look_again(self, seconds: float) -> None:
        """Asks for another look, although nothing may change until then."""
        self._again = min(self._again, max(seconds, 0.02))

    def state(self, thing: str, ready: bool, *names: str) -> State:
        """How the faults want `thing` to behave; a state that ends by itself asks for another look."""
        found = self.world.faults.state([*names, self.duty, self.group], f"{self.duty} {thing}", ready)
        if found.changes_in < NEVER:
            self.look_again(found.changes_in)
        return found

    def run(self) -> None:
        """Works for ever; an error is told and tried again."""
        while True:
            self._changed.wait(None if self._again == NEVER else self._again)
            self._changed.clear()
            self._again = NEVER
            try:
                self.reconcile()
            except Exception as error:  # a stand-in outlives every fault of the API server
                self.tell(f"{type(error).__name__}: {error}")
                self.look_again(RETRY)
            # changes come in bursts
            time.sleep(0.03)

    def tell(self, text: str) -> None:
        """One line for the log."""
        sys.stderr.write(f"{now()} {self.duty}: {text}\n")
        sys.stderr.flush()
