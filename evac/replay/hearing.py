"""What the given events say, and when it is to happen.

Law: the same parser as the handler's decides what a body means.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from evac.errors import InputError
from evac.scenario.events import Body
from lambdas.domain.decisions.events import SPOT_NOTICE_LEAD, parse
from lambdas.domain.values.messages import Interruption, Message
from lambdas.domain.values.notices import Notice, Reason

_LONGEST = timedelta(days=30)


@dataclass(frozen=True, slots=True)
class Heard:
    """One message: where it stands ("events.json[2]", "--node NAME"), and what it says."""

    place: str
    message: Message

    @property
    def notices(self) -> tuple[Notice, ...]:
        """The notices in it; none where it is something else."""
        return self.message.notices if isinstance(self.message, Interruption) else ()


def hear(bodies: Iterable[Body]) -> list[Heard]:
    """What each body says."""
    return [Heard(body.place, parse(body.text)) for body in bodies]


def spot_notice(node_name: str, instance_id: str, now: datetime) -> Heard:
    """The notice that EC2 would send for a node at this moment."""
    notice = Notice(instance_id, Reason.SPOT_INTERRUPTION, now, now + SPOT_NOTICE_LEAD)
    return Heard(f"--node {node_name}", Interruption((notice,)))


def first_notice(heard: Sequence[Heard]) -> datetime | None:
    """The earliest moment of a notice; None where there is none."""
    return min((notice.noticed_at for h in heard for notice in h.notices), default=None)


def moved_to(heard: Sequence[Heard], first: datetime, now: datetime) -> list[Heard]:
    """The same messages with `first` at `now`, and the others as far from it as they were. Raises `InputError`."""
    for h in heard:
        for notice in h.notices:
            if max(notice.noticed_at, notice.reclaim_at) - first > _LONGEST:
                raise InputError(
                    f"is more than {_LONGEST.days} days after the first notice",
                    cure="replay fewer events, or --keep-times",
                    place=h.place,
                )
    by = now - first
    return [replace(h, message=_shifted(h.message, by)) if h.notices else h for h in heard]


def _shifted(message: Message, by: timedelta) -> Message:
    match message:
        case Interruption(notices):
            return Interruption(tuple(_later(notice, by) for notice in notices))
        case other:
            return other


def _later(notice: Notice, by: timedelta) -> Notice:
    return replace(notice, noticed_at=notice.noticed_at + by, reclaim_at=notice.reclaim_at + by)
