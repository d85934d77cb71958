# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""CA injection: cert-manager's cainjector, and the programs that inject their own CA."""

from __future__ import annotations

from typing import Any

from .api import ApiError, Object, Watch
from .world import ADMISSION, Duty, condition

FROM_CERTIFICATE = "cert-manager.io/inject-ca-from"
FROM_SECRET = "cert-manager.io/inject-ca-from-secret"
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/"
EVENTING = [f"{group}.knative.dev" for group in ("eventing", "flows", "messaging", "sinks", "sources")]
EXCLUDE = {"key": "webhooks.knative.dev/exclude", "operator": "DoesNotExist"}


class CaBundles(Duty):
    """Fills caBundles; Knative's rules, owner and selectors and Istio's failurePolicy go with it."""

    duty = "ca"

    def watches(self) -> list[Watch]:
        """Targets, sources, and the programs that inject."""
        world = self.world
        return [world.mutating, world.validating, world.certificates, world.slices, world.deployments, world.services]

    def reconcile(self) -> None:
        """Looks at every configuration."""
        for plural, watch in (("mutating", self.world.mutating), ("validating", self.world.validating)):
            for configuration in watch.all():
                name = configuration["metadata"]["name"]
                self._patch(f"{ADMISSION}{plural}webhookconfigurations/{name}", configuration, self._webhooks)

    def _patch(self, path: str, target: Object, changes: Any) -> None:
        operations, manager = changes(target)
        if not operations:
            return
        version = {"op": "test", "path": "/metadata/resourceVersion", "value": target["metadata"]["resourceVersion"]}
        try:
            self.api.json_patch(path, [version, *operations], manager)
        except ApiError as error:
            # somebody else wrote meanwhile: the watch brings the new state
            if error.status not in (404, 409, 422):
                raise
            self.look_again(0.1)

    def _webhooks(self, configuration: Object) -> tuple[list[Object], str]:
        operations: list[Object] = []
        manager = "manager"
        for index, webhook in enumerate(configuration.get("webhooks") or []):
            service = webhook["clientConfig"].get("service")
            if not service:
                continue
            bundle = self._bundle(configuration, service)
            if bundle is None:
                continue
            manager = _manager(configuration, service)
            at = f"/webhooks/{index}"
            if webhook["clientConfig"].get("caBundle") != bundle:
                operations.append({"op": "add", "path": at + "/clientConfig/caBundle", "value": bundle})
            if manager == "webhook":
                operations += _knative(configuration, webhook, at)
            if manager == "pilot-discovery" and webhook.get("failurePolicy") == "Ignore":
                operations.append({"op": "replace", "path": at + "/failurePolicy", "value": "Fail"})
        if manager == "webhook" and operations:
            operations += self._owner(configuration)
        return operations, manager

    def _owner(self, configuration: Object) -> list[Object]:
        """Knative makes its own namespace the owner."""
        namespace = self.world.namespaces.find("", configuration["webhooks"][0]["clientConfig"]["service"]["namespace"])
        if namespace is None or configuration["metadata"].get("ownerReferences"):
            return []
        metadata = namespace["metadata"]
        owner = {"apiVersion": "v1", "kind": "Namespace", "name": metadata["name"], "uid": metadata["uid"]}
        value = [owner | {"controller": True, "blockOwnerDeletion": True}]
        return [{"op": "add", "path": "/metadata/ownerReferences", "value": value}]

    def _bundle(self, target: Object, service: Object | None) -> str | None:
        """What to inject now, None for nothing."""
        source = _source(target)
        if source is None:
            if service is None:
                return None
            thing = f"{service['namespace']}/{service['name']}"
            ready = self.world.endpoints_ready(service["namespace"], service["name"])
            names = [f"ca:{thing}"]
        else:
            kind, reference = source
            ready = self.world.deployed("cert-manager-cainjector") is not None and self._exists(kind, reference)
            thing = target["metadata"]["name"]
            names = [f"ca:{service['namespace']}/{service['name']}"] if service else []
            names.append("ca:cert-manager")
        state = self.state(thing, ready, *names)
        if not state.acts or state.mode in ("deny", "error"):
            return None
        return (self.world.wrong_authority if state.mode == "wrong-ca" else self.world.authority).bundle

    def _exists(self, kind: str, reference: str) -> bool:
        namespace, dummy, name = reference.partition("/")
        if kind == FROM_CERTIFICATE:
            certificate = self.world.certificates.find(namespace, name)
            return certificate is not None and condition(certificate, "Ready") == "True"
        # cert-manager's own webhook makes the Secret when it starts
        return self.world.deployed("cert-manager-webhook", namespace) is not None


