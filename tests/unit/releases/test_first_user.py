# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The first Profile, its owner, the login and Hub's registry move together, in every release."""

from __future__ import annotations

import json

import pytest
from ansible_collections.kubeflow.platform.plugins.plugin_utils.records.library import collection_root, load

from tests.conftest import Distributions
from tests.unit.releases.variants import Workshop

pytestmark = pytest.mark.distribution

RELEASES = tuple(load(collection_root()).releases)
UPSTREAM = ("user@example.com", "kubeflow-user-example-com")
ADA = {"kubeflow_initial_user_email": "ada@example.org", "user_namespace_profile": "ada"}


@pytest.fixture(scope="module", params=RELEASES)
def workshop(request: pytest.FixtureRequest, distributions: Distributions) -> Workshop:
    return Workshop.of(request.param, distributions)


def test_nothing_of_upstreams_first_user_is_left(workshop):
    objects = workshop.made(selection="all_stable", **ADA).all
    named = {f"{obj['kind']} {obj['metadata']['name']}" for obj in objects if any(word in json.dumps(obj) for word in UPSTREAM)}
    assert named == set()


def test_only_what_names_the_first_user_changes(workshop):
    before = [json.dumps(obj, sort_keys=True) for obj in workshop.made(selection="all_stable").all]
    after = [json.dumps(obj, sort_keys=True) for obj in workshop.made(selection="all_stable", **ADA).all]
    swapped = sorted(text.replace(UPSTREAM[1], "ada").replace(UPSTREAM[0], "ada@example.org") for text in before)
    assert sorted(after) == swapped


def test_the_registry_stays_where_one_says_although_the_profile_moves(workshop):
    if not workshop.library.components["hub"].exists(workshop.release):
        pytest.skip("this release has no Hub")
    made = workshop.made("hub", **ADA, hub_registry_namespace="registry")
    registry = [obj for obj in made.all if obj["kind"] == "Deployment" and obj["metadata"]["name"] == "model-registry-deployment"]
    assert [obj["metadata"]["namespace"] for obj in registry] == ["registry"]
