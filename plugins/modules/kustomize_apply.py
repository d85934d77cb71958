#!/usr/bin/python
# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: kustomize_apply
short_description: Apply kustomizations to a cluster in one bounded, explaining run
version_added: 0.1.0
author:
  - kubeflow.platform contributors (@kubeflow-platform)
description:
  - Renders kustomizations on the controller and applies all their objects with server-side apply, in an order that is derived from the
    objects themselves; each object waits for exactly what it needs, such as its kind, its namespace or a webhook that answers.
  - Waits until everything works, and ends in success or in a list of what failed, why, and what to do.
  - A second run finds everything as desired and writes nothing. A run that was killed is finished by the next one.
  - Objects that this module applied are recorded in the cluster, in the namespace C(kubeflow-platform).
extends_documentation_fragment:
  - kubernetes.core.k8s_auth_options
  - kubeflow.platform.attributes
attributes:
  diff_mode:
    description: Shows for each object what would change; values of Secrets are masked.
options:
  parts:
    description:
      - The kustomizations to apply, in order, as M(kubeflow.platform.kubeflow_plan) gives them.
      - Exactly one of O(parts) and O(path) is required.
    type: list
    elements: dict
    suboptions:
      name:
        description: Name of the part, unique in the call.
        type: str
        required: true
      component:
        description: The component that the part belongs to; without it the part's name.
        type: str
      layer:
        description: Workloads of applications wait until the workloads of the infrastructure that they require are ready.
        type: str
        choices: [infrastructure, applications]
      path:
        description: Folder of the kustomization, absolute or relative to O(distribution), or to the tree of its O(parts[].source).
        type: str
        required: true
      source:
        description:
          - The tree that the part lies in, when it is not O(distribution).
          - It is taken from O(remote_bases) when that is set, else fetched by git.
        type: dict
        suboptions:
          repository:
            description: URL of the git repository.
            type: str
            required: true
          ref:
            description: Branch, tag or commit.
            type: str
            required: true
          path:
            description: Where the tree lies in O(remote_bases).
            type: str
            required: true
      requires:
        description: Names of parts of this call that must be there first.
        type: list
        elements: str
        default: []
      namespace:
        description: Namespace for all objects of the part, as kustomize sets it.
        type: str
      patches:
        description:
          - Patches, as in a kustomization. One that matches nothing is an error.
          - >-
            Those of several parts that have the same C(of), a text that names them in messages, are one patch, which has to match in one
            of the parts.
        type: list
        elements: dict
        default: []
      images:
        description:
          - Image replacements, as in a kustomization.
          - Those that have the same C(of) are one; it is an error when no part has a pod with such an image.
        type: list
        elements: dict
        default: []
      components:
        description: Kustomize components to add, relative to O(distribution) or absolute.
        type: list
        elements: str
        default: []
      omit:
        description: Objects to leave out of the render.
        type: list
        elements: dict
        default: []
        suboptions:
          kind:
            description: Kind of the object.
            type: str
            required: true
          name:
            description: Name of the object.
            type: str
            required: true
          namespace:
            description: Namespace of the object; without it any.
            type: str
      needed_by:
        description:
          - The part of this call that needs this one. It is then not applied; its objects must be in the cluster, else the run ends
            before anything is written. ConfigMaps and Secrets whose names end in a hash of their content are not looked for.
        type: str
      because:
        description: Why it is needed, for messages.
        type: str
  path:
    description: One kustomization to apply. Requires O(set).
    type: path
  distribution:
    description: Folder that relative paths of O(parts) start from.
    type: path
  release:
    description: What is known of the release that is applied.
    type: dict
    suboptions:
      name:
        description: Version of the release.
        type: str
      kustomize:
        description: Versions of kustomize that render the release rightly, C(min) and C(max), each an inclusive prefix.
        type: dict
      kubernetes:
        description: Versions of Kubernetes that the release was tested with, C(min) and C(max), each an inclusive prefix.
        type: dict
      quirks:
        description: Fields of single objects, or whole objects, that are dropped after rendering.
        type: list
        elements: dict
      remote_bases:
        description: What the kustomizations of the release fetch from the network, for messages.
        type: list
        elements: dict
      source:
        description: Where the release comes from, for messages.
        type: dict
  set:
    description:
      - Name of the set that the objects belong to. One set has one ledger and one Lease; objects of another set are refused.
      - The default is C(kubeflow) with O(parts); required with O(path).
    type: str
  scope:
    description:
      - Components that this call is about; empty means all. Nothing outside the scope is pruned.
      - A name that neither a part nor O(removed) has is refused.
    type: list
    elements: str
    default: []
  removed:
    description: Components that were taken out on purpose; only their objects may be pruned as a whole.
    type: list
    elements: str
    default: []
  state:
    description: The objects are to be there.
    type: str
    choices: [present]
    default: present
  prune:
    description:
      - What to do with recorded objects that are no longer desired.
      - CustomResourceDefinitions, Namespaces, claims, Profiles and other objects that hold users' data are never pruned, nor is what owns
        such an object, since the cluster would delete that too.
    type: str
    choices: [report, delete]
    default: report
  recreate:
    description: Kinds that may be deleted and created anew when the live object cannot become the desired one. Without it such an object
      ends the run before anything of the set is written. What O(prune) keeps for its data is never recreated either.
    type: list
    elements: str
    default: []
  adopt:
    description:
      - Whether live objects that this collection did not make may be taken over. They are reported, whoever made them, but for those
        that the cluster or a controller made.
      - An object that others make while the run is under way fails; the rest of the set goes on.
    type: str
    choices: [report, allow]
    default: report
  on_failure:
    description: Whether objects that do not depend on a failed one are still applied.
    type: str
    choices: [continue, stop]
    default: continue
  wait:
    description: Wait until every object works and every fail-closed webhook answers.
    type: bool
    default: true
  ready:
    description:
      - When objects of a kind are ready, where the engine cannot know or should be told otherwise.
      - >-
        Each entry has C(kind), C(group) (of the API, without the version; nothing for core kinds), C(expression) and C(message), and where
        only some objects are meant C(namespace), C(name) or C(selector) (such as C(app=x)).
      - >-
        The expression is JMESPath over the object. It gives true, or a text that says why the object is not ready yet; whatever else
        it gives means not yet, for the reason in C(message). The values of Secrets are hidden from it.
      - >-
        It takes the place of what the engine knows of the kind; with C(alone=false) both must hold. C(component) says who wants it.
    type: list
    elements: dict
    default: []
  checks:
    description:
      - >-
        What must be true of live objects, whoever made them, when everything else is ready. Entries have the keys of O(ready), but for
        C(alone); C(at_least) says how many such objects there must be (one, if it is not given).
      - >-
        An expression is asked for each object again and again, until it holds or nothing has moved for O(no_progress_timeout) seconds;
        then the run fails.
      - Left out when O(wait=false) or something failed before, and for a C(component) that is not in O(scope). In check mode expressions
        are only read.
    type: list
    elements: dict
    default: []
  credentials:
    description:
      - Secrets that the distribution ships with values which everybody can read, and what to do about them. Without it they are applied
        like any other object.
      - A listed key whose rendered value is one of those that are shipped is taken out and ensured instead. What is live is kept, whoever
        wrote it; what is absent is made once, on the host. No value is rendered, cached, recorded or returned.
      - A database that has to be told its password when it starts is told it, unless it runs without one already.
    type: dict
    suboptions:
      mode:
        description:
          - V(generate) makes a random value for what is absent, V(given) takes all of them from O(credentials.given).
          - V(demo) uses those that are shipped.
        type: str
        choices: [generate, given, demo]
        required: true
      secrets:
        description: The Secrets, as M(kubeflow.platform.kubeflow_plan) returns them.
        type: list
        elements: dict
        default: []
        suboptions:
          namespace:
            description: The namespace of the Secret.
            type: str
            required: true
          name:
            description: The name of the Secret, without a content hash at its end.
            type: str
            required: true
          component:
            description: The component that it belongs to.
            type: str
          purpose:
            description: What it is for.
            type: str
          keys:
            description: All keys that tell how to log in, user names among them.
            type: list
            elements: str
            default: []
          readers:
            description: Kind and name of the workloads that read it.
            type: list
            elements: str
            default: []
          values:
            description: The keys that must not keep a value that is shipped.
            type: list
            elements: dict
            default: []
            suboptions:
              key:
                description: The key.
                type: str
                required: true
              make:
                description:
                  - How to make a value.
                  - V(hex) is 40 hexadecimal digits, V(cookie) what oauth2-proxy takes for its cookies, V(none) an empty value.
                  - V(bcrypt) is the hash of the first user's password, which is kept in the Secret C(kubeflow-platform/initial-user).
                type: str
                choices: [hex, cookie, bcrypt, none]
                required: true
              shipped:
                description: The first 16 digits of the SHA-256 of each value that is shipped.
                type: list
                elements: str
                default: []
              same:
                description: A name for a value that keys of several Secrets have to share.
                type: str
              workload:
                description: A Deployment in the same namespace that is started with O(credentials.secrets[].values[].starts).
                type: str
              starts:
                description: An environment variable for the first container of O(credentials.secrets[].values[].workload).
                type: str
      given:
        description:
          - Values for what is absent, by C(NAMESPACE/NAME) of the Secret and then by key. They are never written over a live value.
          - For V(bcrypt) a password or a ready hash, as M(kubeflow.platform.dex_static_password) takes them.
          - Every value needs at least 8 characters.
        type: dict
  run_timeout:
    description: Seconds after which the run ends, whatever is left.
    type: int
    default: 1800
  no_progress_timeout:
    description: Seconds without any progress after which the run ends.
    type: int
    default: 600
  lease_timeout:
    description: Seconds to wait for another run of the same set to end.
    type: int
    default: 30
  workers:
    description: Requests under way at once. Take 16 for a cluster that is far away.
    type: int
    default: 8
  takeover:
    description: Field managers, beside the known tools that people run, whose values are overruled.
    type: list
    elements: str
    default: []
  backup_dir:
    description: Folder on the host that live objects are stored in before they are recreated; made with mode 0700.
    type: path
  allow_remote:
    description: Remote references that kustomize may fetch, by prefix. All others must be vendored.
    type: list
    elements: str
    default: []
  remote_bases:
    description: Folder or archive with the content of remote references.
    type: path
  kustomize_path:
    description: Path of kustomize, or of a kubectl whose kustomize is new enough. Without it both are looked for on the controller.
    type: path
  validate:
    description: Validate the objects on the controller first, with kubernetes-validate and the CustomResourceDefinitions of the render.
    type: bool
    default: false
  work_dir:
    description: Folder on the controller for the cache of renders.
    type: path
  allow_untested_kubernetes:
    description: Go on although the cluster is outside the release's range of Kubernetes versions.
    type: bool
    default: false
  parts_file:
    description: The rendered parts; set by the action plugin of the same name.
    type: path
  progress_file:
    description: Where progress is told, as JSON lines; set by the action plugin of the same name.
    type: path
