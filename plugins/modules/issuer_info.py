#!/usr/bin/python
# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: issuer_info
short_description: Tell who signs the tokens of a cluster's ServiceAccounts
version_added: 0.2.0
author:
  - kubeflow.platform contributors (@kubeflow-platform)
description:
  - Reads the OpenID configuration of the API server. Whatever is to accept tokens of the cluster has to expect this issuer.
  - The role P(kubeflow.platform.kubeflow#role) asks it when C(oauth2_proxy_m2m) lets such tokens in and C(oauth2_proxy_m2m_issuer) is
    not given.
extends_documentation_fragment:
  - kubernetes.core.k8s_auth_options
  - kubeflow.platform.attributes.info
requirements:
  - python >= 3.11
  - kubernetes >= 31
"""

EXAMPLES = r"""
- name: Ask the cluster for its issuer
  kubeflow.platform.issuer_info:
  register: cluster

- name: Show it
  ansible.builtin.debug:
    var: cluster.issuer
"""

RETURN = r"""
issuer:
  description: The issuer, as it stands in the claim C(iss) of the tokens.
  returned: success
  type: str
  sample: https://kubernetes.default.svc.cluster.local
jwks_uri:
  description: Where the API server says that its keys are.
  returned: success
  type: str
  sample: https://172.18.0.2:6443/openid/v1/jwks
algorithms:
  description: Algorithms that the tokens may be signed with.
  returned: success
  type: list
  elements: str
  sample: [RS256]
"""

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.connection import from_params
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.errors import ClusterError
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.issuer import read_issuer
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.requests import Client
from ansible_collections.kubernetes.core.plugins.module_utils.args_common import AUTH_ARG_SPEC


def main() -> None:
    module = AnsibleModule(argument_spec=dict(AUTH_ARG_SPEC), supports_check_mode=True)
    try:
        found = read_issuer(Client(from_params(module.params), "kubeflow.platform", 1))
    except ClusterError as error:
        module.fail_json(msg=str(error))
    module.exit_json(changed=False, issuer=found.issuer, jwks_uri=found.jwks_uri, algorithms=list(found.algorithms))


if __name__ == "__main__":
    main()
