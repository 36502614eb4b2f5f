"""Slow calls beside the drain: each key comes back once, whatever its call does."""

import threading
from collections.abc import Callable, Hashable, Iterator

import pytest

from lambdas.adapters.background import ThreadBackground
from lambdas.adapters.clock import SystemClock
from lambdas.domain.errors import PassingError, PortError

PATIENCE = 5.0


class Beside:
    """A background and the wakes it gives."""

    def __init__(self, workers: int = 4) -> None:
        self.wakes = threading.Semaphore(0)
        self.background = ThreadBackground(self.wakes.release, workers)

    def outcome(self, count: int = 1) -> list[tuple[Hashable, object]]:
        """What came, once `count` calls have ended."""
        for _ in range(count):
            assert self.wakes.acquire(timeout=PATIENCE)
        return list(self.background.finished())


@pytest.fixture
def beside() -> Iterator[Beside]:
    made = Beside()
    yield made
    made.background.close()


def raising(error: Exception) -> Callable[[], object]:
    def call() -> object:
        raise error

    return call


def test_a_value_comes_back_under_its_key_once(beside: Beside) -> None:
    beside.background.start("key", lambda: 7)
    assert beside.outcome() == [("key", 7)]
    assert list(beside.background.finished()) == []


def test_two_calls_for_each_node_of_a_full_batch_may_hang_and_keep_no_other_waiting() -> None:
    wakes, end = threading.Semaphore(0), threading.Event()
    background = ThreadBackground(wakes.release)
    for i in range(20):
        background.start(("lock", i), end.wait)
    background.start("hold", lambda: 7)
    assert wakes.acquire(timeout=PATIENCE)
    assert list(background.finished()) == [("hold", 7)]
    end.set()
    background.close()


def test_an_error_of_a_port_comes_back_as_it_is(beside: Beside) -> None:
    error = PassingError("throttled")
    beside.background.start("key", raising(error))
    assert beside.outcome() == [("key", error)]


def test_a_fault_of_ours_comes_back_as_an_error_of_a_port(beside: Beside, caplog: pytest.LogCaptureFixture) -> None:
    beside.background.start("key", raising(KeyError("missing")))
    [(key, error)] = beside.outcome()
    assert key == "key"
    assert isinstance(error, PortError)
    assert "KeyError" in str(error)
    assert "should not" in caplog.text


def test_a_key_that_has_not_been_collected_is_not_started_again(beside: Beside) -> None:
    calls: list[int] = []
    beside.background.start("key", lambda: calls.append(1))
    assert beside.wakes.acquire(timeout=PATIENCE)
    beside.background.start("key", lambda: calls.append(2))
    assert list(beside.background.finished()) == [("key", None)]
    beside.background.start("key", lambda: calls.append(3))
    assert beside.outcome() == [("key", None)]
    assert calls == [1, 3]


def test_calls_run_side_by_side(beside: Beside) -> None:
    together = threading.Barrier(4)
    for number in range(4):
        beside.background.start(number, lambda: together.wait(PATIENCE) >= 0)
    assert sorted(beside.outcome(4), key=str) == [(number, True) for number in range(4)]


def test_a_slow_call_holds_up_no_more_than_its_thread() -> None:
    beside = Beside(workers=2)
    go_on = threading.Event()
    beside.background.start("slow", lambda: go_on.wait(PATIENCE))
    for number in range(5):
        beside.background.start(number, lambda: "quick")
    assert sorted(beside.outcome(5), key=str) == [(number, "quick") for number in range(5)]
    go_on.set()
    assert beside.outcome() == [("slow", True)]
    beside.background.close()


def test_what_has_not_begun_is_dropped_when_it_closes() -> None:
    beside = Beside(workers=1)
    begun, go_on = threading.Event(), threading.Event()
    ran: list[str] = []

    def slow() -> None:
        begun.set()
        go_on.wait(PATIENCE)

    beside.background.start("slow", slow)
    begun.wait(PATIENCE)
    beside.background.start("later", lambda: ran.append("later"))
    beside.background.close()
    go_on.set()
    assert beside.outcome() == [("slow", None)]
    beside.background.start("after", lambda: ran.append("after"))
    assert ran == []


def test_the_systems_clock_is_aware_and_goes_on() -> None:
    clock = SystemClock()
    first, second = clock.now(), clock.now()
    assert first.tzinfo is not None
    assert first.utcoffset() is not None
    assert first <= second
