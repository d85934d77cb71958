# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reasons for lines that are read in passing keep what decides: who, and the last cause."""

from __future__ import annotations

import pytest
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.wording import brief, lasting

CALL = 'Post "https://katib-controller.kubeflow.svc:443/mutate-experiments?timeout=10s"'


@pytest.mark.parametrize(
    ("text", "short"),
    [
        ("0 of 1 replicas updated and available", "0 of 1 replicas updated and available"),
        ('webhook "x" does not answer: https://a.b.svc:443/p: EOF', 'webhook "x" does not answer: a.b.svc: EOF'),
        (
            f'failed calling webhook "x.example.com": failed to call webhook: {CALL}: dial tcp 127.0.0.1:443: connect: connection refused',
            'failed calling webhook "x.example.com": failed to call webhook: ...: connection refused',
        ),
        (f"{'long ' * 40}: certificate signed by unknown authority", "...: certificate signed by unknown authority"),
    ],
)
def test_urls_become_hosts_and_of_a_long_chain_beginning_and_end_stay(text: str, short: str) -> None:
    assert brief(text) == short


@pytest.mark.parametrize("text", ["x" * 1000, f"a: {'y' * 1000}", f"{'a: ' * 400}end", "https://" + "h" * 500])
def test_it_is_never_longer_than_asked_for(text: str) -> None:
    assert len(brief(text, 60)) <= 60


def test_times_are_whole_seconds() -> None:
    assert lasting(12.4, 587.6) == "for 12 s, gives up in 588 s"


def test_a_last_cause_that_fits_is_whole_and_a_longer_one_begins_with_a_whole_word() -> None:
    text = f'{"a" * 60}: failed to call webhook: service "poddefaults-webhook-service" not found'
    assert brief(text, 70) == '...: service "poddefaults-webhook-service" not found'
    cut = brief(f"a: {'word ' * 30}end", 30)
    assert cut.endswith(" ... word word word end") and len(cut) <= 30
