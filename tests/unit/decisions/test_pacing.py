"""By how much a budget is exceeded, when it must be."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lambdas.domain.decisions.pacing import Tides, needed_at_once, pace_of, startup_of
from lambdas.domain.values.kubernetes import Budget, Pod
from tests.unit.builders import at, budget, pod


def seconds(*values: float) -> list[timedelta]:
    return [timedelta(seconds=value) for value in values]


def started_in(took: float, name: str = "web-1", restarts: int = 0) -> Pod:
    return pod(name, scheduled_at=at(-1000), ready_at=at(-1000 + took), restarts=restarts)


@pytest.mark.parametrize(
    ("count", "left", "startup", "needed"),
    [
        (30, 85, 10, 4),  # ceil(30 / (8 + 1))
        (29, 45, 4, 3),  # ceil(29 / (11 + 1))
        (9, 85, 10, 1),
        (10, 85, 10, 2),
        (30, 85, 120, None),  # not even one round: nothing is won
        (1, 85, 10, 1),
    ],
)
def test_as_many_at_a_time_as_make_the_deadline(count: int, left: float, startup: float, needed: int | None) -> None:
    assert needed_at_once(seconds(*[left] * count), timedelta(seconds=startup)) == needed


@pytest.mark.parametrize(
    ("count", "left", "busy", "needed"),
    [
        (18, 53.5, (), 3),
        (18, 53.5, (9, 9, 9), 4),  # 3 * 5 rounds once they are replaced, and 6 more beside them
        (6, 18.2, (9.5, 9.5, 8.2), 4),
        (6, 25, (1, 1, 1), 2),
    ],
)
def test_who_is_missing_frees_a_place_only_when_replaced(
    count: int, left: float, busy: tuple[float, ...], needed: int
) -> None:
    assert needed_at_once(seconds(*[left] * count), timedelta(seconds=10), seconds(*busy)) == needed


@given(st.lists(st.integers(0, 115), min_size=1, max_size=40).map(sorted), st.integers(1, 60))
def test_going_so_many_at_a_time_a_round_each_start_up_none_is_late(left: list[int], startup: int) -> None:
    needed = needed_at_once(seconds(*left), timedelta(seconds=startup))
    if needed is not None:
        rounds = [index // needed for index in range(len(left))]
        assert all(r * startup <= moment for r, moment in zip(rounds, left, strict=True))


def test_the_start_up_time_is_the_median_of_those_that_never_restarted() -> None:
    pods = [started_in(8), started_in(10), started_in(12), started_in(900, restarts=1), pod()]
    assert startup_of(pods) == timedelta(seconds=10)
    assert startup_of([pod()]) is None
    assert startup_of([started_in(0)]) == timedelta(seconds=1)


def test_a_budget_has_recovered_when_its_healthy_rise_after_one_of_its_pods_was_signalled() -> None:
    tides, ref = Tides(), budget().ref
    for healthy in (40, 39, 40):
        tides.saw([budget(healthy=healthy)], set())
    assert ref not in tides.recovered
    for healthy, has_recovered in ((40, False), (39, False), (38, False), (39, True), (38, True)):
        tides.saw([budget(healthy=healthy)], {ref})
        assert (ref in tides.recovered) is has_recovered


@pytest.mark.parametrize(
    ("shut", "has_recovered", "was_touched", "most"),
    [
        (budget(expected=40, desired=39, healthy=39), True, True, 4),
        (budget(expected=40, desired=39, healthy=39), False, True, None),  # no replacement seen yet
        (budget(expected=40, desired=39, healthy=39), False, False, 2),  # one, as a probe
        (budget(expected=40, desired=36, healthy=36), True, True, None),  # what it allows is enough
        (budget(expected=40, desired=40, healthy=40), True, True, None),  # allows none by its own words
        (budget(expected=40, desired=39, healthy=39, is_observed=False), True, True, None),
    ],
)
def test_the_pace_where_a_budget_cannot_be_kept(
    shut: Budget, has_recovered: bool, was_touched: bool, most: int | None
) -> None:
    pods = [started_in(10, f"web-{i}") for i in range(30)]
    found = pace_of(shut, pods, seconds(*[85] * 30), has_recovered=has_recovered, was_touched=was_touched)
    assert (found.most if found else None) == most


def test_the_arithmetic_is_said() -> None:
    shut = budget(expected=40, desired=39, healthy=39)
    pods = [started_in(10, f"web-{i}") for i in range(30)]
    found = pace_of(shut, pods, seconds(*[85] * 30), has_recovered=True, was_touched=True)
    assert found
    assert found.arithmetic == "30 pods left, 10 s for a replacement, 85 s to the last one's moment: 4 at a time"
