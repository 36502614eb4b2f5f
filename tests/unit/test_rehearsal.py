"""A rehearsal looks at a cluster and leaves everything there as it was."""

from datetime import timedelta
from typing import Any

from evac.memory import CollectingReporter, InlineBackground
from evac.simulator import SimulatedCluster, Simulation
from lambdas.adapters.rehearsal import RehearsalCluster
from lambdas.application.evacuation import evacuate
from lambdas.application.requests import Ports, Request
from lambdas.domain.values.actions import (
    Action,
    Announce,
    Cordon,
    Delete,
    Evict,
    ExcludeFromLoadBalancers,
    Mark,
    Restore,
)
from lambdas.domain.values.answers import Done
from lambdas.domain.values.drains import Departure, DrainRecord, Ending
from lambdas.domain.values.kubernetes import PodRef
from tests.scenarios.stage import notice
from tests.scenes import at, bare, budget, deployment, node


def rehearse(*objects: Any) -> tuple[DrainRecord, Simulation, SimulatedCluster]:
    simulation = Simulation(objects, at(0))
    cluster = simulation.cluster()
    rehearsal = RehearsalCluster(cluster, simulation.clock)
    ports = Ports(simulation.clock, rehearsal, InlineBackground(rehearsal.wake), CollectingReporter())
    (fate,) = evacuate([Request(notice())], ports)
    return fate.record, simulation, cluster


def test_a_rehearsed_drain_says_what_it_would_do_and_sends_nothing_that_changes() -> None:
    record, simulation, cluster = rehearse(node("spot-a"), node("safe"), bare("task", "spot-a"))
    assert (record.ending, record.count(Departure.EVICTED)) == (Ending.DRAINED, 1)
    assert {verb for _, verb, _ in cluster.requests_sent} <= {"get", "list"}
    assert simulation.get("Pod", "default", "task")
    assert not (simulation.get("Node", "", "spot-a") or {})["spec"].get("unschedulable")


def test_a_rehearsal_counts_what_would_have_left_as_never_replaced() -> None:
    web = deployment("web", {"spot-a": 3, "safe": 2})
    guard = budget("web", {"app": "web"}, maxUnavailable=1)
    record, simulation, _ = rehearse(node("spot-a"), node("safe"), *web, guard)
    assert record.count(Departure.EVICTED) == 1
    assert record.count(Departure.DELETED_AGAINST_BUDGET) == 2
    assert simulation.clock.now() >= at(85)
    assert len(simulation.list("Pod")) == 5


def test_every_action_that_changes_is_answered_as_done() -> None:
    simulation = Simulation([node("spot-a"), bare("task", "spot-a")], at(0))
    cluster = simulation.cluster()
    rehearsal = RehearsalCluster(cluster, simulation.clock)
    pod = PodRef("default", "task", "u")
    actions: list[Action] = [
        Cordon("spot-a", Mark("i-0a1b2c3d", "spot-interruption", None, at(0), at(60))),
        ExcludeFromLoadBalancers("spot-a"),
        Evict(pod, timedelta(seconds=1)),
        Delete(pod, timedelta(seconds=1)),
        Announce("spot-a", "u", "Reason", "message"),
        Restore("spot-a"),
    ]
    for action in actions:
        rehearsal.start(action)
    answers = rehearsal.wait(at(5))
    assert [answer.action for answer in answers] == actions
    assert all(answer.result == Done() for answer in answers)
    assert simulation.clock.now() == at(0)
    assert cluster.requests_sent == ()
    assert rehearsal.wait(at(1)) == []


def test_x() -> None:
    web = deployment("web", {"spot-a": 30, "safe": 10})
    guard = budget("web", {"app": "web"}, maxUnavailable=1)
    objects = (node("spot-a"), node("safe"), *web, guard)
    record, simulation, cluster = rehearse(*objects)
    from tests.scenarios.stage import drain
    real = drain(*objects).record
    for r in (record, real):
        print(r.ending, r.ended_at, r.problems, [(f.pod.name, f.released_at, f.replaced_at, f.departure, f.not_released) for f in r.pods])
    assert 0
