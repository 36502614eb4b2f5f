"""Counts that are wrong, so that pods leave unreplaced, or stay for ever. Seconds from the notice."""

from datetime import timedelta
from typing import Any

import pytest

from evac.memory import CollectingReporter, InlineBackground
from evac.simulator import Key, Simulation, SimulatorOptions
from evac.simulator.faults import Fault
from lambdas.application.evacuation import evacuate
from lambdas.application.requests import Ports, Request
from lambdas.contract import ANNOTATION_MARK, ANNOTATION_RELEASED_FROM, LABEL_RELEASED
from lambdas.domain.decisions.surplus import count_ready
from lambdas.domain.decisions.surroundings import Workload
from lambdas.domain.values.drains import Departure
from lambdas.domain.values.kubernetes import Pod, PodRef
from lambdas.domain.values.marks import decode_mark
from lambdas.domain.values.notices import NO_DEADLINE, Notice, Reason
from lambdas.domain.values.releases import RELEASED, WRITTEN_ON_RELEASE, Released, encode_release
from lambdas.domain.values.settings import ReleaseMode, Settings
from lambdas.domain.values.workloads import Deployment
from tests.scenarios.stage import drain, notice
from tests.scenarios.test_stalls import marked, with_released_on
from tests.scenes import Json, at, autoscaler, bare, budget, deployment, instance_id, node, times

SPOT = node("spot-a")
ROOM = node("od-1")
ONE = budget("web", {"app": "web"}, maxUnavailable=1)


def pretender(i: int, app: str = "pretender") -> Json:
    """A pod that says it was released from Deployment web; no Service of web's selects it."""
    made = bare(f"pretender-{i}", "od-1", {"app": app, "pod-template-hash": "released-5d4f8c7b9", LABEL_RELEASED: RELEASED})
    mark = Released("web-5d4f8c7b9", "ReplicaSet-web-5d4f8c7b9", "web", "Deployment-web", "5d4f8c7b9", at(-600))
    made["metadata"]["annotations"] |= {ANNOTATION_RELEASED_FROM: encode_release(mark)}
    return made


def test_a_pod_that_says_it_was_released_and_serves_nothing_lets_no_other_go() -> None:
    """Whoever may create pods in the namespace; or an operator who took released pods out of the Service."""
    web = deployment("web", {"spot-a": 6, "od-1": 2}, annotations=times(10, 2))
    outcome = drain(SPOT, ROOM, *web, *[pretender(i) for i in range(6)])
    assert outcome.most_short("web", until=119) == 0


def test_a_ready_pod_counts_whatever_its_hosts_clock_says() -> None:
    """minReadySeconds 0: the Deployment controller does not look at the time either."""
    d = Deployment("default", "web", "u")
    ahead = Pod(PodRef("default", "p", "p"), "n", ready=True, phase="Running", ready_at=at(25))
    assert count_ready(Workload(d, (), (ahead,)), (), (), at(0)).ready == 1


@pytest.mark.parametrize("ready", [True, False])
def test_a_released_pod_that_is_unready_leaves_when_its_deployment_is_scaled_to_nothing(ready: bool) -> None:
    web = deployment("web", {"spot-a": 3, "od-1": 1}, annotations=times(10, 2))
    simulation = Simulation([SPOT, node("od-1", pods=1), *web, budget("web", {"app": "web"}, minAvailable=1)], at(-1))
    simulation.run_until(at(0))

    def unready() -> None:
        for p in simulation.list("Pod"):
            if LABEL_RELEASED in p["metadata"]["labels"] and not ready:
                conditions = [{**c, "status": "False"} if c["type"] == "Ready" else c for c in p["status"]["conditions"]]
                simulation.patch("Pod", "default", p["metadata"]["name"], {"status": {"conditions": conditions}})
        simulation.patch("Deployment", "default", "web", {"spec": {"replicas": 0}})

    simulation.schedule(at(20), unready)
    ports = Ports(simulation.clock, simulation.cluster(), InlineBackground(), CollectingReporter())
    request = Request(Notice(instance_id("spot-a"), Reason.MAINTENANCE, at(0), NO_DEADLINE), node_name="spot-a")
    [fate] = evacuate([request], ports, Settings(needs_guard=False), until=at(600))
    assert [f.pod.name for f in fate.record.pods if f.departure is Departure.STAYED] == []


@pytest.mark.parametrize("order", [("spot-a", "dead"), ("dead", "spot-a")])
@pytest.mark.parametrize("scaler", [False, True])
@pytest.mark.parametrize("surge", [1, "25%"])
def test_a_dead_node_of_the_same_moment_holds_up_no_other(order: tuple[str, str], scaler: bool, surge: Any) -> None:
    web = deployment("web", {order[0]: 4, order[1]: 4, "od-1": 2}, surge=surge, annotations=times(5, 2))
    more = [autoscaler("web", least=1, most=100)] if scaler else []
    outcome = drain(SPOT, ROOM, marked("dead"), *web, budget("web", {"app": "web"}, maxUnavailable=2), *more)
    assert outcome.most_short("web", until=119) == 0


