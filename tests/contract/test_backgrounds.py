"""Both backgrounds, the inline one and the one on threads, keep the same contract."""

from collections.abc import Callable, Iterator
from threading import Semaphore

import pytest

from evac.memory import InlineBackground
from lambdas.adapters.background import ThreadBackground
from tests.contract.background_contract import *  # noqa: F403 - all of its tests


class Counting:
    """A background whose wakes are counted."""

    def __init__(self, make: Callable[[Callable[[], None]], InlineBackground | ThreadBackground]) -> None:
        self._woken = Semaphore(0)
        self._settled = 0
        self.background = make(self._woken.release)

    def settle(self, calls: int) -> None:
        while self._settled < calls:
            assert self._woken.acquire(timeout=10), "a call has not ended in 10 s"
            self._settled += 1


@pytest.fixture(params=["inline", "threads"])
def aside(request: pytest.FixtureRequest) -> Iterator[Counting]:
    """Each of them."""
    aside = Counting(InlineBackground if request.param == "inline" else ThreadBackground)
    yield aside
    if isinstance(aside.background, ThreadBackground):
        aside.background.close()
