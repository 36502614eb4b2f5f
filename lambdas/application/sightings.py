"""How a level was seen to change, and what was seen of a budget: what `Witness` gathers its stories in.

Law: memory is bounded: a course keeps its first points, and always its lowest.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import ClassVar

from lambdas.domain.values.courses import BudgetStory, Level, Span, WorkloadStory
from lambdas.domain.values.kubernetes import Budget, BudgetRef


class Course:
    """Levels over time: a point at each change, at most so many, and the lowest one whatever comes."""

    MOST_POINTS: ClassVar = 2000

    def __init__(self) -> None:
        self.points: list[Level] = []
        self.last: Level | None = None
        self.lowest: Level | None = None

    def add(self, now: datetime, ready: int, wanted: int) -> None:
        """The level from now on."""
        level = Level(now, ready, wanted)
        if self.last is not None and (self.last.ready, self.last.wanted) == (ready, wanted):
            return
        self.last = level
        if self.lowest is None or ready < self.lowest.ready:
            self.lowest = level
        if len(self.points) < self.MOST_POINTS:
            self.points.append(level)

    def ended(self, now: datetime, lost: int) -> "Course":
        """The course with what its host took at the end, which the API shows only minutes later."""
        made = Course()
        made.points, made.last, made.lowest = list(self.points), self.last, self.lowest
        if lost and made.last is not None:
            made.add(now, max(0, made.last.ready - lost), made.last.wanted)
        return made


@dataclass(slots=True)
class BudgetSeen:
    """A budget. `since`: from when on a hold lasts; `is_exceeded`: a pod was deleted against it, `text`: why so early;
    `arithmetic`: the text as it was at the worst."""

    healthy: Course = field(default_factory=Course)
    expected: Course = field(default_factory=Course)
    rule: str = ""
    held: list[Span] = field(default_factory=list)
    since: datetime | None = None
    is_exceeded: bool = False
    text: str = ""
    worst: Level | None = None
    arithmetic: str = ""

    def saw(self, budget: Budget, now: datetime) -> None:
        """Its status now."""
        self.rule = budget.rule
        if budget.is_observed:
            self.healthy.add(now, budget.healthy, budget.desired)
            self.expected.add(now, budget.healthy, budget.expected)

    def hold(self, now: datetime, *, is_held: bool) -> None:
        """Whether it holds a pod of ours from now on."""
        if is_held:
            self.since = self.since or now
        elif self.since is not None:
            self.held.append(Span(self.since, now))
            self.since = None

    def weigh(self) -> None:
        """Remember the worst since the first deletion against it."""
        last = self.healthy.last
        if self.is_exceeded and last is not None and last.missing > (self.worst.missing if self.worst else 0):
            self.worst, self.arithmetic = last, self.text

    def held_until(self, now: datetime) -> tuple[Span, ...]:
        """When it held pods, up to now."""
        return (*self.held, Span(self.since, now)) if self.since else tuple(self.held)


def budget_story(ref: BudgetRef, seen: BudgetSeen, now: datetime, lost: int) -> BudgetStory:
    """Its story up to now; `lost`: its healthy pods that the host took."""
    return BudgetStory(
        ref=ref,
        rule=seen.rule,
        held=seen.held_until(now),
        exceeded_by=seen.worst.missing if seen.worst else 0,
        exceeded_at=seen.worst.at if seen.worst else None,
        arithmetic=seen.arithmetic or seen.text,
        curve=tuple(seen.healthy.ended(now, lost).points),
    )


def workload_story(kind: str, namespace: str, name: str, counted_by: str, course: Course) -> Iterator[WorkloadStory]:
    """Its story, or none where nothing was counted."""
    if course.last is None or course.lowest is None:
        return
    yield WorkloadStory(
        kind=kind,
        namespace=namespace,
        name=name,
        replicas=course.last.wanted,
        fewest_ready=course.lowest.ready,
        fewest_ready_at=course.lowest.at,
        counted_by=counted_by,
        curve=tuple(course.points),
    )