requirements:
  - python >= 3.11
  - kubernetes >= 31
  - jmespath, for O(ready) and O(checks)
  - bcrypt, for O(credentials)
  - kustomize on the controller
seealso:
  - module: kubeflow.platform.kubeflow_plan
"""

EXAMPLES = r"""
- name: Apply one kustomization
  kubeflow.platform.kustomize_apply:
    path: /srv/manifests/monitoring
    set: monitoring

- name: See what would change, without changing anything
  kubeflow.platform.kustomize_apply:
    path: /srv/manifests/monitoring
    set: monitoring
  check_mode: true
  diff: true

- name: Apply it, and wait until the alert manager has a peer
  kubeflow.platform.kustomize_apply:
    path: /srv/manifests/monitoring
    set: monitoring
    ready:
      - kind: Prometheus
        group: monitoring.coreos.com
        expression: status.conditions[?type=='Available'].status | [0] == 'True'
        message: it is not available
    checks:
      - kind: Pod
        namespace: monitoring
        selector: app=alertmanager
        at_least: 2
        expression: status.phase == 'Running'
        message: it does not run
"""

RETURN = r"""
counts:
  description: How many objects had each action.
  returned: always
  type: dict
  sample: {create: 3, unchanged: 724}
components:
  description: For each component how many objects it has and, after a run that waited, how many workloads and how many of these are ready.
  returned: always
  type: dict
  sample: {katib: {objects: 30, workloads: 4, ready: 4}}
