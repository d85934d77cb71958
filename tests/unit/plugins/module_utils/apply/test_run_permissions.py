# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whatever one permission is missing: the run ends soon, says which, and does everything that does not need it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.model import EngineError
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.requests import Response
from ansible_collections.kubeflow.platform.tests.unit.api_double.objects import config, crd, custom, deployment, documents, thing, webhook
from ansible_collections.kubeflow.platform.tests.unit.api_double.server import PATH
from ansible_collections.kubeflow.platform.tests.unit.api_double.world import World
from ansible_collections.kubeflow.platform.tests.unit.doubles import status

VERBS = {"GET": "get", "PATCH": "patch", "POST": "create", "PUT": "update", "DELETE": "delete"}
ROWS = documents(
    crd("Widget"),
    custom("Widget", "w", "one"),
    thing("Namespace", "one"),
    *webhook("guard", ["widgets"]),
    config("c"),
    deployment("app"),
    crd("Profile", namespaced=False, group="kubeflow.org"),
    custom("Profile", "team", group="kubeflow.org"),
    config("t", "team"),
)
KINDS = [
    "configmaps",
    "deployments",
    "pods",
    "rolebindings",
    "namespaces",
    "mutatingwebhookconfigurations",
    "services",
    "leases",
    "secrets",
    "widgets",
    "customresourcedefinitions",
    "endpointslices",
]


def forbid(world: World, verb: str, plural: str) -> None:
    """Refuse one verb on one kind, in the server's words."""
    served = world.server.handle

    def handle(method: str, url: str, body: Any, headers: Mapping[str, str]) -> Response:
        match = PATH.fullmatch(url.split("?")[0])
        if match is not None and match["plural"] == plural:
            asked = "list" if method == "GET" and not match["name"] else VERBS[method]
            if asked == verb:
                where = f'in the namespace "{match["ns"]}"' if match["ns"] else "at the cluster scope"
                text = f'User "bob" cannot {verb} resource "{plural}" in API group "{match["group"] or ""}" {where}'
                return status(403, "Forbidden", text, name=match["name"] or "", kind=plural)
        return served(method, url, body, headers)

    world.server.handle = handle  # type: ignore[method-assign]


@pytest.mark.parametrize("plural", KINDS)
@pytest.mark.parametrize("verb", ["get", "list", "patch", "create", "update"])
def test_run_ends_soon_and_names_what_is_forbidden_when_one_permission_is_missing(verb: str, plural: str) -> None:
    world = World()
    forbid(world, verb, plural)
    begun = world.clock.now
    try:
        report = world.run(ROWS)
    except EngineError as error:
        assert plural in str(error)
        assert f"may not {verb}" in str(error) or f"cannot {verb}" in str(error)
    else:
        told = [str(row.failure) for row in report.failures if row.failure is not None]
        assert bool(told) == bool(report.failures) and all(f"may not {verb} {plural}" in text for text in told)
        bad = {row.identity for row in report.failures}
        assert {row.action for row in report.rows if row.identity not in bad} <= {"create"}
    assert world.clock.now - begun < 15.0