@pytest.mark.parametrize(
    ("how", "scaler"),
    [(Settings(), True), (Settings(release=ReleaseMode.WITHIN), False), (Settings(), False)],
    ids=["with an autoscaler", "within", "enough"],
)
def test_what_a_broken_off_drain_left_released_takes_no_replacement_from_another(how: Settings, scaler: bool) -> None:
    web = with_released_on("old", 20, 10, 10)
    more = [autoscaler("web", least=1, most=100)] if scaler else []
    outcome = drain(SPOT, ROOM, marked("old", "maintenance", None, -600), *web, ONE, *more, settings=how)
    assert outcome.graceful == 20
    assert outcome.most_short("web", until=119) == 0


def test_a_broken_off_drain_on_a_node_that_was_given_back_holds_up_nobody() -> None:
    """Its mark was taken off by hand; its released pods are there, and their node carries nothing."""
    web = with_released_on("old", 20, 10, 10)
    outcome = drain(SPOT, ROOM, node("old"), *web, ONE, autoscaler("web", least=1, most=100))
    assert outcome.graceful == 20
    assert outcome.most_short("web", until=119) == 0


def test_a_release_that_was_done_though_nobody_said_so_is_followed_by_no_second() -> None:
    def silent(simulation: Simulation) -> None:
        simulation.faults.timed_out(timedelta(seconds=3), 50, "patch", "pods", is_served=True)
        simulation.faults.watches_late(timedelta(seconds=6), resource="pods")

    web = deployment("web", {"spot-a": 8, "od-1": 8}, surge=1, annotations=times(5, 2))
    outcome = drain(SPOT, ROOM, *web, ONE, prepare=silent)
    assert outcome.graceful == 8
    assert outcome.most_short("web", until=119) <= 1


def orphaned(when: float) -> Any:
    """`kubectl delete deployment --cascade=orphan`, and the Deployment made anew a moment later, as chart tools do."""

    def prepare(simulation: Simulation) -> None:
        def replace() -> None:
            owner = simulation.get("Deployment", "default", "web")
            sets = simulation.get("ReplicaSet", "default", "web-5d4f8c7b9")
            assert owner and sets
            simulation.patch("ReplicaSet", "default", "web-5d4f8c7b9", {"metadata": {"ownerReferences": None}})
            simulation.delete("Deployment", "default", "web")
            owner["metadata"]["uid"] = "Deployment-web-2"
            simulation.apply(owner)
            made = simulation.get("Deployment", "default", "web")
            assert made
            reference = sets["metadata"]["ownerReferences"][0] | {"uid": made["metadata"]["uid"]}
            simulation.patch("ReplicaSet", "default", "web-5d4f8c7b9", {"metadata": {"ownerReferences": [reference]}})

        simulation.schedule(at(when), replace)

    return prepare


def test_a_deployment_that_is_made_anew_in_mid_drain_keeps_its_replicas() -> None:
    web = deployment("web", {"spot-a": 8, "od-1": 2}, annotations=times(10, 2))
    fewest = [10]

    def prepare(simulation: Simulation) -> None:
        def look() -> None:
            fewest.append(sum(1 for p in simulation.list("Pod") if serves(p)))

        orphaned(5)(simulation)
        for second in range(84):
            simulation.schedule(at(second + 0.5), look)

    outcome = drain(SPOT, ROOM, *web, prepare=prepare)
    assert outcome.graceful == 8
    assert min(fewest) == 10


def serves(pod: Json) -> bool:
    conditions = pod["status"].get("conditions", [])
    ready = any(c["type"] == "Ready" and c["status"] == "True" for c in conditions)
    return ready and not pod["metadata"].get("deletionTimestamp")


@pytest.mark.parametrize("reclaim", [-3600, -61])
def test_a_mark_that_an_earlier_notice_left_on_the_node_itself_stalls_no_second(reclaim: float) -> None:
    """EC2 did not take the host, or stopped and started it; the sweep has not come by yet."""
    web = deployment("web", {"spot-a": 8, "od-1": 8}, annotations=times(10, 2))
    outcome = drain(marked("spot-a", reclaim=reclaim, since=reclaim - 120), ROOM, *web, ONE)
    assert outcome.graceful == 8
    assert outcome.most_short("web", until=119) == 0
    assert outcome.ended < 60


