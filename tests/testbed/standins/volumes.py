# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A provisioner for the default StorageClass `standard`: a volume once the scheduler chose a node."""

from __future__ import annotations

from .api import ApiError, Object, Watch
from .world import Duty

MANAGER = "testbed-provisioner"
PROVISIONER = "testbed.example/loopback"
CLASS = "standard"
VOLUMES = "/api/v1/persistentvolumes"
CLASSES = "/apis/storage.k8s.io/v1/storageclasses"


class Volumes(Duty):
    """Makes a PersistentVolume per claim, and removes it when it is released; the controller manager binds."""

    duty = "volumes"

    def watches(self) -> list[Watch]:
        """Claims and volumes."""
        return [self.world.claims, self.world.volumes]

    def reconcile(self) -> None:
        """Waits for `WaitForFirstConsumer`: the scheduler's annotation names the node."""
        if not self._class_exists:
            self._make_class()
        state = self.state("volumes", self._class_exists)
        if not state.acts or state.mode in ("deny", "error"):
            return
        for claim in self.world.claims.all():
            annotations = claim["metadata"].get("annotations") or {}
            wanted = claim["spec"].get("storageClassName") == CLASS and "volume.kubernetes.io/selected-node" in annotations
            if wanted and not claim["spec"].get("volumeName") and "deletionTimestamp" not in claim["metadata"]:
                self._provision(claim)
        for volume in self.world.volumes.all():
            annotations = volume["metadata"].get("annotations") or {}
            released = (volume.get("status") or {}).get("phase") == "Released"
            if released and annotations.get("pv.kubernetes.io/provisioned-by") == PROVISIONER:
                self._delete(volume)

    _class_exists = False

    def _make_class(self) -> None:
        body: Object = {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "provisioner": PROVISIONER}
        body["metadata"] = {"name": CLASS, "annotations": {"storageclass.kubernetes.io/is-default-class": "true"}}
        body |= {"volumeBindingMode": "WaitForFirstConsumer", "reclaimPolicy": "Delete"}
        self.api.create(CLASSES, body, MANAGER)
        self._class_exists = True

    def _provision(self, claim: Object) -> None:
        metadata, spec = claim["metadata"], claim["spec"]
        name = "pvc-" + metadata["uid"]
        if self.world.volumes.find("", name) is not None:
            return
        body: Object = {"apiVersion": "v1", "kind": "PersistentVolume"}
        body["metadata"] = {"name": name, "annotations": {"pv.kubernetes.io/provisioned-by": PROVISIONER}}
        reference = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "namespace": metadata["namespace"], "name": metadata["name"]}
        body["spec"] = {
            "accessModes": spec["accessModes"],
            "capacity": {"storage": spec["resources"]["requests"]["storage"]},
            "claimRef": reference | {"uid": metadata["uid"]},
            "hostPath": {"path": f"/var/lib/testbed/{name}", "type": "DirectoryOrCreate"},
            "persistentVolumeReclaimPolicy": "Delete",
            "storageClassName": CLASS,
            "volumeMode": spec.get("volumeMode", "Filesystem"),
        }
        self.api.create(VOLUMES, body, MANAGER)

    def _delete(self, volume: Object) -> None:
        try:
            self.api.request("DELETE", f"{VOLUMES}/{volume['metadata']['name']}")
        except ApiError as error:
            if error.status != 404:
                raise
