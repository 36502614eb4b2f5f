"""How many pods of a workload are released at a time: its maxSurge, and more only where that would be too late.

A database may not bear 30 more connections: waves of maxSurge, each begun when the one before is replaced and gone.
Let R_i be the time to the i-th one's last safe moment and c a replacement's start-up time: floor(R_i / c) waves fit, so
that w = max(maxSurge, max over i of ceil(i / floor(R_i / c))) at a time make every deadline.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
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


def can_be_replaced(times: Sequence[timedelta], within: timedelta, most: int, busy: Sequence[timedelta]) -> int:
    """How many of the pods, in their order, can be released `most` at a time and replaced by their last safe moments.

    `times`: to each one's; `busy`: for each that is out already, how long until its replacement counts.
    """
    free_in = [*sorted(busy)[:most], *([timedelta()] * (most - len(busy)))]
    for i, time in enumerate(times):
        if i >= sum((time - begins) // within for begins in free_in if begins < time):
            return i
    return len(times)


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a workload stands. `moments`: the last safe ones of the pods still to be released, in order; `in_flight`:
    pods released that have no SIGTERM yet; `most` at a time, None where nothing limits it."""

    workload: Workload
    moments: Sequence[datetime]
    in_flight: int
    mode: ReleaseMode
    most: int | None = None


def next_wave(standing: Standing, now: datetime) -> Wave:
    """What may be released now.

    Once a wave's replacements are Ready it holds up the next no longer where waves of maxSurge would be too late: pods
    that are unready elsewhere for good would stall it, since they take what the replacements bring.
    """
    wave = _as_wished(standing, now)
    if standing.most is None:
        return wave
    return replace(wave, room=max(0, min(wave.room, standing.most - standing.in_flight)))


def _as_wished(standing: Standing, now: datetime) -> Wave:
    workload, moments = standing.workload, standing.moments
    surge = workload.deployment.max_surge
    if standing.mode is ReleaseMode.ALL:
        return Wave(len(moments))
    if standing.mode is ReleaseMode.WITHIN:
        return Wave(max(0, surge - standing.in_flight))
    unplaced_since = workload.unplaced_since()
    if unplaced_since is not None and unplaced_since + NO_ROOM_AFTER <= now:
        return Wave(len(moments))
    within = workload.replaced_within()
    times = [max(timedelta(), moment - now) for moment in moments]
    size = wave_size(surge, times, within)
    in_flight = min(standing.in_flight, workload.pending()) if size > surge else standing.in_flight
    wakes = [unplaced_since + NO_ROOM_AFTER] if unplaced_since else []
    if within:
        wakes += [now + time % within for time in set(times) if time]
    return Wave(max(0, size - in_flight), min((w for w in wakes if w > now), default=None))
