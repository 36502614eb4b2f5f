"""What a report is made of."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from evac.rendering.words import offset
from evac.replay.outcome import Mode, Replay
from evac.replay.story import Line
from lambdas.domain.values.drains import DrainRecord


@dataclass(frozen=True, slots=True)
class Told:
    """The drains of one page. Offsets count from `zero`; `lines`: what happened, in order.

    `reclaimed_at`: when each node's host was taken, where its notice does not say; `cut_short`: pods (by uid) that
    were killed at the end of their grace; `notes`: what else a reader has to know.
    """

    zero: datetime
    records: Sequence[DrainRecord]
    lines: Sequence[Line] = ()
    mode: Mode = Mode.LIVE
    reclaimed_at: Mapping[str, datetime] = field(default_factory=dict)
    cut_short: frozenset[str] = frozenset()
    notes: Sequence[str] = ()

    @property
    def drains(self) -> list[DrainRecord]:
        """The records of nodes that were found."""
        return [record for record in self.records if record.node_name]

    def at(self, moment: datetime | None) -> str:
        """A moment as people read it: "+85.0s"."""
        return offset(None if moment is None else (moment - self.zero).total_seconds())

    def reclaim(self, record: DrainRecord) -> datetime | None:
        """When the host was, or is, taken; None where nobody takes it."""
        taken_at = self.reclaimed_at.get(record.node_name)
        if taken_at is not None:
            return taken_at
        notice = record.notice
        return notice.reclaim_at if notice.takes_the_host and notice.has_deadline else None


def told_of(replay: Replay) -> Told:
    """What a replay, or a drain of a real cluster, has to tell."""
    unknown = [f"not known, and so not checked: {', '.join(replay.unknown_kinds)}"] if replay.unknown_kinds else []
    return Told(
        zero=replay.zero,
        records=[_with_moments(record) for record in replay.records],
        lines=replay.lines,
        mode=replay.mode,
        reclaimed_at=replay.reclaimed_at,
        cut_short=replay.cut_short,
        notes=[*unknown, *replay.notes],
    )


def _with_moments(record: DrainRecord) -> DrainRecord:
    """Without a deadline no moment is the last."""
    if record.notice.has_deadline:
        return record
    return replace(record, pods=tuple(replace(fate, last_safe_at=None) for fate in record.pods))
