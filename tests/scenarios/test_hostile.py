"""What nobody promised would not happen: absurd pods, locks never let go, nodes replaced, ports that lie."""

from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from evac.memory import CollectingReporter, InlineBackground, MemoryDirectory, MemoryLedger
from evac.simulator import SimulatedCluster, Simulation
from evac.simulator.faults import Fault
from lambdas.application.evacuation import evacuate
from lambdas.application.ports import Clock
from lambdas.application.requests import Fate, Ports, Request
from lambdas.domain.errors import PassingError
from lambdas.domain.values.actions import Action, Cordon
from lambdas.domain.values.answers import Absent, Refused
from lambdas.domain.values.drains import Departure, Ending
from lambdas.domain.values.journal import Entry, Happening
from lambdas.domain.values.locks import Held, Lock
from lambdas.domain.values.manifests import read_pod
from lambdas.domain.values.notices import Instance, Notice
from lambdas.domain.values.settings import BudgetMode, Settings
from tests.scenarios.stage import drain, notice
from tests.scenes import Json, at, bare, budget, deployment, instance_id, node, times

SPOT = node("spot-a")
ROOM = node("od-1")
QUICK = times(1, 2)


def cluster(*objects: Json, begins: float = 0) -> Simulation:
    simulation = Simulation(objects, at(-1))
    simulation.run_until(at(begins))
    simulation.reclaim("spot-a", at(120))
    return simulation


def evacuated(
    simulation: Simulation,
    *notices: Notice,
    ledger: MemoryLedger | None = None,
    reporter: CollectingReporter | None = None,
    until: datetime | None = None,
) -> list[Fate]:
    told = reporter or CollectingReporter()
    ports = Ports(simulation.clock, simulation.cluster(), InlineBackground(), told, ledger=ledger)
    requests = [Request(n, (f"m-{i}",)) for i, n in enumerate(notices or (notice(),))]
    return evacuate(requests, ports, owner="me", until=until)


# --- absurd pods


@pytest.mark.parametrize("grace", [0, 1, 3600, 10**11, 2**63 - 1])
def test_a_pod_of_any_grace_costs_no_neighbour_its_sigterm(grace: int) -> None:
    odd = bare("odd", "spot-a", grace=grace, annotations=QUICK)
    outcome = drain(SPOT, ROOM, odd, bare("plain", "spot-a", annotations=QUICK))
    assert set(outcome.signalled()) == {"odd", "plain"}
    assert outcome.record.ending is Ending.DRAINED


def test_a_pod_deleted_with_an_absurd_grace_can_still_be_read() -> None:
    raw = bare("p", "spot-a")
    raw["metadata"] |= {"deletionTimestamp": "33658-09-27T01:46:40Z", "deletionGracePeriodSeconds": 2**63 - 1}
    assert read_pod(raw).deletion


# --- several messages, one instance


def test_an_old_notice_beside_a_fresh_one_of_the_same_instance_does_not_make_it_stale() -> None:
    simulation = cluster(SPOT, bare("p", "spot-a", annotations=QUICK))
    fates = evacuated(simulation, notice("spot-a", -86_400), notice())
    assert {fate.record.ending for fate in fates} == {Ending.DRAINED}
    assert simulation.journal.on("spot-a")[0].was_graceful


def test_of_two_fresh_notices_the_earlier_deadline_wins() -> None:
    simulation = cluster(SPOT, bare("p", "spot-a", annotations=QUICK))
    hibernating = replace(notice(), reclaim_at=at(0))
    fates = evacuated(simulation, notice(), hibernating)
    assert {fate.record.notice.reclaim_at for fate in fates} == {at(0)}
    assert all(fate.record.ending is Ending.DRAINED and fate.is_settled for fate in fates)


# --- locks


class Ghost(MemoryLedger):
    """Its lock is held by somebody who died, or whose clock is far ahead; `error` takes it away after that."""

    def __init__(self, until: datetime, away_from: datetime | None = None) -> None:
        super().__init__()
        self._held = Held("a ghost", until)
        self._away_from = away_from

    def acquire(self, notice: Notice, owner: str, now: datetime, until: datetime) -> Lock:
        if self._away_from is not None and now >= self._away_from:
            raise PassingError("DynamoDB is away.")
        return self._held if self._held.until > now else super().acquire(notice, owner, now, until)


