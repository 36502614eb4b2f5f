"""Other marked nodes: given up when nothing moves on them though it is their turn."""

from dataclasses import replace

import pytest

from lambdas.domain.decisions.idling import Idling
from lambdas.domain.decisions.steps import Doomed
from tests.unit.builders import at, doomed, pod, terminating


def theirs(**changed: object) -> list[Doomed]:
    """Two pods on another marked node; the first perhaps changed."""
    first, second = pod("a"), pod("b")
    return doomed(replace(first, **changed), second, node="spot-b")  # type: ignore[arg-type]


TURN = {d.pod.ref for d in theirs()}


def test_a_node_that_stands_still_in_its_turn_is_given_up_after_a_while() -> None:
    idling = Idling()
    assert idling.saw(theirs(), TURN, at(0)) == at(6)
    idling.saw(theirs(), TURN, at(5.9))
    assert idling.given_up == set()
    idling.saw(theirs(), TURN, at(6))
    assert idling.given_up == {"spot-b"}


def test_one_on_which_a_pod_moves_is_drained_by_somebody() -> None:
    idling = Idling()
    idling.saw(theirs(), TURN, at(0))
    idling.saw(theirs(deletion=terminating(5)), TURN, at(5))
    idling.saw(theirs(deletion=terminating(5)), TURN, at(10.9))
    assert idling.given_up == set()
    idling.saw(theirs(deletion=terminating(5)), TURN, at(11))
    assert idling.given_up == {"spot-b"}


@pytest.mark.parametrize("between", [0.1, 3])
def test_time_in_which_it_is_not_its_turn_does_not_count(between: float) -> None:
    idling = Idling()
    idling.saw(theirs(), TURN, at(0))
    assert idling.saw(theirs(), set(), at(5)) is None
    idling.saw(theirs(), TURN, at(5 + between))
    idling.saw(theirs(), TURN, at(10))
    assert idling.given_up == set()
