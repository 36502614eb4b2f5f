"""What a dead drain leaves behind, and what the sweep of the next minutes makes of it. Seconds from the notice."""

import pytest

from evac.memory import CollectingReporter, InlineBackground, MemoryDirectory, MemoryLedger
from evac.simulator import Killed, Simulation
from lambdas.application.evacuation import evacuate
from lambdas.application.requests import Ports, Request
from lambdas.application.sweeping import Swept, sweep
from lambdas.contract import ANNOTATION_RELEASED_FROM, LABEL_DRAINING, LABEL_RELEASED
from lambdas.domain.errors import PassingError
from lambdas.domain.values.drains import Ending
from lambdas.domain.values.notices import Instance
from lambdas.domain.values.releases import DELETION_COST
from tests.scenarios.stage import notice
from tests.scenes import Json, at, budget, deployment, instance_id, node, times

ONE = budget("web", {"app": "web"}, maxUnavailable=1)
SPOT_ID = instance_id("spot-a")


class Left:
    """A cluster in which the process that drained died at `killed_at`; the host is taken at `reclaimed`, or never."""

    def __init__(self, killed_at: float = 5, reclaimed: float | None = 120) -> None:
        web = deployment("web", {"spot-a": 30, "od-1": 10}, annotations=times(10, 2))
        self.simulation = Simulation([node("spot-a"), node("od-1"), *web, ONE], at(-1))
        self.simulation.run_until(at(0))
        if reclaimed is not None:
            self.simulation.reclaim("spot-a", at(reclaimed))
        self.ledger = MemoryLedger()
        self.directory = MemoryDirectory([Instance(SPOT_ID, state="running")])
        port = self.simulation.cluster()
        self.simulation.schedule(at(killed_at), port.kill)
        ports = Ports(self.simulation.clock, port, InlineBackground(), CollectingReporter(), ledger=self.ledger)
        with pytest.raises(Killed):
            evacuate([Request(notice())], ports, owner="dead")

    def sweep_at(self, second: float, *, with_ec2: bool = True) -> Swept:
        self.simulation.run_until(at(second))
        ports = Ports(
            self.simulation.clock,
            self.simulation.cluster(),
            InlineBackground(),
            CollectingReporter(),
            directory=self.directory if with_ec2 else None,
            ledger=self.ledger,
        )
        return sweep(ports, owner=f"sweep-{second}", until=at(second + 175))

    def pods(self) -> list[Json]:
        return self.simulation.list("Pod")

    def released(self) -> list[str]:
        return [p["metadata"]["name"] for p in self.simulation.list("Pod") if _label(p) == "true"]

    def is_marked(self) -> bool:
        found = self.simulation.get("Node", "", "spot-a")
        return found is not None and LABEL_DRAINING in found["metadata"].get("labels", {})

    def is_cordoned(self) -> bool:
        found = self.simulation.get("Node", "", "spot-a")
        return found is not None and bool(found["spec"].get("unschedulable"))


def _label(pod: Json) -> str | None:
    found: str | None = (pod["metadata"].get("labels") or {}).get(LABEL_RELEASED)
    return found


def test_d23_while_the_host_is_doomed_the_drain_is_taken_over_and_every_pod_leaves() -> None:
    left = Left(killed_at=5)
    swept = left.sweep_at(60)
    [record] = swept.drained
    assert record.ending is Ending.DRAINED
    left.simulation.run_until(at(121))
    assert all(story.was_graceful for story in left.simulation.journal.on("spot-a"))
    assert left.released() == []


def test_d23_on_a_node_that_lives_on_everything_is_given_back() -> None:
    left = Left(killed_at=5, reclaimed=None)
    assert left.sweep_at(170).things_done == 0  # the host may take its time to go
    swept = left.sweep_at(230)
    assert len(swept.pods_taken_back) == 10
    assert swept.given_back == ["spot-a"]
    left.simulation.run_until(at(260))
    assert left.released() == []
    assert not left.is_marked()
    assert not left.is_cordoned()
    assert len(left.pods()) == 40


