"""What goes wrong on the way, and that the pods leave in time all the same."""

from datetime import timedelta

import pytest

from evac.simulator import Simulation
from evac.simulator.faults import Fault
from lambdas.domain.values.answers import Refused
from lambdas.domain.values.drains import Ending, Trouble
from tests.scenarios.stage import Outcome, drain
from tests.scenes import Json, at, bare, budget, deployment, node, stateful_set, times

SPOT = node("spot-a")
ROOM = node("od-1")


def web_of_ten() -> list[Json]:
    web = deployment("web", {"spot-a": 10, "od-1": 30}, annotations=times(4, 2))
    return [SPOT, ROOM, *web, budget("web", {"app": "web"}, maxUnavailable=1)]


def troubles(outcome: Outcome) -> set[Trouble]:
    return {problem.trouble for problem in outcome.record.problems}


def test_the_api_server_away_for_20_s_in_mid_drain_costs_no_pod() -> None:
    outcome = drain(*web_of_ten(), prepare=lambda s: s.faults.api_away(at(5), at(25)))
    assert outcome.graceful == 10
    assert not outcome.exceeded("web")
    assert Trouble.API not in troubles(outcome) or outcome.record.ending is Ending.DRAINED


def test_the_api_server_away_at_the_notice_is_waited_for() -> None:
    outcome = drain(*web_of_ten(), prepare=lambda s: s.faults.api_away(at(-1), at(20)))
    assert outcome.graceful == 10
    assert outcome.record.first_release_at
    assert outcome.record.first_release_at < at(23)


def test_the_api_server_away_until_the_end_loses_every_pod_and_gives_the_notice_back() -> None:
    outcome = drain(*web_of_ten(), prepare=lambda s: s.faults.api_away(at(-1), at(300)))
    assert outcome.record.ending is Ending.FAILED
    assert len(outcome.lost) == 10


def test_one_401_is_nothing() -> None:
    outcome = drain(*web_of_ten(), prepare=lambda s: s.faults.token_expired(times=1))
    assert outcome.graceful == 10
    assert outcome.record.problems == ()


def test_401_for_good_is_said_with_its_cure() -> None:
    outcome = drain(*web_of_ten(), prepare=lambda s: s.faults.token_expired(times=100_000))
    assert outcome.record.ending is Ending.FAILED
    [problem] = [p for p in outcome.record.problems if p.trouble is Trouble.UNAUTHENTICATED]
    assert "access entry" in problem.message


@pytest.mark.parametrize(
    ("verb", "resource"),
    [("patch", "nodes"), ("create", "pods/eviction"), ("delete", "pods"), ("create", "events"), ("list", "services")],
)
def test_403_on_one_verb_never_keeps_a_pod(verb: str, resource: str) -> None:
    outcome = drain(*web_of_ten(), prepare=lambda s: s.faults.forbidden(verb, resource))
    stories = [s for s in outcome.simulation.journal.on("spot-a") if s.created_at < at(-1)]
    assert len(stories) == 10
    assert all(story.was_graceful for story in stories)
    if resource not in ("services", "pods"):  # no delete was needed, and without services nothing waits
        assert Trouble.FORBIDDEN in troubles(outcome)
        assert any(f"{verb} {resource}" in p.message for p in outcome.record.problems)


def test_a_node_that_cannot_be_cordoned_is_drained_once_and_its_returned_pods_are_left_to_their_moment() -> None:
    web = deployment("web", {"spot-a": 3}, annotations=times(4, 2))
    outcome = drain(SPOT, *web, prepare=lambda s: s.faults.forbidden("patch", "nodes"))
    assert len([s for s in outcome.simulation.journal.on("spot-a") if s.signalled_at]) <= 9
    assert len(outcome.simulation.journal.on("spot-a")) < 15


def test_a_pod_that_a_slow_scheduler_binds_after_the_cordon_is_not_evicted_into_its_arms() -> None:
    def bind(name: str) -> None:
        late.apply(bare(name, "spot-a", annotations=times(1, 1)))

    late: Simulation

    def prepare(simulation: Simulation) -> None:
        nonlocal late
        late = simulation
        simulation.schedule(at(0.1), lambda: bind("late"))

    outcome = drain(SPOT, bare("first", "spot-a", annotations=times(1, 4)), prepare=prepare)
    signalled = outcome.signalled()
    assert signalled["first"] < 0.1
    assert 2 < signalled["late"] < 2.2
    assert outcome.lost == []


def test_a_node_that_another_hand_uncordons_is_cordoned_again() -> None:
    def uncordon(simulation: Simulation) -> None:
        def patch() -> None:
            simulation.patch("Node", "", "spot-a", {"spec": {"unschedulable": False}})

        simulation.schedule(at(3), patch)

    outcome = drain(*web_of_ten(), prepare=uncordon)
    assert outcome.is_cordoned
    assert outcome.graceful == 10


