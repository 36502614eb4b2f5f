"""A rehearsal looks at a cluster and leaves everything there as it was."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from evac.memory import CollectingReporter, InlineBackground
from evac.simulator import SimulatedCluster, Simulation
from lambdas.adapters.rehearsal import RehearsalCluster
from lambdas.application.evacuation import evacuate
from lambdas.application.requests import Ports, Request
from lambdas.contract import ANNOTATION_MARK, LABEL_RELEASED, LABEL_TEMPLATE_HASH
from lambdas.domain.values.actions import (
    Action,
    Announce,
    Cordon,
    Delete,
    Evict,
    ExcludeFromLoadBalancers,
    ListMarked,
    ListReleased,
    Mark,
    Observe,
    ObserveWorkloads,
    Release,
    Restore,
    TakeBack,
    TidyUp,
    Wake,
)
from lambdas.domain.values.answers import Done, Found
from lambdas.domain.values.drains import Departure, DrainRecord, Ending
from lambdas.domain.values.kubernetes import Owner, PodRef
from lambdas.domain.values.marks import Former, decode_mark
from tests.scenarios.stage import drain, notice
from tests.scenes import at, bare, budget, deployment, instance_id, node, times

OWNER = Owner("ReplicaSet", "web-5d4f8c7b9", "r", "apps/v1")


def rehearse(
    *objects: Any,
    prepare: Callable[[Simulation], object] = lambda _: None,
) -> tuple[DrainRecord, Simulation, SimulatedCluster]:
    simulation = Simulation(objects, at(0))
    prepare(simulation)
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


def test_a_rehearsal_counts_what_would_have_left_without_a_release_as_never_replaced() -> None:
    web = deployment("web", {"spot-a": 3, "safe": 2}, surge=0)
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
        Release(pod, "5d4f8c7b9", OWNER, OWNER, at(0)),
        TakeBack(pod),
        TidyUp(pod),
        Wake(pod, at(0)),
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


def plan_of(record: DrainRecord) -> list[tuple[object, ...]]:
    """Per pod: its name, when it was released (whole seconds from the notice), and how it left."""
    return [(f.pod.name, f.released_at and (f.released_at - at(0)).seconds, f.departure) for f in record.pods]


def test_a_rehearsal_tells_the_plan_of_releases_that_the_drain_itself_would_follow() -> None:
    guard = budget("web", {"app": "web"}, maxUnavailable=1)
    objects = (node("spot-a"), node("safe"), *deployment("web", {"spot-a": 30, "safe": 10}), guard)
    record, simulation, cluster = rehearse(*objects)
    assert plan_of(record) == plan_of(drain(*objects).record)
    assert {released for _, released, _ in plan_of(record)} == {0, 10, 20}
    assert {verb for _, verb, _ in cluster.requests_sent} <= {"get", "list"}
    pods = simulation.list("Pod")
    assert len(pods) == 40
    assert not [p for p in pods if LABEL_RELEASED in p["metadata"]["labels"]]


def test_a_rehearsal_of_a_single_replica_waits_for_its_replacement() -> None:
    web = deployment("web", {"spot-a": 1}, annotations=times(startup=7))
    record, simulation, _ = rehearse(node("spot-a"), node("safe"), *web, budget("web", {"app": "web"}, minAvailable=1))
    assert [departure for _, _, departure in plan_of(record)] == [Departure.EVICTED]
    assert at(7) <= simulation.clock.now() < at(8)


def test_a_rehearsal_of_pods_whose_start_up_nobody_knows_holds_them_until_their_last_safe_moment() -> None:
    web = deployment("web", {"spot-a": 1, "safe": 0})
    web[-1]["status"]["containerStatuses"] = [{"name": "c", "restartCount": 1}]
    record, simulation, _ = rehearse(node("spot-a"), node("safe"), *web)
    assert [released for _, released, _ in plan_of(record)] == [0]
    assert at(85) <= simulation.clock.now() < at(86)


def test_a_rehearsal_releases_nothing_without_the_guard_and_says_so() -> None:
    objects = (node("spot-a"), node("safe"), *deployment("web", {"spot-a": 2, "safe": 2}))
    record, _, _ = rehearse(*objects, prepare=lambda simulation: simulation.faults.guard_absent())
    assert [fate.released_at for fate in record.pods] == [None, None]
    assert "ValidatingAdmissionPolicy" in str(record.problems)


def test_a_rehearsed_cordon_shows_on_the_node_until_it_is_taken_off() -> None:
    simulation = Simulation([node("spot-a")], at(0))
    rehearsal = RehearsalCluster(simulation.cluster(), simulation.clock)
    rehearsal.start(Observe("spot-a"))
    rehearsal.wait(at(5))
    mark = Mark(instance_id("spot-a"), "maintenance", None, at(0), at(60))
    rehearsal.start(Cordon("spot-a", mark))
    shown = rehearsal.observe().nodes["spot-a"].node
    assert shown
    assert shown.unschedulable
    assert decode_mark(shown.annotations[ANNOTATION_MARK]) == (mark, Former())
    rehearsal.start(Restore("spot-a"))
    shown = rehearsal.observe().nodes["spot-a"].node
    assert shown
    assert not shown.unschedulable
    assert ANNOTATION_MARK not in shown.annotations


@pytest.mark.parametrize("look", [ListReleased(), ListMarked()])
def test_a_rehearsal_looks_for_what_a_sweep_would_find(look: ListReleased | ListMarked) -> None:
    simulation = Simulation([node("spot-a")], at(0))
    rehearsal = RehearsalCluster(simulation.cluster(), simulation.clock)
    rehearsal.start(look)
    assert [answer.result for answer in rehearsal.wait(at(5))] == [Found()]


def test_a_rehearsal_wakes_whoever_waits_when_a_replacement_would_be_ready() -> None:
    simulation = Simulation([node("spot-a"), *deployment("web", {"spot-a": 1})], at(0))
    rehearsal = RehearsalCluster(simulation.cluster(), simulation.clock)
    for action in (Observe("spot-a"), ObserveWorkloads("default")):
        rehearsal.start(action)
        while not rehearsal.wait(at(5)):
            pass
    [pod] = rehearsal.observe().nodes["spot-a"].pods
    assert pod.owner
    deployed = Owner("Deployment", "web", "Deployment-web", "apps/v1")
    rehearsal.start(Release(pod.ref, pod.labels[LABEL_TEMPLATE_HASH], pod.owner, deployed, simulation.clock.now()))
    begun_at = simulation.clock.now()
    while simulation.clock.now() < begun_at + timedelta(seconds=10):
        rehearsal.wait(at(60))
    assert simulation.clock.now() == begun_at + timedelta(seconds=10)
    old, new = rehearsal.observe().namespaces["default"].pods.items
    assert (old.owner, old.ready, old.labels[LABEL_RELEASED]) == (None, True, "true")
    assert (new.owner, new.ready, new.labels) == (pod.owner, True, pod.labels)
