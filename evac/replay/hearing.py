"""What the given events say, and when it is to happen.

Law: the same parser as the handler's decides what a body means.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from evac.errors import InputError
from evac.scenario.events import Body
from lambdas.domain.decisions.events import SPOT_NOTICE_LEAD, parse
from lambdas.domain.values.messages import (
    Fulfilled,
    Gone,
    Ignored,
    Interruption,
    LifecycleLaunch,
    LifecycleTerminate,
    Malformed,
    Message,
    Rebalance,
    ScheduledChange,
)
from lambdas.domain.values.notices import Notice, Reason

_LONGEST = timedelta(days=3)


@dataclass(frozen=True, slots=True)
class Heard:
    """One message: where it stands ("events.json[2]", "--node NAME"), and what it says."""

    place: str
    message: Message

    @property
    def notices(self) -> tuple[Notice, ...]:
        """The notices in it; none where it is something else."""
        return self.message.notices if isinstance(self.message, Interruption) else ()

    @property
    def reason(self) -> str:
        """Why nothing is done about it, or why it could not be understood; empty for an interruption."""
        match self.message:
            case Interruption():
                return ""
            case Malformed(reason):
                return reason
            case Ignored(reason):
                return f"{reason}: nothing to act on"
            case Rebalance(instance_id):
                return f"rebalance recommendation for {instance_id}: a risk, no notice; not acted on"
            case ScheduledChange(instance_ids, code=code):
                return f"AWS Health scheduled change {code} of {', '.join(instance_ids)}: not acted on"
            case LifecycleTerminate(hook):
                return f"termination hook {hook.hook_name} for {hook.instance_id}: not acted on"
            case LifecycleLaunch(hook):
                return f"launch hook {hook.hook_name} for {hook.instance_id}: not acted on"
            case Gone(instance_id, state):
                return f"instance {instance_id} is {state}: nothing left to drain"
            case Fulfilled(instance_id):
                return f"spot request fulfilled by {instance_id}: nothing to act on"


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


def timed(heard: Sequence[Heard], now: datetime, *, keeps_times: bool) -> list[Heard]:
    """The messages with the first notice at `now` and the others as far from it as they were; or as they are.

    Raises `InputError` for one that would be waited for longer than a replay goes.
    """
    first = first_notice(heard)
    if first is None:
        return list(heard)
    begins = now if keeps_times else first
    for h in heard:
        if any(max(notice.noticed_at, notice.reclaim_at) - begins > _LONGEST for notice in h.notices):
            since = "the cluster's own moment" if keeps_times else "the first notice"
            raise InputError(
                f"is more than {_LONGEST.days} days after {since}", cure="replay fewer events at a time", place=h.place
            )
    return list(heard) if keeps_times else [_moved(h, now - first) for h in heard]


def _moved(h: Heard, by: timedelta) -> Heard:
    return replace(h, message=_shifted(h.message, by)) if h.notices else h


def _shifted(message: Message, by: timedelta) -> Message:
    match message:
        case Interruption(notices):
            return Interruption(tuple(_later(notice, by) for notice in notices))
        case other:
            return other


def _later(notice: Notice, by: timedelta) -> Notice:
    return replace(notice, noticed_at=notice.noticed_at + by, reclaim_at=notice.reclaim_at + by)
