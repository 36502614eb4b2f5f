"""One node's part of the page: the axis, its budgets, and its pods by workload.

Law: at most so many pods stand open, however many there are; one that was lost always does.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from evac.rendering.words import plural
from evac.report.axis import Axis, axis_head, axis_of, marks_of, overlay
from evac.report.charts import bar, budget_words, curve, end_of, strip
from evac.report.markup import NOTHING, Html, joined, tag
from evac.report.segments import Doing, holds_of, segments_of
from evac.report.tables import budgets_table, pods_table, skipped_table, timeline_table, workloads_table
from evac.report.told import Told
from evac.report.words import short_by
from lambdas.domain.values.courses import BudgetStory, WorkloadStory
from lambdas.domain.values.drains import Departure, DrainRecord, PodFate

_OPEN_ROWS: Final = 80
_ALONE: Final = "Pods without a controller"


def node_section(told: Told, record: DrainRecord) -> Html:
    """The whole of it."""
    axis, marks = axis_of(told, record), marks_of(told, record)
    groups = _groups(record)
    opens = len(record.pods) <= _OPEN_ROWS
    parts = [
        tag("h2", record.node_name, tag("small", f"{record.notice.instance_id}, {record.notice.reason.value}")),
        _legend(told, record),
        tag(
            "div",
            axis_head(told, axis, marks),
            tag(
                "div",
                overlay(axis, marks),
                _budgets(told, axis, record),
                *(_workload(told, axis, record, name, fates, opens=opens) for name, fates in groups.items()),
                class_="plot",
            ),
            class_="chart",
        ),
        _tables(told, record),
    ]
    return tag("section", *parts)


def _legend(told: Told, record: DrainRecord) -> Html:
    """What of it occurs."""
    holds, end = holds_of(told.lines, record.node_name), end_of(told, record)
    seen = {segment.doing for fate in record.pods for segment in segments_of(record, fate, holds, end)}
    keys = [tag("span", tag("b", class_=f"key {doing.style}"), doing.value) for doing in Doing if doing in seen]
    if any(fate.departure is Departure.LOST for fate in record.pods):
        keys.append(tag("span", tag("b", "✕", class_="cross"), Doing.LOST.value))
    keys.append(tag("span", tag("b", class_="key safe-tick"), "last safe moment for its SIGTERM"))
    keys.append(tag("span", tag("b", class_="key line"), "Ready pods"))
    keys.append(tag("span", tag("b", class_="key dashes"), "wanted"))
    keys.append(tag("span", tag("b", class_="key missing"), "missing"))
    return tag("p", *keys, class_="legend")


def _groups(record: DrainRecord) -> dict[str, list[PodFate]]:
    """Pods by workload, the worst off first; within one those that were signalled first."""
    found: dict[str, list[PodFate]] = {}
    for fate in sorted(record.pods, key=lambda f: (f.signalled_at or record.notice.reclaim_at, f.pod)):
        found.setdefault(fate.workload or _ALONE, []).append(fate)
    return dict(
        sorted(found.items(), key=lambda item: (-_not_graceful(item[1]), item[0] == _ALONE, -len(item[1]), item[0]))
    )


def _worst_first(group: tuple[str, Sequence[PodFate]]) -> tuple[object, ...]:
    name, fates = group
    return (-_not_graceful(fates), name == _ALONE, -len(fates), name)


def _not_graceful(fates: Sequence[PodFate]) -> int:
    return sum(1 for fate in fates if not fate.departure.is_graceful)


def _row(name: Html | str, chart: Html, outcome: Html | str, style: str = "") -> Html:
    cells = (tag("div", name, class_="label"), tag("div", chart, class_="cell"), tag("div", outcome, class_="out"))
    return tag("div", *cells, class_=f"row {style}".strip())


def _budgets(told: Told, axis: Axis, record: DrainRecord) -> Html:
    """Those that did something; the others behind a fold."""
    if not record.budgets:
        return NOTHING
    stories = sorted(record.budgets, key=lambda s: (-s.exceeded_by, -s.held_for, s.ref))
    rows = {story: _budget(told, axis, story) for story in stories}
    busy = [row for story, row in rows.items() if story.held or story.exceeded_by]
    idle = [row for story, row in rows.items() if not (story.held or story.exceeded_by)]
    words = f"{plural(len(idle), 'more budget' if busy else 'disruption budget')} held no pod"
    fold = [tag("details", tag("summary", words), *idle)] if idle else []
    return tag("div", *busy, *fold, class_="budgets")


def _budget(told: Told, axis: Axis, story: BudgetStory) -> Html:
    name = joined([f"PDB {story.ref}", tag("small", story.rule)])
    words = tag("em", budget_words(story)) if story.exceeded_by else budget_words(story)
    return _row(name, strip(told, axis, story), words)


def _workload(told: Told, axis: Axis, record: DrainRecord, name: str, fates: Sequence[PodFate], *, opens: bool) -> Html:
    """Its curve, and its pods behind a fold."""
    stories = [story for story in record.workloads if f"{story.kind} {story}" == name]
    story = stories[0] if stories else None
    label = joined([tag("strong", name), tag("small", "; ".join(_counts(fates)))])
    chart = curve(told, axis, story.curve) if story else NOTHING
    summary = tag("summary", _row(label, chart, _ready(story), "workload"))
    holds = holds_of(told.lines, record.node_name)
    end = end_of(told, record)
    rows = []
    for fate in fates:
        lost_at = end if fate.departure is Departure.LOST else None
        made = bar(told, axis, fate, segments_of(record, fate, holds, end), lost_at=lost_at)
        rows.append(_row(_named(fate), made, _outcome(told, fate), "pod"))
    return tag("details", summary, *rows, open=opens or _not_graceful(fates) > 0, class_="group")


def _named(fate: PodFate) -> Html:
    return tag("span", fate.pod.name, title=str(fate.pod))


def _ready(story: WorkloadStory | None) -> Html | str:
    if story is None:
        return ""
    words = f"fewest {story.fewest_ready} of {story.replicas} Ready"
    by = tag("small", f"by PDB {story.counted_by}") if story.counted_by else NOTHING
    return joined([tag("em", words) if short_by(story) else words, by])


def _counts(fates: Sequence[PodFate]) -> Iterator[str]:
    yield plural(len(fates), "pod")
    released = sum(1 for fate in fates if fate.released_at)
    if released:
        yield f"{released} released first"
    for departure in Departure:
        count = sum(1 for fate in fates if fate.departure is departure)
        if count:
            yield f"{count} {departure.value}"


def _outcome(told: Told, fate: PodFate) -> Html:
    if fate.departure is Departure.LOST:
        return tag("em", "LOST")
    word = {Departure.DELETED_AGAINST_BUDGET: "against its PDB", Departure.STAYED: "stayed"}.get(fate.departure, "left")
    cut = ", SIGKILL" if fate.pod.uid in told.cut_short else ""
    return tag("span", f"{word} {told.at(fate.gone_at)}{cut}", title=fate.departure.value)


def _tables(told: Told, record: DrainRecord) -> Html:
    made = [timeline_table(told, record)]
    made += [workloads_table(told, record)] if record.workloads else []
    made += [budgets_table(told, record)] if record.budgets else []
    made.append(pods_table(told, record))
    made += [skipped_table(record)] if record.skipped else []
    return tag("details", tag("summary", f"Figures of {record.node_name}"), *made, class_="figures")
