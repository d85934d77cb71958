#!/usr/bin/python
# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: profiles
short_description: Keep all Profiles of Kubeflow as they are described
version_added: 0.2.0
author:
  - kubeflow.platform contributors (@kubeflow-platform)
description:
  - Reconciles a list of Profiles in one pass, with one LIST of each kind for all of them.
  - Everything that is wrong with the data is told at once, and nothing is written then.
  - M(kubeflow.platform.profile_info) gives the live Profiles as such a list.
extends_documentation_fragment:
  - kubernetes.core.k8s_auth_options
  - kubeflow.platform.attributes
  - kubeflow.platform.tenants
  - kubeflow.platform.tenants.users
options:
  profiles:
    description: The Profiles. Those that are not named are left alone.
    type: list
    elements: dict
    required: true
    suboptions:
      name:
        description: Name of the Profile and of its namespace.
        type: str
      owner:
        description:
          - Who owns the Profile and may do everything in its namespace, contributors included. Required unless the Profile is to be absent.
          - Another owner than the live one is a hand-over. It includes what the controllers forget, and is verified.
        type: dict
        suboptions:
          name:
            description: Name of the owner; of a user exactly as the identity provider sends it, usually an e-mail address.
            type: str
          kind:
            description:
              - V(User), which is the default, V(Group) or V(ServiceAccount).
              - The gateway lets only a user in. What another owner cannot do is told as a warning.
            type: str
          namespace:
            description: Namespace of a ServiceAccount.
            type: str
      contributors:
        description:
          - Who else works in the namespace. Users are written exactly as KFAM does, so the dashboard shows and removes them.
          - A contributor who is named has exactly the roles given here.
          - Not given means that contributors are not managed.
        type: list
        elements: dict
        suboptions:
          name:
            description: Name of the user or group, exactly as the identity provider sends it.
            type: str
          kind:
            description: V(User), which is the default, or V(Group). A group is not shown in the dashboard, nor let in by the gateway.
            type: str
          role:
            description: V(edit), which is the default, V(view) or V(admin).
            type: str
      quota:
        description: Hard limits of the namespace's ResourceQuota, by resource. An empty mapping removes the quota.
        type: dict
      labels:
        description: Labels of the namespace. Those that are not named stay; V(null) removes one.
        type: dict
      annotations:
        description: Annotations of the namespace. Those that are not named stay; V(null) removes one.
        type: dict
      pod_security:
        description: The Pod Security level that the namespace enforces, V(privileged), V(baseline) or V(restricted).
        type: str
      image_pull_secrets:
        description:
          - Names of pull secrets for the service accounts C(default-editor) and C(default-viewer). The Secrets are not made here.
          - Others on these accounts stay, but for those that an earlier run added.
        type: list
        elements: str
      pod_defaults:
        description:
          - PodDefaults of the namespace. Each is offered in the notebook form.
          - Those that an earlier run made and that are not named any more are removed; an empty mapping removes them all.
        type: dict
        suboptions:
          pip_index:
            description: A package index for pip.
            type: dict
            suboptions:
              url:
                description: URL of the index.
                type: str
              extra_urls:
                description: URLs of further indexes.
                type: list
                elements: str
              trusted_hosts:
                description: Hosts that are trusted without a valid certificate.
                type: list
                elements: str
          ca:
            description: Certificate authorities that programs trust, in place of those of the image.
            type: dict
            suboptions:
              certificate:
                description: PEM text of all certificates to trust.
                type: str
          proxy:
            description: A proxy for HTTP.
            type: dict
            suboptions:
              http:
                description: URL of the proxy for plain HTTP.
                type: str
              https:
                description: URL of the proxy for HTTPS.
                type: str
              no_proxy:
                description: What is reached without the proxy, separated by commas.
                type: str
          own:
            description: PodDefaults of your own.
            type: list
            elements: dict
            suboptions:
              name:
                description: Name of the PodDefault.
                type: str
              spec:
                description: Its specification. The notebook form needs C(selector.matchLabels).
                type: dict
      network_policy:
        description: A NetworkPolicy for all pods of the namespace. An empty mapping removes it.
        type: dict
        suboptions:
          isolated:
            description: Let in only the namespace itself and the platform's namespaces that must reach it.
            type: bool
          allow_from:
            description: Let in only the namespace itself and these ones.
            type: list
            elements: str
          spec:
            description: The whole specification, instead.
            type: dict
      limits:
        description: A LimitRange for containers, so that pods without requests get some. An empty mapping removes it.
        type: dict
        suboptions:
          default:
            description: Limits of containers that state none.
            type: dict
          default_request:
            description: Requests of containers that state none.
            type: dict
          max:
            description: Largest limits.
            type: dict
          min:
            description: Smallest requests.
            type: dict
      adopt:
        description:
          - Make a namespace that exists already the tenant's, with everything in it. Refused where it belongs to another owner.
          - Deleting the Profile later leaves such a namespace.
        type: bool
      state:
        description: V(present), which is the default, or V(absent).
        type: str
      deletion:
        description:
          - V(confirmed) allows to delete. Without it V(absent) fails and lists what would be lost.
        type: str
  defaults:
    description:
      - What holds for every Profile that does not say otherwise, with the same keys as O(profiles). Labels and annotations are joined,
        everything else is replaced.
    type: dict
    default: {}
