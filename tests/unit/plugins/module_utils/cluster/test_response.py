# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.response import Response


@pytest.mark.parametrize(
    ("value", "expected"), [("5", 5.0), ("0", 0.0), ("1.5", 1.5), ("", None), ("soon", None), ("-3", None), ("9" * 40, None)]
)
def test_retry_after_reads_seconds(value: str, expected: float | None) -> None:
    assert Response(429, {"retry-after": value}).retry_after == expected


def test_retry_after_reads_dates() -> None:
    later = format_datetime(datetime.now(UTC) + timedelta(seconds=30), usegmt=True)
    seconds = Response(503, {"retry-after": later}).retry_after
    assert seconds is not None
    assert 25 < seconds <= 30
    assert Response(503, {"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}).retry_after == 0.0


@pytest.mark.parametrize(
    ("content_type", "expected"),
    [("application/json", True), ("application/json;g=apidiscovery.k8s.io;v=v2", True), ("text/plain; charset=utf-8", False), ("", False)],
)
def test_is_json_follows_the_content_type(content_type: str, expected: bool) -> None:
    assert Response(200, {"content-type": content_type}).is_json is expected


def test_body_is_empty_when_the_answer_is_no_json_object() -> None:
    assert [Response(200, {}, data).body() for data in (b"", b"\xff", b"[1]", b'{"a": 1}')] == [{}, {}, {}, {"a": 1}]


def test_warnings_lose_code_and_agent() -> None:
    header = '299 - "use \\"v2\\" instead", 299 - "other"'
    assert Response(200, {"warning": header}).warnings == ['use "v2" instead', "other"]
    assert Response(200).warnings == []
