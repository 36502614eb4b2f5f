"""Released pods in the simulator: who replaces, counts, adopts and refuses them."""

from collections.abc import Callable
from datetime import timedelta

import pytest

from evac.simulator import Raw, Simulation, SimulatorOptions
from lambdas.contract import LABEL_RELEASED
from lambdas.domain.values.actions import CheckGuard, Release, TakeBack, Wake
from lambdas.domain.values.answers import Absent, Blocked, Done, Forbidden
from lambdas.domain.values.releases import DELETION_COST
from tests.scenes import at, budget, node, workload
from tests.unit.simulator.releases import HASH, ROOM, SPOT, WEB, first, owner_of, release, releasing, scale, web
from tests.unit.simulator.stage import ask, collect, evict, pods, ref, run_until, simulate, staying


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
    scale(simulation, 0)
    run_until(simulation, lambda: len(pods(simulation)) == 1)
    simulation.run_for(timedelta(seconds=1))
    assert allowed(simulation) == (0, 1, 0)
    assert isinstance(evict(simulation, name), Blocked)


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


def test_a_replica_set_that_may_not_let_go_of_a_pod_heeds_no_scale_up() -> None:
    simulation = simulate(SPOT, ROOM, *web(), options=SimulatorOptions(admits_ownerless=False))
    simulation.patch("Pod", "default", first(simulation), {"metadata": {"labels": {"pod-template-hash": "other"}}})
    simulation.run_until(at(5))
    scale(simulation, 5)
    simulation.run_until(at(60))
    assert len(pods(simulation)) == 3


def test_a_released_pod_still_counts_as_ready_of_its_deployment() -> None:
    simulation = simulate(SPOT, ROOM, *web())
    name = first(simulation)
    assert release(simulation, name) == Done()
    simulation.run_until(at(20))
    assert simulation.history.most_short(WEB) == 0
    assert simulation.history.ready_over_time(WEB)[-1][1] == 4
    assert evict(simulation, name) == Done()
    simulation.run_until(at(30))
    assert simulation.history.most_short(WEB) == 0


def test_a_full_quota_leaves_a_released_pod_without_a_replacement_until_it_is_gone_or_somebody_wakes_the_set() -> None:
    simulation = simulate(SPOT, ROOM, quota(pods="3"), *web())
    assert release(simulation, first(simulation)) == Done()
    simulation.run_until(at(100))
    [sets] = simulation.list("ReplicaSet")
    assert [c["type"] for c in sets["status"]["conditions"]] == ["ReplicaFailure"]
    assert evict(simulation, first(simulation)) == Done()
    simulation.run_until(at(110))
    assert len(pods(simulation)) == 2
    owned = pods(simulation)[0]["metadata"]["name"]
    assert ask(simulation, Wake(ref(simulation, owned), simulation.clock.now())) == Done()
    assert run_until(simulation, lambda: len(pods(simulation)) == 3) < 110.1
    simulation.run_until(at(130))
    assert "conditions" not in simulation.list("ReplicaSet")[0]["status"]


def quota(**hard: str) -> Raw:
    return {"kind": "ResourceQuota", "metadata": {"name": "q", "namespace": "default"}, "spec": {"hard": hard}}


def test_a_rollout_replaces_the_replacements_and_leaves_released_pods_alone() -> None:
    simulation = simulate(SPOT, ROOM, *web())
    names = [pod["metadata"]["name"] for pod in pods(simulation)]
    assert [a.result for a in collect(simulation, simulation.cluster(), *map(_of(simulation), names))] == [Done()] * 3
    simulation.run_until(at(3))
    simulation.patch(*WEB, {"spec": {"template": {"metadata": {"labels": {"v": "2"}}}}})
    simulation.run_until(at(60))
    versions = {p["metadata"]["name"]: p["metadata"]["labels"].get("v") for p in pods(simulation)}
    assert [versions.pop(name) for name in names] == [None] * 3
    assert list(versions.values()) == ["2"] * 3
    assert simulation.history.most_short(WEB) == 0


def _of(simulation: Simulation) -> Callable[[str], Release]:
    return lambda name: releasing(simulation, name)


def test_a_pod_released_between_its_choice_and_its_deletion_keeps_its_replica_set_waiting_for_five_minutes() -> None:
    simulation = simulate(SPOT, ROOM, *web())
    name = first(simulation)
    simulation.patch("Pod", "default", name, {"metadata": {"annotations": {DELETION_COST: "-5"}}})
    simulation.run_until(at(1))
    scale(simulation, 2)
    run_until(simulation, lambda: simulation.list("ReplicaSet")[0]["spec"]["replicas"] == 2)
    simulation.run_for(timedelta(milliseconds=3))
    assert release(simulation, name) == Done()
    run_until(simulation, lambda: len(pods(simulation)) == 2)
    scale(simulation, 4)
    simulation.run_until(at(200))
    assert len(pods(simulation)) == 2
    simulation.run_until(at(303))
    simulation.patch("Pod", "default", first(simulation), {"metadata": {"labels": {"note": "an event"}}})
    simulation.run_until(at(305))
    assert len(pods(simulation)) == 4


@pytest.mark.parametrize(("after", "stays"), [(5, True), (15, False)])
def test_a_released_pod_taken_back_goes_first_only_where_its_replacement_is_ready(after: float, stays: bool) -> None:
    simulation = simulate(SPOT, ROOM, *web())
    name = first(simulation)
    assert release(simulation, name) == Done()
    simulation.run_until(at(after))
    assert ask(simulation, TakeBack(ref(simulation, name))) == Done()
    simulation.run_until(at(after + 5))
    assert len(pods(simulation)) == 3
    assert (simulation.get("Pod", "default", name) is not None) is stays
    assert owner_of(simulation, name) == (f"web-{HASH}" if stays else "")


def test_a_released_pod_of_a_deleted_deployment_runs_on() -> None:
    simulation = simulate(SPOT, ROOM, *web(), node("od-2"))
    name = first(simulation)
    assert release(simulation, name) == Done()
    simulation.delete(*WEB)
    simulation.run_until(at(60))
    [left] = pods(simulation)
    assert left["metadata"]["name"] == name
    assert left["metadata"]["labels"][LABEL_RELEASED] == "true"
