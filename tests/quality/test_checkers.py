"""Each checker of the collection finds nothing."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.quality.checkers import Verdict, names


@pytest.mark.parametrize("checker", names())
def test_checker_finds_nothing(checker: str, verdict: Callable[[str], Verdict]) -> None:
    said = verdict(checker)
    if said.left_out:
        pytest.skip(said.left_out)
    if said.complaint:
        pytest.fail(f"{checker} says:\n{said.complaint}", pytrace=False)
