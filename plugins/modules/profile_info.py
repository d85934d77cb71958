#!/usr/bin/python
# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: profile_info
short_description: Tell the live Profiles of Kubeflow, as the data that would make them
version_added: 0.2.0
author:
  - kubeflow.platform contributors (@kubeflow-platform)
description:
  - Returns Profiles with owner, contributors, quota and what their namespaces have, in the form that M(kubeflow.platform.profiles) takes.
    Given back to it, they change nothing.
  - Nothing is changed, and nothing fails because something is absent.
extends_documentation_fragment:
  - kubernetes.core.k8s_auth_options
  - kubeflow.platform.attributes.info
options:
  names:
    description: Names of the Profiles to tell. Without it, all.
    type: list
    elements: str
notes:
  - PodDefaults are told with their environment variables. Where these hold credentials, set C(no_log) on the task.
requirements:
  - python >= 3.11
  - kubernetes >= 31
seealso:
  - module: kubeflow.platform.profiles
"""

EXAMPLES = r"""
- name: Write all Profiles to a file
  kubeflow.platform.profile_info:
  register: live

- name: Keep them
  ansible.builtin.copy:
    content: "{{ {'tenants_profiles': live.profiles} | to_nice_yaml }}"
    dest: profiles.yml
    mode: "0600"
  delegate_to: localhost
"""

RETURN = r"""
profiles:
  description: The Profiles as data, by name. What belongs to the platform's defaults is left out.
  returned: always
  type: list
  elements: dict
tenants:
  description: For each Profile its owner, whether it is ready, and what is missing.
  returned: always
  type: list
  elements: dict
findings:
  description: What the data cannot express, such as a contributor that somebody made by hand under another name than KFAM does.
  returned: always
  type: list
  elements: str
requests:
  description: How many requests were sent, by kind.
  returned: always
  type: dict
"""

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.kubeflow.platform.plugins.module_utils.tenancy.service import export
from ansible_collections.kubernetes.core.plugins.module_utils.args_common import AUTH_ARG_SPEC


def main() -> None:
    spec = {**AUTH_ARG_SPEC, "names": {"type": "list", "elements": "str"}}
    module = AnsibleModule(argument_spec=spec, supports_check_mode=True)
    result = export(module.params)
    if result["failed"]:
        module.fail_json(**result)
    module.exit_json(**result)


if __name__ == "__main__":
    main()
