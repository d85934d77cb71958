# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# Documentation only: the work is done on the controller, by the action plugin of the same name.

from __future__ import annotations

DOCUMENTATION = r"""
module: kubeflow_plan
short_description: Plan a selection of Kubeflow's components as ordered kustomizations
description:
  - Reads the collection's records of releases and components, closes the selection over what it requires, and returns the
    kustomizations to apply, in order.
  - Works on the controller alone. No cluster is asked and nothing is changed.
  - All mistakes of a selection are reported at once, unknown names with the nearest known one.
version_added: 0.1.0
author:
  - kubeflow.platform contributors (@kubeflow)
options:
  release:
    description: The release of the Kubeflow Community Distribution, for example V(26.03.1).
    type: str
    required: true
  selection:
    description: A named selection of the release. V(default) is what upstream installs.
    type: str
    default: default
  components_added:
    description: Components in addition to the selection.
    type: list
    elements: str
    default: []
  components_removed:
    description: Components to take out of the selection. Refused when a component that stays requires one of them.
    type: list
    elements: str
    default: []
  only:
    description: Narrow the plan to these components of the selection. What they require is named in RV(requirements).
    type: list
    elements: str
    default: []
  found:
    description:
      - >-
        Options of roles that were found out, such as C(oauth2_proxy_m2m_issuer) from M(kubeflow.platform.issuer_info). Each counts when the
        inventory does not give it.
    type: dict
    default: {}
    version_added: 0.2.0
  distribution:
    description:
      - The folder of the distribution on the controller.
      - When it is given, its paths must be those of O(release), and hold every kustomization of the plan.
    type: path
  find_kustomize:
    description:
      - Look for the kustomize that the plan will be rendered with, and fail when there is none that renders O(release) rightly. What is
        wrong with it is then told before anything is fetched.
    type: bool
    default: false
  kustomize_path:
    description: The kustomize to use, as M(kubeflow.platform.kustomize_apply) takes it. Only for O(find_kustomize).
    type: path
  work_dir:
    description: The folder on the controller that holds the cache. Only for O(find_kustomize).
    type: path
attributes:
  check_mode:
    description: Can run in check mode and return the same.
    support: full
  diff_mode:
    description: Returns details of what changed in diff mode.
    support: none
"""

EXAMPLES = r"""
- name: Plan the default selection
  kubeflow.platform.kubeflow_plan:
    release: "26.03.1"

- name: Plan a small platform
  kubeflow.platform.kubeflow_plan:
    release: "26.03.1"
    selection: minimal
    components_added: [katib]
  register: plan
"""

RETURN = r"""
parts:
  description: The kustomizations in order, as M(kubeflow.platform.kustomize_apply) takes them.
  returned: success
  type: list
  elements: dict
  sample:
    - name: istio/crds
      component: istio
      layer: infrastructure
      path: common/istio/istio-crds/base
      requires: []
distribution:
  description: The folder of the distribution, as given.
  returned: success
  type: str
release:
  description: Facts about the release, among them the windows of kustomize and Kubernetes that it is known to work with.
  returned: success
  type: dict
selection:
  description: Names of the selected components, those that others require included.
  returned: success
  type: list
  elements: str
scope:
  description: Names of the components that the plan is narrowed to; empty for the whole selection.
  returned: success
  type: list
  elements: str
removed:
  description: Names of the components that were taken out.
  returned: success
  type: list
  elements: str
requirements:
  description: Parts outside the scope that a part within requires.
  returned: success
  type: list
  elements: dict
required:
  description: The same as kustomizations, which M(kubeflow.platform.kustomize_apply) looks for in the cluster and does not apply.
  returned: success
  type: list
  elements: dict
ready:
  description: Rules of readiness of the components in scope, as O(kubeflow.platform.kustomize_apply#module:ready) takes them.
  returned: success
  type: list
  elements: dict
checks:
  description: Checks of records and inventory, as O(kubeflow.platform.kustomize_apply#module:checks) takes them.
  returned: success
  type: list
  elements: dict
components:
  description: One entry for each selected component, with its version and why it is selected.
  returned: success
  type: list
  elements: dict
credentials:
  description: Secrets of the selected components whose values upstream ships for everybody to read.
  returned: success
  type: list
  elements: dict
addresses:
  description: Services through which people reach the platform.
  returned: success
  type: list
  elements: dict
notes:
  description: What is odd about the selection, but harmless.
  returned: success
  type: list
  elements: str
"""
