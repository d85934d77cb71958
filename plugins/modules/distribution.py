# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# Documentation only: the work is done on the controller, by the action plugin of the same name.

from __future__ import annotations

DOCUMENTATION = r"""
module: distribution
short_description: Bring a distribution of Kubeflow's manifests to the controller
description:
  - Fetches a tree of kustomizations from a git repository or an archive, or takes a folder as it is, and returns the folder on the
    controller that holds it.
  - With O(remote_bases) the returned folder is a copy in which everything that kustomize would fetch from the network is a folder
    beside it, so that rendering needs neither network nor git. Its render is byte for byte the same.
  - Everything is kept in O(work_dir) by content; a second run fetches nothing. Works the same in check mode, since no host is touched.
version_added: 0.1.0
author:
  - kubeflow.platform contributors (@kubeflow)
options:
  source:
    description:
      - Where the tree comes from. Without it, upstream's git repository at the ref of O(release).
      - A text is a folder or an archive on the controller, the URL of an archive (C(tar.xz), C(tar.gz), C(tar.bz2), C(tar), C(zip)), or
        the URL of a git repository.
      - A mapping with C(folder).
      - A mapping with C(archive), a file or a URL, and optionally C(sha256).
      - A mapping with C(repository), C(ref) (a branch, a tag or a commit; without it that of O(release)), and optionally C(commit), which
        the ref must then be. With C(commit) the network is only asked once.
    type: raw
  release:
    description: What is known of the release, as M(kubeflow.platform.kubeflow_plan) returns it; its C(source) is the default.
    type: dict
    default: {}
  remote_bases:
    description:
      - A folder or archive on the controller with what the kustomizations refer to on the network, git repositories of GitHub as
        C(git/OWNER/REPOSITORY/REF), downloads at the path of their URL (C(github.com/...)).
    type: path
  work_dir:
    description:
      - A folder on the controller for downloads and copies. It can be deleted at any time.
      - Without it C(work) below E(KUBEFLOW_PLATFORM_CACHE), else C(kubeflow-platform/work) in the user's cache folder.
    type: path
  proxy:
    description: URL of the proxy for git and downloads. Without it those of the environment count.
    type: str
  ca_cert:
    description: File on the controller with the certificate authorities to trust, in place of the system's.
    type: path
  username:
    description: User name for the server of the repository or archive.
    type: str
  password:
    description:
      - Password or token for that server. It is given to git in the environment, never on a command line or in a URL.
    type: str
  fetch_timeout:
    description: Seconds that one git command may take.
    type: int
    default: 600
attributes:
  check_mode:
    description: Can run in check mode and return the same; the tree is fetched, since later tasks need it.
    support: full
  diff_mode:
    description: Returns details of what changed in diff mode.
    support: none
requirements:
  - git on the controller, for repositories
seealso:
  - module: kubeflow.platform.kubeflow_plan
  - module: kubeflow.platform.kustomize_apply
"""

EXAMPLES = r"""
- name: Fetch a release from upstream
  kubeflow.platform.distribution:
    source:
      repository: https://github.com/kubeflow/community-distribution.git
      ref: "26.03"

- name: Use an archive, with everything that rendering would fetch
  kubeflow.platform.distribution:
    source:
      archive: https://files.example.com/community-distribution-26.03.1.tar.xz
      sha256: 6f1b2c0d4f5b8b0c2f3d0a5b1e6c7d8e9fa0b1c2d3e4f5a6b7c8d9e0f1a2b3c4
    remote_bases: /srv/kubeflow/remote-bases.tar.xz

- name: Use a mirror inside a closed network
  kubeflow.platform.distribution:
    source:
      repository: https://git.example.com/mirrors/community-distribution.git
      ref: release-26.03.1
    ca_cert: /etc/ssl/certs/example.pem
    username: kubeflow
    password: "{{ vault_git_token }}"
"""

RETURN = r"""
path:
  description: The folder on the controller that holds the distribution.
  returned: success
  type: str
  sample: /home/me/.cache/kubeflow-platform/work/trees/f3dcee62a6780951526bb7dda4c23372
fingerprint:
  description: A hash over the paths and contents of all files in RV(path).
  returned: success
  type: str
source:
  description: Where the tree came from.
  returned: success
  type: str
  sample: https://github.com/kubeflow/community-distribution.git at release-26.03.1
commit:
  description: The commit, when the source is a repository.
  returned: success
  type: str
unresolved:
  description: Remote references that O(remote_bases) does not hold, with file and line. A part that reaches one needs the network.
  returned: success
  type: list
  elements: str
"""
