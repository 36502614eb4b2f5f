"""What every `Background` owes. An `aside` fixture gives one that tells when its calls have ended."""

from typing import Protocol

from lambdas.application.ports import Background
from lambdas.domain.errors import PassingError


class Aside(Protocol):
    """A background, and a way to wait for it."""

    @property
    def background(self) -> Background:
        """Who runs the calls."""
        ...

    def settle(self, calls: int) -> None:
        """Return when so many calls have ended since the beginning, each of which ended a wait of the loop."""
        ...


def test_a_call_brings_its_value_once_under_its_key(aside: Aside) -> None:
    aside.background.start(("describe", 1), lambda: 42)
    aside.settle(1)
    assert list(aside.background.finished()) == [(("describe", 1), 42)]
    assert list(aside.background.finished()) == []


def test_a_port_error_is_brought_as_a_value(aside: Aside) -> None:
    error = PassingError("away")

    def fail() -> None:
        raise error

    aside.background.start("finish", fail)
    aside.settle(1)
    assert list(aside.background.finished()) == [("finish", error)]


def test_a_key_that_was_not_collected_is_not_started_twice(aside: Aside) -> None:
    ran: list[int] = []
    for number in range(3):
        aside.background.start("hold", lambda number=number: ran.append(number))  # type: ignore[misc]
    aside.settle(1)
    assert ran == [0]
    aside.background.finished()
    aside.background.start("hold", lambda: ran.append(7))
    aside.settle(2)
    assert ran == [0, 7]


def test_calls_of_different_keys_all_come_back(aside: Aside) -> None:
    for number in range(20):
        aside.background.start(number, lambda number=number: number * number)  # type: ignore[misc]
    aside.settle(20)
    assert dict(aside.background.finished()) == {n: n * n for n in range(20)}


def test_a_call_that_returns_nothing_is_told_too(aside: Aside) -> None:
    aside.background.start("finish", lambda: None)
    aside.settle(1)
    assert list(aside.background.finished()) == [("finish", None)]
