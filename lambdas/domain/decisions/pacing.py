"""Exceeding a budget by the least: a few pods missing early instead of all of them at the last safe moment.

Behind `maxUnavailable: 1`, 30 pods whose replacements take 10 s leave one by one: nine do, and at second 85 the other
21 would be deleted at once. That end can be seen from the beginning. With k of them missing at a time, a round each
start-up time c, all are out when k = max over i of ceil(i / (floor(R_i / c) + 1)), R_i being the time to the i-th one's
last safe moment.

Law: nothing is exceeded before a replacement was seen to become Ready in this drain (an early deletion would help
nobody where replacements find no room), but for one pod as a probe where the budget lets none go at all.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import count
from statistics import median
from typing import ClassVar

from lambdas.domain.decisions.attempts import Attempt
from lambdas.domain.decisions.budgets import BudgetIndex
from lambdas.domain.decisions.steps import Doomed
from lambdas.domain.values.kubernetes import Budget, BudgetRef, Pod

_LEAST_STARTUP = timedelta(seconds=1)
"""The API shows whole seconds."""


def startup_of(pods: Iterable[Pod]) -> timedelta | None:
    """From placed to Ready: the median of those that never restarted (a flap moves Ready's time); None if unknown."""
    took = [p.ready_at - p.scheduled_at for p in pods if p.ready_at and p.scheduled_at and not p.restarts]
    known = [t.total_seconds() for t in took if t >= timedelta(0)]
    return max(_LEAST_STARTUP, timedelta(seconds=median(known))) if known else None


def needed_at_once(times: Sequence[timedelta], startup: timedelta, busy: Sequence[timedelta] = ()) -> int | None:
    """How many are to be missing at a time, so that all leave by their moments; `times`: to each one's, in order.

    `busy`: for each that is missing already, how long until its replacement is Ready: only then another may go in its
    place. None where nothing is won: not even the last one's time holds a single start-up, so the depth is the same
    later.
    """
    if not any(time >= startup for time in times):
        return None
    by_then = {time: i for i, time in enumerate(times, start=1)}
    return next(most for most in count(1) if all(i <= _leave_by(t, startup, most, busy) for t, i in by_then.items()))


def _leave_by(time: timedelta, startup: timedelta, most: int, busy: Sequence[timedelta]) -> int:
    """How many can leave by then, so many at a time; where more are missing already, the last of those free a place."""
    free_in = [*sorted(busy, reverse=True)[:most], *([timedelta()] * (most - len(busy)))]
    return sum((time - begins) // startup + 1 for begins in free_in if begins <= time)


@dataclass(slots=True)
class Tides:
    """Which budgets have been seen to recover since a pod of theirs was first signalled."""

    recovered: set[BudgetRef] = field(default_factory=set)
    _lowest: dict[BudgetRef, int] = field(default_factory=dict)

    def saw(self, budgets: Iterable[Budget], touched: Collection[BudgetRef]) -> None:
        """The budgets as observed now; `touched`: those of which a pod has its SIGTERM from us."""
        for budget in budgets:
            if budget.ref not in touched or not budget.is_observed:
                continue
            lowest = self._lowest.setdefault(budget.ref, budget.healthy)
            if budget.healthy > lowest:
                self.recovered.add(budget.ref)
            self._lowest[budget.ref] = min(lowest, budget.healthy)


@dataclass(frozen=True, slots=True)
class Pace:
    """How far a budget may be exceeded now. `most` pods missing at a time; `arithmetic` says why."""

    most: int
    arithmetic: str


def pace_of(
    budget: Budget,
    pods: Sequence[Pod],
    times: Sequence[timedelta],
    *,
    has_recovered: bool,
    was_touched: bool,
    missing_for: Sequence[timedelta] = (),
) -> Pace | None:
    """The pace for the pods that still have to leave (in the plan's order), or None where the budget alone decides.

    It does where it allows none by its own words (maxUnavailable 0, minAvailable 100 %), where what it allows is
    enough, where the start-up time is unknown, and where nothing is won.
    """
    allows = budget.expected - budget.desired
    startup = startup_of(pods)
    if allows <= 0 or startup is None or not budget.is_observed:
        return None
    missing = sorted(missing_for)[: max(0, budget.expected - budget.healthy)]
    needed = needed_at_once(times, startup, [max(timedelta(), startup - since) for since in missing])
    if needed is None or needed <= allows:
        return None
    if not has_recovered:
        if was_touched:
            return None
        needed = min(needed, budget.expected - budget.healthy + 1)
    text = (
        f"{len(times)} pods left, {startup.total_seconds():.0f} s for a replacement, "
        f"{max(times).total_seconds():.0f} s to the last one's moment: {needed} at a time"
    )
    return Pace(needed, text)


_NEVER_PACED = frozenset({"StatefulSet", "Job"})
"""A StatefulSet's budget often guards a quorum; a Job's pod is left to finish."""


class Pacer:
    """How far each budget may be exceeded within one step, and how many of its pods are missing already."""

    SEEN_WITHIN: ClassVar = timedelta(seconds=1)
    """A budget's status shows a pod that was signalled by then; before, both may be counted."""

    def __init__(
        self, index: BudgetIndex, attempts: Iterable[Attempt], recovered: Collection[BudgetRef], now: datetime
    ) -> None:
        self._index = index
        self._recovered = recovered
        self._now = now
        self._left: defaultdict[BudgetRef, list[Doomed]] = defaultdict(list)
        self._unseen: Counter[BudgetRef] = Counter()
        self._touched: set[BudgetRef] = set()
        self._paces: dict[BudgetRef, Pace | None] = {}
        self._missing_for: defaultdict[BudgetRef, list[timedelta]] = defaultdict(list)
        for attempt in attempts:
            self._remember(attempt)

    def _remember(self, attempt: Attempt) -> None:
        is_recent = attempt.signalled_at is not None and attempt.signalled_at + self.SEEN_WITHIN > self._now
        for ref in attempt.versions or ():
            if attempt.signalled_at is not None:
                self._missing_for[ref].append(self._now - attempt.signalled_at)
            if attempt.in_flight or is_recent:
                self._unseen[ref] += 1
            if attempt.in_flight or attempt.signalled:
                self._touched.add(ref)

    def expect(self, d: Doomed, attempt: Attempt | None) -> None:
        """A pod, in the plan's order; those that still have to leave by their budget count."""
        if attempt is not None and (attempt.signalled or attempt.in_flight):
            return
        if d.is_drained and not d.wish:
            for budget in self._index.of(d.pod):
                self._left[budget.ref].append(d)

    def is_paced(self, pod: Pod) -> bool:
        """Whether a replacement of the pod can be had early: a controller makes it, and one budget alone counts it."""
        has_maker = pod.owner is not None and pod.owner.kind not in _NEVER_PACED
        return has_maker and pod.ready and len(self._index.of(pod)) == 1

    def pace_of(self, budget: Budget) -> Pace | None:
        """The pace of a budget, as it was at the beginning of this step."""
        if budget.ref not in self._paces:
            self._paces[budget.ref] = self._work_out(budget)
        return self._paces[budget.ref]

    def _work_out(self, budget: Budget) -> Pace | None:
        left = self._left.get(budget.ref, [])
        times = [max(timedelta(0), d.last_safe_moment - self._now) for d in left]
        ref = budget.ref
        return pace_of(
            budget,
            [d.pod for d in left],
            times,
            has_recovered=ref in self._recovered,
            was_touched=ref in self._touched,
            missing_for=self._missing_for[ref],
        )

    def missing(self, budget: Budget) -> int:
        """Pods that the budget lacks, whatever the cause, with those just signalled."""
        return budget.expected - budget.healthy + self._unseen[budget.ref]

    def take(self, budgets: Iterable[Budget]) -> None:
        """One more is signalled in this step."""
        for budget in budgets:
            self._unseen[budget.ref] += 1
