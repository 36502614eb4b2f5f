"""What a pod did when: the stretches of its bar.

Law: they follow one another without a gap, from the drain's start to the pod's end.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from typing import Final

from evac.replay.story import Line
from lambdas.domain.values.drains import Departure, DrainRecord, PodFate
from lambdas.domain.values.journal import Happening


class Doing(Enum):
    """What a pod does; the value is what the legend says, the name its class in the style."""

    WAITING = "waiting"
    HELD = "held by its budget"
    FINISHING = "left to finish"
    RELEASED = "released, waits for its replacement"
    REPLACED = "replaced, about to leave"
    STOPPING = "shutting down"
    AGAINST = "shutting down, deleted against its budget"
    LOST = "lost with the host"

    @property
    def style(self) -> str:
        """Its class."""
        return self.name.lower()


_OF_HOLD: Final = {"held by its budget": Doing.HELD, "left to finish": Doing.FINISHING}
"""How the detail of a `held` line begins."""


@dataclass(frozen=True, slots=True)
class Segment:
    """A stretch; `detail` says more than its kind."""

    doing: Doing
    since: datetime
    until: datetime
    detail: str = ""


def holds_of(lines: Sequence[Line], node_name: str) -> dict[str, list[Line]]:
    """By a pod's name: the lines that say why it stayed."""
    found: dict[str, list[Line]] = {}
    for line in lines:
        if line.what == Happening.HELD.value and line.node_name == node_name:
            found.setdefault(line.subject, []).append(line)
    return found


def segments_of(
    record: DrainRecord, fate: PodFate, holds: Mapping[str, Sequence[Line]], end: datetime
) -> list[Segment]:
    """The bar of a pod. `end`: when the host was taken, or the last that is known."""
    begin = record.started_at or record.notice.noticed_at
    until = fate.gone_at or end
    turns = sorted(_turns(fate, holds.get(str(fate.pod), ()), begin), key=lambda turn: turn[0])
    last = _shutdown(fate)
    found = []
    for i, (since, doing, detail) in enumerate(turns):
        later = [turns[i + 1][0]] if i + 1 < len(turns) else []
        stop = min([*later, until, *([last[0]] if last else [])])
        if stop > since:
            found.append(Segment(doing, since, stop, detail))
    if last and last[0] <= until:
        found.append(Segment(last[1], last[0], until, last[2]))
    return found


def _turns(fate: PodFate, holds: Sequence[Line], begin: datetime) -> Iterator[tuple[datetime, Doing, str]]:
    """What it did from which moment on, up to its SIGTERM."""
    yield begin, Doing.WAITING, fate.not_released and f"not released: {fate.not_released}"
    if fate.released_at:
        yield max(begin, fate.released_at), Doing.RELEASED, ""
    if fate.replaced_at:
        yield max(begin, fate.replaced_at), Doing.REPLACED, ""
    for line in holds:
        if not fate.released_at or line.at < fate.released_at:
            doing = next((d for start, d in _OF_HOLD.items() if line.detail.startswith(start)), Doing.WAITING)
            yield line.at, doing, line.detail


def _shutdown(fate: PodFate) -> tuple[datetime, Doing, str] | None:
    if fate.signalled_at is None:
        return None
    doing = Doing.AGAINST if fate.departure is Departure.DELETED_AGAINST_BUDGET else Doing.STOPPING
    grace = f"grace {fate.grace_given.total_seconds():g} s" if fate.grace_given else ""
    return fate.signalled_at, doing, "; ".join(part for part in (fate.departure.value, grace, fate.note) if part)
