"""When a pod's SIGTERM is due at the latest, and how much grace it then gets (the two minutes, law 1)."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from lambdas.domain.values.actions import Mark
from lambdas.domain.values.kubernetes import Node, Pod
from lambdas.domain.values.notices import NO_DEADLINE, Notice
from lambdas.domain.values.settings import Settings

NOTHING_TOUCHED_AFTER = timedelta(seconds=60)
"""A deadline longer past than this is an old backlog or an archive's replay, unless EC2 says otherwise."""

LATE_PATH = timedelta(seconds=15)
"""How long a drain that begins too late goes on: the host may live some seconds longer than promised."""

_LEAST = timedelta(seconds=1)

_OUTLIVES_RECLAIM = timedelta(minutes=15)
_OUTLIVES_ITSELF = timedelta(hours=24)
"""A mark's expiry bounds a forgotten one."""

_MOST = timedelta(days=1)
"""Counted of a grace: the API takes any int64 of seconds, and no moment lies that far back."""


def is_long_past(notice: Notice, now: datetime) -> bool:
    """So long past, or out of an archive, that only EC2's word lets anything be touched."""
    return notice.is_replayed or now > notice.reclaim_at + NOTHING_TOUCHED_AFTER


def notice_that_counts(notices: Iterable[Notice], now: datetime) -> Notice:
    """Of several for one instance: the earliest reclaim, but never one long past where another is not."""
    return min(notices, key=lambda n: (is_long_past(n, now), n.reclaim_at))


def time_left(notice: Notice, now: datetime) -> str:
    """What is left to its reclaim, in words."""
    if not notice.has_deadline:
        return "no deadline"
    return f"{max(0.0, (notice.reclaim_at - now).total_seconds()):.0f} s left"


def mark_of(notice: Notice, node: Node, since: datetime, now: datetime) -> Mark:
    """The node's mark, begun at `since`. It outlives its reclaim by a little; without one, its beginning by a day."""
    expires_at = max(notice.reclaim_at, now) + _OUTLIVES_RECLAIM if notice.has_deadline else since + _OUTLIVES_ITSELF
    reclaim_at = notice.reclaim_at if notice.has_deadline else None
    instance_id = notice.instance_id if notice.takes_the_host else node.instance_id or node.name
    return Mark(instance_id, notice.reason.value, reclaim_at, since, expires_at)


@dataclass(frozen=True, slots=True)
class Deadline:
    """The host is taken at `reclaim`; shutdowns are to be over `settings.margin` earlier. With NO_DEADLINE no moment is
    the last safe one: budgets are never exceeded, graces never clamped."""

    reclaim: datetime
    settings: Settings

    def left(self, now: datetime) -> timedelta:
        """What is left for a shutdown begun now: at least 1 s, since a grace of 0 allows two pods of one identity."""
        return max(_LEAST, self.reclaim - self.settings.margin - now)

    def grace(self, pod: Pod, now: datetime) -> timedelta:
        """The grace of a SIGTERM sent now: the pod's own, clamped to what is left; whole seconds, at least 1."""
        return timedelta(seconds=max(1, int(min(pod.grace, self.left(now)).total_seconds())))

    def last_safe_moment(self, pod: Pod) -> datetime:
        """The latest moment for the pod's SIGTERM; may be past.

        Of a controlled pod's grace at most `settings.grace_counted` counts: with 115 s and more the moment would be
        the notice itself, and everything behind a budget would be deleted in second 0. A pod without a controller
        has nobody to replace it, so nothing is won by waiting: its whole grace counts. (A released pod counts as having
        its former one.)
        """
        counted = min(pod.grace, self.settings.grace_counted) if pod.owner or pod.released else pod.grace
        if self.reclaim >= NO_DEADLINE:
            return NO_DEADLINE
        return self.reclaim - self.settings.margin - min(max(timedelta(), counted), _MOST)
