"""Virtual time."""

from datetime import datetime, timedelta

import pytest

from evac.simulator.timeline import Timeline
from tests.scenes import at


def test_things_happen_in_order_of_time_then_of_asking() -> None:
    timeline, happened = Timeline(at(0)), []
    for name, second in (("c", 2.0), ("a", 1.0), ("b", 1.0)):
        timeline.at(at(second), lambda name=name: happened.append((name, timeline.now())))  # type: ignore[misc]
    timeline.run_until(at(5))
    assert happened == [("a", at(1)), ("b", at(1)), ("c", at(2))]
    assert timeline.now() == at(5)


def test_what_is_asked_for_in_the_past_happens_next() -> None:
    timeline, happened = Timeline(at(0)), []
    timeline.at(at(-10), lambda: happened.append(timeline.now()))
    timeline.run_until(at(0))
    assert happened == [at(0)]


def test_it_stops_where_it_is_told_once_the_whole_moment_has_happened() -> None:
    timeline, happened = Timeline(at(0)), []
    for name in "ab":
        timeline.at(at(1), lambda name=name: happened.append(name))  # type: ignore[misc]
    timeline.after(timedelta(seconds=2), lambda: happened.append("late"))
    timeline.run_until(at(5), lambda: bool(happened))
    assert happened == ["a", "b"]
    assert timeline.now() == at(1)


def test_time_never_goes_back() -> None:
    timeline = Timeline(at(10))
    timeline.run_until(at(3))
    assert timeline.now() == at(10)


def test_what_a_happening_raises_comes_out_and_the_rest_still_happens() -> None:
    timeline, happened = Timeline(at(0)), []

    def fail() -> None:
        raise RuntimeError("boom")

    timeline.at(at(1), fail)
    timeline.at(at(2), lambda: happened.append("after"))
    with pytest.raises(RuntimeError):
        timeline.run_until(at(5))
    timeline.run_until(at(5))
    assert happened == ["after"]


def test_a_beginning_without_a_zone_is_refused() -> None:
    with pytest.raises(ValueError, match="time zone"):
        Timeline(datetime(2026, 1, 1))  # noqa: DTZ001 - that is the point
