"""The charts: a bar for each pod, Ready pods over time, and what a budget did when.

Law: colour never says alone what a title, a word or a table does not say too.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from evac.report.axis import Axis
from evac.report.markup import NOTHING, Html, joined, tag
from evac.report.segments import Segment
from evac.report.told import Told
from lambdas.domain.values.courses import BudgetStory, Level
from lambdas.domain.values.drains import DrainRecord, PodFate

_BAR: Final = 14
_CURVE: Final = 44
_WIDE_ENOUGH: Final = 2.2
"""Percents of the width that hold a number."""

_MOST_TITLES: Final = 400


def bar(told: Told, axis: Axis, fate: PodFate, segments: Sequence[Segment], *, lost_at: datetime | None) -> Html:
    """A pod's bar, with its last safe moment, and where it was lost a cross."""
    rects = [_segment(told, axis, segment) for segment in segments]
    if fate.last_safe_at:
        title = tag("title", f"last safe moment for its SIGTERM: {told.at(fate.last_safe_at)}")
        rects.append(_rect(axis.place(fate.last_safe_at), 0.25, "safe-tick", 0, _BAR, title))
    if lost_at is not None:
        words = f"lost with the host {told.at(lost_at)}" + (f": {fate.note}" if fate.note else "")
        cross = tag("text", "✕", x=f"{axis.place(lost_at)}%", y=_BAR - 2, class_="cross", text_anchor="middle")
        rects.append(tag("g", tag("title", words), cross))
    return tag("svg", *rects, width="100%", height=_BAR, role="img", aria_label=_in_words(told, segments))


def _segment(told: Told, axis: Axis, segment: Segment) -> Html:
    long = (segment.until - segment.since).total_seconds()
    words = f"{segment.doing.value}: {told.at(segment.since)} to {told.at(segment.until)} ({long:.1f} s)"
    title = tag("title", words + (f"\n{segment.detail}" if segment.detail else ""))
    width = max(0.12, axis.width(segment.since, segment.until))
    return _rect(axis.place(segment.since), width, segment.doing.style, 2, _BAR - 4, title)


def _in_words(told: Told, segments: Sequence[Segment]) -> str:
    return ", ".join(f"{s.doing.value} from {told.at(s.since)}" for s in segments) or "nothing known"


def _rect(x: float, width: float, style: str, y: float, height: float, *children: Html) -> Html:
    return tag("rect", *children, x=f"{x}%", width=f"{width}%", y=round(y, 2), height=round(height, 2), class_=style)


def curve(told: Told, axis: Axis, levels: Sequence[Level], noun: str = "Ready") -> Html:
    """Ready pods as a step line against the wanted ones; what is missing is filled."""
    if not levels:
        return NOTHING
    low, high = _range(levels)

    def y(count: int) -> float:
        return round(3 + (_CURVE - 6) * (high - count) / (high - low), 2)

    ends = [*(level.at for level in levels[1:]), axis.until]
    filled: list[Html] = []
    titles: list[Html] = []
    ready: list[tuple[float, float]] = []
    wanted: list[tuple[float, float]] = []
    for level, end in zip(levels, ends, strict=True):
        x, width = axis.place(level.at), axis.width(level.at, end)
        if level.missing:
            filled.append(_rect(x, width, "missing", y(level.wanted), y(level.ready) - y(level.wanted)))
        ready += [(x, y(level.ready)), (round(x + width, 3), y(level.ready))]
        wanted += [(x, y(level.wanted)), (round(x + width, 3), y(level.wanted))]
        if len(titles) < _MOST_TITLES:
            words = f"from {told.at(level.at)}: {level.ready} of {level.wanted} {noun}"
            titles.append(_rect(x, width, "touch", 0, _CURVE, tag("title", words)))
    lines = tag(
        "svg",
        tag("polyline", points=_points(wanted), class_="wanted"),
        tag("polyline", points=_points(ready), class_="ready"),
        viewBox=f"0 0 100 {_CURVE}",
        preserveAspectRatio="none",
        width="100%",
        height=_CURVE,
    )
    fewest = min(level.ready for level in levels)
    words = f"{noun} pods over time: at least {fewest} of {levels[-1].wanted}"
    chart = tag("svg", *filled, lines, *titles, width="100%", height=_CURVE, role="img", aria_label=words)
    scale = tag("div", tag("span", str(high)), tag("span", str(low)), class_="scale")
    return joined([scale, chart])


def _range(levels: Sequence[Level]) -> tuple[int, int]:
    """From nothing, or, where few of many were missing, from just below the lowest: a dip of 1 in 40 is to be seen."""
    high = max(max(level.ready, level.wanted) for level in levels)
    fewest = min(min(level.ready, level.wanted) for level in levels)
    low = 0 if high <= 12 or fewest < high / 2 else max(0, fewest - max(2, high // 10))
    return low, max(high, low + 1)


def _points(points: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{x},{y}" for x, y in points)


def strip(told: Told, axis: Axis, story: BudgetStory) -> Html:
    """A budget: when it held pods, and when it had fewer healthy pods than it wants."""
    rects = [_rect(axis.place(axis.since), 100, "rail", _BAR / 2 - 1, 2)]
    for span in story.held:
        long = (span.until - span.since).total_seconds()
        words = f"held pods of this node: {told.at(span.since)} to {told.at(span.until)} ({long:.1f} s)"
        width = max(0.12, axis.width(span.since, span.until))
        rects.append(_rect(axis.place(span.since), width, "held", 2, _BAR - 4, tag("title", words)))
    ends = [*(level.at for level in story.curve[1:]), axis.until][: len(story.curve)]
    rects += [_lacking(told, axis, level, end) for level, end in zip(story.curve, ends, strict=True) if level.missing]
    return tag("svg", *rects, width="100%", height=_BAR, role="img", aria_label=budget_words(story))


def _lacking(told: Told, axis: Axis, level: Level, end: datetime) -> Html:
    x, width = axis.place(level.at), axis.width(level.at, end)
    words = f"{level.ready} of {level.wanted} healthy: {told.at(level.at)} to {told.at(end)}"
    made = [_rect(x, max(0.12, width), "exceeded", 0, _BAR)]
    if width >= _WIDE_ENOUGH:
        place = f"{round(x + width / 2, 3)}%"
        made.append(tag("text", f"−{level.missing}", x=place, y=_BAR - 3, text_anchor="middle", class_="number"))
    return tag("g", tag("title", words), *made)


def budget_words(story: BudgetStory) -> str:
    """What a budget did, in words."""
    held = f"held {story.held_for.total_seconds():.0f} s" if story.held else "held none"
    return f"{held}, exceeded by {story.exceeded_by}" if story.exceeded_by else held


def end_of(told: Told, record: DrainRecord) -> datetime:
    """Up to when bars of pods go that did not leave."""
    return told.reclaim(record) or record.ended_at or record.notice.noticed_at
