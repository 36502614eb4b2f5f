"""How long a tool lets a chance lie: from a replacement's Ready, which opens its budget, to an eviction under it.

Told twice: until the next eviction at all, and until as many evictions as there were chances (the oldest chance that is
not used yet is the one that an eviction uses). Evictions for which the budget had room from the start use none.
"""

import statistics
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any

from bench.beside.facts import BudgetSeen, Fact, PodSeen
from bench.beside.fates import RECLAIM
from bench.beside.scenarios import Label


@dataclass(slots=True)
class _Chances:
    """Those of one budget: when each came."""

    unanswered: list[float] = field(default_factory=list)
    unused: deque[float] = field(default_factory=deque)

    def come(self, at: float) -> None:
        self.unanswered.append(at)
        self.unused.append(at)

    def evicted(self, at: float) -> tuple[list[float], list[float]]:
        """Seconds that the chances waited which this eviction answers, and the one that it uses."""
        answered = [at - chance for chance in self.unanswered]
        used = [at - self.unused.popleft()] if self.unused else []
        self.unanswered.clear()
        return answered, used


def reactions(facts: Iterable[Fact], noticed_at: float, nodes: Sequence[str]) -> dict[str, Any]:
    """`reaction_ms` and `chance_used_ms`: count, median, 99th percentile; None where no eviction had a chance."""
    answered: list[float] = []
    used: list[float] = []
    chances: dict[Label, _Chances] = {}
    for fact in _until_the_reclaim(facts, noticed_at, nodes):
        match fact:
            case BudgetSeen():
                chances.setdefault(fact.over, _Chances())
            case PodSeen(is_leaving=True):
                for it in _of(fact, chances):
                    waits = it.evicted(fact.at)
                    answered += waits[0]
                    used += waits[1]
            case PodSeen() if fact.at >= noticed_at:
                for it in _of(fact, chances):
                    it.come(fact.at)
    return {"reaction_ms": _summary(answered), "chance_used_ms": _summary(used)}


def _until_the_reclaim(
    facts: Iterable[Fact], noticed_at: float, nodes: Sequence[str]
) -> Iterator[BudgetSeen | PodSeen]:
    """Budgets, and of pods the first moments that matter: SIGTERM on an interrupted node, Ready anywhere else."""
    seen: set[tuple[str, bool]] = set()
    for fact in takewhile(lambda fact: fact.at - noticed_at <= RECLAIM, facts):
        if isinstance(fact, BudgetSeen):
            yield fact
        elif isinstance(fact, PodSeen) and _matters(fact, nodes) and (fact.uid, fact.is_leaving) not in seen:
            seen.add((fact.uid, fact.is_leaving))
            yield fact


def _matters(pod: PodSeen, nodes: Sequence[str]) -> bool:
    return pod.is_leaving if pod.node in nodes else pod.is_ready and not pod.is_leaving


def _of(pod: PodSeen, chances: dict[Label, _Chances]) -> list[_Chances]:
    return [it for label, it in chances.items() if label in pod.labels]


def _summary(seconds: Sequence[float]) -> dict[str, Any] | None:
    if not seconds:
        return None
    ordered = sorted(wait * 1000 for wait in seconds)
    last = ordered[min(len(ordered) - 1, int(len(ordered) * 0.99))]
    return {"count": len(ordered), "median": round(statistics.median(ordered), 1), "p99": round(last, 1)}
