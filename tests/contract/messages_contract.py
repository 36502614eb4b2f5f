"""What every `MessageLease` and `MalformedMessages` owes. Fixtures: a `queue`, and what is `kept`."""

from datetime import timedelta
from typing import Protocol

import pytest

from lambdas.application.ports import MalformedMessages, MessageLease
from lambdas.domain.errors import PortError

HELD = timedelta(seconds=15)


class Delivery(Protocol):
    """Messages that were just received from a queue of a long visibility timeout."""

    def receive(self, number: int) -> tuple[list[str], MessageLease]:
        """So many messages' ids, and the lease on them."""
        ...

    def is_held_for(self, message_id: str) -> timedelta | None:
        """How long the last hold keeps the message invisible, counted from that hold; None: none was asked for."""
        ...


class Shelf(Protocol):
    """Where malformed messages are kept."""

    @property
    def port(self) -> MalformedMessages:
        """Who keeps them."""
        ...

    def all(self) -> list[tuple[str, str]]:
        """Body and reason of each that was kept."""
        ...


@pytest.mark.parametrize("number", [1, 10, 23])
def test_all_messages_are_held_however_many(queue: Delivery, number: int) -> None:
    ids, lease = queue.receive(number)
    lease.hold(ids, HELD)
    assert {queue.is_held_for(i) for i in ids} == {HELD}


def test_a_message_handed_back_is_seen_at_once_and_its_neighbour_is_not(queue: Delivery) -> None:
    (mine, other), lease = queue.receive(2)
    lease.hold([mine, other], HELD)
    lease.hold([mine], timedelta(0))
    assert queue.is_held_for(mine) == timedelta(0)
    assert queue.is_held_for(other) == HELD


def test_holding_nothing_is_no_error(queue: Delivery) -> None:
    (mine,), lease = queue.receive(1)
    lease.hold([], HELD)
    assert queue.is_held_for(mine) != HELD


def test_one_that_cannot_be_held_is_named_and_costs_its_neighbours_nothing(queue: Delivery) -> None:
    (mine,), lease = queue.receive(1)
    with pytest.raises(PortError, match="stranger"):
        lease.hold(["stranger", mine], HELD)
    assert queue.is_held_for(mine) == HELD


def test_what_is_kept_can_be_read_again_with_its_reason(kept: Shelf) -> None:
    kept.port.keep("{not json", "not JSON")
    kept.port.keep('{"detail": 7} ü\n', "no detail")
    assert sorted(kept.all()) == sorted([("{not json", "not JSON"), ('{"detail": 7} ü\n', "no detail")])


def test_two_of_a_kind_are_both_kept(kept: Shelf) -> None:
    for _ in range(2):
        kept.port.keep("x", "not JSON")
    assert kept.all() == [("x", "not JSON")] * 2
