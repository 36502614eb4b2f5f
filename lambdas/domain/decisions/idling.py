"""Other marked nodes whose pods' turn it is, and that nobody sees to: their drain is dead, or waits for something else.

Law: a node that nobody drains holds up no other. What is given up stays so for this invocation; should its drain come
back, it is only no longer waited for.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from lambdas.domain.values.kubernetes import PodRef

_PATIENCE = timedelta(seconds=3)
"""A living drain acts within milliseconds; a race with it is over long before this."""


@dataclass(slots=True)
class Idling:
    """Since when it has been each pod's turn, and the nodes that are not waited for any more."""

    given_up: set[str] = field(default_factory=set)
    _since: dict[PodRef, datetime] = field(default_factory=dict)

    def saw(self, turns: Mapping[PodRef, str], now: datetime) -> datetime | None:
        """Whose turn it is now, with its node; when the next of them is given up."""
        self._since = {ref: self._since.get(ref, now) for ref in turns}
        self.given_up |= {turns[ref] for ref, since in self._since.items() if since + _PATIENCE <= now}
        return min((since + _PATIENCE for since in self._since.values() if since + _PATIENCE > now), default=None)
