"""Two that act at once: two invocations for one node, and a drain beside the ReplicaSet controller."""

import pytest

from evac.memory import CollectingReporter, InlineBackground
from evac.simulator import Key, Simulation
from lambdas.application.evacuation import evacuate
from lambdas.application.requests import Ports, Request
from lambdas.domain.decisions.release_memory import ReleaseMemory
from lambdas.domain.values.actions import Release
from lambdas.domain.values.answers import Conflict
from lambdas.domain.values.kubernetes import Owner, Pod, PodRef
from tests.scenarios.stage import notice
from tests.scenes import Json, at, budget, deployment, node, times


def drained(objects: list[Json], *spots: str, scaled: tuple[float, int] | None = None) -> Simulation:
    """One invocation for each of `spots`, at the same time; the ledger is away."""
    simulation = Simulation([node("spot-a"), node("spot-b"), node("od-1"), *objects], at(-1))
    simulation.run_until(at(0))
    for name in {*spots}:
        simulation.reclaim(name, at(120))
    if scaled:
        change = {"spec": {"replicas": scaled[1]}}
        simulation.schedule(at(scaled[0]), lambda: simulation.patch("Deployment", "default", "web", change))

    def invoke(name: str) -> None:
        ports = Ports(simulation.clock, simulation.cluster(), InlineBackground(), CollectingReporter())
        evacuate([Request(notice(name))], ports)

    simulation.side_by_side(*[lambda name=name: invoke(name) for name in spots])
    simulation.run_until(at(121))
    return simulation


def short(simulation: Simulation) -> int:
    return simulation.history.most_short(Key("Deployment", "default", "web"), at(0), at(84))


@pytest.mark.parametrize("replicas", [4, 12, 20])
@pytest.mark.parametrize("with_budget", [True, False])
def test_two_invocations_for_one_node_lose_no_patience_with_each_other(replicas: int, with_budget: bool) -> None:
    """Each release is accepted once and answered Conflict once: that is no failure."""
    web = deployment("web", {"spot-a": replicas, "od-1": 4}, surge=1, annotations=times(3, 1))
    more = [budget("web", {"app": "web"}, maxUnavailable="50%")] if with_budget else []
    assert short(drained([*web, *more], "spot-a", "spot-a")) == 0


def test_a_conflict_is_no_failure_of_a_workloads_releases() -> None:
    memory = ReleaseMemory()
    for second in range(20):
        ref = PodRef("default", f"p{second}", f"u{second}")
        ask = Release(ref, "5d4f8c7b9", Owner("ReplicaSet", "r", "r"), Owner("Deployment", "d", "d"), at(second))
        memory.asked(ask)
        memory.answered(ask, Pod(ref, "spot-a"), Conflict("somebody else released it"), at(second))
    assert memory.refused == {}


@pytest.mark.parametrize("to", [1, 2, 3])
@pytest.mark.parametrize("moment", [0.5, 1.0, 3.02, 6.0])
def test_a_scale_down_in_mid_drain_is_not_carried_out_twice(to: int, moment: float) -> None:
    """The ReplicaSet deletes its own surplus, and we evict as many again, of the pods that it would have kept."""
    web = deployment("web", {"spot-a": 2, "spot-b": 2, "od-1": 2}, surge=1, annotations=times(3, 1))
    one = budget("web", {"app": "web"}, maxUnavailable=1)
    assert short(drained([*web, one], "spot-a", "spot-b", scaled=(moment, to))) == 0
