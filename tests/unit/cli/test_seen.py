"""On a real cluster the lows of workloads, and what budgets lacked, are those that the drains saw."""

from collections.abc import Sequence
from datetime import timedelta

from evac.rendering.verdict import sentences
from evac.replay.outcome import Mode, Replay
from evac.replay.seen import workloads_seen
from lambdas.domain.values.courses import BudgetStory, Level, WorkloadStory
from lambdas.domain.values.drains import Departure, DrainRecord, Ending, PodFate
from lambdas.domain.values.kubernetes import BudgetRef, PodRef
from lambdas.domain.values.notices import Notice, Reason
from lambdas.domain.values.settings import Settings
from tests.unit.builders import NOTICE, at

WEB = BudgetRef("shop", "web")


def a_record(
    *pods: PodFate, workloads: Sequence[WorkloadStory] = (), budgets: Sequence[BudgetStory] = ()
) -> DrainRecord:
    notice = Notice("i-1", Reason.SPOT_INTERRUPTION, NOTICE, at(120))
    return DrainRecord(notice, Ending.DRAINED, "spot-a", pods=pods, workloads=tuple(workloads), budgets=tuple(budgets))


def web(fewest: int, seconds: float) -> WorkloadStory:
    curve = (Level(at(0), 40, 40), Level(at(seconds), fewest, 40))
    return WorkloadStory("Deployment", "shop", "web", 40, fewest, at(seconds), curve=curve)


def test_of_a_workload_on_two_nodes_the_lowest_counts() -> None:
    [low] = workloads_seen([a_record(workloads=[web(38, 20)]), a_record(workloads=[web(36, 10)])])
    assert (low.kind, low.name, low.wanted, low.at_start, low.fewest, low.fewest_at) == (
        "Deployment",
        "shop/web",
        40,
        40,
        36,
        at(10),
    )


def test_a_workload_that_nobody_counted_has_no_low() -> None:
    assert workloads_seen([a_record(workloads=[WorkloadStory("Job", "shop", "crunch")])]) == []


def test_a_budget_that_was_overridden_is_said_with_what_it_lacked_at_worst() -> None:
    pod = PodFate(
        PodRef("shop", "web-1", "u"),
        Departure.DELETED_AGAINST_BUDGET,
        timedelta(seconds=30),
        at(85),
        at(87),
        held_by=(WEB,),
    )
    story = BudgetStory(WEB, exceeded_by=3, exceeded_at=at(86))
    replay = Replay(Mode.LIVE, NOTICE, Settings(), None, None, (), [a_record(pod, budgets=[story])], (), {})
    *_, last = sentences(replay)
    assert last.endswith("; PDB shop/web was overridden for 1 pod, 3 short at worst (+86.0s)")
