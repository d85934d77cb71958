# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import pytest
from ansible_collections.kubeflow.platform.plugins.plugin_utils.plan.names import nearest

KNOWN = ["katib", "knative", "kserve", "oauth2_proxy", "spark_operator", "user_namespace", "pipelines"]


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("kativ", "katib"),
        ("knative_serving", "knative"),
        ("oauth2-proxy", "oauth2_proxy"),
        ("OAuth2Proxy", "oauth2_proxy"),
        ("spark", "spark_operator"),
        ("pipleines", "pipelines"),
        ("kubeflow_pipelines", "pipelines"),
        ("ray", None),
        ("x", None),
    ],
)
def test_the_nearest_name_is_the_one_that_was_meant(given, meant):
    assert nearest(given, KNOWN) == meant
