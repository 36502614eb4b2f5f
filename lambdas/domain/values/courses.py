"""How the budgets and workloads of a drain fared over time.

Law: what is counted is what the API showed; a course begins with the drain's first look and has a step at each change.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from lambdas.domain.values.kubernetes import BudgetRef


@dataclass(frozen=True, slots=True)
class Level:
    """From `at` on, so many pods were Ready (healthy, for a budget) of the `wanted` ones."""

    at: datetime
    ready: int
    wanted: int

    @property
    def missing(self) -> int:
        """How many it lacked."""
        return max(0, self.wanted - self.ready)


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of time."""

    since: datetime
    until: datetime


@dataclass(frozen=True, slots=True)
class BudgetStory:
    """A PodDisruptionBudget that covered pods of this drain.

    `held`: when it held at least one of them. `exceeded_by`: the most healthy pods that it lacked from the first
    deletion of ours against it to the drain's end; 0 where we deleted none against it. `exceeded_at`: when it first
    lacked so many. `arithmetic`: why pacing let so many go at a time. `curve`: healthy pods against the desired ones.
    """

    ref: BudgetRef
    rule: str = ""
    held: tuple[Span, ...] = ()
    exceeded_by: int = 0
    exceeded_at: datetime | None = None
    arithmetic: str = ""
    curve: tuple[Level, ...] = ()

    @property
    def held_for(self) -> timedelta:
        """How long it held at least one pod of this drain, altogether."""
        return sum((span.until - span.since for span in self.held), timedelta())


@dataclass(frozen=True, slots=True)
class WorkloadStory:
    """A workload of which pods were drained. `replicas`: as it asked for at the drain's end.

    `counted_by`: the budget whose healthy pods were counted where the workload's own are not kept current: others of
    that budget's may be among them; empty where Ready pods of its own were.
    """

    kind: str
    namespace: str
    name: str
    replicas: int = 0
    fewest_ready: int = 0
    fewest_ready_at: datetime | None = None
    counted_by: str = ""
    curve: tuple[Level, ...] = ()

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}"
