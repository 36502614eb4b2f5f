"""Replace, then evict, on the simulator: the cases' ids, and the outcome that a good plan reaches. Seconds from 0."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from evac.memory import CollectingReporter, InlineBackground, MemoryLedger
from evac.simulator import Simulation, SimulatorOptions
from lambdas.application.evacuation import evacuate
from lambdas.application.requests import Fate, Ports, Request
from lambdas.contract import ANNOTATION_RELEASE, LABEL_RELEASED
from lambdas.domain.values.drains import Departure
from lambdas.domain.values.settings import ReleaseMode, Settings
from tests.scenarios.stage import Outcome, drain, notice
from tests.scenes import (
    READY,
    Json,
    apart,
    at,
    autoscaler,
    bare,
    budget,
    claim,
    daemon_set,
    deployment,
    node,
    pod,
    quota,
    service,
    times,
)

CRITICAL = "system-cluster-critical"
SPOT = node("spot-a")
ROOM = node("od-1")
ONE = budget("web", {"app": "web"}, maxUnavailable=1)


def web(on: dict[str, int] | None = None, startup: float = 10, **of: Any) -> list[Json]:
    """The Deployment of most cases: 30 of 40 on the node."""
    return deployment("web", on or {"spot-a": 30, "od-1": 10}, annotations=times(startup, 2), **of)


def from_40_on(simulation: Simulation) -> None:
    """Room elsewhere comes late."""
    simulation.schedule(at(40), lambda: simulation.apply(node("od-2")))


def scaled(to: int, when: float) -> Callable[[Simulation], None]:
    """The Deployment is scaled in mid-drain."""

    def prepare(simulation: Simulation) -> None:
        simulation.schedule(
            at(when), lambda: simulation.patch("Deployment", "default", "web", {"spec": {"replicas": to}})
        )

    return prepare


def released(outcome: Outcome) -> list[str]:
    """The pods that the record says were released."""
    return [fate.pod.name for fate in outcome.record.pods if fate.released_at]


def reasons(outcome: Outcome) -> set[str]:
    """Why pods were not."""
    return {fate.not_released for fate in outcome.record.pods if fate.not_released}


def left_released(outcome: Outcome) -> list[str]:
    """Pods that still are released when all is over."""
    pods = outcome.simulation.list("Pod")
    return [p["metadata"]["name"] for p in pods if LABEL_RELEASED in p["metadata"].get("labels", {})]


def is_whole(outcome: Outcome, graceful: int = 30) -> None:
    """What people choose the product for."""
    assert outcome.graceful == graceful
    assert outcome.lost == []
    assert outcome.most_short("web") == 0
    assert not outcome.exceeded("web")
    assert left_released(outcome) == []


def test_d1_thirty_pods_leave_in_waves_of_the_surge_and_nobody_is_missing() -> None:
    outcome = drain(SPOT, ROOM, *web(), ONE)
    is_whole(outcome)
    assert len(released(outcome)) == 30
    assert outcome.ended < 36
    waves = sorted({round((f.released_at - at(0)).total_seconds(), -1) for f in outcome.record.pods if f.released_at})
    assert waves == [0, 10, 20]
    assert outcome.departures(Departure.EVICTED) == sorted(released(outcome))


def test_d1_all_at_once_it_is_over_in_the_time_of_one_replacement() -> None:
    outcome = drain(SPOT, ROOM, *web(), ONE, settings=Settings(release=ReleaseMode.ALL))
    is_whole(outcome)
    assert outcome.ended < 14


def test_the_workloads_own_annotation_overrides_the_setting() -> None:
    objects = web()
    objects[0]["metadata"]["annotations"][ANNOTATION_RELEASE] = "all"
    assert drain(SPOT, ROOM, *objects, ONE).ended < 14
    objects[0]["metadata"]["annotations"][ANNOTATION_RELEASE] = "off"
    outcome = drain(SPOT, ROOM, *objects, ONE)
    assert released(outcome) == []
    assert reasons(outcome) == {f"the Deployment says {ANNOTATION_RELEASE}: off"}


def test_within_never_goes_beyond_the_surge_and_who_would_be_too_late_is_paced_beside_it() -> None:
    within = Settings(release=ReleaseMode.WITHIN)
    outcome = drain(SPOT, ROOM, *web({"spot-a": 30, "od-1": 1}, 40), ONE, settings=within)
    assert outcome.graceful == 30
    assert len(released(outcome)) == 16
    assert reasons(outcome) == {"there is no time to replace it, 8 being released at a time"}
    assert outcome.most_short("web", until=84) <= 7  # 14 pods in the two rounds that are left when one was replaced


def test_d1b_without_a_surge_nothing_is_released_and_the_budget_is_paced() -> None:
    outcome = drain(SPOT, ROOM, *web(surge=0), ONE)
    assert outcome.graceful == 30
    assert outcome.most_short("web") <= 4
    assert reasons(outcome) == {"its Deployment's maxSurge is 0"}


def test_d1c_where_waves_of_the_surge_are_too_slow_they_are_as_large_as_they_must() -> None:
    outcome = drain(SPOT, ROOM, *web({"spot-a": 30, "od-1": 1}, 40), ONE)
    is_whole(outcome)
    assert outcome.ended < 84
    early = [f for f in outcome.record.pods if f.released_at and f.released_at < at(20)]
    assert len(early) == 15


def test_d1d_two_nodes_in_two_invocations_count_their_waves_together() -> None:
    objects = deployment("web", {"spot-a": 15, "spot-b": 15, "od-1": 10}, annotations=times(10, 2))
    simulation = Simulation([SPOT, node("spot-b"), ROOM, *objects, ONE], at(-1))
    simulation.run_until(at(0))
    ledger = MemoryLedger()
    for name in ("spot-a", "spot-b"):
        simulation.reclaim(name, at(120))

    def invoke(name: str) -> list[Fate]:
        ports = Ports(simulation.clock, simulation.cluster(), InlineBackground(), CollectingReporter(), ledger=ledger)
        return evacuate([Request(notice(name))], ports, owner=name)

    simulation.side_by_side(lambda: invoke("spot-a"), lambda: invoke("spot-b"))
    simulation.run_until(at(121))
    stories = [s for name in ("spot-a", "spot-b") for s in simulation.journal.on(name)]
    assert sum(1 for s in stories if s.was_graceful) == 30
    outcome = Outcome.__new__(Outcome)
    outcome.simulation = simulation
    assert outcome.most_short("web") == 0


def test_d2_a_wave_that_finds_no_room_lets_all_ask_for_it() -> None:
    outcome = drain(SPOT, node("od-1", pods=10), *web(), ONE, prepare=from_40_on)
    is_whole(outcome)
    assert max(f.released_at for f in outcome.record.pods if f.released_at) < at(5)
    assert outcome.ended < 56


def test_d3_a_few_pods_are_released_too() -> None:
    outcome = drain(SPOT, ROOM, *web({"spot-a": 5, "od-1": 35}, 4), ONE)
    is_whole(outcome, 5)
    assert outcome.ended < 8


def test_d6_a_single_replica_is_replaced_before_it_goes() -> None:
    outcome = drain(SPOT, ROOM, *web({"spot-a": 1}), budget("web", {"app": "web"}, minAvailable=1))
    is_whole(outcome, 1)
    assert outcome.ended < 14
    assert outcome.departures(Departure.EVICTED) == ["web-5d4f8c7b9-00"]


def test_d6b_without_room_it_is_released_and_runs_until_its_last_safe_moment() -> None:
    outcome = drain(SPOT, node("od-1", pods=0), *web({"spot-a": 1}), budget("web", {"app": "web"}, minAvailable=1))
    assert outcome.graceful == 1
    assert released(outcome) == ["web-5d4f8c7b9-00"]
    assert outcome.signalled() == pytest.approx({"web-5d4f8c7b9-00": 85}, abs=0.2)
    assert outcome.departures(Departure.DELETED_AGAINST_BUDGET) == ["web-5d4f8c7b9-00"]


def test_d11_250_pods_without_a_budget_are_replaced_too() -> None:
    places = {"spot-a": 10, "od-1": 10}
    made = [deployment(f"web{i}", places, annotations=times(4, 2)) for i in range(25)]
    nodes = [node("spot-a", pods=300), *(node(f"od-{i}", pods=300) for i in range(1, 4))]
    outcome = drain(*nodes, *[thing for objects in made for thing in objects])
    assert outcome.graceful == 250
    assert all(outcome.most_short(f"web{i}") == 0 for i in range(25))
    assert outcome.ended < 40


def test_d16_a_volume_that_one_node_holds_forbids_it() -> None:
    volumes = [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]
    outcome = drain(SPOT, ROOM, *web({"spot-a": 1, "od-1": 2}, volumes=volumes), claim("data"))
    assert reasons(outcome) == {"its volume data cannot be on two nodes"}
    assert outcome.signalled() == pytest.approx({"web-5d4f8c7b9-00": 0}, abs=0.5)
    assert outcome.graceful == 1


def test_a_volume_that_many_may_share_does_not() -> None:
    volumes = [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]
    outcome = drain(SPOT, ROOM, *web({"spot-a": 1, "od-1": 2}, volumes=volumes), claim("data", "ReadWriteMany"))
    assert released(outcome) == ["web-5d4f8c7b9-00"]
    assert outcome.most_short("web") == 0


def test_d17_a_full_quota_forbids_it_and_is_named() -> None:
    full = quota("pods", {"pods": "10"}, pods="10")
    outcome = drain(SPOT, ROOM, *web({"spot-a": 10}, 4), ONE, full)
    assert outcome.graceful == 10
    assert reasons(outcome) == {"ResourceQuota default/pods has no room for its replacement (pods)"}
    assert outcome.most_short("web") <= 2


def test_a_quota_with_some_room_lets_so_many_be_released_at_a_time() -> None:
    tight = quota("pods", {"pods": "10"}, pods="13")
    outcome = drain(SPOT, ROOM, *web({"spot-a": 10}, 4), ONE, tight)
    is_whole(outcome, 10)
    assert len([f for f in outcome.record.pods if f.released_at and f.released_at < at(1)]) == 3


def test_d18_a_service_that_selects_by_the_hash_forbids_it() -> None:
    by_hash = service("web", {"app": "web", "pod-template-hash": "5d4f8c7b9"})
    outcome = drain(SPOT, ROOM, *web(), ONE, by_hash)
    assert reasons(outcome) == {"Service default/web selects by pod-template-hash"}
    assert outcome.graceful == 30
    assert outcome.most_short("web") <= 4


@pytest.mark.parametrize("mode", [ReleaseMode.ENOUGH, ReleaseMode.ALL])
def test_d19_under_a_shared_budget_each_deployment_keeps_its_own_replicas(mode: ReleaseMode) -> None:
    mine = deployment("a", {"spot-a": 6}, annotations=times(10, 2))
    theirs = deployment("b", {"od-1": 6}, annotations=times(10, 2))
    for thing in (*mine, *theirs):
        labels = thing["metadata"].setdefault("labels", {})
        labels["team"] = "x"
        if "template" in thing["spec"]:
            thing["spec"]["template"]["metadata"]["labels"]["team"] = "x"
    shared = budget("both", {"team": "x"}, maxUnavailable=1)
    outcome = drain(SPOT, ROOM, *mine, *theirs, shared, settings=Settings(release=mode))
    assert outcome.graceful == 6
    assert outcome.most_short("a") == 0
    assert outcome.most_short("b") == 0
    assert not outcome.exceeded("both")
    first = [f for f in outcome.record.pods if f.released_at and f.released_at < at(1)]
    assert len(first) == (2 if mode is ReleaseMode.ENOUGH else 6)


def test_of_a_deployment_that_is_all_on_the_node_one_pod_stays_owned_until_there_is_a_replacement() -> None:
    """A budget reads its scale from the owners of its pods: with none left it would count nothing."""
    least: list[int] = []

    def count(simulation: Simulation) -> None:
        owned = [p for p in simulation.list("Pod") if p["metadata"].get("ownerReferences")]
        least.append(len(owned))

    def prepare(simulation: Simulation) -> None:
        for moment in range(10, 120):
            simulation.schedule(at(moment / 1000), lambda: count(simulation))

    outcome = drain(SPOT, ROOM, *web({"spot-a": 6}), ONE, settings=Settings(release=ReleaseMode.ALL), prepare=prepare)
    is_whole(outcome, 6)
    assert min(least) >= 1


def test_d20_a_daemon_set_that_would_adopt_the_pod_forbids_it() -> None:
    outcome = drain(SPOT, ROOM, *web(), ONE, daemon_set("greedy", {"app": "web"}))
    assert reasons(outcome) == {"DaemonSet default/greedy would adopt it"}
    assert outcome.graceful == 30
    assert outcome.most_short("web") <= 4


def test_d21_an_admission_policy_against_ownerless_pods_is_met_once() -> None:
    outcome = drain(SPOT, ROOM, *web(), ONE, options=SimulatorOptions(admits_ownerless=False))
    assert released(outcome) == []
    assert outcome.graceful == 30
    assert outcome.most_short("web") <= 4
    [reason] = reasons(outcome)
    assert reason.startswith("its release was refused")


def test_d22_scaled_to_nothing_no_released_pod_is_left_serving() -> None:
    outcome = drain(SPOT, ROOM, *web(), ONE, prepare=scaled(0, 5))
    assert outcome.lost == []
    assert left_released(outcome) == []
    assert max(outcome.signalled().values()) < 6


def test_d22b_scaled_down_by_two_two_more_may_go_at_once() -> None:
    outcome = drain(SPOT, ROOM, *web(), ONE, prepare=scaled(38, 5))
    assert outcome.graceful >= 28
    assert outcome.most_short("web") == 0
    early = [name for name, when in outcome.signalled().items() if 5 <= when < 6]
    assert len(early) == 2
    assert all(outcome.fate(name).released_at for name in early), "released pods go first"


def test_d24_anti_affinity_to_itself_by_zone_forbids_it() -> None:
    zones = [node("spot-a"), node("od-1", labels={"topology.kubernetes.io/zone": "b"})]
    zones += [node("od-2", labels={"topology.kubernetes.io/zone": "c"}), node("od-3")]
    objects = web({"spot-a": 1, "od-1": 1, "od-2": 1}, affinity=apart({"app": "web"}))
    outcome = drain(*zones, *objects, ONE)
    assert reasons(outcome) == {
        "its required anti-affinity keeps the replacement out of its topology.kubernetes.io/zone"
    }
    assert outcome.signalled() == pytest.approx({"web-5d4f8c7b9-00": 0}, abs=0.5)


def test_anti_affinity_by_hostname_does_not() -> None:
    objects = web({"spot-a": 1, "od-1": 1}, affinity=apart({"app": "web"}, "kubernetes.io/hostname"))
    outcome = drain(SPOT, ROOM, node("od-2"), *objects, ONE)
    is_whole(outcome, 1)


def test_d25_with_an_autoscaler_the_surplus_is_never_more_than_the_surge() -> None:
    scaler = autoscaler("web", least=10, most=100, annotations={"replay.spot-evac.dev/load": "40"})
    outcome = drain(SPOT, ROOM, *web(), ONE, scaler, settings=Settings(release=ReleaseMode.ALL))
    assert outcome.graceful == 30
    assert outcome.most_short("web") == 0
    early = [f for f in outcome.record.pods if f.released_at and f.released_at < at(5)]
    assert len(early) == 10
    outcome.simulation.run_until(at(500))
    assert outcome.simulation.get("Deployment", "default", "web")["spec"]["replicas"] == 40  # type: ignore[index]


def test_an_autoscaler_that_scales_down_quickly_forbids_it() -> None:
    scaler = autoscaler("web", least=1, most=50, behavior={"scaleDown": {"stabilizationWindowSeconds": 0}})
    outcome = drain(SPOT, ROOM, *web(), ONE, scaler)
    [reason] = reasons(outcome)
    assert "scales down after 0 s" in reason


def test_d26_a_long_grace_is_counted_as_a_minute() -> None:
    objects = deployment("web", {"spot-a": 30, "od-1": 10}, grace=300, annotations=times(10, 20))
    outcome = drain(SPOT, ROOM, *objects, ONE)
    is_whole(outcome)
    assert max(outcome.signalled().values()) < 55


def test_d28_late_nothing_is_released() -> None:
    outcome = drain(SPOT, ROOM, *web(), ONE, begins=100)
    assert outcome.graceful == 30
    assert released(outcome) == []


def test_d29_pods_unready_elsewhere_for_good_do_not_stall_the_waves() -> None:
    objects = deployment("web", {"spot-a": 30}, annotations=times(10, 2))
    for index in range(10):
        unready = pod(f"web-5d4f8c7b9-u{index}", "od-1", objects[1]["spec"]["template"], owner=objects[1], ready=False)
        unready["metadata"]["annotations"][READY] = "false"
        objects.append(unready)
    objects[0]["spec"]["replicas"] = objects[1]["spec"]["replicas"] = 40
    outcome = drain(SPOT, ROOM, *objects, ONE)
    assert outcome.graceful == 30
    assert outcome.most_short("web") == 10
    assert left_released(outcome) == []


def test_d30_a_rollout_in_mid_drain_keeps_what_it_allows_itself() -> None:
    def roll(simulation: Simulation) -> None:
        change = {"spec": {"template": {"metadata": {"annotations": {"version": "2"}}}}}
        simulation.schedule(at(5), lambda: simulation.patch("Deployment", "default", "web", change))

    outcome = drain(SPOT, ROOM, *web(), ONE, prepare=roll)
    assert outcome.lost == []
    assert outcome.most_short("web") <= 10
    assert left_released(outcome) == []


def test_a_critical_deployment_is_replaced_first_and_leaves_after_the_others() -> None:
    dns = deployment("dns", {"spot-a": 1, "od-1": 1}, annotations=times(4, 2), priorityClassName=CRITICAL)
    slow = bare("slow", "spot-a", annotations=times(1, 8))
    outcome = drain(SPOT, ROOM, *dns, slow)
    assert released(outcome) == ["dns-5d4f8c7b9-00"]
    assert outcome.most_short("dns") == 0
    assert outcome.signalled() == pytest.approx({"slow": 0, "dns-5d4f8c7b9-00": 8}, abs=0.5)


def test_a_pod_that_wishes_to_finish_is_released_and_leaves_at_its_last_safe_moment() -> None:
    wish = {**times(10, 2), "karpenter.sh/do-not-disrupt": "true"}
    objects = deployment("web", {"spot-a": 1, "od-1": 1}, annotations=wish)
    outcome = drain(SPOT, ROOM, *objects, ONE)
    assert released(outcome) == ["web-5d4f8c7b9-00"]
    assert outcome.signalled() == pytest.approx({"web-5d4f8c7b9-00": 85}, abs=0.5)
    assert outcome.most_short("web") == 0


def test_min_ready_seconds_are_waited_for() -> None:
    objects = web({"spot-a": 2, "od-1": 2})
    objects[0]["spec"]["minReadySeconds"] = objects[1]["spec"]["minReadySeconds"] = 15
    outcome = drain(SPOT, ROOM, *objects, ONE)
    assert min(outcome.signalled().values()) == pytest.approx(25, abs=1.5)


def test_without_the_guard_nothing_is_released_and_it_says_so() -> None:
    def unguarded(simulation: Simulation) -> None:
        simulation.faults.guard_absent()

    outcome = drain(SPOT, ROOM, *web(), ONE, prepare=unguarded)
    assert released(outcome) == []
    [reason] = reasons(outcome)
    assert "evac rbac" in reason
    assert any("No pod is released" in p.message for p in outcome.record.problems)
    by_a_person = drain(SPOT, ROOM, *web(), ONE, prepare=unguarded, settings=Settings(needs_guard=False))
    assert len(released(by_a_person)) == 30


def test_a_deployment_that_is_deleted_leaves_no_released_pod_behind() -> None:
    def delete(simulation: Simulation) -> None:
        simulation.schedule(at(5), lambda: simulation.delete("Deployment", "default", "web"))

    outcome = drain(SPOT, ROOM, *web(), ONE, prepare=delete)
    assert left_released(outcome) == []
    assert max(outcome.signalled().values()) < 8


def test_under_two_budgets_a_released_pod_is_deleted_when_its_replacement_is_ready() -> None:
    budgets = [ONE, budget("two", {"app": "web"}, maxUnavailable=0)]
    outcome = drain(SPOT, ROOM, *web({"spot-a": 3, "od-1": 3}), *budgets)
    assert outcome.graceful == 3
    assert outcome.most_short("web") == 0
    assert outcome.ended < 30


def test_from_a_replacement_to_the_next_eviction_it_takes_moments() -> None:
    outcome = drain(SPOT, ROOM, *web({"spot-a": 1, "od-1": 1}), ONE)
    [when] = outcome.signalled().values()
    assert when - 10 < timedelta(milliseconds=300).total_seconds()


def test_workloads_that_may_not_be_read_are_said_and_their_pods_leave_by_their_budget() -> None:
    def forbid(simulation: Simulation) -> None:
        simulation.faults.forbidden("list", "deployments")

    outcome = drain(SPOT, ROOM, *web({"spot-a": 3, "od-1": 5}, 2), ONE, prepare=forbid)
    assert outcome.graceful == 3
    assert reasons(outcome) == {"not checked: deployments could not be read"}


def test_a_replica_set_without_a_deployment_is_said() -> None:
    _, sets, *pods = web({"spot-a": 2, "od-1": 2}, 2)
    del sets["metadata"]["ownerReferences"]
    outcome = drain(SPOT, ROOM, sets, *pods, ONE)
    assert outcome.graceful == 2
    assert reasons(outcome) == {"its ReplicaSet is no apps/v1 Deployment's"}
