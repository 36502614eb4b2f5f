"""The time axis that every chart of a node shares.

Law: places are percentages of its width, so that nothing has to know how wide a page is.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from evac.rendering.words import offset
from evac.report.markup import Html, joined, tag
from evac.report.told import Told
from lambdas.domain.values.drains import DrainRecord

_STEPS: Final = (1, 2, 5, 10, 15, 20, 30, 60, 120, 300, 600, 1800, 3600, 7200, 21600, 86400)
_MOST_TICKS: Final = 13
_LETTER: Final = 1.5
"""Percents of the width that a letter of a mark's label takes on a narrow screen; labels that would touch go onto lines
apart."""

_LINE: Final = 1.25


@dataclass(frozen=True, slots=True)
class Axis:
    """From `since` to `until`."""

    zero: datetime
    since: datetime
    until: datetime

    def place(self, moment: datetime) -> float:
        """In percent of the width, kept within it."""
        whole = (self.until - self.since).total_seconds()
        share = (moment - self.since).total_seconds() / whole
        return round(100 * min(1.0, max(0.0, share)), 3)

    def width(self, since: datetime, until: datetime) -> float:
        """In percent."""
        return round(max(0.0, self.place(until) - self.place(since)), 3)

    def ticks(self) -> Iterator[tuple[float, str]]:
        """Places with their labels, at whole steps from zero."""
        whole = (self.until - self.since).total_seconds()
        step = next((s for s in _STEPS if whole / s <= _MOST_TICKS), _STEPS[-1])
        first = -int((self.zero - self.since).total_seconds() // step)
        last = int((self.until - self.zero).total_seconds() // step)
        for i in range(first, min(last, first + 2 * _MOST_TICKS) + 1):
            place = self.place(self.zero + timedelta(seconds=i * step))
            yield place, f"{i * step}s" if i * step < 3600 else offset(i * step).lstrip("+")


@dataclass(frozen=True, slots=True)
class Mark:
    """A moment of the node's that every chart shows. `kind` is its class in the style."""

    at: datetime
    kind: str
    label: str


def axis_of(told: Told, record: DrainRecord) -> Axis:
    """From the notice to the reclaim, or as far as anything happened."""
    levels = [*(w.curve for w in record.workloads), *(b.curve for b in record.budgets)]
    curves = [level.at for course in levels for level in course[-1:]]
    gone = [at for fate in record.pods for at in (fate.gone_at, fate.signalled_at) if at]
    ends = [m for m in (told.reclaim(record), record.ended_at, *curves, *gone) if m is not None]
    starts = [m for m in (record.notice.noticed_at, record.started_at) if m is not None]
    since, until = min(starts), max([*ends, *starts]) + timedelta(seconds=1)
    return Axis(told.zero, since, until + (until - since) / 25)


def marks_of(told: Told, record: DrainRecord) -> list[Mark]:
    """The moments of the node, the earliest first."""
    safe = sorted({fate.last_safe_at for fate in record.pods if fate.last_safe_at})
    found = [
        (record.cordoned_at, "cordon", "cordoned"),
        (record.excluded_at, "exclude", "out of load balancers"),
        (safe[0] if safe else None, "safe", "last safe moment" if len(safe) == 1 else "first last safe moment"),
        (safe[-1] if len(safe) > 1 else None, "safe", "latest last safe moment"),
        (told.reclaim(record), "reclaim", "reclaim"),
    ]
    return sorted((Mark(at, kind, label) for at, kind, label in found if at is not None), key=lambda mark: mark.at)


def axis_head(told: Told, axis: Axis, marks: list[Mark]) -> Html:
    """The ticks, and the names of the marks."""
    ticks = [tag("span", label, class_="tick", style=f"left:{place}%") for place, label in axis.ticks()]
    names: list[Html] = []
    taken: list[list[tuple[float, float]]] = []
    for mark in marks:
        text = f"{mark.label} {told.at(mark.at)}"
        row, side = _room_for(axis.place(mark.at), len(text) * _LETTER, taken)
        style = f"{side};top:{row * _LINE}em"
        is_late = side.startswith("right")
        names.append(tag("span", text, class_=f"name {mark.kind}{' late' if is_late else ''}", style=style))
    labels = tag("div", *names, class_="names", style=f"height:{len(taken) * _LINE}em")
    return tag("div", tag("div"), tag("div", labels, tag("div", *ticks, class_="ticks")), tag("div"), class_="head row")


def _room_for(place: float, width: float, taken: list[list[tuple[float, float]]]) -> tuple[int, str]:
    """The first line on which a label has room, and its side as a style; one near the end grows to the left."""
    is_late = place + width > 100
    start = place - width if is_late else place
    row = next(
        (i for i, spans in enumerate(taken) if all(start > e or start + width < s for s, e in spans)), len(taken)
    )
    if row == len(taken):
        taken.append([])
    taken[row].append((start, start + width))
    return row, f"right:{round(100 - place, 3)}%" if is_late else f"left:{place}%"


def overlay(axis: Axis, marks: list[Mark]) -> Html:
    """Vertical lines behind charts."""
    ticks = [tag("i", class_="tick", style=f"left:{place}%") for place, _ in axis.ticks()]
    lines = [tag("i", class_=mark.kind, style=f"left:{axis.place(mark.at)}%") for mark in marks]
    return tag("div", tag("div", joined([*ticks, *lines]), class_="lines"), class_="overlay", aria_hidden="true")
