"""ReplicaSets: their pace, their back-off, whom they give up and adopt."""

from collections.abc import Iterable

import pytest

from evac.simulator import Key, Raw, Simulation
from lambdas.domain.values.answers import Done
from tests.scenes import at, bare, deployment, node, template, times, workload
from tests.unit.simulator.stage import evict, pods, run_until, simulate, staying, story

SPOT, ROOM = node("spot-a", pods=500), node("od-1", pods=500)
WEB = Key("Deployment", "default", "web")


def made_by(simulation: Simulation, app: str, second: float) -> int:
    """How many new pods there were so many seconds after the beginning."""
    simulation.run_until(at(second))
    return sum(1 for s in simulation.journal if s.created_at > at(0) and s.pod.name.startswith(app))


def test_thirty_replacements_come_at_once_and_twenty_a_second_after_that() -> None:
    simulation = simulate(SPOT, ROOM, *deployment("web", {"spot-a": 1}))
    simulation.patch("Deployment", "default", "web", {"spec": {"replicas": 101}})
    assert made_by(simulation, "web", 0.05) in range(30, 33)
    assert made_by(simulation, "web", 1.05) in range(49, 53)
    assert made_by(simulation, "web", 5) == 100


def test_all_replica_sets_wait_in_one_queue() -> None:
    apps = [o for i in range(10) for o in deployment(f"w{i}", {"spot-a": 1})]
    simulation = simulate(SPOT, ROOM, *apps)
    for i in range(10):
        simulation.patch("Deployment", "default", f"w{i}", {"spec": {"replicas": 9}})
    assert made_by(simulation, "w", 1.05) in range(49, 54)
    assert made_by(simulation, "w", 4) == 80


def quota(**hard: str) -> Raw:
    return {"kind": "ResourceQuota", "metadata": {"name": "q", "namespace": "default"}, "spec": {"hard": hard}}


def test_a_full_quota_holds_replacements_back_until_the_old_pod_is_gone() -> None:
    web = deployment("web", {"spot-a": 2}, annotations=times(1, 5))
    simulation = simulate(SPOT, ROOM, quota(pods="2"), *web)
    name = pods(simulation)[0]["metadata"]["name"]
    assert evict(simulation, name) == Done()
    simulation.run_until(at(3))
    assert len(pods(simulation)) == 2
    [sets] = simulation.list("ReplicaSet")
    assert [c["type"] for c in sets["status"]["conditions"]] == ["ReplicaFailure"]
    assert run_until(simulation, lambda: len(staying(simulation)) == 2) == pytest.approx(5, abs=0.2)
    simulation.run_until(at(10))
    assert "conditions" not in simulation.list("ReplicaSet")[0]["status"]


def test_quotas_count_requests_too() -> None:
    web = deployment("web", {"spot-a": 2})
    simulation = simulate(SPOT, quota(**{"requests.cpu": "250m"}), *web)
    simulation.patch("Deployment", "default", "web", {"spec": {"replicas": 5}})
    simulation.run_until(at(30))
    assert len(pods(simulation)) == 2


def test_back_off_doubles_until_an_event_about_a_pod_comes() -> None:
    simulation = simulate(SPOT, quota(pods="1"), *deployment("web", {"spot-a": 1}))
    simulation.patch("Deployment", "default", "web", {"spec": {"replicas": 2}})
    simulation.run_until(at(30))
    simulation.patch("ResourceQuota", "default", "q", {"spec": {"hard": {"pods": "5"}}})
    alone = simulation.clock.now()
    run_until(simulation, lambda: len(pods(simulation)) == 2)
    assert (simulation.clock.now() - alone).total_seconds() > 5


def places(found: Iterable[Raw]) -> list[str]:
    return sorted(p["spec"].get("nodeName", "") for p in found)


def test_the_surplus_goes_in_the_real_order() -> None:
    web = deployment("web", {"spot-a": 3, "od-1": 2})
    old, *_ = (raw for raw in web if raw["kind"] == "Pod")
    old["metadata"]["annotations"]["controller.kubernetes.io/pod-deletion-cost"] = "100"
    simulation = simulate(SPOT, ROOM, *web)
    simulation.patch("Deployment", "default", "web", {"spec": {"replicas": 3}})
    simulation.run_until(at(10))
    assert places(pods(simulation)) == ["od-1", "od-1", "spot-a"]
    assert story(simulation, old["metadata"]["name"]).gone_at is None


def test_a_pod_is_adopted_by_one_only() -> None:
    owners = [workload("ReplicaSet", n, {"replicas": 1, "selector": {"matchLabels": {"app": "web"}}}) for n in "ab"]
    for owner in owners:
        owner["spec"]["template"] = template({"app": "web"}, annotations=times(1, 1))
    simulation = simulate(SPOT, *owners, bare("stray", "spot-a", {"app": "web"}))
    simulation.run_until(at(10))
    assert len(staying(simulation)) == 2
    owned_by = [p["metadata"]["ownerReferences"][0]["name"] for p in staying(simulation)]
    assert sorted(owned_by) == ["a", "b"]
