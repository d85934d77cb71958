# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The profile controller: Namespace, policy, accounts and bindings of a Profile; it adopts only what its owner marked."""

from __future__ import annotations

from typing import Any

import yaml

from .api import ApiError, Object, Watch
from .world import RETRY, Duty, namespaced

MANAGER = "manager"
FINALIZER = "profile-finalizer"
RBAC = "rbac.authorization.k8s.io"
POLL_LABELS = 3.0


class Profiles(Duty):
    """Works while the Deployment profiles-deployment is available; each Profile is looked at on its own events only."""

    duty = "profiles"

    def __init__(self, world: Any) -> None:
        super().__init__(world)
        self._done: dict[str, object] = {}

    def watches(self) -> list[Watch]:
        """Profiles, what they own, and the controller itself."""
        world = self.world
        return [world.profiles, world.namespaces, world.deployments, *world.owned_by_profiles]

    def reconcile(self) -> None:
        """Profiles that changed, or of which an owned object changed."""
        controller = self.world.deployed("profiles-deployment")
        state = self.state("profiles", controller is not None)
        profiles = self.world.profiles.all()
        if controller is None or not state.acts or state.mode in ("deny", "error", "wrong-ca") or not profiles:
            self._done.clear()
            return
        configuration = self._configuration(controller)
        self.look_again(POLL_LABELS)
        owned = self._owned()
        for profile in profiles:
            name = profile["metadata"]["name"]
            seen = (profile["metadata"]["resourceVersion"], tuple(sorted(owned.get(profile["metadata"]["uid"], ()))), configuration)
            if self._done.get(name) != seen:
                try:
                    if self._profile(profile, configuration):
                        self._done[name] = seen
                except ApiError as error:
                    self.tell(f"Profile {name}: {error}")
                    self.look_again(RETRY)

    def _owned(self) -> dict[str, list[str]]:
        """What each Profile owns, by its uid, as far as the real controller would notice a change."""
        found: dict[str, list[str]] = {}
        for watch in [self.world.namespaces, *self.world.owned_by_profiles]:
            for item in watch.all():
                metadata = item["metadata"]
                for owner in metadata.get("ownerReferences") or []:
                    found.setdefault(owner["uid"], []).append(metadata["uid"] + metadata["resourceVersion"])
        return found

    def _configuration(self, controller: Object) -> tuple[str, str]:
        """Labels file and settings, from the ConfigMaps that the Deployment names (their names carry hashes)."""
        namespace, pod = controller["metadata"]["namespace"], controller["spec"]["template"]["spec"]
        names = {volume["configMap"]["name"] for volume in pod.get("volumes") or [] if "configMap" in volume}
        for container in pod["containers"]:
            names |= {source["configMapRef"]["name"] for source in container.get("envFrom") or [] if "configMapRef" in source}
        labels = "{}"
        settings: dict[str, str] = {}
        for name in sorted(names):
            data = (self.api.get(namespaced("v1", "configmaps", namespace, name)) or {}).get("data") or {}
            labels = data.get("namespace-labels.yaml", labels)
            settings |= data if "USERID_HEADER" in data else {}
        return labels, yaml.safe_dump(settings)

    def _profile(self, profile: Object, configuration: tuple[str, str]) -> bool:
        """False asks for another try without an event."""
        metadata, owner = profile["metadata"], profile["spec"].get("owner") or {}
        name = metadata["name"]
        namespace = self.world.namespaces.find("", name) and self.api.get(f"/api/v1/namespaces/{name}")
        if "deletionTimestamp" in metadata:
            return self._finalize(profile, namespace, owner)
        labels = yaml.safe_load(configuration[0]) or {}
        if namespace is None:
            kept = {key: value for key, value in labels.items() if value}
            body: Object = {"apiVersion": "v1", "kind": "Namespace"}
            body["metadata"] = self._metadata(name, profile) | {
                "annotations": {"owner": owner.get("name", "")},
                "labels": kept | {"istio-injection": "enabled"},
            }
            if not self.api.create("/api/v1/namespaces", body, MANAGER):
                self.look_again(0.05)
                return False
        elif (namespace["metadata"].get("annotations") or {}).get("owner") != owner.get("name"):
            self.tell(f"Profile {name}: namespace belongs to somebody else, nothing is made")
            return True
        else:
            self._labels(namespace, labels)
        self._objects(profile, owner, yaml.safe_load(configuration[1]) or {})
        if FINALIZER not in (metadata.get("finalizers") or []):
            finalizers = [*(metadata.get("finalizers") or []), FINALIZER]
            self.api.merge_patch(f"/apis/kubeflow.org/v1/profiles/{name}", {"metadata": {"finalizers": finalizers}}, MANAGER)
        return True

    def _labels(self, namespace: Object, labels: dict[str, str]) -> None:
        """Adds what is missing, never overwrites; an empty value removes."""
        live = namespace["metadata"].get("labels") or {}
        change = {key: value or None for key, value in labels.items() if (key not in live if value else key in live)}
        if change:
            self.api.merge_patch(f"/api/v1/namespaces/{namespace['metadata']['name']}", {"metadata": {"labels": change}}, MANAGER)

    def _finalize(self, profile: Object, namespace: Object | None, owner: Object) -> bool:
        metadata = profile["metadata"]
        if FINALIZER not in (metadata.get("finalizers") or []):
            return True
        if namespace is not None and (namespace["metadata"].get("annotations") or {}).get("owner") != owner.get("name"):
            self.tell(f"Profile {metadata['name']}: the owner annotation does not match, the finalizer stays")
            # mending the annotation releases it, although no event of the Profile tells
            self.look_again(1.0)
            return False
        finalizers = [entry for entry in metadata["finalizers"] if entry != FINALIZER]
        self.api.merge_patch(f"/apis/kubeflow.org/v1/profiles/{metadata['name']}", {"metadata": {"finalizers": finalizers}}, MANAGER)
        return True

    def _objects(self, profile: Object, owner: Object, settings: dict[str, str]) -> None:
        name = profile["metadata"]["name"]
        self._ensure("security.istio.io/v1", "AuthorizationPolicy", "authorizationpolicies", profile, policy(name, owner, settings))
        for account, role in (("default-editor", "kubeflow-edit"), ("default-viewer", "kubeflow-view")):
            self._ensure("v1", "ServiceAccount", "serviceaccounts", profile, {"metadata": {"name": account}})
            subject = {"kind": "ServiceAccount", "name": account, "namespace": name}
            self._ensure(RBAC + "/v1", "RoleBinding", "rolebindings", profile, binding(account, role, subject))
        admin = binding("namespaceAdmin", "kubeflow-admin", owner)
        admin["metadata"]["annotations"] = {"user": owner.get("name", ""), "role": "admin"}
        self._ensure(RBAC + "/v1", "RoleBinding", "rolebindings", profile, admin)
        quota = profile["spec"].get("resourceQuotaSpec") or {}
        if quota.get("hard"):
            body = {"metadata": {"name": "kf-resource-quota"}, "spec": quota}
            self._ensure("v1", "ResourceQuota", "resourcequotas", profile, body)
        elif self.api.get(namespaced("v1", "resourcequotas", name, "kf-resource-quota")) is not None:
            self.api.request("DELETE", namespaced("v1", "resourcequotas", name, "kf-resource-quota"))

    def _ensure(self, version: str, kind: str, plural: str, profile: Object, body: Object) -> None:
        """Creates, or corrects what differs; annotations of an existing object stay, as with the real controller."""
        namespace, name = profile["metadata"]["name"], body["metadata"]["name"]
        path = namespaced(version, plural, namespace, name)
        live = self.api.get(path)
        if live is None:
            full = body | {"apiVersion": version, "kind": kind, "metadata": self._metadata(name, profile) | body["metadata"]}
            self.api.create(namespaced(version, plural, namespace), full, MANAGER)
            return
        change = {key: value for key, value in body.items() if key != "metadata" and live.get(key) != value}
        if change:
            self.api.merge_patch(path, change, MANAGER)

    def _metadata(self, name: str, profile: Object) -> Object:
        metadata = profile["metadata"]
        owner = {"apiVersion": "kubeflow.org/v1", "kind": "Profile", "name": metadata["name"], "uid": metadata["uid"]}
        return {"name": name, "ownerReferences": [owner | {"controller": True, "blockOwnerDeletion": True}]}


