"""Lines of one moment put together, without the holds that were over before anybody could have read them.

Law: every other line is in exactly one group, and what became of one pod keeps its order.
"""

from collections.abc import Iterable, Sequence
from datetime import timedelta
from typing import Final

from evac.replay.story import READY, Line
from lambdas.domain.values.journal import Happening

MOMENT: Final = timedelta(seconds=0.5)
"""A wave of evictions takes this long at most: its pods' answers come some hundredths of a second apart."""

_AFTER_A_HOLD: Final = frozenset(
    h.value
    for h in (
        Happening.HELD,
        Happening.RELEASED,
        Happening.EVICTED,
        Happening.DELETED,
        Happening.GONE,
        Happening.LOST,
    )
)


def belongs_to(first: Line, line: Line) -> bool:
    """Whether a line is of the moment that `first` began."""
    return line.at - first.at <= MOMENT


def grouped(lines: Sequence[Line]) -> list[list[Line]]:
    """The lines of one moment, those together that say the same of several pods of a node, or of replacements anywhere.

    A line joins the group that says the same unless a later group has its pod already.
    """
    groups: list[list[Line]] = []
    saying: dict[tuple[str, str, str], int] = {}
    last_of: dict[tuple[str, str], int] = {}
    for line in _lasting(lines):
        who = (line.node_name, line.subject)
        said = (READY, "", "") if line.what == READY else (line.what, line.node_name, line.detail)
        group = saying.get(said)
        if group is None or group <= last_of.get(who, -1):
            group = saying[said] = len(groups)
            groups.append([])
        groups[group].append(line)
        last_of[who] = group
    return groups


def _lasting(lines: Sequence[Line]) -> Iterable[Line]:
    """All but the holds that something else follows within the moment."""
    followed: set[tuple[str, str]] = set()
    kept = []
    for line in reversed(lines):
        who = (line.node_name, line.subject)
        if line.what != Happening.HELD.value or who not in followed:
            kept.append(line)
        if line.what in _AFTER_A_HOLD:
            followed.add(who)
    return reversed(kept)