@pytest.mark.parametrize(
    "ledger", [Ghost(at(12), away_from=at(1)), Ghost(at(7200))], ids=["the ledger goes away", "a clock is ahead"]
)
def test_a_lock_that_nobody_renews_keeps_nobody_for_longer_than_its_life(ledger: MemoryLedger) -> None:
    simulation = cluster(SPOT, bare("p", "spot-a", annotations=QUICK))
    [fate] = evacuated(simulation, ledger=ledger, until=at(170))
    [story] = simulation.journal.on("spot-a")
    assert story.was_graceful
    assert story.signalled_at
    assert story.signalled_at < at(20)
    assert fate.record.ending is Ending.DRAINED


# --- records that tell the truth


def test_what_is_given_back_is_not_announced_as_lost() -> None:
    web = deployment("web", {"spot-a": 3, "od-1": 1}, annotations=times(10, 2))
    simulation = cluster(SPOT, ROOM, *web, budget("web", {"app": "web"}, maxUnavailable=0))
    [fate] = evacuated(simulation, until=at(10))
    assert fate.record.ending is Ending.FAILED
    assert not fate.is_settled
    assert {fate.departure for fate in fate.record.pods} == {Departure.STAYED}
    assert "PodsLost" not in {event["reason"] for event in simulation.list("Event")}


def test_a_node_that_is_gone_before_the_cordon_is_not_said_to_be_cordoned() -> None:
    simulation = cluster(SPOT, ROOM)
    simulation.faults.add(Fault(Absent(), verb="patch", resource="nodes"))
    simulation.schedule(at(0.005), lambda: simulation.delete("Node", "", "spot-a"))
    reporter = CollectingReporter()
    [fate] = evacuated(simulation, reporter=reporter)
    assert fate.record.cordoned_at is None
    assert reporter.of(Happening.CORDONED) == []
    assert fate.record.ended_at
    assert fate.record.ended_at < at(1)


def test_the_problem_that_ended_a_drain_is_kept_whatever_came_before() -> None:
    simulation = cluster(SPOT, bare("p", "spot-a", {"run": "p"}), budget("b", {"run": "p"}, maxUnavailable=0))
    for i in range(30):
        simulation.faults.add(Fault(Refused(f"webhook {i}"), verb="patch", resource="nodes", times=1))
    [fate] = evacuated(simulation, until=at(60))
    assert "time is up" in fate.record.problems[-1].message


# --- loops