def binding(name: str, role: str, subject: Object) -> Object:
    """A RoleBinding of one subject."""
    full = dict(subject)
    if full.get("kind") in ("User", "Group"):
        full.setdefault("apiGroup", RBAC)
    return {"metadata": {"name": name}, "roleRef": {"apiGroup": RBAC, "kind": "ClusterRole", "name": role}, "subjects": [full]}


def policy(namespace: str, owner: Object, settings: dict[str, str]) -> Object:
    """The AuthorizationPolicy of the owner."""
    principals = [settings.get("ISTIO_INGRESS_GATEWAY_PRINCIPAL", ""), settings.get("KFP_UI_PRINCIPAL", "")]
    header = f"request.headers[{settings.get('USERID_HEADER', 'kubeflow-userid')}]"
    kernels = {"operation": {"methods": ["GET"], "paths": ["*/api/kernels"]}}
    rules: list[Object] = [
        {
            "from": [{"source": {"principals": [entry for entry in principals if entry]}}],
            "when": [{"key": header, "values": [settings.get("USERID_PREFIX", "") + owner.get("name", "")]}],
        },
        {"when": [{"key": "source.namespace", "values": [namespace]}]},
        {"to": [{"operation": {"paths": ["/healthz", "/metrics", "/wait-for-drain"]}}]},
    ]
    if settings.get("NOTEBOOK_CONTROLLER_PRINCIPAL"):
        rules.append({"from": [{"source": {"principals": [settings["NOTEBOOK_CONTROLLER_PRINCIPAL"]]}}], "to": [kernels]})
    annotations = {"user": owner.get("name", ""), "role": "admin"}
    return {"metadata": {"name": "ns-owner-access-istio", "annotations": annotations}, "spec": {"rules": rules}}
