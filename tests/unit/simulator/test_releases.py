"""Released pods in the simulator: who replaces, counts, adopts and refuses them."""

from datetime import timedelta

import pytest

from evac.simulator import Key, Raw, Simulation, SimulatorOptions
from lambdas.contract import ANNOTATION_RELEASED_FROM, LABEL_RELEASED
from lambdas.domain.values.actions import CheckGuard, Release
from lambdas.domain.values.answers import Absent, Done, Forbidden, Result
from lambdas.domain.values.kubernetes import Owner
from tests.scenes import at, budget, deployment, node, times, workload
from tests.unit.simulator.stage import ask, evict, pods, ref, run_until, simulate, staying

SPOT, ROOM = node("spot-a"), node("od-1")
HASH = "5d4f8c7b9"
WEB, KEY = Owner("Deployment", "web", "Deployment-web"), Key("Deployment", "default", "web")


def web(count: int = 3) -> list[Raw]:
    return deployment("web", {"spot-a": count}, annotations=times(10, 2))


def release(simulation: Simulation, name: str) -> Result:
    [sets] = simulation.list("ReplicaSet")
    owner = Owner("ReplicaSet", sets["metadata"]["name"], sets["metadata"]["uid"])
    return ask(simulation, Release(ref(simulation, name), HASH, owner, WEB, simulation.clock.now()))


def first(simulation: Simulation) -> str:
    return str(pods(simulation)[0]["metadata"]["name"])


def allowed(simulation: Simulation) -> tuple[int, int, int]:
    status = (simulation.get("PodDisruptionBudget", "default", "web") or {})["status"]
    return status["expectedPods"], status["currentHealthy"], status["disruptionsAllowed"]


def test_a_released_pod_is_replaced_at_once_and_opens_its_budget_once_the_replacement_is_ready() -> None:
    simulation = simulate(SPOT, ROOM, *web(), budget("web", {"app": "web"}, maxUnavailable=0))
    name = first(simulation)
    assert release(simulation, name) == Done()
    assert run_until(simulation, lambda: len(pods(simulation)) == 4) < 0.05
    assert allowed(simulation) == (3, 3, 0)
    assert run_until(simulation, lambda: allowed(simulation) == (3, 4, 1)) == pytest.approx(10, abs=0.1)
    assert evict(simulation, name) == Done()


def test_a_budget_whose_pods_are_all_ownerless_allows_none() -> None:
    simulation = simulate(SPOT, ROOM, *web(), budget("web", {"app": "web"}, maxUnavailable=1))
    name = first(simulation)
    assert release(simulation, name) == Done()
    simulation.patch("Deployment", "default", "web", {"spec": {"replicas": 0}})
    run_until(simulation, lambda: len(pods(simulation)) == 1)
    simulation.run_for(timedelta(seconds=1))
    assert allowed(simulation) == (0, 1, 0)
    assert not isinstance(evict(simulation, name), Done)


def test_a_number_of_pods_that_must_be_available_counts_released_ones_too() -> None:
    simulation = simulate(SPOT, ROOM, *web(), budget("web", {"app": "web"}, minAvailable=3))
    assert release(simulation, first(simulation)) == Done()
    run_until(simulation, lambda: allowed(simulation) == (4, 4, 1))


def test_a_daemon_set_that_selects_a_released_pod_adopts_it_and_deletes_the_younger_of_two() -> None:
    agent = workload(
        "DaemonSet", "agent", {"selector": {"matchLabels": {"app": "web"}}, "template": web()[0]["spec"]["template"]}
    )
    simulation = simulate(SPOT, ROOM, *web(), agent)
    run_until(simulation, lambda: len(pods(simulation)) == 5)
    name = first(simulation)
    assert release(simulation, name) == Done()
    run_until(simulation, lambda: owner_of(simulation, name) == "agent")
    run_until(simulation, lambda: len(staying(simulation)) == 5)


def test_a_job_that_selects_a_released_pod_adopts_it_and_deletes_the_surplus() -> None:
    spec = {"manualSelector": True, "selector": {"matchLabels": {"app": "web"}}, "parallelism": 0}
    job = workload("Job", "batch", {**spec, "template": web()[0]["spec"]["template"]}, api="batch/v1")
    simulation = simulate(SPOT, ROOM, *web(), job)
    name = first(simulation)
    assert release(simulation, name) == Done()
    run_until(simulation, lambda: name not in {p["metadata"]["name"] for p in staying(simulation)})


def owner_of(simulation: Simulation, name: str) -> str:
    pod = simulation.get("Pod", "default", name)
    return next((o["name"] for o in (pod or {"metadata": {}})["metadata"].get("ownerReferences") or ()), "")


def test_an_admission_policy_that_wants_owners_refuses_a_release_and_nothing_changes() -> None:
    simulation = simulate(SPOT, ROOM, *web(), options=SimulatorOptions(admits_ownerless=False))
    name = first(simulation)
    before = simulation.get("Pod", "default", name)
    assert isinstance(release(simulation, name), Forbidden)
    assert simulation.get("Pod", "default", name) == before


def test_the_guard_stands_unless_a_fault_takes_it_away() -> None:
    simulation = simulate(SPOT)
    assert ask(simulation, CheckGuard()) == Done()
    simulation.faults.guard_absent(since=at(1))
    simulation.run_until(at(2))
    assert ask(simulation, CheckGuard()) == Absent()


def test_a_released_pod_still_counts_as_ready_of_its_deployment() -> None:
    simulation = simulate(SPOT, ROOM, *web())
    name = first(simulation)
    assert release(simulation, name) == Done()
    released = simulation.get("Pod", "default", name) or {}
    assert released["metadata"]["labels"][LABEL_RELEASED] == "true"
    assert ANNOTATION_RELEASED_FROM in released["metadata"]["annotations"]
    simulation.run_until(at(20))
    assert simulation.history.most_short(KEY) == 0
    assert simulation.history.ready_over_time(KEY)[-1][1] == 4
