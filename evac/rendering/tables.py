"""The summary at the end of a replay: one row for each pod, each workload and each budget."""

from collections.abc import Container, Iterable, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from rich.table import Table
from rich.text import Text

from evac.rendering.emptied import deadline_words, who
from evac.rendering.words import clean, offset, seconds
from lambdas.domain.decisions.steps import Hold
from lambdas.domain.values.drains import Departure, DrainRecord, PodFate
from lambdas.domain.values.journal import Happening
from lambdas.domain.values.kubernetes import BudgetRef

if TYPE_CHECKING:
    from rich.console import Console

    from evac.replay.outcome import Low, Replay

_RELEASES: Final = ("released", "replaced")
_NUMBERS: Final = {*_RELEASES, "SIGTERM", "grace", "gone", "wanted", "before", "fewest", "at"}
_HOW: Final = {
    Departure.EVICTED: ("evicted", ""),
    Departure.DELETED_AGAINST_BUDGET: ("deleted", "magenta"),
    Departure.DELETED_SEVERAL_BUDGETS: ("deleted", ""),
    Departure.DELETED: ("deleted", ""),
    Departure.FINISHED: ("finished", "green"),
    Departure.LEFT: ("left", ""),
    Departure.LOST: ("LOST", "bold red"),
    Departure.STAYED: ("stayed", "yellow"),
}
_WAITED: Final = {Hold.FINISH: "finish", Hold.CRITICAL: "others"}
"""What a pod waited for that no budget held: its own end, the other pods' departure."""
_COUNTED_WITHIN: Final = timedelta(seconds=1)


def print_tables(replay: "Replay", console: "Console") -> None:
    """A table of pods for each node, then the workloads and budgets that they belonged to."""
    for record in replay.drains:
        console.print()
        console.print(Text(_headline(replay, record), style="bold"))
        if record.pods:
            _print(console, _fitting(console, replay, record))
        for reason, count in _skipped(record):
            console.print(Text(f"left alone: {count} ({clean(reason)})", style="dim"))
    lows = [*replay.workloads, *replay.budgets]
    if lows:
        console.print()
        _print(console, _lows(replay, lows))


def _print(console: "Console", table: Table) -> None:
    """The table without blanks at the ends of its lines."""
    for segments in console.render_lines(table, pad=False):
        line = Text.assemble(*((segment.text, segment.style or "") for segment in segments))
        line.rstrip()
        console.print(line, soft_wrap=True)


def _fitting(console: "Console", replay: "Replay", record: DrainRecord) -> Table:
    """With the moments of releases, and the graces that pods asked for and did not get, where there is room."""
    releases = _RELEASES if any(fate.released_at for fate in record.pods) else ()
    table = _table()
    for shown, says_own_grace in ((releases, True), (releases, False), (releases[:1], False)):
        table = _pods(replay, record, shown, says_own_grace=says_own_grace)
        if console.measure(table, options=console.options.update(max_width=10**4)).maximum <= console.width:
            return table
    return _pods(replay, record, (), says_own_grace=False)


def _headline(replay: "Replay", record: DrainRecord) -> str:
    if not record.notice.takes_the_host:
        return f"{who(record)}, {deadline_words(replay, record)}"
    reclaimed = replay.offset(replay.reclaimed_at.get(record.node_name, record.notice.reclaim_at))
    return f"{clean(record.node_name)} ({clean(record.notice.instance_id)}), reclaim {offset(reclaimed)}"


def _skipped(record: DrainRecord) -> Iterable[tuple[str, int]]:
    counts: dict[str, int] = {}
    for _, reason in record.skipped:
        counts[reason] = counts.get(reason, 0) + 1
    return counts.items()


def _table(*columns: str) -> Table:
    """No lines, two blanks between columns; numbers to the right, names folded where the terminal is too narrow."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for column in columns:
        is_number = column in _NUMBERS
        table.add_column(column, justify="right" if is_number else "left", no_wrap=is_number, overflow="fold")
    return table


def _pods(replay: "Replay", record: DrainRecord, releases: Sequence[str], *, says_own_grace: bool) -> Table:
    table = _table("pod", "how", *releases, "SIGTERM", "grace", "gone", "held by")
    waited, passing = _waited(replay, record), _passing(record)
    for fate in sorted(record.pods, key=lambda f: (f.signalled_at or record.notice.reclaim_at, f.pod)):
        how, style = _HOW[fate.departure]
        table.add_row(
            Text(clean(str(fate.pod))),
            Text(how, style=style),
            *(offset(replay.offset(at)) for at in (fate.released_at, fate.replaced_at)[: len(releases)]),
            offset(replay.offset(fate.signalled_at)),
            _grace(replay, fate) if says_own_grace else seconds(fate.grace_given),
            offset(replay.offset(fate.gone_at)),
            Text(_held_by(fate, passing) or waited.get(str(fate.pod), "")),
        )
    return table


def _grace(replay: "Replay", fate: PodFate) -> str:
    own = replay.own_grace(fate)
    return seconds(fate.grace_given) if own is None else f"{seconds(fate.grace_given)} of {seconds(own)}"


def _waited(replay: "Replay", record: DrainRecord) -> dict[str, str]:
    """What pods waited for, by their names."""
    held = [line for line in replay.lines if line.what == Happening.HELD.value and line.node_name == record.node_name]
    return {line.subject: word for line in held for hold, word in _WAITED.items() if line.detail.startswith(hold.value)}


def _passing(record: DrainRecord) -> set[BudgetRef]:
    """Budgets that held nobody for longer than their controller takes to count a replacement."""
    return {b.ref for b in record.budgets if not b.exceeded_by and b.held_for < _COUNTED_WITHIN}


def _held_by(fate: PodFate, passing: Container[BudgetRef]) -> str:
    """The budgets' names; their namespace is the pod's. A replaced pod was not held by one that opened at once."""
    held_by = [b for b in fate.held_by if not (fate.replaced_at and b in passing)]
    return clean(", ".join(budget.name for budget in held_by))


def _lows(replay: "Replay", lows: "Iterable[Low]") -> Table:
    table = _table("Ready pods of", "wanted", "before", "fewest", "at")
    for low in lows:
        style = "yellow" if low.missing else ""
        name = f"{low.kind} {low.name}" + (f" ({low.rule})" if low.rule else "")
        table.add_row(
            Text(clean(name)),
            str(low.wanted),
            str(low.at_start),
            Text(str(low.fewest), style=style),
            offset(replay.offset(low.fewest_at) if low.fewest < low.at_start else None),
        )
    return table
