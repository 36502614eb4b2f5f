"""What became of a pod is told once, also where nobody saw it before the drain was over."""

from dataclasses import replace
from datetime import datetime, timedelta

from evac.replay.recording import Recorder
from evac.replay.story import Line, untold
from lambdas.domain.values.drains import Departure, DrainRecord, Ending, PodFate
from lambdas.domain.values.journal import Entry, Happening
from lambdas.domain.values.kubernetes import PodRef
from lambdas.domain.values.notices import Notice, Reason
from tests.scenes import NOTICE, at

RECORD = DrainRecord(
    Notice("i-1", Reason.SPOT_INTERRUPTION, NOTICE, at(120)), Ending.DRAINED, "spot-a", ended_at=at(120)
)


def fate(name: str, departure: Departure, gone_at: datetime | None = None) -> PodFate:
    return PodFate(PodRef("default", name, name), departure, gone_at=gone_at)


def told(*fates: PodFate, lines: tuple[Line, ...] = ()) -> list[tuple[float, str, str]]:
    found = untold([replace(RECORD, pods=fates)], lines)
    return [((line.at - NOTICE) / timedelta(seconds=1), line.what, line.subject) for line in found]


def test_ends_that_nobody_told_come_at_the_end() -> None:
    fates = fate("a", Departure.EVICTED, at(119.9)), fate("b", Departure.LOST), fate("c", Departure.FINISHED, at(9))
    expected = [(119.9, "gone", "default/a"), (120, "lost", "default/b"), (9, "gone", "default/c")]
    assert told(*fates) == expected


def test_ends_that_were_told_are_not_told_again() -> None:
    lines = Line(at(5), "gone", "spot-a", "default/a"), Line(at(120), "lost", "spot-a", "default/b")
    assert told(fate("a", Departure.EVICTED, at(5)), fate("b", Departure.LOST), lines=lines) == []


def test_a_namesake_on_another_node_is_another_pod() -> None:
    elsewhere = Line(at(5), "gone", "spot-b", "default/a")
    assert told(fate("a", Departure.EVICTED, at(7)), lines=(elsewhere,)) == [(7, "gone", "default/a")]


def test_what_has_not_ended_is_not_told_as_if_it_had() -> None:
    assert told(fate("a", Departure.STAYED), fate("b", Departure.EVICTED)) == []


def test_what_else_happened_comes_before_the_next_report_and_once() -> None:
    replacement = Line(at(3), "ready", "other", "default/b", "new, on other")
    left = [replacement]

    def meanwhile(moment: datetime) -> list[Line]:
        due = [line for line in left if line.at <= moment]
        left[:] = [line for line in left if line.at > moment]
        return due

    heard: list[Line] = []
    recorder = Recorder(heard.append, meanwhile)
    for seconds in (1, 4, 5):
        recorder.tell(Entry(at(seconds), Happening.GONE, "spot-a", f"default/p{seconds}"))
    assert [line.subject for line in heard] == ["default/p1", "default/b", "default/p4", "default/p5"]
    assert recorder.lines == heard


def test_a_reader_that_has_gone_does_not_end_the_story() -> None:
    def gone(_line: Line) -> None:
        raise BrokenPipeError

    recorder = Recorder(gone)
    for seconds in (1, 2):
        recorder.tell(Entry(at(seconds), Happening.GONE, "spot-a", "default/p"))
    assert len(recorder.lines) == 2
