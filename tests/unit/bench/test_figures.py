"""The figures of a run by hand: what is short, for how long, and who is gone whatever the API says."""

from typing import Any

from bench.beside.facts import Fact
from bench.beside.figures import figures
from tests.unit.bench.recorded import NOTICE, budget, cordoned, endpoints, gone, left, pod, scene, taken


def measured(facts: list[Fact], doomed: int, elsewhere: int = 0, until: float = 220) -> dict[str, Any]:
    facts = sorted(facts, key=lambda fact: fact.at)
    return figures(facts, scene(doomed, elsewhere), NOTICE, NOTICE + until)


def test_a_replica_is_missing_from_its_sigterm_until_its_replacement_is_ready() -> None:
    found = measured([*left("a", 10, 12), pod(10.1, "b", on="room", ready=False), pod(20, "b", on="room")], 1)
    assert found["missing_replica_seconds"] == 10
    assert found["all_ready_again_at"] == 20
    assert found["nodes_empty_at"] == 12
    assert (found["first_replacement_at"], found["first_signal_at"]) == (10.1, 10)


def test_nothing_is_missing_where_the_replacement_comes_first() -> None:
    found = measured([*left("a", 12, 14), pod(1, "b", on="room", ready=False), pod(11, "b", on="room")], 1)
    assert (found["missing_replica_seconds"], found["all_ready_again_at"]) == (0, 0)


def test_a_surplus_of_one_moment_makes_up_for_nothing_at_another() -> None:
    facts = [*left("a", 5, 7), *left("b", 30, 32), pod(10, "c", on="room"), pod(11, "d", on="room")]
    assert measured(facts, 2)["missing_replica_seconds"] == 5


def test_pods_on_a_taken_host_serve_nobody_whatever_the_api_says() -> None:
    facts = [pod(-1, "a"), endpoints(-1, "spot-1"), taken(), gone(200, "a"), endpoints(200), pod(210, "b", on="room")]
    found = measured([*facts, endpoints(210, "room")], 1)
    assert found["killed_with_host"] == 1
    assert found["missing_replica_seconds"] == 90
    assert (found["fewest_ready_endpoints"], found["fewest_ready_endpoints_before_reclaim"]) == (0, 1)
    assert found["nodes_empty_at"] is None


def test_what_never_comes_back_is_said_to_be_missing() -> None:
    found = measured([pod(-1, "a"), taken()], 1, until=340)
    assert found["all_ready_again_at"] is None
    assert found["missing_replica_seconds"] == 220


def test_a_budget_is_exceeded_by_what_its_healthy_pods_lack_and_by_whom_is_told_apart() -> None:
    facts = [pod(-1, "a"), *left("b", 10, 12), *left("c", 20, 22), budget(-1, 2), pod(60, "d", on="room"), taken()]
    found = measured(facts, 3)
    assert (found["budgets_exceeded_by_before_reclaim"], found["budgets_exceeded_seconds_before_reclaim"]) == (1, 40)
    assert (found["budgets_exceeded_by"], found["budgets_exceeded_seconds"]) == (1, 140)


def test_the_last_of_the_nodes_says_when_all_are_cordoned() -> None:
    assert measured([pod(-1, "a"), cordoned(0.4)], 1)["cordoned_at"] == 0.4
    assert measured([pod(-1, "a")], 1)["cordoned_at"] is None


def test_a_chance_is_answered_by_the_next_eviction_and_used_by_one_of_its_own() -> None:
    facts = [budget(-2, 1), *left("a", 1, 3), *left("b", 12.25, 13), *left("c", 12.5, 14)]
    facts += [pod(11, "x", on="room"), pod(12, "y", on="room"), pod(13, "z", on="room")]
    found = measured(facts, 3)
    assert found["reaction_ms"] == {"count": 2, "median": 750.0, "p99": 1250.0}
    assert found["chance_used_ms"] == {"count": 2, "median": 875.0, "p99": 1250.0}


def test_without_a_budget_there_is_no_reaction_to_measure() -> None:
    assert measured([pod(-1, "x", on="room"), *left("a", 1, 3)], 1, 1)["reaction_ms"] is None
