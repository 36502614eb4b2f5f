"""Other marked nodes whose pods' turn it is, and that nobody sees to: their drain is dead, or waits for something else.

Law: a node that nobody drains holds up no other, and one on which anything moves is drained by somebody. What is given
up stays so for this invocation; should its drain come back, it is only no longer waited for.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from lambdas.domain.decisions.steps import Doomed
from lambdas.domain.values.kubernetes import PodRef

_PATIENCE = timedelta(seconds=6)
"""A living drain acts within a second, however many others the API server has to serve."""

Sight = tuple[tuple[PodRef, bool, bool], ...]
"""A node's pods: which are there, released, on their way out."""


@dataclass(slots=True)
class Idling:
    """Since when each node with a pod whose turn it is has stood still; `given_up`: those not waited for any more."""

    given_up: set[str] = field(default_factory=set)
    _seen: dict[str, Sight] = field(default_factory=dict)
    _still_since: dict[str, datetime] = field(default_factory=dict)

    def saw(self, elsewhere: Iterable[Doomed], turns: Collection[PodRef], now: datetime) -> datetime | None:
        """The pods of other nodes, and those whose turn it is; when the next node is given up."""
        by_node: defaultdict[str, list[Doomed]] = defaultdict(list)
        for d in elsewhere:
            by_node[d.node_name].append(d)
        waited_for = {name for name, pods in by_node.items() if any(d.pod.ref in turns for d in pods)}
        for name in set(self._still_since) - waited_for:
            del self._still_since[name]
        for name in waited_for:
            self._look_at(name, by_node[name], now)
        moments = [since + _PATIENCE for since in self._still_since.values()]
        return min((moment for moment in moments if moment > now), default=None)

    def _look_at(self, name: str, pods: Iterable[Doomed], now: datetime) -> None:
        sight = tuple(sorted((d.pod.ref, d.pod.released is not None, d.pod.deletion is not None) for d in pods))
        if self._seen.get(name) != sight:
            self._seen[name] = sight
            self._still_since[name] = now
        if self._still_since.setdefault(name, now) + _PATIENCE <= now:
            self.given_up.add(name)