actions:
  description: What was done, or in check mode would be done, to each object that is not unchanged, in order.
  returned: always
  type: list
  elements: dict
waited:
  description: What the run waited for, for how many seconds, and why; longest first.
  returned: always
  type: list
  elements: dict
slowest:
  description: The objects that took longest.
  returned: always
  type: list
  elements: dict
findings:
  description: What is worth knowing and needs no action, such as parts of our objects that somebody else added.
  returned: always
  type: list
  elements: str
checks:
  description: What came of each of O(checks), the state being C(passed), C(failed) or C(not made), and how many objects it was about.
  returned: always
  type: list
  elements: dict
credentials:
  description: Each key of O(credentials) with its Secret and its state.
  returned: always
  type: list
  elements: dict
  contains:
    namespace:
      description: Of the Secret.
      type: str
    name:
      description: Of the Secret.
      type: str
    key:
      description: The key.
      type: str
    state:
      description:
        - V(made), V(given), that of a live copy (V(shared)) or of the Secret's earlier name (V(carried)); in check mode they would be.
        - V(kept) is a value that was there already, V(default) one that everybody can read upstream.
      type: str
    purpose:
      description: What it is for.
      type: str
first_user:
  description: Namespace and name of the Secret with the password of the first user, empty where there is none.
  returned: always
  type: str