def test_the_old_pods_go_where_there_are_replacements_and_the_rest_is_tidied_by_the_next_sweep() -> None:
    left = Left(killed_at=5, reclaimed=None)
    left.sweep_at(230)
    swept = left.sweep_at(290)
    left.simulation.run_until(at(300))
    for pod in left.simulation.list("Pod"):
        assert _label(pod) is None
        assert ANNOTATION_RELEASED_FROM not in pod["metadata"].get("annotations", {})
        assert DELETION_COST not in pod["metadata"].get("annotations", {})
    assert left.sweep_at(350).things_done == 0
    assert swept.is_whole


def test_a_drain_that_is_worked_on_is_left_alone() -> None:
    left = Left(killed_at=5)
    left.ledger.acquire(notice(), "alive", at(50), at(65))
    assert left.sweep_at(60).things_done == 0


def test_a_drain_that_has_just_begun_is_left_to_its_own_message() -> None:
    assert Left(killed_at=5).sweep_at(25).things_done == 0


def test_a_ledger_that_is_away_keeps_no_drain_from_being_finished() -> None:
    left = Left(killed_at=5)
    left.ledger.error = PassingError("DynamoDB is away.")
    swept = left.sweep_at(60)
    assert [record.ending for record in swept.drained] == [Ending.DRAINED]
    assert swept.problems


def test_without_ec2s_word_a_mark_is_left_until_it_expires() -> None:
    left = Left(killed_at=5, reclaimed=None)
    assert left.sweep_at(300, with_ec2=False).things_done == 0
    assert left.sweep_at(120 + 15 * 60 + 5, with_ec2=False).given_back == ["spot-a"]


@pytest.mark.parametrize("state", ["shutting-down", "terminated", "stopped"])
def test_a_host_that_is_gone_is_nobody_to_give_a_node_back_to(state: str) -> None:
    left = Left(killed_at=5, reclaimed=None)
    left.directory.put(Instance(SPOT_ID, state=state))
    assert left.sweep_at(230).things_done == 0


def test_a_released_pod_whose_deployment_is_no_more_is_deleted() -> None:
    left = Left(killed_at=5, reclaimed=None)
    left.simulation.delete("Deployment", "default", "web")
    swept = left.sweep_at(230)
    assert len(swept.pods_deleted) == 10
    left.simulation.run_until(at(270))
    assert left.pods() == []


def test_a_released_pod_of_an_old_version_is_given_back_and_goes() -> None:
    left = Left(killed_at=5, reclaimed=None)
    change = {"spec": {"template": {"metadata": {"annotations": {"version": "2"}}}}}
    left.simulation.patch("Deployment", "default", "web", change)
    left.sweep_at(230)
    left.simulation.run_until(at(300))
    pods = left.simulation.list("Pod")
    assert len(pods) == 40
    assert all(p["metadata"]["annotations"].get("version") == "2" for p in pods)


def test_released_pods_on_a_node_that_somebody_uncordoned_by_hand_are_given_back() -> None:
    left = Left(killed_at=5, reclaimed=None)
    patch = {"metadata": {"labels": {LABEL_DRAINING: None}}, "spec": {"unschedulable": None, "taints": None}}
    left.simulation.patch("Node", "", "spot-a", patch)
    assert len(left.sweep_at(60).pods_taken_back) == 10


def test_nothing_to_sweep_costs_two_requests() -> None:
    simulation = Simulation([node("od-1")], at(0))
    port = simulation.cluster()
    swept = sweep(Ports(simulation.clock, port, InlineBackground(), CollectingReporter()), owner="s", until=at(60))
    assert (swept.things_done, swept.is_whole) == (0, True)
    assert len(port.requests_sent) == 2


def test_an_api_server_that_does_not_answer_makes_it_no_whole_sweep() -> None:
    simulation = Simulation([node("od-1")], at(0))
    simulation.faults.failing(every=1)
    ports = Ports(simulation.clock, simulation.cluster(), InlineBackground(), CollectingReporter())
    swept = sweep(ports, owner="s", until=at(60))
    assert not swept.is_whole
    assert swept.problems


def test_a_released_pod_whose_annotation_was_spoilt_is_given_back_by_its_label() -> None:
    left = Left(killed_at=5, reclaimed=None)
    [name, *_] = left.released()
    spoilt = {"metadata": {"annotations": {ANNOTATION_RELEASED_FROM: "{"}}}
    left.simulation.patch("Pod", "default", name, spoilt)
    assert f"default/{name}" in left.sweep_at(230).pods_taken_back
    assert left.released() == []
