"""How many are released at a time, by the arithmetic of its docstring."""

from dataclasses import replace
from datetime import timedelta

import pytest

from lambdas.domain.decisions.surroundings import Workload
from lambdas.domain.decisions.waves import Standing, can_be_replaced, next_wave, wave_size
from lambdas.domain.values.kubernetes import Owner, Pod
from lambdas.domain.values.releases import Released
from lambdas.domain.values.settings import ReleaseMode
from lambdas.domain.values.workloads import Deployment
from tests.unit.builders import at, pod

SECONDS = timedelta(seconds=1)


@pytest.mark.parametrize(
    ("surge", "pods", "left", "startup", "size"),
    [
        (10, 30, 84.7, 10, 10),  # D1: eight waves fit, three are needed
        (8, 30, 84.7, 40, 15),  # D1c: two fit
        (8, 15, 44.7, 40, 15),  # and then one
        (10, 30, 84.7, None, 10),  # not known: maxSurge
        (1, 30, 84.7, 10, 4),  # a surge of one would take thirty waves
        (1, 5, 3, 10, 5),  # none fits: all of them
        (1, 0, 84.7, 10, 1),
    ],
)
def test_a_wave_is_the_surge_or_as_many_as_make_the_deadline(
    surge: int, pods: int, left: float, startup: float | None, size: int
) -> None:
    known = None if startup is None else startup * SECONDS
    assert wave_size(surge, [left * SECONDS] * pods, known) == size


def test_of_different_moments_the_tightest_prefix_decides() -> None:
    times = [10 * SECONDS] * 3 + [80 * SECONDS] * 3
    assert wave_size(1, times, 10 * SECONDS) == 3


def running(name: str, **fields: object) -> Pod:
    """Placed and Ready 10 s later, long ago."""
    return replace(pod(name), scheduled_at=at(-100), ready_at=at(-90), created_at=at(-100), **fields)  # type: ignore[arg-type]


def released(name: str, when: float) -> Pod:
    """Released at `when`."""
    mark = Released("web", "rs-1", "web", "d-1", "h", at(when))
    return replace(running(name), owner=None, released=mark)


def standing(
    workload: Workload, left: int = 20, mode: ReleaseMode = ReleaseMode.ENOUGH, most: int | None = None
) -> Standing:
    """`left` pods still to be released, each to be signalled by second 85."""
    return Standing(workload, [at(85)] * left, len(workload.released), mode, most)


OWNER = Owner("ReplicaSet", "web", "rs-1")
FRESH = Workload(Deployment("default", "web", "d-1", replicas=40, max_surge=10), (), (running("a"), running("b")))
BEGUN = replace(FRESH, released=tuple(released(f"r{i}", 0) for i in range(10)))


def test_a_wave_that_is_out_holds_up_the_next() -> None:
    assert next_wave(standing(FRESH), at(0)).room == 10
    assert next_wave(standing(BEGUN), at(1)).room == 0


def test_all_and_within() -> None:
    assert next_wave(standing(BEGUN, mode=ReleaseMode.ALL), at(1)).room == 20
    assert next_wave(standing(BEGUN, mode=ReleaseMode.WITHIN), at(84)).room == 0


@pytest.mark.parametrize("mode", [ReleaseMode.ENOUGH, ReleaseMode.ALL, ReleaseMode.WITHIN])
def test_where_something_limits_it_never_more_than_that(mode: ReleaseMode) -> None:
    assert next_wave(standing(BEGUN, mode=mode, most=10), at(1)).room == 0
    assert next_wave(standing(FRESH, mode=mode, most=4), at(1)).room == 4


@pytest.mark.parametrize(
    ("most", "busy", "fit"),
    [
        (1, (), 3),  # 85 s hold three start-ups of 25 s
        (2, (), 6),
        (1, (10,), 3),  # one is out and back in 10 s: 75 s are left
        (1, (15,), 2),
        (2, (15, 20), 4),
        (9, (), 8),  # all there are
    ],
)
def test_how_many_can_be_replaced_in_time_so_many_at_a_time(most: int, busy: tuple[float, ...], fit: int) -> None:
    times = [85 * SECONDS] * 8
    assert can_be_replaced(times, 25 * SECONDS, most, [s * SECONDS for s in busy]) == fit


def test_replacements_unplaced_for_three_seconds_let_all_ask_for_room() -> None:
    waiting = replace(pod("new"), node_name="", ready=False, created_at=at(0), owner=OWNER)
    stuck = replace(BEGUN, owned=(*BEGUN.owned, waiting))
    before = next_wave(standing(stuck), at(2.9))
    assert before.room == 0
    assert before.look_again_at == at(3)
    assert next_wave(standing(stuck), at(3)).room == 20
    assert next_wave(standing(stuck, mode=ReleaseMode.WITHIN), at(3)).room == 0


def test_replacements_that_are_ready_hold_up_nobody_once_time_is_short() -> None:
    """D29: ten pods unready elsewhere for good take what the replacements bring; at second 66 one wave fits."""
    new = tuple(replace(running(f"n{i}"), created_at=at(1), ready_at=at(11), scheduled_at=at(1)) for i in range(10))
    whole = replace(BEGUN, owned=(*(running(f"o{i}") for i in range(30)), *new))
    assert next_wave(standing(whole), at(30)).room == 0
    assert next_wave(standing(whole), at(66)).room == 20


def test_it_says_when_time_alone_makes_the_wave_larger() -> None:
    assert next_wave(standing(BEGUN), at(1)).look_again_at == at(5)
