"""Runs the checkers in the background, so that their verdicts are there when their tests ask for them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor

import pytest

from tests.quality.checkers import CHECKERS, Verdict

AT_ONCE = 2
_started: pytest.StashKey[dict[str, Future[Verdict]]] = pytest.StashKey()


def pytest_collection_finish(session: pytest.Session) -> None:
    """Start the checkers that this session will ask for; other tests run meanwhile."""
    parametrized = [item.callspec for item in session.items if isinstance(item, pytest.Function) and hasattr(item, "callspec")]
    wanted = {call.params["checker"] for call in parametrized if "checker" in call.params}
    if session.config.option.collectonly or not wanted & set(CHECKERS):
        return
    pool = ThreadPoolExecutor(max_workers=AT_ONCE)
    session.config.stash[_started] = {name: pool.submit(check) for name, check in CHECKERS.items() if name in wanted}
    pool.shutdown(wait=False)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Do not begin what nobody will ask for any more."""
    for verdict in session.config.stash.get(_started, {}).values():
        verdict.cancel()


@pytest.fixture
def verdict(request: pytest.FixtureRequest) -> Iterator[Callable[[str], Verdict]]:
    """Wait for the verdict of a checker."""
    yield lambda name: request.config.stash[_started][name].result()