class Counted:
    """A clock that is read once a turn of the loop."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.reads = 0

    def now(self) -> datetime:
        self.reads += 1
        return self._clock.now()


@pytest.mark.parametrize("every", [0, 1, 2])
def test_the_loop_never_spins(every: int) -> None:
    pods = [bare(f"p{i}", "spot-a", {"run": "p"}, annotations=QUICK) for i in range(40)]
    simulation = cluster(SPOT, *pods, budget("b", {"run": "p"}, maxUnavailable=0))
    if every:
        simulation.faults.throttled(every=every, retry_after=timedelta())
    clock = Counted(simulation.clock)
    ports = Ports(clock, simulation.cluster(), InlineBackground(), CollectingReporter(), ledger=MemoryLedger())
    evacuate([Request(notice())], ports, until=at(170))
    assert clock.reads < 50 * len(pods)


# --- settings that are kept


def test_switched_off_not_even_an_eviction_without_answer_is_followed_by_a_delete_against_its_budget() -> None:
    web = deployment("web", {"spot-a": 1}, surge=0, annotations=QUICK)

    def silence(simulation: Simulation) -> None:
        simulation.faults.timed_out(timedelta(seconds=30), 1, "create", "pods/eviction", is_served=False)

        def shut() -> None:
            simulation.patch("PodDisruptionBudget", "default", "web", {"spec": {"maxUnavailable": 0}})

        simulation.schedule(at(86), shut)

    outcome = drain(
        SPOT,
        ROOM,
        *web,
        budget("web", {"app": "web"}, maxUnavailable=1),
        begins=84.5,
        prepare=silence,
        settings=Settings(budgets=BudgetMode.NEVER),
    )
    assert outcome.departures(Departure.LOST) == ["web-5d4f8c7b9-00"]
    assert outcome.signalled() == {}


# --- nodes that are replaced


def test_another_instance_that_takes_the_node_s_name_is_left_alone() -> None:
    def replaced(simulation: Simulation) -> None:
        def swap() -> None:
            simulation.delete("Node", "", "spot-a")
            simulation.apply(node("spot-a", providerID=f"aws:///eu-west-1b/{instance_id('other')}"))
            simulation.apply(bare("young", "spot-a", annotations=QUICK))

        simulation.schedule(at(10), swap)

    blocked = bare("old", "spot-a", {"run": "old"}, annotations=QUICK)
    simulation = Simulation([SPOT, ROOM, blocked, budget("b", {"run": "old"}, maxUnavailable=0)], at(-1))
    simulation.run_until(at(0))
    replaced(simulation)
    evacuated(simulation, until=at(150))
    found = simulation.get("Node", "", "spot-a")
    assert found
    assert not found["spec"].get("unschedulable")
    assert all(s.signalled_at is None for s in simulation.journal.named("default", "young"))


# --- ports that break their word


class Grumpy(CollectingReporter):
    """Raises at everything that it is told of one node."""

    def tell(self, entry: Entry) -> None:
        if entry.node_name == "spot-a":
            raise RuntimeError("no paper")
        super().tell(entry)


def test_a_reporter_that_raises_costs_no_drain() -> None:
    simulation = cluster(
        SPOT, node("spot-b"), bare("a", "spot-a", annotations=QUICK), bare("b", "spot-b", annotations=QUICK)
    )
    fates = evacuated(simulation, notice("spot-a"), notice("spot-b"), reporter=Grumpy())
    assert [s.was_graceful for n in ("spot-a", "spot-b") for s in simulation.journal.on(n)] == [True, True]
    assert all(f.is_settled for f in fates)


class Broken:
    """A `Cluster` on another that raises where it must not, at the cordon of one node."""

    def __init__(self, cluster: SimulatedCluster) -> None:
        self._cluster = cluster
        self.wait, self.observe, self.wake, self.close = cluster.wait, cluster.observe, cluster.wake, cluster.close

    def start(self, action: Action) -> None:
        if isinstance(action, Cordon) and action.node_name == "spot-a":
            raise RuntimeError("no thread")
        self._cluster.start(action)


def test_a_fault_of_ours_in_one_drain_gives_that_one_back_and_the_others_go_on() -> None:
    pods = [bare(name, f"spot-{name}", annotations=QUICK) for name in "ab"]
    simulation = cluster(SPOT, node("spot-b"), *pods)
    ports = Ports(simulation.clock, Broken(simulation.cluster()), InlineBackground(), CollectingReporter())
    first, second = evacuate([Request(notice("spot-a")), Request(notice("spot-b"))], ports)
    assert (first.record.ending, first.is_settled) == (Ending.FAILED, False)
    assert "no thread" in first.record.problems[-1].message
    assert (second.record.ending, second.is_settled) == (Ending.DRAINED, True)


# --- answers that lie


def test_a_404_for_a_pod_that_is_still_there_is_not_believed_at_its_last_safe_moment() -> None:
    def lie(simulation: Simulation) -> None:
        simulation.faults.add(Fault(Absent(), verb="create", resource="pods/eviction", times=1))

    outcome = drain(SPOT, bare("p", "spot-a", annotations=QUICK), prepare=lie)
    assert outcome.graceful == 1
    assert outcome.signalled()["p"] < 86


def test_where_deletes_are_refused_a_shut_budget_is_asked_all_the_same() -> None:
    def open_unseen(simulation: Simulation) -> None:
        simulation.faults.forbidden("delete", "pods")
        simulation.faults.watches_late(timedelta(seconds=60), resource="poddisruptionbudgets")

        def opened() -> None:
            simulation.patch("PodDisruptionBudget", "default", "b", {"spec": {"maxUnavailable": 1}})

        simulation.schedule(at(80), opened)

    web = deployment("web", {"spot-a": 1, "od-1": 2}, annotations=QUICK)
    outcome = drain(SPOT, ROOM, *web, budget("b", {"app": "web"}, maxUnavailable=0), prepare=open_unseen)
    assert outcome.graceful == 1


def test_a_node_that_joins_after_its_notice_is_drained_all_the_same() -> None:
    simulation = Simulation([node("od-1")], at(0))
    directory = MemoryDirectory([Instance(instance_id("spot-a"), "running", "spot-a", frozenset({"blue"}))])

    def join() -> None:
        simulation.apply(node("spot-a"))
        simulation.apply(bare("early", "spot-a", annotations=times(1, 1)))

    simulation.schedule(at(12), join)
    ports = Ports(simulation.clock, simulation.cluster(), InlineBackground(), CollectingReporter(), directory=directory)
    [fate] = evacuate([Request(notice())], ports, Settings(cluster_name="blue"))
    assert fate.record.ending is Ending.DRAINED
    assert [f.pod.name for f in fate.record.pods] == ["early"]
