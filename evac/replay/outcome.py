"""Everything that one replay has to tell, for tables, sentences and JSON alike."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import Enum

from evac.replay.hearing import Heard
from evac.replay.story import Line
from lambdas.domain.values.drains import Departure, DrainRecord, Ending, PodFate
from lambdas.domain.values.kubernetes import BudgetRef
from lambdas.domain.values.messages import Malformed
from lambdas.domain.values.settings import Settings


class Mode(Enum):
    """Where it ran; the value is what JSON shows."""

    SIMULATED = "simulated"
    DRY_RUN = "dry-run"
    LIVE = "live"


@dataclass(frozen=True, slots=True)
class Low:
    """How few Ready pods a workload or a budget had, and when first so few. `wanted`: replicas, or healthy pods needed.

    `kind` and `name` as people call it ("Deployment", "shop/checkout"); `rule`: what a budget asks for.
    """

    kind: str
    name: str
    wanted: int
    at_start: int
    fewest: int
    fewest_at: datetime
    rule: str = ""

    @property
    def missing(self) -> int:
        """How many were missing at the lowest."""
        return max(0, self.wanted - self.fewest)


@dataclass(frozen=True, slots=True)
class Replay:
    """One replay. Offsets count from `zero`, the moment of the first notice; `records`: one for each drain.

    `reclaimed_at`: when each node's host was taken, by node name. `startup` and `shutdown` are the simulator's.
    `cut_short`: pods (by uid) that were killed at the end of their grace, where that is known. `own_graces`: what pods
    (by namespace and name) ask for themselves, where that is known.
    """

    mode: Mode
    zero: datetime
    settings: Settings
    startup: timedelta | None
    shutdown: timedelta | None
    heard: Sequence[Heard]
    records: Sequence[DrainRecord]
    lines: Sequence[Line]
    reclaimed_at: Mapping[str, datetime]
    workloads: Sequence[Low] = ()
    budgets: Sequence[Low] = ()
    cut_short: frozenset[str] = frozenset()
    own_graces: Mapping[tuple[str, str], timedelta] = field(default_factory=dict)
    unknown_kinds: Sequence[str] = ()
    notes: Sequence[str] = ()

    def offset(self, moment: datetime | None) -> float | None:
        """Seconds after zero, in milliseconds' precision."""
        return None if moment is None else round((moment - self.zero).total_seconds(), 3)

    @property
    def has_found_a_node(self) -> bool:
        """Whether any notice was about a node of this cluster, or may have been."""
        return any(r.ending not in {Ending.NOT_OURS, Ending.ALREADY_GONE} for r in self.records)

    @property
    def drains(self) -> list[DrainRecord]:
        """The records of nodes that were found."""
        return [r for r in self.records if r.node_name]

    @property
    def is_for_maintenance(self) -> bool:
        """Whether nobody takes the hosts: what is still there at the end lives on."""
        return any(not r.notice.takes_the_host for r in self.records)

    @property
    def fates(self) -> list[PodFate]:
        """Every pod of every node found."""
        return [fate for record in self.drains for fate in record.pods]

    def count(self, *kinds: type) -> int:
        """How many of the messages were of these kinds."""
        return sum(1 for h in self.heard if isinstance(h.message, kinds))

    @property
    def malformed(self) -> int:
        """Messages that could not be understood."""
        return self.count(Malformed)

    @property
    def ignored(self) -> int:
        """Messages that ask for nothing (yet)."""
        return len(self.heard) - self.malformed - sum(1 for h in self.heard if h.notices)

    def own_grace(self, fate: PodFate) -> timedelta | None:
        """The grace that the pod itself asks for, where it is known and it was given less."""
        own = self.own_graces.get((fate.pod.namespace, fate.pod.name))
        return own if own is not None and fate.grace_given is not None and fate.grace_given < own else None

    @property
    def exceeded(self) -> list[Low]:
        """The budgets that had fewer Ready pods than they ask for, and than they had before."""
        return [low for low in self.budgets if low.fewest < min(low.wanted, low.at_start)]

    @property
    def lost(self) -> list[PodFate]:
        """Pods that were killed with their host."""
        return [fate for fate in self.fates if fate.departure is Departure.LOST]

    def lost_by_budget(self) -> dict[BudgetRef, int]:
        """How many of the lost each budget had held."""
        counts: dict[BudgetRef, int] = {}
        for fate in self.lost:
            for budget in fate.held_by:
                counts[budget] = counts.get(budget, 0) + 1
        return counts

    @property
    def exit_code(self) -> int:
        """0 where every pod left gracefully, else 1."""
        is_undone = any(r.ending in {Ending.FAILED, Ending.STALE, Ending.PODS_LOST} for r in self.records)
        return 1 if self.lost or is_undone else 0
