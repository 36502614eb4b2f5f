"""Hosts that are taken, nodes that go, static pods, and pods whose volumes are held elsewhere."""

from datetime import timedelta

import pytest

from evac.simulator import Hand, Key, Raw, Simulation, SimulatorOptions
from lambdas.domain.values.answers import Done
from tests.scenes import at, bare, deployment, job, node, stateful_set, times
from tests.unit.simulator.stage import evict, observing, pods, run_until, simulate, staying, story

SPOT = node("spot-a")


def test_a_taken_host_kills_its_pods_and_the_api_learns_of_it_when_the_node_goes() -> None:
    simulation = simulate(SPOT, node("od-1"), *deployment("web", {"spot-a": 2, "od-1": 1}))
    simulation.reclaim("spot-a", at(10))
    simulation.run_until(at(39))
    assert len(staying(simulation)) == 3
    assert [s.killed_at for s in simulation.journal.on("spot-a")] == [at(10), at(10)]
    assert simulation.get("Node", "", "spot-a")
    simulation.run_until(at(41))
    assert simulation.get("Node", "", "spot-a") is None
    assert {p["spec"].get("nodeName") for p in staying(simulation)} == {"od-1"}
    assert run_until(simulation, lambda: _ready(simulation) == 3) == pytest.approx(50, abs=0.1)


def _ready(simulation: Simulation) -> int:
    return simulation.history.ready_over_time(Key("Deployment", "default", "web"))[-1][1]


def test_the_dead_do_not_count_as_ready_though_the_api_says_so() -> None:
    simulation = simulate(SPOT, node("od-1"), *deployment("web", {"spot-a": 2, "od-1": 1}))
    simulation.reclaim("spot-a", at(10))
    simulation.run_until(at(20))
    assert _ready(simulation) == 1
    assert all(c["status"] == "True" for p in pods(simulation) for c in p["status"]["conditions"])


def test_pods_that_were_still_shutting_down_are_killed_and_those_that_had_ended_are_not() -> None:
    names = {"slow": 30, "quick": 2, "never": 2}
    simulation = simulate(SPOT, *(bare(n, "spot-a", annotations=times(1, s)) for n, s in names.items()))
    simulation.reclaim("spot-a", at(10))
    simulation.run_until(at(5))
    assert evict(simulation, "slow") == evict(simulation, "quick") == Done()
    simulation.run_until(at(60))
    assert [story(simulation, n).was_graceful for n in names] == [False, True, False]
    assert [bool(story(simulation, n).killed_at) for n in names] == [True, False, True]
    assert story(simulation, "never").signalled_at is None
    assert not [p for p in simulation.list("Pod") if p["spec"]["nodeName"] == "spot-a"]


def test_a_kubelet_that_is_dead_starts_nothing_and_stops_nothing() -> None:
    simulation = simulate(SPOT, bare("p", "spot-a", annotations=times(1, 1)))
    simulation.reclaim("spot-a", at(1))
    simulation.run_until(at(2))
    assert evict(simulation, "p") == Done()
    simulation.apply(bare("late", "spot-a", annotations=times(1, 1)))
    simulation.run_until(at(20))
    assert story(simulation, "p").gone_at is None
    assert story(simulation, "late").ready_at is None


def test_a_node_may_be_left_in_the_api_and_its_pods_collected_later() -> None:
    stays = simulate(SPOT, bare("p", "spot-a"), options=SimulatorOptions(node_removed_after=None))
    stays.reclaim("spot-a", at(1))
    stays.run_until(at(1000))
    assert stays.get("Node", "", "spot-a")
    late = SimulatorOptions(node_removed_after=timedelta(seconds=5), orphans_collected_after=timedelta(seconds=40))
    collects = simulate(SPOT, bare("p", "spot-a"), options=late)
    collects.reclaim("spot-a", at(1))
    assert run_until(collects, lambda: not collects.list("Pod")) == pytest.approx(46, abs=0.1)
    assert story(collects, "p").killed_at == at(1)


def test_a_host_that_is_not_there_cannot_be_taken() -> None:
    simulation = simulate(SPOT)
    simulation.reclaim("elsewhere", at(1))
    simulation.run_until(at(60))
    assert simulation.get("Node", "", "spot-a")


def test_a_new_host_under_an_old_name_lives() -> None:
    simulation = simulate(SPOT)
    simulation.reclaim("spot-a", at(1))
    simulation.run_until(at(40))
    simulation.apply(SPOT)
    simulation.apply(bare("p", "spot-a", annotations=times(1, 1)))
    simulation.run_until(at(42))
    assert story(simulation, "p").ready_at


def test_a_node_object_deleted_by_hand_takes_its_pods_with_it() -> None:
    simulation = simulate(SPOT, bare("p", "spot-a"))
    simulation.delete("Node", "", "spot-a")
    simulation.run_until(at(1))
    told = story(simulation, "p")
    assert (told.hand, told.grace) == (Hand.COLLECTED, timedelta(0))


def test_a_static_pods_mirror_comes_back_under_a_new_uid() -> None:
    mirror = bare("proxy-spot-a", "spot-a", annotations={"kubernetes.io/config.mirror": "x", **times(1, 1)})
    mirror["metadata"]["ownerReferences"] = [{"kind": "Node", "name": "spot-a", "uid": "n", "controller": True}]
    simulation = simulate(SPOT, mirror)
    assert not simulation.unknown_kinds
    assert evict(simulation, "proxy-spot-a") == Done()
    simulation.run_until(at(10))
    first, second = simulation.journal.named("default", "proxy-spot-a")
    assert first.gone_at
    assert second.ready_at


def test_a_completed_pod_is_finished_and_killed_by_nobody() -> None:
    simulation = simulate(SPOT, *job("batch", "spot-a", annotations=times(completes=5)))
    simulation.reclaim("spot-a", at(10))
    simulation.run_until(at(60))
    told = story(simulation, "batch-x")
    assert told.finished_at == at(5)
    assert told.killed_at is None


def claim(*modes: str) -> Raw:
    spec = {"accessModes": list(modes)}
    return {"kind": "PersistentVolumeClaim", "metadata": {"name": "data", "namespace": "default"}, "spec": spec}


def with_claim() -> list[Raw]:
    volumes = [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]
    return deployment("web", {"spot-a": 1}, annotations=times(4, 6), volumes=volumes)


@pytest.mark.parametrize(("mode", "ready"), [("ReadWriteOnce", 10), ("ReadWriteMany", 4)])
def test_a_volume_for_one_node_is_attached_only_when_the_other_has_let_go(mode: str, ready: float) -> None:
    simulation = simulate(SPOT, node("od-1"), claim(mode), *with_claim())
    simulation.patch("Node", "", "spot-a", {"spec": {"unschedulable": True}})
    evict(simulation, pods(simulation)[0]["metadata"]["name"])
    new = run_until(simulation, lambda: [s for s in simulation.journal.on("od-1") if s.ready_at])
    assert new == pytest.approx(ready, abs=0.1)


def test_a_node_whose_kubelet_is_silent_is_observed_and_left_alone() -> None:
    silent = node("spot-a")
    silent["status"]["conditions"] = [{"type": "Ready", "status": "Unknown"}]
    simulation = simulate(silent, *stateful_set("db", ["spot-a"]))
    port = observing(simulation)
    evict(simulation, "db-0")
    simulation.run_until(at(120))
    port.wait(at(120))
    [pod] = port.observe().nodes["spot-a"].pods
    assert pod.deletion
