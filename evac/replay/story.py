"""The story of a replay, line by line: what the drain reports, and which replacements became Ready meanwhile.

Law: lines come in the order in which things become known, and what became of a pod is told before the story ends.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Final

from evac.simulator import Key, PodStory, Simulation
from lambdas.domain.values.drains import Departure, DrainRecord
from lambdas.domain.values.journal import Entry, Happening

READY: Final = "ready"
"""What a line says that no drain reports: a replacement became Ready."""

NEW_ON: Final = "new, on "
"""How such a line's detail begins; the node's name follows."""


@dataclass(frozen=True, slots=True)
class Line:
    """One thing that happened. `what`: a `Happening`'s value, or "ready"; the rest as in an `Entry`."""

    at: datetime
    what: str
    node_name: str
    subject: str
    detail: str = ""


def line_of(entry: Entry) -> Line:
    """What a drain reported."""
    return Line(entry.at, entry.happening.value, entry.node_name, entry.subject, entry.detail)


class Replacements:
    """Pods that came into being during the replay, in the place of those of the drained nodes."""

    def __init__(self, simulation: Simulation, drained: set[str]) -> None:
        self._simulation = simulation
        stories = list(simulation.journal)
        self._before = len(stories)
        self._owners: set[Key] = {
            s.owner for s in stories if s.owner and s.node_name in drained and s.owner.kind != "DaemonSet"
        }
        self._told: set[str] = set()

    def up_to(self, moment: datetime) -> Iterator[Line]:
        """Those that became Ready by `moment`, each once, the earliest first."""
        new = [s for s in islice(self._simulation.journal, self._before, None) if s.owner in self._owners]
        found = [(s.ready_at, s) for s in new if s.ready_at and s.ready_at <= moment and s.pod.uid not in self._told]
        for at, story in sorted(found, key=lambda pair: (pair[0], pair[1].node_name, pair[1].pod)):
            self._told.add(story.pod.uid)
            yield Line(at, READY, story.node_name, str(story.pod), _where(story))


def _where(story: PodStory) -> str:
    """Nodes are told apart by the first part of their names; the whole would fill the line."""
    return f"{NEW_ON}{story.node_name.partition('.')[0]}"


def untold(records: Iterable[DrainRecord], lines: Iterable[Line]) -> Iterator[Line]:
    """The ends of pods that came to light only when the drains were over: in the moment in which their host went."""
    told = {(line.node_name, line.subject) for line in lines if line.what in _ENDS}
    for record in records:
        for fate in record.pods:
            if (record.node_name, str(fate.pod)) in told:
                continue
            if fate.departure is Departure.LOST:
                at = record.ended_at or record.notice.reclaim_at
                yield Line(at, Happening.LOST.value, record.node_name, str(fate.pod), fate.note)
            elif fate.departure is not Departure.STAYED and fate.gone_at is not None:
                yield Line(fate.gone_at, Happening.GONE.value, record.node_name, str(fate.pod))


_ENDS: Final = {Happening.GONE.value, Happening.LOST.value}