def test_budgets_that_may_not_be_read_are_learnt_from_the_answers() -> None:
    outcome = drain(*web_of_ten(), prepare=lambda s: s.faults.forbidden("list", "poddisruptionbudgets"))
    assert outcome.graceful == 10
    assert {str(ref) for fate in outcome.record.pods for ref in fate.held_by} == {"default/web"}


def test_throttling_without_a_budget_cause_is_backed_off_from() -> None:
    outcome = drain(*web_of_ten(), prepare=lambda s: s.faults.throttled(every=3))
    assert outcome.graceful == 10


@pytest.mark.parametrize("every", [2, 10])
def test_500s_are_tried_again(every: int) -> None:
    outcome = drain(*web_of_ten(), prepare=lambda s: s.faults.failing(every=every))
    assert outcome.graceful == 10
    assert not outcome.exceeded("web")


@pytest.mark.parametrize("is_served", [True, False])
def test_resets_leave_the_outcome_to_be_observed(is_served: bool) -> None:
    outcome = drain(*web_of_ten(), prepare=lambda s: s.faults.reset(times=20, is_served=is_served))
    assert outcome.graceful == 10
    assert not outcome.exceeded("web")


@pytest.mark.parametrize("is_served", [True, False])
def test_evictions_that_time_out_may_have_been_served(is_served: bool) -> None:
    def silence(simulation: Simulation) -> None:
        simulation.faults.timed_out(timedelta(seconds=5), 3, "create", "pods/eviction", is_served=is_served)

    outcome = drain(*web_of_ten(), prepare=silence)
    assert outcome.graceful == 10
    assert not outcome.exceeded("web")


def test_broken_watches_fall_back_to_listing_without_losing_a_pod() -> None:
    outcome = drain(*web_of_ten(), prepare=lambda s: s.faults.watches_broken())
    assert outcome.graceful == 10
    assert not outcome.exceeded("web")


def test_a_webhook_that_refuses_evictions_gets_deletes_at_the_last_safe_moment() -> None:
    def refuse(simulation: Simulation) -> None:
        simulation.faults.add(Fault(Refused("denied the request"), verb="create", resource="pods/eviction"))

    outcome = drain(SPOT, ROOM, bare("p", "spot-a", annotations=times(1, 2)), prepare=refuse)
    assert outcome.graceful == 1
    assert "denied the request" in " ".join(p.message for p in outcome.record.problems)


def test_a_namesake_with_another_uid_is_never_asked_for() -> None:
    db = stateful_set("db", ["spot-a"] * 3, annotations=times(4, 2))
    outcome = drain(SPOT, ROOM, *db, prepare=lambda s: s.faults.watches_late(timedelta(seconds=3)))
    for index in range(3):
        old, *later = outcome.simulation.journal.named("default", f"db-{index}")
        assert old.signalled_at
        assert all(story.signalled_at is None for story in later)


def test_pods_bound_while_the_node_is_being_cordoned_are_drained_too() -> None:
    def arrive(simulation: Simulation) -> None:
        late = bare("late", "", annotations=times(1, 2))
        late["status"] = {"phase": "Pending"}
        del late["spec"]["nodeName"]

        def bind() -> None:
            simulation.apply(late)

        simulation.schedule(at(0.004), bind)

    outcome = drain(SPOT, bare("first", "spot-a", annotations=times(1, 2)), prepare=arrive)
    stories = outcome.simulation.journal.named("default", "late")
    assert [s.node_name for s in stories] == ["spot-a"], "it was not bound before the cordon"
    assert all(s.was_graceful for s in stories)


def test_250_pods_leave_in_the_first_second() -> None:
    pods = [bare(f"p{i:03}", "spot-a", annotations=times(1, 2)) for i in range(250)]
    outcome = drain(node("spot-a", pods=300), *pods)
    assert outcome.graceful == 250
    assert max(outcome.signalled().values()) < 1


def test_two_nodes_of_one_batch_share_their_budget() -> None:
    web = deployment("web", {"spot-a": 5, "spot-b": 5, "od-1": 30}, annotations=times(4, 2))
    outcome = drain(
        SPOT, node("spot-b"), ROOM, *web, budget("web", {"app": "web"}, maxUnavailable=1), nodes=("spot-a", "spot-b")
    )
    assert outcome.graceful == 5
    assert all(story.was_graceful for story in outcome.simulation.journal.on("spot-b"))
    assert not outcome.exceeded("web")


def test_no_node_waits_for_another() -> None:
    stuck = deployment("stuck", {"spot-a": 2}, annotations=times(4, 2))
    shut = budget("stuck", {"app": "stuck"}, maxUnavailable=0)
    free = bare("free", "spot-b", annotations=times(1, 2))
    outcome = drain(SPOT, node("spot-b"), *stuck, shut, free, nodes=("spot-b", "spot-a"))
    assert outcome.ended < 3