@pytest.mark.parametrize("reason", ["maintenance", "spot-interruption"])
def test_a_notice_writes_its_own_reclaim_over_the_mark_of_an_earlier_drain(reason: str) -> None:
    """Others (the sweep, drains of other nodes) go by the mark."""
    early = marked("spot-a", reason, None if reason == "maintenance" else -300, -600)
    outcome = drain(early, ROOM, bare("p", "spot-a"))
    found = outcome.simulation.get("Node", "", "spot-a")
    assert found
    mark = decode_mark(found["metadata"]["annotations"][ANNOTATION_MARK])
    assert mark
    assert mark[0].reclaim_at == at(120)


@pytest.mark.parametrize("rule", [{"minAvailable": 1}, {"maxUnavailable": 1}, {"minAvailable": "50%"}])
@pytest.mark.parametrize("end", ["scaled to 0", "deleted"])
def test_nobody_wants_a_released_pod_whatever_its_budget_says(rule: dict[str, Any], end: str) -> None:
    web = deployment("web", {"spot-a": 3, "od-1": 1}, annotations=times(10, 2))
    simulation = Simulation([SPOT, node("od-1", pods=1), *web, budget("web", {"app": "web"}, **rule)], at(-1))
    simulation.run_until(at(0))

    def over() -> None:
        if end == "deleted":
            simulation.delete("Deployment", "default", "web")
        else:
            simulation.patch("Deployment", "default", "web", {"spec": {"replicas": 0}})

    simulation.schedule(at(20), over)
    ports = Ports(simulation.clock, simulation.cluster(), InlineBackground(), CollectingReporter())
    request = Request(Notice(instance_id("spot-a"), Reason.MAINTENANCE, at(0), NO_DEADLINE), node_name="spot-a")
    [fate] = evacuate([request], ports, Settings(needs_guard=False), until=at(600))
    assert [f.pod.name for f in fate.record.pods if f.departure is Departure.STAYED] == []


@pytest.mark.parametrize("every", [1, 3, 10])
def test_pods_that_flap_do_not_make_the_loop_spin_nor_leave_unreplaced(every: int) -> None:
    web = deployment("web", {"spot-a": 8, "od-1": 8}, annotations=times(5, 2))
    reads = 0

    def flapping(simulation: Simulation) -> None:
        def flap(state: str) -> None:
            for p in simulation.list("Pod")[:4]:
                conditions = [{**c, "status": state} if c["type"] == "Ready" else c for c in p["status"]["conditions"]]
                simulation.patch("Pod", "default", p["metadata"]["name"], {"status": {"conditions": conditions}})

        for second in range(0, 80, every):
            simulation.schedule(at(second), lambda: flap("False"))
            simulation.schedule(at(second + every / 2), lambda: flap("True"))

    outcome = drain(SPOT, ROOM, *web, ONE, prepare=flapping)
    assert outcome.graceful == 8
    assert reads == 0


def test_a_replacement_that_never_gets_ready_costs_no_more_than_a_budget_would_let_go() -> None:
    """The image is gone from the registry: what is released is never replaced; the rest must not all leave at 85."""
    web = deployment("web", {"spot-a": 8, "od-1": 8}, annotations=times(5, 2))

    def broken(simulation: Simulation) -> None:
        for kind, name in (("ReplicaSet", "web-5d4f8c7b9"),):
            simulation.patch(kind, "default", name, {"spec": {"template": {"metadata": {"annotations": times(5, 2, ready=False)}}}})

    outcome = drain(SPOT, ROOM, *web, ONE, prepare=broken)
    assert outcome.graceful == 8
    assert outcome.most_short("web", until=84) <= 1


class Counted:
    def __init__(self, clock: Any) -> None:
        self._clock, self.reads = clock, 0

    def now(self) -> Any:
        self.reads += 1
        return self._clock.now()


@pytest.mark.parametrize("kind", ["dead", "no room", "unready elsewhere", "slow", "min ready"])
def test_the_loop_does_not_spin(kind: str) -> None:
    web = deployment("web", {"spot-a": 10, "dead": 10, "od-1": 20}, surge=2, annotations=times(61 if kind == "slow" else 7, 2))
    if kind == "min ready":
        web[0]["spec"]["minReadySeconds"] = 33
    nodes = [SPOT, node("od-1", pods=20 if kind == "no room" else 110), marked("dead") if kind == "dead" else node("dead")]
    simulation = Simulation([*nodes, *web, ONE], at(-1))
    simulation.run_until(at(0))
    simulation.reclaim("spot-a", at(120))
    clock = Counted(simulation.clock)
    ports = Ports(clock, simulation.cluster(), InlineBackground(), CollectingReporter())
    evacuate([Request(notice())], ports)
    print(kind, clock.reads)
    assert clock.reads < 2000
    assert Key and Fault and SimulatorOptions and WRITTEN_ON_RELEASE
