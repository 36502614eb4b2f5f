"""The figures of one run, from what the recorder saw and nothing else.

Replicas count while they are Ready, not leaving, and on a living host. Seconds count from the notice.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from bench.beside.facts import Fact, NodeSeen, PodSeen, State
from bench.beside.fates import RECLAIM, Fate, fates
from bench.beside.reactions import reactions
from bench.beside.scenarios import Scenario


@dataclass(frozen=True, slots=True)
class Span:
    """A time in which nothing changed.

    `missing`: replicas short of what is wanted. `serving`: Ready endpoints, of no Service more than are wanted.
    `exceeded`: pods by which budgets are exceeded, all of them together.
    """

    begins: float
    ends: float
    missing: int
    serving: int
    exceeded: int

    @property
    def length(self) -> float:
        """Seconds."""
        return self.ends - self.begins


def figures(facts: Sequence[Fact], scenario: Scenario, noticed_at: float, ended_at: float) -> dict[str, Any]:
    """All of them, by name, as they are kept in results.json."""
    spans = list(_spans(facts, scenario, noticed_at, ended_at))
    before = [span for span in spans if span.begins < RECLAIM]
    pods = fates(facts, noticed_at, scenario.nodes)
    signals = [fate.signalled for fate in pods if fate.signalled is not None]
    return {
        **_of_pods(pods),
        "wanted_endpoints": scenario.doomed + scenario.elsewhere,
        "fewest_ready_endpoints": min(span.serving for span in spans),
        "fewest_ready_endpoints_before_reclaim": min(span.serving for span in before),
        **_of_budgets(spans, ""),
        **_of_budgets(before, "_before_reclaim"),
        "most_missing_replicas": max(span.missing for span in spans),
        "most_missing_replicas_before_reclaim": max(span.missing for span in before),
        "missing_replica_seconds": round(sum(span.missing * span.length for span in spans), 1),
        "all_ready_again_at": _recovered(spans),
        "cordoned_at": _cordoned(facts, scenario, noticed_at),
        "first_replacement_at": _first_replacement(facts, noticed_at),
        "first_signal_at": _rounded(min(signals, default=None)),
        "last_signal_at": _rounded(max(signals, default=None)),
        **reactions(facts, noticed_at, scenario.nodes),
    }


def _spans(facts: Iterable[Fact], scenario: Scenario, noticed_at: float, ended_at: float) -> Iterator[Span]:
    state, since = State(), 0.0
    for fact in facts:
        when = min(fact.at, ended_at) - noticed_at
        if when > since:
            yield _span(state, scenario, since, when)
            since = when
        state.apply(fact)
    yield _span(state, scenario, since, max(since, ended_at - noticed_at))


def _span(state: State, scenario: Scenario, begins: float, ends: float) -> Span:
    endpoints = state.endpoints()
    wanted = {workload.name: workload.replicas for workload in scenario.workloads}
    return Span(
        begins,
        ends,
        missing=sum(max(0, count - state.healthy["app", name]) for name, count in wanted.items()),
        serving=sum(min(count, endpoints[name]) for name, count in wanted.items()),
        exceeded=sum(max(0, it.desired - state.healthy[it.over]) for it in state.budgets.values()),
    )


def _of_pods(pods: Sequence[Fate]) -> dict[str, Any]:
    gone = [fate.gone for fate in pods]
    is_empty = not any(fate.is_killed for fate in pods)
    return {
        "pods": len(pods),
        "graceful": sum(fate.is_graceful for fate in pods),
        "killed_with_host": sum(fate.is_killed for fate in pods),
        "signalled_too_late": sum(fate.is_too_late for fate in pods),
        "nodes_empty_at": _rounded(max((when for when in gone if when is not None), default=None))
        if is_empty
        else None,
    }


def _of_budgets(spans: Sequence[Span], suffix: str) -> dict[str, Any]:
    return {
        f"budgets_exceeded_by{suffix}": max(span.exceeded for span in spans),
        f"budgets_exceeded_seconds{suffix}": round(sum(span.length for span in spans if span.exceeded), 1),
    }


def _recovered(spans: Sequence[Span]) -> float | None:
    """When all replicas were Ready again, for good; 0 where none was ever missing, None where it did not come."""
    if spans[-1].missing:
        return None
    return _rounded(max((span.ends for span in spans if span.missing), default=0.0))


def _cordoned(facts: Iterable[Fact], scenario: Scenario, noticed_at: float) -> float | None:
    """When the last of the nodes was."""
    first: dict[str, float] = {}
    for fact in facts:
        if isinstance(fact, NodeSeen) and not fact.is_schedulable and fact.name in scenario.nodes:
            first.setdefault(fact.name, fact.at - noticed_at)
    return _rounded(max(first.values())) if len(first) == len(scenario.nodes) else None


def _first_replacement(facts: Iterable[Fact], noticed_at: float) -> float | None:
    """When the first pod was created that was not there at the notice."""
    known: set[str] = set()
    for fact in facts:
        if isinstance(fact, PodSeen):
            if fact.at > noticed_at and fact.uid not in known:
                return _rounded(fact.at - noticed_at)
            known.add(fact.uid)
    return None


def _rounded(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds, 3)
