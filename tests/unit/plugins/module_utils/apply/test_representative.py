# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""An object that a webhook sees, to ask it with."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.kubeflow.platform.plugins.module_utils.apply import probes
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.gates import intercepts
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.representative import representative, satisfying
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.selectors import selector_matches
from ansible_collections.kubeflow.platform.tests.unit.api_double.objects import config, crd, custom, items, webhook
from hypothesis import given
from hypothesis import strategies as st

LABELS = {"default": {"kubernetes.io/metadata.name": "default"}, "kubeflow-platform": {"kubernetes.io/metadata.name": "kubeflow-platform"}}


def hook(resources: list[str], group: str = "example.com", **more: Any) -> probes.Webhook:
    configuration = webhook("guard", resources, group=group)[0]
    configuration["webhooks"][0].update(more)
    return probes.webhooks_of(configuration)[0]


def test_object_of_the_set_is_taken_when_the_webhook_sees_one() -> None:
    rows = items(config("c"), crd("Widget"), custom("Widget", "w", "default"))
    assert representative(hook(["widgets"]), rows, LABELS) is rows[2]


def test_made_up_pod_is_taken_when_the_webhook_sees_pods() -> None:
    selector = {"matchExpressions": [{"key": "app", "operator": "In", "values": ["x", "y"]}, {"key": "on", "operator": "Exists"}]}
    one = hook(["pods"], "", objectSelector=selector)
    found = representative(one, [], LABELS)
    assert found is not None and found.identity.kind == "Pod"
    assert found.desired["metadata"]["labels"] == {"app": "x", "on": "probe"}
    assert one.matches("", "v1", "pods", "CREATE", LABELS["default"], found.desired["metadata"]["labels"], True)


def test_pod_is_put_into_a_namespace_that_the_webhook_sees() -> None:
    labels = {**LABELS, "team": {"inject": "yes"}}
    found = representative(hook(["pods"], "", namespaceSelector={"matchLabels": {"inject": "yes"}}), [], labels)
    assert found is not None and found.identity.namespace == "team"


@pytest.mark.parametrize("namespaced", [True, False])
def test_made_up_custom_resource_is_taken_when_the_set_defines_its_kind_only(namespaced: bool) -> None:
    found = representative(hook(["widgets"]), items(crd("Widget", namespaced=namespaced)), LABELS)
    assert found is not None
    assert (found.identity.kind, found.identity.namespace) == ("Widget", "kubeflow-platform" if namespaced else "")
    assert found.path.endswith("/widgets/kubeflow-platform-probe")


def test_nothing_is_made_up_when_no_object_is_known_that_the_webhook_sees() -> None:
    assert representative(hook(["strangers"], "far.org"), items(crd("Widget"), config("c")), LABELS) is None
    nowhere = hook(["pods"], "", namespaceSelector={"matchLabels": {"nobody": "yes"}})
    assert representative(nowhere, [], LABELS) is None


KEYS = st.sampled_from(["a", "b"])
SELECTORS = st.fixed_dictionaries(
    {},
    optional={
        "matchLabels": st.dictionaries(KEYS, st.just("x"), max_size=2),
        "matchExpressions": st.lists(
            st.one_of(
                st.builds(lambda key: {"key": key, "operator": "Exists"}, KEYS),
                st.builds(lambda key: {"key": key, "operator": "In", "values": ["x", "y"]}, KEYS),
                st.builds(lambda key: {"key": key + "-not", "operator": "DoesNotExist"}, KEYS),
                st.builds(lambda key: {"key": key, "operator": "NotIn", "values": ["bad"]}, KEYS),
            ),
            max_size=3,
        ),
    },
)


@given(SELECTORS)
def test_smallest_labels_satisfy_their_selector(selector: dict[str, Any]) -> None:
    assert selector_matches(selector, satisfying(selector))


def test_representative_is_always_seen_by_its_webhook() -> None:
    rows = items(config("c"), crd("Widget"), crd("Gadget", namespaced=False))
    for one in (hook(["widgets"]), hook(["gadgets"]), hook(["pods"], ""), hook(["*"], "*")):
        found = representative(one, rows, LABELS)
        assert found is not None and intercepts(one, found, LABELS)
