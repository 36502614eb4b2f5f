"""A drain that a person asks for: nodes by their names, to be empty by some moment, or whenever all is replaced."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from evac.replay.hearing import Heard
from evac.replay.places import Place
from lambdas.domain.values.messages import Interruption
from lambdas.domain.values.notices import NO_DEADLINE, Notice, Reason


@dataclass(frozen=True, slots=True)
class Maintenance:
    """`within`: from its beginning to the moment by which the node is to be empty; None: it takes what it takes."""

    within: timedelta | None = None

    def notice(self, place: Place, now: datetime) -> Heard:
        """The notice of a node; one without an instance goes by its name."""
        reclaim_at = NO_DEADLINE if self.within is None else now + self.within
        notice = Notice(place.instance_id or place.node_name, Reason.MAINTENANCE, now, reclaim_at)
        return Heard(place.node_name, Interruption((notice,)))
