# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a narrowed run needs is looked for, never installed."""

from __future__ import annotations

import pytest
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.inputs import Document
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.model import Part
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.requirements import RequirementsMissing
from ansible_collections.kubeflow.platform.tests.unit.api_double.objects import Obj, config, crd, custom, documents, thing
from ansible_collections.kubeflow.platform.tests.unit.api_double.world import World

MESH = [crd("Gateway"), custom("Gateway", "main", "mesh"), thing("Namespace", "mesh"), config("settings", "mesh")]
KATIB = Part("katib/katib", "katib", "applications", ())


def required(*objects: Obj, name: str = "istio/kubeflow", because: str = "") -> list[Document]:
    return documents(*objects, part=Part(name, name.partition("/")[0], "infrastructure", (), "katib/katib", because))


def own() -> list[Document]:
    return documents(config("katib", "mesh"), part=KATIB)


def test_what_is_needed_is_named_part_by_part_and_nothing_is_written_when_it_is_missing() -> None:
    world = World()
    rows = own() + required(*MESH, because="it routes") + required(thing("Namespace", "auth"), name="dex/dex")
    with pytest.raises(RequirementsMissing) as raised:
        world.run(rows, scope=("katib",))
    first, second = raised.value.findings
    assert first == (
        "katib/katib requires istio/kubeflow (it routes), of which CustomResourceDefinition gateways.example.com, Gateway mesh/main, "
        "Namespace mesh and 1 more are missing"
    )
    assert second == "katib/katib requires dex/dex, of which Namespace auth is missing"
    assert "Install istio, dex first" in str(raised.value)
    assert world.writes() == []


def test_what_is_needed_is_neither_applied_nor_counted_when_it_is_there() -> None:
    world = World()
    world.run(documents(*MESH, part=Part("istio/kubeflow", "istio", "infrastructure", ())))
    before = len(world.writes())
    changed = [crd("Gateway"), custom("Gateway", "main", "mesh", size=2), thing("Namespace", "mesh"), config("settings", "mesh")]
    report = world.run(own() + required(*changed), scope=("katib",))
    assert report.counts() == {"create": 1}
    assert [row.key.name for row in world.writes()[before:]] == ["katib"]


def test_it_does_not_matter_who_installed_what_is_needed() -> None:
    world = World()
    world.run(documents(thing("Namespace", "mesh")), set_name="other")
    report = world.run(own() + required(thing("Namespace", "mesh")), scope=("katib",))
    assert report.counts() == {"create": 1}


def test_configuration_whose_name_depends_on_its_content_is_not_looked_for() -> None:
    world = World()
    world.run(documents(thing("Namespace", "mesh")))
    hashed = [config("settings-h675gf55ht", "mesh"), thing("Secret", "keys-6khcg2hdm9", "mesh")]
    assert world.run(own() + required(*hashed), scope=("katib",)).counts() == {"create": 1}


def test_check_mode_looks_for_it_too() -> None:
    with pytest.raises(RequirementsMissing):
        World().run(own() + required(*MESH), scope=("katib",), check=True)


def test_what_no_run_installs_is_looked_for_in_a_run_of_the_whole_too() -> None:
    world = World()
    rows = own() + required(crd("Gateway"), name="katib/gateway_api", because="its waypoint is one")
    with pytest.raises(RequirementsMissing) as raised:
        world.run(rows)
    assert "katib/katib requires katib/gateway_api (its waypoint is one), of which CustomResourceDefinition" in str(raised.value)
    assert str(raised.value).endswith("The distribution does not hold it: install it first.")
    assert world.writes() == []
