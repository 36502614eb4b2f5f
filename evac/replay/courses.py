"""The curves of a record as the simulator knows them: exact, and on past the reclaim, which the drain does not see."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from evac.replay.lows import workloads_of
from evac.simulator import Key, Simulation
from lambdas.domain.values.courses import BudgetStory, Level, WorkloadStory
from lambdas.domain.values.drains import DrainRecord

Json = dict[str, Any]


def with_courses(record: DrainRecord, simulation: Simulation, objects: Sequence[Json], since: datetime) -> DrainRecord:
    """The record with the workloads of its pods and the curves of its budgets, from `since` on."""
    owners = workloads_of(objects, [fate.pod for fate in record.pods])
    pods = tuple(replace(f, workload=str(owners[f.pod])) if f.pod in owners else f for f in record.pods)
    workloads = tuple(_workload(simulation, key, since) for key in sorted(set(owners.values())))
    return replace(record, pods=pods, workloads=workloads, budgets=_budgets(record.budgets, simulation, since))


def _workload(simulation: Simulation, key: Key, since: datetime) -> WorkloadStory:
    curve = _curve(simulation, key, since)
    lowest = min(curve, key=lambda level: level.ready)
    return WorkloadStory(
        kind=key.kind,
        namespace=key.namespace,
        name=key.name,
        replicas=curve[-1].wanted,
        fewest_ready=lowest.ready,
        fewest_ready_at=lowest.at,
        curve=curve,
    )


def _budgets(stories: Iterable[BudgetStory], simulation: Simulation, since: datetime) -> tuple[BudgetStory, ...]:
    keys = {story.ref: Key("PodDisruptionBudget", story.ref.namespace, story.ref.name) for story in stories}
    return tuple(replace(story, curve=_curve(simulation, keys[story.ref], since)) for story in stories)


def _curve(simulation: Simulation, key: Key, since: datetime) -> tuple[Level, ...]:
    """Its levels, the one that stood at `since` first."""
    levels = [Level(*level) for level in simulation.history.levels_over_time(key)]
    before = [level for level in levels if level.at <= since]
    first = [replace(before[-1], at=since)] if before else []
    return (*first, *(level for level in levels if level.at > since))
