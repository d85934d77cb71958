# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Small objects of each sort that the engine treats in a way of its own, and hypothesis strategies for sets of them."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

from ansible_collections.kubeflow.platform.plugins.module_utils.apply.inputs import Document, resolve
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.model import Item, Part
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.discovery import Resource
from ansible_collections.kubeflow.platform.plugins.module_utils.objects.normalise import digest
from ansible_collections.kubeflow.platform.tests.unit.api_double.kinds import ADMISSION, BUILT_IN, EXTENSIONS, RBAC
from hypothesis import strategies as st

Obj = dict[str, Any]
INFRASTRUCTURE = Part("infra", "infra", "infrastructure", ())
APPLICATIONS = Part("apps", "apps", "applications", ("infra",))
SECRET_VALUE = "c2VjcmV0LWNhbmFyeS0xMjM0NQ=="  # base64 of secret-canary-12345


def thing(kind: str, name: str, namespace: str = "", api: str = "v1", **content: Any) -> Obj:
    """Any object."""
    metadata: Obj = {"name": name, **({"namespace": namespace} if namespace else {})}
    return {"apiVersion": api, "kind": kind, "metadata": metadata, **content}


def config(name: str, namespace: str = "default", **data: str) -> Obj:
    return thing("ConfigMap", name, namespace, data=data or {"a": "1"})


def refusing(how: str, name: str = "bad", namespace: str = "default") -> Obj:
    """An object that the server refuses: schema, invalid, policy, quota or rbac."""
    obj = config(name, namespace)
    obj["metadata"]["annotations"] = {"refuse": how}
    return obj


def deployment(name: str, namespace: str = "default", *, configs: Sequence[str] = (), image: str = "x:1", **more: Any) -> Obj:
    labels = {"app": name}
    env = [{"name": f"E{index}", "valueFrom": {"configMapKeyRef": {"name": row, "key": "a"}}} for index, row in enumerate(configs)]
    containers = [{"name": "main", "image": image, **({"env": env} if env else {})}]
    spec = {"selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels}, "spec": {"containers": containers}}}
    return thing("Deployment", name, namespace, "apps/v1", spec={**spec, **more})


def crd(kind: str, *, namespaced: bool = True, group: str = "example.com") -> Obj:
    plural = kind.lower() + "s"
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    spec = {
        "group": group,
        "names": {"kind": kind, "plural": plural},
        "scope": "Namespaced" if namespaced else "Cluster",
        "versions": [{"name": "v1", "served": True, "storage": True, "schema": schema}],
    }
    return thing("CustomResourceDefinition", f"{plural}.{group}", api=f"{EXTENSIONS}/v1", spec=spec)


def custom(kind: str, name: str, namespace: str = "", group: str = "example.com", **spec: Any) -> Obj:
    return thing(kind, name, namespace, f"{group}/v1", spec=spec or {"size": 1})


def aggregated_role(name: str) -> Obj:
    rule = {"clusterRoleSelectors": [{"matchLabels": {"to": name}}]}
    return thing("ClusterRole", name, api=f"{RBAC}/v1", aggregationRule=rule, rules=[])


def webhook(
    name: str, resources: Sequence[str], *, group: str = "example.com", namespace: str = "default", policy: str = "Fail"
) -> list[Obj]:
    """A webhook configuration, its Service and the Deployment behind it."""
    entry = {
        "name": f"{name}.example.com",
        "failurePolicy": policy,
        "rules": [{"apiGroups": [group], "apiVersions": ["*"], "resources": list(resources), "operations": ["CREATE", "UPDATE"]}],
        "clientConfig": {"service": {"namespace": namespace, "name": name, "path": "/"}},
        "objectSelector": {"matchExpressions": [{"key": "unguarded", "operator": "DoesNotExist"}]},
    }
    return [
        thing("MutatingWebhookConfiguration", name, api=f"{ADMISSION}/v1", webhooks=[entry]),
        thing("Service", name, namespace, spec={"selector": {"app": name}, "ports": [{"port": 443, "protocol": "TCP"}]}),
        deployment(name, namespace),
    ]


def documents(*objects: Obj, part: Part = INFRASTRUCTURE) -> list[Document]:
    """The objects as a render gives them."""
    return [Document(part, number, copy.deepcopy(obj), digest(obj)) for number, obj in enumerate(objects, 1)]


NAMES = st.sampled_from(["a", "b", "c"])
REFUSALS = ("schema", "invalid", "policy", "quota", "rbac")


@st.composite
def sets(draw: st.DrawFn, *, refusals: Sequence[str] = ()) -> list[Document]:
    """A random set in random order: always applicable, but for objects that ask to be refused."""
    found: list[Obj] = []
    spaces = draw(st.lists(st.sampled_from(["one", "two"]), unique=True, max_size=2))
    found += [thing("Namespace", name) for name in spaces]
    where = st.sampled_from(["default", *spaces])
    found += [config(f"config-{name}", draw(where), a=draw(NAMES)) for name in draw(st.lists(NAMES, unique=True))]
    found += [
        thing("Secret", f"secret-{name}", draw(where), data={"password": SECRET_VALUE})
        for name in draw(st.lists(NAMES, unique=True, max_size=1))
    ]
    found += [aggregated_role(f"role-{name}") for name in draw(st.lists(NAMES, unique=True, max_size=2))]
    kinds = draw(st.lists(st.sampled_from(["Widget", "Gadget"]), unique=True))
    for kind in kinds:
        namespaced = kind == "Widget"
        found.append(crd(kind, namespaced=namespaced))
        for name in draw(st.lists(NAMES, unique=True)):
            stray = draw(st.sampled_from(["", "default"]))  # some renders put a namespace on cluster-scoped objects
            found.append(custom(kind, name, draw(where) if namespaced else stray))
    if kinds and draw(st.booleans()):
        found += webhook("guard", [f"{kinds[0].lower()}s"], namespace=draw(where))
    for name in draw(st.lists(NAMES, unique=True, max_size=2)):
        found.append(deployment(f"app-{name}", draw(where), configs=[f"config-{draw(NAMES)}"]))
    if draw(st.booleans()):
        found += [
            crd("Profile", namespaced=False, group="kubeflow.org"),
            custom("Profile", "team", group="kubeflow.org"),
            config("t", "team"),
        ]
    if draw(st.booleans()):
        found.append(thing("NetworkPolicy", "open", draw(where), "networking.k8s.io/v1", spec={"podSelector": {}, "ingress": []}))
    if refusals:
        how = st.sampled_from(refusals)
        found += [refusing(draw(how), f"bad-{name}", draw(where)) for name in draw(st.lists(NAMES, unique=True, max_size=2))]
    order = draw(st.permutations(range(len(found))))
    return documents(*(found[index] for index in order))


def items(*objects: Obj | Document) -> list[Item]:
    """The objects resolved against a cluster that serves the kinds of the double."""
    rows = [row if isinstance(row, Document) else documents(row)[0] for row in objects]
    return resolve(rows, served, "kubeflow")


def served(group: str, version: str, kind: str) -> Resource | None:
    """What discovery says about a kind of the double."""
    return next((row for row in BUILT_IN if (row.group, row.version, row.kind) == (group, version, kind)), None)
