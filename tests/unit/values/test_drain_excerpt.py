"""A record is cut to a size: what went wrong stays, what is left out is counted."""

import json
from dataclasses import replace
from datetime import timedelta
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from lambdas.domain.values.courses import BudgetStory, Level, Span, WorkloadStory
from lambdas.domain.values.drain_excerpt import excerpt
from lambdas.domain.values.drain_json import (
    budget_as_json,
    heading,
    pod_as_json,
    problem_as_json,
    skipped_as_json,
    workload_as_json,
)
from lambdas.domain.values.drains import Departure, DrainRecord, Ending, PodFate, Problem, Trouble
from lambdas.domain.values.kubernetes import BudgetRef, PodRef
from lambdas.domain.values.notices import Notice, Reason
from tests.unit.builders import NOTICE, at

RECORD = DrainRecord(Notice("i-1", Reason.SPOT_INTERRUPTION, NOTICE, at(120)), Ending.PODS_LOST, "spot-a")


def fate(index: int, departure: Departure, **fields: Any) -> PodFate:
    return PodFate(PodRef("shop", f"web-{index}", f"uid-{index}"), departure, **fields)


def size(made: object) -> int:
    return len(json.dumps(made, separators=(",", ":")))


def test_a_small_record_is_whole_but_for_its_curves() -> None:
    curve = (Level(NOTICE, 3, 3), Level(at(9), 2, 3))
    record = replace(
        RECORD,
        pods=(fate(1, Departure.LOST),),
        budgets=(BudgetStory(BudgetRef("shop", "web"), held=(Span(at(1), at(4)), Span(at(6), at(7))), curve=curve),),
        workloads=(WorkloadStory("Deployment", "shop", "web", 3, 2, at(9), curve=curve),),
        skipped=((PodRef("kube-system", "proxy", "u"), "a DaemonSet's"),),
        problems=(Problem(Trouble.API, "away"),),
    )
    whole = {
        **heading(record),
        "pods": [pod_as_json(pod) for pod in record.pods],
        "budgets": [budget_as_json(budget) for budget in record.budgets],
        "workloads": [workload_as_json(workload) for workload in record.workloads],
        "skipped": [skipped_as_json(*each) for each in record.skipped],
        "problems": [problem_as_json(problem) for problem in record.problems],
    }
    assert budget_as_json(record.budgets[0])["held_seconds"] == 4
    assert excerpt(record, 10_000) == whole


def test_of_too_many_pods_the_worst_stay_and_the_others_are_counted() -> None:
    ways = [Departure.EVICTED] * 300 + [Departure.DELETED_AGAINST_BUDGET] * 5 + [Departure.STAYED] * 4
    record = replace(RECORD, pods=tuple(fate(i, way) for i, way in enumerate([*ways, Departure.LOST])))
    cut: Any = excerpt(record, 10_000)
    kept = [pod["departure"] for pod in cut["pods"]]
    assert kept[:10] == [
        Departure.LOST.value,
        *[Departure.STAYED.value] * 4,
        *[Departure.DELETED_AGAINST_BUDGET.value] * 5,
    ]
    assert len(kept) > 10
    assert cut["pods_omitted"] == 310 - len(kept)


def test_a_message_without_end_does_not_push_out_the_rest() -> None:
    record = replace(
        RECORD, pods=(fate(1, Departure.LOST, note="n" * 10**6),), problems=(Problem(Trouble.API, "p" * 10**6),)
    )
    cut: Any = excerpt(record, 5_000)
    assert (len(cut["pods"]), len(cut["problems"])) == (1, 1)


@given(
    st.lists(st.tuples(st.sampled_from(Departure), st.text(max_size=60)), max_size=60),
    st.integers(min_value=2_000, max_value=20_000),
)
def test_it_always_fits_and_always_counts(pods: list[tuple[Departure, str]], most: int) -> None:
    fates = tuple(fate(i, way, note=note, grace_given=timedelta(seconds=i)) for i, (way, note) in enumerate(pods))
    cut: Any = excerpt(replace(RECORD, pods=fates), most)
    assert size(cut) <= most
    assert len(cut["pods"]) + cut.get("pods_omitted", 0) == len(pods)