requirements:
  - python >= 3.11
  - kubernetes >= 31
seealso:
  - module: kubeflow.platform.profile
  - module: kubeflow.platform.profile_info
"""

EXAMPLES = r"""
- name: All teams
  kubeflow.platform.profiles:
    profiles:
      - name: team-a
        owner: {name: alice@example.com}
        contributors:
          - {name: bob@example.com, role: edit}
      - name: team-b
        owner: {name: dave@example.com}
        quota: {cpu: "8"}
    defaults:
      quota: {cpu: "4", memory: 16Gi}
      limits:
        default: {cpu: "1", memory: 2Gi}
    authoritative: true
"""

RETURN = r"""
tenants:
  description: For each Profile its owner, whether it is ready, and what is missing.
  returned: when something was asked of the cluster
  type: list
  elements: dict
actions:
  description: What was done, or in check mode would be done, to each object, in order.
  returned: when something was asked of the cluster
  type: list
  elements: dict
  sample:
    - {action: create, kind: Profile, name: team-a, namespace: "", tenant: team-a}
counts:
  description: How many objects had each action.
  returned: when something was asked of the cluster
  type: dict
  sample: {create: 3}
unnamed_contributors:
  description: For each Profile the contributors that the data does not name and that were left.
  returned: when something was asked of the cluster
  type: dict
  sample: {team-a: ["carol@example.com (edit)"]}
lost:
  description: For each Profile that was or would be deleted, what its namespace holds.
  returned: when something was asked of the cluster
  type: dict
  sample: {team-a: {notebooks: [first]}}
findings:
  description: Everything that is wrong with the data. Nothing was written then.
  returned: when the data is refused
  type: list
  elements: str
failures:
  description: What the cluster refused, and the Profiles that did not get ready, with the reason.
  returned: when something was asked of the cluster
  type: list
  elements: dict
missing_permissions:
  description: One ClusterRole, or Role where one namespace is concerned, with everything that was forbidden.
  returned: when the API server refused for lack of permission
  type: dict
requests:
  description: How many requests were sent, by kind.
  returned: when something was asked of the cluster
  type: dict
"""

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.kubeflow.platform.plugins.module_utils.tenancy.options import run_spec, tenant_spec
from ansible_collections.kubeflow.platform.plugins.module_utils.tenancy.service import execute
from ansible_collections.kubernetes.core.plugins.module_utils.args_common import AUTH_ARG_SPEC


def main() -> None:
    spec = {
        **AUTH_ARG_SPEC,
        "profiles": {"type": "list", "elements": "dict", "required": True, "options": tenant_spec()},
        "defaults": {"type": "dict", "default": {}},
        **run_spec(),
    }
    module = AnsibleModule(argument_spec=spec, supports_check_mode=True)
    rows = module.params["profiles"]
    result = execute(module.params, rows, check=module.check_mode, diff=module._diff)
    for text in result.pop("warnings"):
        module.warn(text)
    if result["failed"]:
        module.fail_json(**result)
    module.exit_json(**result)


if __name__ == "__main__":
    main()
