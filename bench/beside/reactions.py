"""How long a tool lets a chance lie: from a replacement's Ready to the eviction that it allows.

Under a budget each replacement that becomes Ready allows one more eviction: the oldest chance not yet used is the one
that an eviction answers. Evictions without such a chance (the budget had room from the start) are not counted.
"""

import statistics
from collections import deque
from collections.abc import Iterable, Sequence
from itertools import takewhile
from typing import Any

from bench.beside.facts import BudgetSeen, Fact, PodSeen
from bench.beside.fates import RECLAIM
from bench.beside.scenarios import Label


def reactions(facts: Iterable[Fact], noticed_at: float, nodes: Sequence[str]) -> dict[str, Any] | None:
    """Count, median and 99th percentile in milliseconds; None where no eviction answered a chance."""
    waits: list[float] = []
    chances: dict[Label, deque[float]] = {}
    ready: set[str] = set()
    leaving: set[str] = set()
    for fact in takewhile(lambda fact: fact.at - noticed_at <= RECLAIM, facts):
        match fact:
            case BudgetSeen():
                chances.setdefault(fact.over, deque())
            case PodSeen(is_leaving=True, node=node) if node in nodes and fact.uid not in leaving:
                leaving.add(fact.uid)
                waits += [fact.at - queue.popleft() for queue in _of(fact, chances) if queue]
            case PodSeen(is_ready=True, node=node) if node not in nodes and fact.uid not in ready:
                ready.add(fact.uid)
                if fact.at >= noticed_at:
                    for queue in _of(fact, chances):
                        queue.append(fact.at)
    return _summary([wait * 1000 for wait in waits])


def _of(pod: PodSeen, chances: dict[Label, deque[float]]) -> list[deque[float]]:
    return [queue for label, queue in chances.items() if label in pod.labels]


def _summary(waits: Sequence[float]) -> dict[str, Any] | None:
    if not waits:
        return None
    ordered = sorted(waits)
    last = ordered[min(len(ordered) - 1, int(len(ordered) * 0.99))]
    return {"count": len(ordered), "median": round(statistics.median(ordered), 1), "p99": round(last, 1)}
