#!/usr/bin/python
# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: profile_contributor
short_description: Keep one contributor of a Profile of Kubeflow
version_added: 0.2.0
author:
  - kubeflow.platform contributors (@kubeflow-platform)
description:
  - Lets a user or a group work in the namespace of a Profile, or ends that. Other contributors and everything else of the Profile stay.
  - A user's objects are written exactly as KFAM does, so the dashboard shows and removes them.
extends_documentation_fragment:
  - kubernetes.core.k8s_auth_options
  - kubeflow.platform.attributes
  - kubeflow.platform.tenants.users
options:
  profile:
    description: Name of the Profile. It must exist already.
    type: str
    required: true
  name:
    description: Name of the user or group, exactly as the identity provider sends it.
    type: str
    required: true
  kind:
    description: Whether a user or a group. A group is not shown in the dashboard, nor let in by the gateway.
    type: str
    choices: [User, Group]
    default: User
  role:
    description:
      - What the contributor may do. With O(state=present) the contributor has exactly this role afterwards.
      - With O(state=absent) only this role is taken away; without it every role. The default of O(state=present) is V(edit).
    type: str
    choices: [edit, view, admin]
  state:
    description: Whether the contributor is to be there.
    type: str
    choices: [present, absent]
    default: present
requirements:
  - python >= 3.11
  - kubernetes >= 31
seealso:
  - module: kubeflow.platform.profile
"""

EXAMPLES = r"""
- name: Let Bob edit
  kubeflow.platform.profile_contributor:
    profile: team-a
    name: bob@example.com

- name: Take every role from Carol
  kubeflow.platform.profile_contributor:
    profile: team-a
    name: carol@example.com
    state: absent
"""

RETURN = r"""
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
from ansible_collections.kubeflow.platform.plugins.module_utils.tenancy.service import contribute
from ansible_collections.kubernetes.core.plugins.module_utils.args_common import AUTH_ARG_SPEC


def main() -> None:
    spec = {
        **AUTH_ARG_SPEC,
        "profile": {"type": "str", "required": True},
        "name": {"type": "str", "required": True},
        "kind": {"type": "str", "choices": ["User", "Group"], "default": "User"},
        "role": {"type": "str", "choices": ["edit", "view", "admin"]},
        "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
        "user_format": {"type": "str", "choices": ["email", "any"], "default": "email"},
    }
    module = AnsibleModule(argument_spec=spec, supports_check_mode=True)
    result = contribute(module.params, check=module.check_mode, diff=module._diff)
    for text in result.pop("warnings"):
        module.warn(text)
    if result["failed"]:
        module.fail_json(**result)
    module.exit_json(**result)


if __name__ == "__main__":
    main()
