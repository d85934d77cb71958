#!/usr/bin/python
# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: dex_static_password
short_description: Give a user of Dex another password, and prove the login
version_added: 0.2.0
author:
  - kubeflow.platform contributors (@kubeflow-platform)
description:
  - Writes the hash of a password where Dex takes it from for this user, restarts Dex, waits until every pod of it is a new one, and proves
    the password by a real login.
  - If Dex does not come up or the login fails, the old hash is put back, Dex is restarted with it, and the task fails.
  - A password that belongs to the stored hash already changes nothing. The login is proved all the same; where Dex was started before the
    hash was written, it is restarted.
  - Knows users of C(staticPasswords) whose hash is in a Secret (C(hashFromEnv)) or, as in Kubeflow 1.8, in Dex's configuration itself, and
    users that are objects of the kind C(passwords.dex.coreos.com), for which Dex needs no restart.
  - Nobody is logged out by another password. Only another cookie secret of oauth2-proxy ends the sessions that there are.
extends_documentation_fragment:
  - kubernetes.core.k8s_auth_options
  - kubeflow.platform.attributes
attributes:
  diff_mode:
    description: Shows which hash would change, without any value.
options:
  email:
    description: E-mail address of the user, who has to be known to Dex.
    type: str
    required: true
  user_password:
    description:
      - The password that the user is to have; from 8 characters to 72 bytes.
      - Needed for the proof that the user can log in with it. This or O(user_hash) is required.
    type: str
  user_hash:
    description:
      - Its bcrypt hash, for whoever does not want to hand out the password. C($2a$), C($2b$) or C($2y$) with a cost of 10 to 16, as it is
        or as base64.
      - Given without O(user_password), a login with a wrong password proves no more than that Dex runs and judges passwords.
    type: str
  cost:
    description:
      - Cost of the hash that is made of O(user_password), 10 to 16. Each step doubles the time of a login.
      - Not given means 12 for a new hash, and that any other is kept.
    type: int
  namespace:
    description: Namespace of Dex.
    type: str
    default: auth
  deployment:
    description: Name of the Deployment that runs Dex. Where the configuration and the hash stand is read from it.
    type: str
    default: dex
  proof:
    description:
      - How the login is proved. V(port_forward) asks each pod of Dex through the API server, which needs the permission to create
        C(pods/portforward).
      - V(gateway) asks at O(gateway_url), as a browser does.
      - V(none) only waits until Dex runs.
    type: str
    choices: [port_forward, gateway, none]
    default: port_forward
  gateway_url:
    description: Address of the gateway, as V(https://kubeflow.example.com).
    type: str
  gateway_host:
    description: Name to ask for at the gateway, where O(gateway_url) has another one.
    type: str
  gateway_ca:
    description: File with the PEM certificates to trust instead of the system's, on the host that runs this module.
    type: path
  gateway_validate_certs:
    description: Whether the gateway's certificate must be valid.
    type: bool
    default: true
  wait_timeout:
    description: Seconds to wait for the restart of Dex, and once more where the old hash has to be put back.
    type: int
    default: 300
  proof_timeout:
    description: Seconds for which the login is tried again before it counts as failed.
    type: int
    default: 60
requirements:
  - python >= 3.11
  - kubernetes >= 31
  - bcrypt >= 4.0
notes:
  - In check mode no login is tried.
  - A run that is cut off is brought to an end by the next one with the same O(user_password).
  - Each proof leaves an unused code in Dex's storage for half an hour.
seealso:
  - module: kubeflow.platform.profile
"""

EXAMPLES = r"""
- name: Give the first user a password of their own
  kubeflow.platform.dex_static_password:
    email: user@example.com
    user_password: "{{ vault_first_user_password }}"

- name: Prove it where people log in
  kubeflow.platform.dex_static_password:
    email: user@example.com
    user_password: "{{ vault_first_user_password }}"
    proof: gateway
    gateway_url: https://kubeflow.example.com

- name: Hand over a hash only, made by `htpasswd -nBC 12 ""`
  kubeflow.platform.dex_static_password:
    email: user@example.com
    user_hash: "{{ vault_first_user_hash }}"
"""

RETURN = r"""
email:
  description: The user as Dex writes the address, which is what Profiles must name as their owner.
  returned: when the cluster was asked
  type: str
  sample: user@example.com
place:
  description: Where the hash stands.
  returned: when the cluster was asked
  type: str
  sample: Secret auth/dex-passwords, key DEX_USER_PASSWORD
restarted:
  description: Whether Dex was restarted.
  returned: when the cluster was asked
  type: bool
proved:
  description: C(login) where the user was logged in with the password, C(answers) where the password is not known, else empty.
  returned: when the cluster was asked
  type: str
  sample: login
restored:
  description: Whether the old hash is in place again.
  returned: when the new password did not work
  type: bool
findings:
  description: Everything that is wrong with the options. Nothing was written then.
  returned: when the options are refused
  type: list
  elements: str
missing_permissions:
  description: One Role with what was forbidden.
  returned: when the API server refused for lack of permission
  type: dict
requests:
  description: How many requests were sent, by kind.
  returned: when the cluster was asked
  type: dict
"""

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.kubeflow.platform.plugins.module_utils.identity.service import execute, spec
from ansible_collections.kubernetes.core.plugins.module_utils.args_common import AUTH_ARG_SPEC


def main() -> None:
    module = AnsibleModule(argument_spec={**AUTH_ARG_SPEC, **spec()}, supports_check_mode=True)
    result = execute(module.params, check=module.check_mode, diff=module._diff)
    for text in result.pop("warnings"):
        module.warn(text)
    if result["failed"]:
        module.fail_json(**result)
    module.exit_json(**result)


if __name__ == "__main__":
    main()
