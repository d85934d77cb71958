"""Each checker of the collection finds nothing."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.quality.checkers import Verdict, names


@pytest.mark.parametrize("checker", names())
def test_checker_finds_nothing(checker: str, verdict: Callable[[str], Verdict]) -> None:
    complaint = verdict(checker).complaint
    if complaint:
        pytest.fail(f"{checker} says:\n{complaint}", pytrace=False)
