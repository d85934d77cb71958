# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Policies, expiring credentials, versions outside the window, Jobs that fail, and a ledger that was lost."""

from __future__ import annotations

import base64
import gzip
import json

from . import objects
from .conftest import Place
from .driver import eventually, persisted


def test_pods_that_pod_security_refuses_are_no_success(place: Place) -> None:
    """The Deployment is accepted with a warning; its pods never come."""
    home = objects.namespace(
        place.name, **{"pod-security.kubernetes.io/enforce": "restricted", "pod-security.kubernetes.io/warn": "restricted"}
    )
    bold = objects.deployment(place.name, "bold")
    bold["spec"]["template"]["spec"]["containers"][0]["securityContext"] = {"privileged": True}
    result = place.engine.fails([home, bold, objects.deployment(place.name, "modest")], run_timeout=14)
    assert set(result.failures()) == {"Deployment bold"}
    assert "PodSecurity" in result.message
    assert "would violate PodSecurity" in json.dumps(result.json["warnings"])


def test_admission_policy_that_denies_is_named(place: Place) -> None:
    group = "admissionregistration.k8s.io/v1"
    policy = {
        "apiVersion": group,
        "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": place.name},
        "spec": {
            "failurePolicy": "Fail",
            "matchConstraints": {
                "resourceRules": [
                    {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE", "UPDATE"], "resources": ["configmaps"]}
                ],
                "namespaceSelector": {"matchLabels": {"test": place.name}},
            },
            "validations": [{"expression": "object.metadata.name != 'plain-1'", "message": "no ones here"}],
        },
    }
    binding = {
        "apiVersion": group,
        "kind": "ValidatingAdmissionPolicyBinding",
        "metadata": {"name": place.name},
        "spec": {"policyName": place.name, "validationActions": ["Deny"]},
    }
    rows = [objects.namespace(place.name), policy, binding]
    place.engine.succeeds(rows)
    probe = json.dumps(objects.config_map(place.name, "plain-1"))
    assert eventually(lambda: place.bed.kubectl("apply", "--dry-run=server", "-f", "-", stdin=probe, check=False).returncode)
    result = place.engine.fails([*rows, *objects.config_maps(place.name, 3)])
    (failure,) = result.failures().values()
    assert (failure["name"], failure["class"], failure["attempts"]) == ("plain-1", "policy", 1)
    assert failure["reason"].index(f"ValidatingAdmissionPolicy {place.name}") < failure["reason"].index("no ones here")
    assert result.counts["create"] == 2
    place.bed.kubectl("delete", "validatingadmissionpolicybinding", place.name)


def test_token_that_ends_in_the_middle_of_a_run_is_renewed(place: Place) -> None:
    # Two objects, each once: the same request must not meet both refusals, however the workers overlap.
    paths = [f"/namespaces/{place.name}/configmaps/plain-{number}" for number in (3, 7)]
    place.bed.proxy({"rules": [{"status": 401, "method": "PATCH", "path": path, "times": 1} for path in paths]})
    result = place.proxied.succeeds([objects.namespace(place.name), *objects.config_maps(place.name, 10)])
    assert result.counts == {"create": 11}


def test_token_that_is_refused_for_good_fails_each_object_once(place: Place) -> None:
    place.bed.proxy({"rules": [{"status": 401, "method": "PATCH", "path": f"/namespaces/{place.name}/"}]})
    result = place.proxied.fails([objects.namespace(place.name), *objects.config_maps(place.name, 3)])
    assert {row["class"] for row in result.failures().values()} == {"auth"}
    assert "credentials" in result.message


def test_cluster_outside_the_release_s_window_is_refused_unless_allowed(place: Place) -> None:
    rows = [objects.namespace(place.name)]
    release = {"name": "0.1", "kubernetes": {"min": "1.20", "max": "1.21"}}
    before = place.bed.audit().end
    result = place.engine.fails(rows, release=release)
    for words in ("1.36", "1.20 to 1.21", "allow_untested_kubernetes"):
        assert words in result.message
    assert persisted(place.bed.audit(before), ledger=True) == []
    assert place.engine.succeeds(rows, release=release, allow_untested_kubernetes=True).changed


def job(place: Place, **annotations: str) -> objects.Object:
    template = objects.deployment(place.name, "once", annotations=annotations)["spec"]["template"]
    template["metadata"]["labels"] = {"job": "once"}
    template["spec"]["restartPolicy"] = "Never"
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "once", "namespace": place.name},
        "spec": {"backoffLimit": 0, "template": template},
    }


def test_job_that_fails_ends_the_wait_at_once(place: Place) -> None:
    result = place.engine.fails([objects.namespace(place.name), job(place, **{"testbed.kubeflow.platform/pod": "fail"})], run_timeout=60)
    assert result.seconds < 40
    assert f"Job {place.name}/once is not ready" in result.message


def test_job_that_completes_is_waited_for_and_is_no_change_later(place: Place) -> None:
    rows = [objects.namespace(place.name), job(place, **{"testbed.kubeflow.platform/complete-after": "2s"})]
    place.engine.succeeds(rows)
    assert place.bed.get("job", "once", "-n", place.name)["status"]["succeeded"] == 1
    assert not place.engine.succeeds(rows).changed


def test_ledger_that_was_lost_is_made_anew_from_what_is_there(place: Place) -> None:
    rows = objects.platform(place.name, place.group)
    place.engine.succeeds(rows)
    place.bed.kubectl("delete", "secret", f"ledger-{place.name}", "-n", "kubeflow-platform")
    result = place.engine.succeeds(rows)
    assert not result.changed
    assert result.counts == {"unchanged": len(rows)}
    before = place.bed.audit().end
    place.engine.succeeds(rows)
    assert persisted(place.bed.audit(before), ledger=True) == []


def test_ledger_of_a_newer_version_is_left_alone(place: Place) -> None:
    rows = [objects.namespace(place.name)]
    place.engine.succeeds(rows)
    newer = base64.b64encode(gzip.compress(b'{"format": 99}')).decode()
    place.bed.kubectl("patch", "secret", f"ledger-{place.name}", "-n", "kubeflow-platform", "-p", json.dumps({"data": {"ledger": newer}}))
    before = place.bed.audit().end
    result = place.engine.fails([*rows, objects.config_map(place.name, "x")])
    assert "newer version" in result.message
    assert persisted(place.bed.audit(before), ledger=True) == []
