"""How many pods of a workload are released at a time: its maxSurge, and more only where that would be too late.

A database may not bear 30 more connections: waves of maxSurge, each begun when the one before is replaced and gone.
Let R_i be the time to the i-th one's last safe moment and c a replacement's start-up time: floor(R_i / c) waves fit, so
that w = max(maxSurge, max over i of ceil(i / floor(R_i / c))) at a time make every deadline.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from lambdas.domain.decisions.surroundings import Workload
from lambdas.domain.values.settings import ReleaseMode

NO_ROOM_AFTER = timedelta(seconds=3)
"""A replacement unplaced for so long asks for capacity; the rest then ask too: pending pods are the surest request."""


@dataclass(frozen=True, slots=True)
class Wave:
    """How many more may be released now. `look_again_at`: when that may change by time alone."""

    room: int
    look_again_at: datetime | None = None


def wave_size(surge: int, times: Sequence[timedelta], startup: timedelta | None) -> int:
    """Pods released at a time. `times`: to each one's last safe moment, in order; `startup` None: not known."""
    if startup is None:
        return surge
    rounds = [time // startup for time in times]
    return max([surge, *(-(-i // r) if r > 0 else i for i, r in enumerate(rounds, start=1))])


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a workload stands. `moments`: the last safe ones of the pods still to be released, in order; `in_flight`:
    pods released that have no SIGTERM yet."""

    workload: Workload
    moments: Sequence[datetime]
    in_flight: int
    mode: ReleaseMode
    is_autoscaled: bool = False


def next_wave(standing: Standing, now: datetime) -> Wave:
    """What may be released now.

    Held surplus makes some autoscalers run away: with one, never more than maxSurge. Once a wave's replacements are
    Ready it holds up the next no longer where waves of maxSurge would be too late: pods that are unready elsewhere for
    good would stall it, since they take what the replacements bring.
    """
    workload, moments = standing.workload, standing.moments
    surge = workload.deployment.max_surge
    if standing.mode is ReleaseMode.ALL and not standing.is_autoscaled:
        return Wave(len(moments))
    if standing.is_autoscaled or standing.mode is ReleaseMode.WITHIN:
        return Wave(max(0, surge - standing.in_flight))
    unplaced_since = workload.unplaced_since()
    if unplaced_since is not None and unplaced_since + NO_ROOM_AFTER <= now:
        return Wave(len(moments))
    startup = workload.startup()
    times = [max(timedelta(), moment - now) for moment in moments]
    size = wave_size(surge, times, startup)
    in_flight = min(standing.in_flight, workload.pending()) if size > surge else standing.in_flight
    wakes = [unplaced_since + NO_ROOM_AFTER] if unplaced_since else []
    if startup:
        wakes += [now + time % startup for time in set(times) if time]
    return Wave(max(0, size - in_flight), min((w for w in wakes if w > now), default=None))