class CrdBundles(CaBundles):
    """The same for conversion webhooks: a thread of its own, since the server takes seconds for a large CRD under load."""

    def __init__(self, world: Any) -> None:
        super().__init__(world)
        self._crds: dict[str, str] = {}

    def watches(self) -> list[Watch]:
        """The CRDs, and what the CA to inject depends on."""
        return [self.world.crds, self.world.certificates, self.world.deployments]

    def reconcile(self) -> None:
        """Looks at the CRDs that ask for injection."""
        for item in self.world.crds.all():
            if _source(item) is not None:
                self._crd(item)

    def _crd(self, item: Object) -> None:
        """cert-manager injects into the conversion of a CRD that asks for it; nothing to do where it has none."""
        name, version = item["metadata"]["name"], item["metadata"].get("generation")
        bundle = self._bundle(item, None)
        done = f"{version} {bundle}"
        if bundle is None or self._crds.get(name) == done:
            return
        crd = self.api.get(CRDS + name)
        client = (((crd or {}).get("spec", {}).get("conversion") or {}).get("webhook") or {}).get("clientConfig")
        if crd and client and client.get("caBundle") != bundle:
            operation = {"op": "add", "path": "/spec/conversion/webhook/clientConfig/caBundle", "value": bundle}
            self._patch(CRDS + name, crd, lambda dummy: ([operation], "cert-manager-cainjector"))
            self.look_again(0.2)
        else:
            self._crds[name] = done


def _source(target: Object) -> tuple[str, str] | None:
    annotations = target["metadata"].get("annotations") or {}
    for kind in (FROM_CERTIFICATE, FROM_SECRET):
        if kind in annotations:
            return kind, annotations[kind]
    return None


def _manager(configuration: Object, service: Object) -> str:
    """The field manager under which the real program writes."""
    if _source(configuration) is not None:
        return "cert-manager-cainjector"
    if service["name"].startswith("istiod"):
        return "pilot-discovery"
    if configuration["metadata"]["name"].endswith(".knative.dev"):
        return "webhook"
    return "spark-operator" if service["name"].startswith("spark-operator") else "manager"


def _knative(configuration: Object, webhook: Object, at: str) -> list[Object]:
    """Knative fills rules where the manifest has none, the path, and a namespace selector."""
    name = configuration["metadata"]["name"]
    operations: list[Object] = []
    if name.startswith("config."):
        path, group, resource = "/config-validation", "", "configmaps/*"
    elif name.startswith("validation."):
        path, group, resource = "/resource-validation", "apps", "deployments/*"
    else:
        path, group, resource = "/defaulting", "apps", "deployments/*"
    groups, versions, resources = [group], ["v1"], [resource]
    if name.endswith("webhook.eventing.knative.dev") and not name.startswith("config."):
        groups, versions, resources = EVENTING, ["*"], ["*"]
    # a SinkBinding's webhook gets rules for the kinds that bindings name, and there are no bindings
    if not webhook.get("rules") and not name.startswith("sinkbindings."):
        scope = "Namespaced" if name.startswith("config.") else "*"
        rule = {"apiGroups": groups, "apiVersions": versions, "resources": resources, "operations": ["CREATE", "UPDATE"], "scope": scope}
        operations.append({"op": "add", "path": at + "/rules", "value": [rule]})
    if not webhook["clientConfig"]["service"].get("path"):
        operations.append({"op": "add", "path": at + "/clientConfig/service/path", "value": path})
    selector = webhook.get("namespaceSelector") or {}
    if not name.startswith("config.") and EXCLUDE not in (selector.get("matchExpressions") or []):
        value = selector | {"matchExpressions": [*(selector.get("matchExpressions") or []), EXCLUDE]}
        operations.append({"op": "add", "path": at + "/namespaceSelector", "value": value})
    return operations
