# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Webhooks that are late, down or wrongly certified, on a real API server."""

from __future__ import annotations

import json

from . import objects
from .conftest import Place


def guarded(place: Place) -> list[objects.Object]:
    return objects.platform(place.name, place.group)


def test_install_of_a_small_platform_succeeds_and_a_second_run_changes_nothing(place: Place) -> None:
    result = place.engine.succeeds(guarded(place))
    assert result.changed
    assert result.counts == {"create": len(guarded(place))}
    again = place.engine.succeeds(guarded(place))
    assert not again.changed
    assert again.counts == {"unchanged": len(guarded(place))}


def test_webhook_that_never_comes_up_ends_at_the_deadline_and_is_explained(place: Place) -> None:
    place.bed.fault(f"{place.name}/judge", "down")
    result = place.engine.fails(guarded(place), run_timeout=8)
    assert result.json["timeline"]["total"] < 8 + 4, (result.json["timeline"], result.progress)
    failures = result.failures()
    assert set(failures) == {"Widget first", "Widget second"}
    assert result.counts["create"] == len(guarded(place)) - 2
    (told,) = [text for text in result.json["findings"] if "does not answer" in text]
    for expected in (
        f"judge.{place.name}.example.org",
        f"ValidatingWebhookConfiguration {place.name}",
        f"Service {place.name}/judge has 1 of 1 endpoints ready",
        "caBundle is set",
        f"Widget {place.name}/first",
        f"Widget {place.name}/second",
    ):
        assert expected in told
    assert f"judge.{place.name}.example.org" in result.message
    assert place.bed.get("deployment", "app", "-n", place.name)["status"]["readyReplicas"] == 1


def test_webhook_that_is_late_holds_only_what_it_guards(place: Place) -> None:
    place.bed.fault(f"{place.name}/judge", "late", 5)
    before = place.bed.audit().end
    result = place.engine.succeeds(guarded(place))
    assert result.seconds > 5
    assert any(f"judge.{place.name}.example.org" in row["what"] for row in result.json["waited"])
    sent = [
        row for row in place.bed.audit(before).by(agent="kubeflow.platform").requests if row.resource == "widgets" and row.verb == "patch"
    ]
    assert len([row for row in sent if not row.dry_run]) == 2, "guarded objects are sent once, when their webhook answers"


def test_authority_that_is_late_is_waited_for(place: Place) -> None:
    place.bed.fault(f"ca:{place.name}/judge", "late", 4)
    result = place.engine.succeeds(guarded(place))
    assert result.counts == {"create": len(guarded(place))}


def test_authority_that_never_comes_is_named(place: Place) -> None:
    place.bed.fault(f"ca:{place.name}/judge", "down")
    result = place.engine.fails(guarded(place), run_timeout=7)
    assert any("caBundle is empty" in text for text in result.json["findings"])
    assert set(result.failures()) == {"Widget first", "Widget second"}


def test_wrong_authority_is_explained_by_the_servers_own_words(place: Place) -> None:
    place.bed.fault(f"{place.name}/judge", "wrong-ca")
    result = place.engine.fails(guarded(place), run_timeout=7)
    assert any("x509" in text and "caBundle is set" in text for text in result.json["findings"])


def test_webhook_that_denies_fails_its_object_at_once(place: Place) -> None:
    place.engine.succeeds([row for row in guarded(place) if row["kind"] != "Widget"])
    place.bed.fault(f"{place.name}/judge", "deny")
    result = place.engine.fails(guarded(place))
    assert {row["class"] for row in result.failures().values()} == {"policy"}
    assert all(row["attempts"] == 1 for row in result.failures().values())


def test_dead_pod_webhook_is_no_success_although_every_object_is_applied(place: Place) -> None:
    """Upstream's apply returned 0 while no pod of a tenant could start."""
    tenant = f"{place.name}-tenant"
    rows = [
        objects.namespace(place.name),
        objects.namespace(tenant, inject=place.name),
        objects.service(place.name, "injector"),
        objects.deployment(place.name, "injector"),
        objects.pod_webhook(place.name, place.name, "injector", place.name),
        objects.config_map(tenant, "settings"),
    ]
    place.bed.fault(f"{place.name}/injector", "down")
    result = place.engine.fails(rows, run_timeout=8)
    assert result.counts["create"] == len(rows)
    assert f"judge.{place.name}.example.org" in result.message
    again = place.engine.fails(rows, run_timeout=5)
    assert not again.changed
    assert "does not answer" in again.message


def test_dead_pod_webhook_of_others_parks_the_workloads_behind_it(place: Place) -> None:
    tenant = f"{place.name}-tenant"
    place.bed.fault(f"{place.name}/injector", "down")
    place.bed.kubectl("create", "namespace", place.name)
    for row in (
        objects.service(place.name, "injector"),
        objects.deployment(place.name, "injector"),
        objects.pod_webhook(place.name, place.name, "injector", place.name),
    ):
        place.bed.kubectl("apply", "-f", "-", stdin=json.dumps(row))
    rows = [objects.namespace(tenant, inject=place.name), objects.deployment(tenant, "app"), objects.config_map(tenant, "settings")]
    result = place.engine.fails(rows, run_timeout=7)
    assert f"judge.{place.name}.example.org" in result.message
    assert result.counts["create"] == 2
