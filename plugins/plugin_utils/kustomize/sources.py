# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Trees of parts that lie outside the distribution: among the remote bases if there are any, else fetched by git."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ansible_collections.kubeflow.platform.plugins.plugin_utils.distribution.access import Access
from ansible_collections.kubeflow.platform.plugins.plugin_utils.distribution.git import checkout
from ansible_collections.kubeflow.platform.plugins.plugin_utils.distribution.source import Repository
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize import vendor
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.cache import Cache
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.errors import RenderError


@dataclass(slots=True)
class Trees:
    """Finds the tree of a ``source`` ({repository, ref, path}), each once. With ``remote_bases`` the network is not asked."""

    cache: Cache
    remote_bases: str | None
    _known: dict[tuple[str, str], str] = field(default_factory=dict)

    def __call__(self, source: Mapping[str, Any]) -> str:
        """The folder of the tree. Raises RenderError."""
        key = (str(source["repository"]), str(source["ref"]))
        if key not in self._known:
            self._known[key] = self._vendored(source) if self.remote_bases else self._fetched(*key)
        return self._known[key]

    def _vendored(self, source: Mapping[str, Any]) -> str:
        folder = vendor.bases_folder(self.cache, str(self.remote_bases)) / str(source["path"])
        if not folder.is_dir():
            raise RenderError(
                f"Failed to find {source['repository']} at {source['ref']}: the remote bases {self.remote_bases} hold no {source['path']}. "
                "Add it there, or take its component out of the selection."
            )
        return str(folder)

    def _fetched(self, repository: str, ref: str) -> str:
        return str(checkout(self.cache, Repository(repository, ref, None), Access()).path)
