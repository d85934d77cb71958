# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Changes one text of one object: sent until it is known to be there, whatever is lost on the way."""

from __future__ import annotations

from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.patience import Clock, insist
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.requests import Client, Response
from ansible_collections.kubeflow.platform.plugins.module_utils.identity.dex import Unclear
from ansible_collections.kubeflow.platform.plugins.module_utils.identity.live import Place


def put(client: Client, place: Place, before: str, after: str, clock: Clock, *, dry_run: bool = False) -> None:
    """Put a text in place of another. Raise Unclear where somebody else has put a third one there; that is left."""

    def attempt() -> Response:
        response = client.get(place.path)
        obj = response.body() if response.ok else {}
        present = place.text_in(obj)
        if not response.ok or present == after:
            return response
        if present != before:
            raise Unclear(f"{place} was changed by somebody else at the same time, and is left as it is; run again")
        guard = {"op": "test", "path": "/metadata/resourceVersion", "value": obj["metadata"]["resourceVersion"]}
        change = {"op": "add", "path": place.pointer, "value": place.as_stored(after)}
        return client.json_patch(place.path, [guard, change], dry_run)

    insist(f"change {place}", attempt, clock)
