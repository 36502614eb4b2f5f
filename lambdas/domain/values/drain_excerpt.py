"""A drain's record as JSON that fits: into a line of the log, into an item of the ledger.

Law: what went wrong is kept before what went well, what is left out is counted, and curves are left out.
"""

import json
from collections.abc import Iterator
from dataclasses import replace

from lambdas.domain.values.courses import BudgetStory, WorkloadStory
from lambdas.domain.values.drain_json import (
    JsonObject,
    JsonValue,
    budget_as_json,
    heading,
    pod_as_json,
    problem_as_json,
    skipped_as_json,
    workload_as_json,
)
from lambdas.domain.values.drains import Departure, DrainRecord, PodFate

_LONGEST_TEXT = 1000
"""Messages of the API have no end of their own."""

_ROOM_FOR_COUNTS = 200
_SECTIONS = ("pods", "budgets", "workloads", "skipped", "problems")
_WORST = (Departure.LOST, Departure.STAYED, Departure.DELETED_AGAINST_BUDGET)


def excerpt(record: DrainRecord, most_bytes: int) -> JsonObject:
    """The record, of which `json.dumps` without blanks makes at most so many bytes of ASCII.

    Where not everything fits, `pods_omitted`, `budgets_omitted` and so on say how many each section lacks.
    """
    head = heading(record)
    left = most_bytes - _size(head) - _ROOM_FOR_COUNTS
    sections: dict[str, list[JsonValue]] = {name: [] for name in _SECTIONS}
    omitted = dict.fromkeys(_SECTIONS, 0)
    for name, item in _worst_first(record):
        size = _size(item) + 1
        if size > left:
            omitted[name] += 1
        else:
            left -= size
            sections[name].append(item)
    counts: JsonObject = {f"{name}_omitted": count for name, count in omitted.items() if count}
    return {**head, **sections, **counts}


def _worst_first(record: DrainRecord) -> Iterator[tuple[str, JsonObject]]:
    """Everything that there are several of, each with its section's name."""
    pods = sorted(record.pods, key=_rank)
    for problem in record.problems:
        yield "problems", problem_as_json(replace(problem, message=problem.message[:_LONGEST_TEXT]))
    for fate in (f for f in pods if f.departure in _WORST):
        yield "pods", pod_as_json(_shortened(fate))
    for budget in sorted(record.budgets, key=_of_budget):
        yield "budgets", budget_as_json(budget)
    for workload in sorted(record.workloads, key=_of_workload):
        yield "workloads", workload_as_json(workload)
    for fate in (f for f in pods if f.departure not in _WORST):
        yield "pods", pod_as_json(_shortened(fate))
    for ref, reason in record.skipped:
        yield "skipped", skipped_as_json(ref, reason)


def _rank(fate: PodFate) -> int:
    return _WORST.index(fate.departure) if fate.departure in _WORST else len(_WORST)


def _of_budget(story: BudgetStory) -> tuple[object, ...]:
    return -story.exceeded_by, -story.held_for, story.ref


def _of_workload(story: WorkloadStory) -> tuple[object, ...]:
    return story.fewest_ready - story.replicas, str(story)


def _shortened(fate: PodFate) -> PodFate:
    return replace(fate, note=fate.note[:_LONGEST_TEXT], not_released=fate.not_released[:_LONGEST_TEXT])


def _size(item: JsonObject) -> int:
    return len(json.dumps(item, separators=(",", ":")))