failed_objects:
  description: Each object that is not as desired, with the class of the failure, the reason, and what to do.
  returned: always
  type: list
  elements: dict
missing_permissions:
  description: One ClusterRole, or Role where one namespace is concerned, with everything that was forbidden.
  returned: when the API server refused for lack of permission
  type: dict
timeline:
  description: Seconds from the start to the end of each stage.
  returned: always
  type: dict
requests:
  description: How many requests were sent, by kind.
  returned: always
  type: dict
"""

import json
import os
import random
import socket
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.inputs import read_parts
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.model import EngineError
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.observe import Forbidden
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.result import Report, summary
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.run import Run, Tools
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.settings import Settings, faults
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.connection import from_params
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.discovery import Discovery
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.errors import ClusterError
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.rbac import missing_permissions
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.requests import Client
from ansible_collections.kubeflow.platform.plugins.module_utils.objects.redaction import Redactor
from ansible_collections.kubernetes.core.plugins.module_utils.args_common import AUTH_ARG_SPEC


def strings() -> dict[str, Any]:
    return {"type": "list", "elements": "str", "default": []}


def dicts() -> dict[str, Any]:
    return {"type": "list", "elements": "dict", "default": []}


def part_spec() -> dict[str, Any]:
    return {
        "name": {"type": "str", "required": True},
        "component": {"type": "str"},
        "layer": {"type": "str", "choices": ["infrastructure", "applications"]},
        "path": {"type": "str", "required": True},
        "source": {"type": "dict", "options": {name: {"type": "str", "required": True} for name in ("repository", "ref", "path")}},
        "requires": strings(),
        "namespace": {"type": "str"},
        "patches": dicts(),
        "images": dicts(),
        "components": strings(),
        "omit": {
            **dicts(),
            "options": {"kind": {"type": "str", "required": True}, "name": {"type": "str", "required": True}, "namespace": {"type": "str"}},
        },
        "needed_by": {"type": "str"},
        "because": {"type": "str"},
    }


def credentials_spec() -> dict[str, Any]:
    texts = {name: {"type": "str", "required": True} for name in ("namespace", "name")}
    value = {
        "key": {"type": "str", "required": True, "no_log": False},
        "make": {"type": "str", "required": True, "choices": ["hex", "cookie", "bcrypt", "none"]},
        "shipped": strings(),
        **{name: {"type": "str"} for name in ("same", "workload", "starts")},
    }
    secret = {
        **texts,
        **{name: {"type": "str"} for name in ("component", "purpose")},
        "keys": {**strings(), "no_log": False},
        "readers": strings(),
        "values": {**dicts(), "options": value},
    }
    return {
        "mode": {"type": "str", "required": True, "choices": ["generate", "given", "demo"]},
        "secrets": {**dicts(), "options": secret, "no_log": False},
        "given": {"type": "dict", "no_log": True},
    }


def release_spec() -> dict[str, Any]:
    return {
        "name": {"type": "str"},
        "kustomize": {"type": "dict"},
        "kubernetes": {"type": "dict"},
        "quirks": {"type": "list", "elements": "dict"},
        "remote_bases": {"type": "list", "elements": "dict"},
        "source": {"type": "dict"},
    }


def argument_spec() -> dict[str, Any]:
    return {
        **AUTH_ARG_SPEC,
        "parts": {"type": "list", "elements": "dict", "options": part_spec()},
        "path": {"type": "path"},
        "distribution": {"type": "path"},
        "release": {"type": "dict", "options": release_spec()},
        "set": {"type": "str"},
        "scope": strings(),
        "removed": strings(),
        "state": {"type": "str", "choices": ["present"], "default": "present"},
        "prune": {"type": "str", "choices": ["report", "delete"], "default": "report"},
        "recreate": strings(),
        "adopt": {"type": "str", "choices": ["report", "allow"], "default": "report"},
        "on_failure": {"type": "str", "choices": ["continue", "stop"], "default": "continue"},
        "wait": {"type": "bool", "default": True},
        # Their keys are checked with their expressions: no key of a spec may be called message.
        "ready": dicts(),
        "checks": dicts(),
        "credentials": {"type": "dict", "options": credentials_spec(), "no_log": False},
        "run_timeout": {"type": "int", "default": 1800},
        "no_progress_timeout": {"type": "int", "default": 600},
        "lease_timeout": {"type": "int", "default": 30},
        "workers": {"type": "int", "default": 8},
        "takeover": strings(),
        "backup_dir": {"type": "path"},
        "allow_remote": strings(),
        "remote_bases": {"type": "path"},
        "kustomize_path": {"type": "path"},
        "validate": {"type": "bool", "default": False},
        "work_dir": {"type": "path"},
        "allow_untested_kubernetes": {"type": "bool", "default": False},
        "parts_file": {"type": "path"},
        "progress_file": {"type": "path"},
    }


class Progress:
    """Tells the action plugin what happens, one JSON line at a time; seconds count from the module's start."""

    def __init__(self, path: str | None, redactor: Redactor) -> None:
        self._begun = time.monotonic()
        self._path = path
        self._redactor = redactor

    def say(self, text: str) -> None:
        if self._path is not None:
            line = json.dumps({"t": round(time.monotonic() - self._begun, 1), "text": self._redactor.text(text)})
            # The action plugin made the file with mode 0600; it is only appended to here.
            with open(self._path, "a", encoding="utf-8") as stream:
                stream.write(line + "\n")


