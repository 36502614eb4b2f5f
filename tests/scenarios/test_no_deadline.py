"""What holds for every drain that nobody hurries, whatever the pods, the budgets and the API server's answers."""

from datetime import timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evac.memory import CollectingReporter, InlineBackground
from evac.simulator import Simulation
from lambdas.application.evacuation import evacuate
from lambdas.application.requests import Fate, Ports, Request
from lambdas.contract import LABEL_RELEASED
from lambdas.domain.values.drains import Departure, Ending
from lambdas.domain.values.kubernetes import BudgetRef
from lambdas.domain.values.notices import NO_DEADLINE, Notice, Reason
from lambdas.domain.values.settings import BudgetMode, ReleaseMode, Settings
from tests.scenarios.test_invariants import Trouble, troubles, workloads
from tests.scenes import NOTICE, Json, at, budget, deployment, instance_id, node, times

modes = st.builds(
    Settings, budgets=st.sampled_from(BudgetMode), release=st.sampled_from(ReleaseMode), needs_guard=st.just(False)
)


def drained(objects: list[Json], trouble: list[Trouble], how: Settings) -> tuple[Fate, Simulation]:
    """Half an hour of it."""
    simulation = Simulation([node("spot-a"), node("od-1"), *objects], NOTICE)
    for one in trouble:
        one.make(simulation)
    cluster = simulation.cluster()
    ports = Ports(simulation.clock, cluster, InlineBackground(cluster.wake), CollectingReporter())
    request = Request(Notice(instance_id("spot-a"), Reason.MAINTENANCE, NOTICE, NO_DEADLINE), node_name="spot-a")
    [fate] = evacuate([request], ports, how, until=at(1800))
    cluster.close()
    return fate, simulation


def all_were_ready(objects: list[Json]) -> bool:
    return all(p["status"]["conditions"][1]["status"] == "True" for p in objects if p["kind"] == "Pod")


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(workloads(), st.lists(troubles, max_size=2), modes)
def test_no_budget_is_ever_exceeded_and_no_grace_cut(
    objects: list[Json], trouble: list[Trouble], how: Settings
) -> None:
    fate, simulation = drained(objects, trouble, how)
    pods = {raw["metadata"]["name"]: raw for raw in objects if raw["kind"] == "Pod"}
    for left in fate.record.pods:
        assert left.departure not in {Departure.DELETED_AGAINST_BUDGET, Departure.LOST}
        if left.grace_given is not None and left.pod.name in pods:
            own = pods[left.pod.name]["spec"]["terminationGracePeriodSeconds"]
            assert left.grace_given == timedelta(seconds=own)
    if all_were_ready(objects):
        for raw in objects:
            if raw["kind"] == "PodDisruptionBudget":
                assert simulation.history.budget_exceeded(BudgetRef("default", raw["metadata"]["name"]), at(0)) == 0


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(workloads(), st.lists(troubles, max_size=2), modes)
def test_it_ends_when_all_are_gone_and_only_pods_that_somebody_holds_are_waited_for(
    objects: list[Json], trouble: list[Trouble], how: Settings
) -> None:
    fate, _ = drained(objects, trouble, how)
    stayed = [left for left in fate.record.pods if left.departure is Departure.STAYED]
    assert (fate.record.ending is Ending.DRAINED) is not bool(stayed)
    for left in stayed:
        assert left.note.startswith(("left to finish", "held by its budget", "waits its turn", "waits for its")), left


@pytest.mark.parametrize("ready", [True, False])
def test_a_released_pod_leaves_when_its_deployment_is_scaled_to_nothing_ready_or_not(ready: bool) -> None:
    web = deployment("web", {"spot-a": 3, "od-1": 1}, annotations=times(10, 2))
    shut = budget("web", {"app": "web"}, minAvailable=1)
    simulation = Simulation([node("spot-a"), node("od-1", pods=1), *web, shut], at(-1))
    simulation.run_until(at(0))

    def scale() -> None:
        for p in simulation.list("Pod"):
            if LABEL_RELEASED in p["metadata"]["labels"] and not ready:
                conditions = [c | {"status": "False"} if c["type"] == "Ready" else c for c in p["status"]["conditions"]]
                simulation.patch("Pod", "default", p["metadata"]["name"], {"status": {"conditions": conditions}})
        simulation.patch("Deployment", "default", "web", {"spec": {"replicas": 0}})

    simulation.schedule(at(20), scale)
    ports = Ports(simulation.clock, simulation.cluster(), InlineBackground(), CollectingReporter())
    request = Request(Notice(instance_id("spot-a"), Reason.MAINTENANCE, at(0), NO_DEADLINE), node_name="spot-a")
    [fate] = evacuate([request], ports, Settings(needs_guard=False), until=at(600))
    assert [f.pod.name for f in fate.record.pods if f.departure is Departure.STAYED] == []