class Interrupted(Exception):
    """A run that could not begin or go on; ``report`` holds what it did until then."""

    def __init__(self, error: Exception, report: Report) -> None:
        super().__init__(str(error))
        self.error = error
        self.report = report


def run(params: dict[str, Any], settings: Settings, redactor: Redactor) -> Report:
    progress = Progress(params["progress_file"], redactor)
    documents, warnings = read_parts(params["parts_file"])
    for document in documents:
        if isinstance(document.content, dict):
            redactor.learn(document.content)
    redactor.learn_values(text for keys in settings.credentials.given.values() for text in keys.values())
    client = Client(from_params(params), "kubeflow.platform", settings.workers)
    run_id = uuid.uuid4().hex[:12]
    holder = f"{socket.gethostname()}/{os.getpid()}/{run_id}"
    with ThreadPoolExecutor(settings.workers) as pool:
        tools = Tools(client, Discovery(client), time, random.random, pool, progress.say, learn=redactor.learn_values)
        engine = Run(settings, tools, holder)
        try:
            return engine.execute(documents, warnings)
        except (EngineError, ClusterError) as error:
            raise Interrupted(error, engine.report) from error


def interrupted(module: AnsibleModule, redactor: Redactor, settings: Settings, end: Interrupted) -> None:
    """Fail with the reason; what was already done is told too, since it is a change."""
    result = end.report.as_result(redactor, diff=settings.diff) if end.report.rows else {}
    for text in result.pop("warnings", ()):
        module.warn(text)
    if isinstance(end.error, Forbidden):
        result.update(missing_permissions(end.error.failures))
    module.fail_json(msg=redactor.text(str(end)), **result)


def main() -> None:
    module = AnsibleModule(argument_spec=argument_spec(), supports_check_mode=True)
    if not module.params["parts_file"]:
        module.fail_json(msg="kustomize_apply renders on the controller: call it as a task, so that its action plugin runs first.")
    wrong = faults(module.params)
    if wrong:
        module.fail_json(msg=f"Failed to read the options: {'; '.join(wrong)}.")
    settings = Settings.from_params(module.params, check=module.check_mode, diff=module._diff)
    redactor = Redactor(())
    try:
        report = run(module.params, settings, redactor)
    except Interrupted as end:
        interrupted(module, redactor, settings, end)
    except (EngineError, ClusterError) as error:
        module.fail_json(msg=redactor.text(str(error)))
    result = report.as_result(redactor, diff=settings.diff)
    for text in result.pop("warnings"):
        module.warn(text)
    if report.failures:
        module.fail_json(msg=redactor.text(summary(report)), **result)
    module.exit_json(**result)


if __name__ == "__main__":
    main()
