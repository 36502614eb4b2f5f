"""Sweeps that keep silent, undo too much, or drain what nobody asked for. Seconds from the notice."""

from datetime import timedelta
from typing import Any

import pytest

from evac.memory import CollectingReporter, InlineBackground, MemoryDirectory
from evac.simulator import Killed, Simulation
from evac.simulator.faults import Fault
from lambdas.application.evacuation import evacuate
from lambdas.application.requests import Ports, Request
from lambdas.application.sweeping import Swept, sweep
from lambdas.contract import ANNOTATION_MARK, LABEL_DRAINING, LABEL_RELEASED
from lambdas.domain.values.actions import Mark
from lambdas.domain.values.answers import Conflict
from lambdas.domain.values.marks import Former, encode_mark
from lambdas.domain.values.notices import Instance
from lambdas.domain.values.releases import RELEASED, Released, encode_release
from tests.scenarios.stage import notice
from tests.scenarios.test_sweeper import Left
from tests.scenes import Json, at, bare, budget, deployment, instance_id, node, stateful_set, template, times


def swept(simulation: Simulation, directory: MemoryDirectory | None = None, cluster: Any = None) -> Swept:
    ports = Ports(
        simulation.clock, cluster or simulation.cluster(), InlineBackground(), CollectingReporter(), directory=directory
    )
    return sweep(ports, owner="s", until=simulation.clock.now() + timedelta(seconds=175))


# --- silence


def test_a_sweep_that_may_not_give_pods_back_is_no_whole_one() -> None:
    left = Left(killed_at=5, reclaimed=None)
    left.simulation.faults.forbidden("patch", "pods")
    found = left.sweep_at(230)
    assert left.released()
    assert found.has_failed


def test_a_sweep_that_may_not_give_the_node_back_is_no_whole_one() -> None:
    left = Left(killed_at=5, reclaimed=None)
    left.simulation.faults.forbidden("patch", "nodes")
    found = left.sweep_at(230)
    assert left.is_marked()
    assert found.has_failed


# --- marks that somebody wrote


def forged(name: str, names: str, reclaim: float) -> Json:
    """A node whose own kubelet (which may write its labels and annotations) names another's instance."""
    made = node(name)
    mark = Mark(instance_id(names), "spot-interruption", at(reclaim), at(-100), at(86400))
    made["metadata"]["labels"][LABEL_DRAINING] = "true"
    made["metadata"]["annotations"][ANNOTATION_MARK] = encode_mark(mark, Former())
    return made


@pytest.mark.parametrize("reclaim", [60, 86400 * 365 * 20])
def test_a_mark_drains_no_other_node_than_the_one_that_carries_it(reclaim: float) -> None:
    victim = bare("victim", "od-1", {"run": "v"}, annotations=times(1, 1))
    guard = budget("v", {"run": "v"}, maxUnavailable=0)
    simulation = Simulation([forged("spot-a", "od-1", reclaim), node("od-1"), victim, guard], at(-1))
    simulation.run_until(at(0))
    swept(simulation, MemoryDirectory([Instance(instance_id(n), state="running") for n in ("spot-a", "od-1")]))
    found = simulation.get("Node", "", "od-1")
    assert found
    assert not found["spec"].get("unschedulable")
    assert simulation.get("Pod", "default", "victim")


# --- labels that somebody wrote


@pytest.mark.parametrize("kind", ["stateful", "bare"])
def test_a_pod_that_has_an_owner_is_deleted_by_no_sweep(kind: str) -> None:
    """Somebody saved a released pod's manifest as a template, labels, annotations and all."""
    mark = Released("web-1", "gone", "web", "gone", "5d4f8c7b9", at(-600))
    pods = stateful_set("db", ["od-1"], annotations=times(1, 1)) if kind == "stateful" else [bare("db-0", "od-1")]
    pods[-1]["metadata"]["labels"][LABEL_RELEASED] = RELEASED
    pods[-1]["metadata"]["annotations"] |= {"spot-evac.dev/released-from": encode_release(mark)}
    simulation = Simulation([node("od-1"), *pods], at(-1))
    simulation.run_until(at(0))
    assert swept(simulation).pods_deleted == []


def test_one_pod_that_can_never_be_given_back_keeps_no_node_cordoned() -> None:
    left = Left(killed_at=5, reclaimed=None)
    [name, *_] = left.released()
    spoilt = {
        "metadata": {"labels": {"pod-template-hash": "by-hand"}, "annotations": {"spot-evac.dev/released-from": None}}
    }
    left.simulation.patch("Pod", "default", name, spoilt)
    for second in (230, 290, 350, 410):
        left.sweep_at(second)
    assert not left.is_cordoned()


def test_a_returned_pod_that_nobody_adopts_does_not_stay_for_ever() -> None:
    left = Left(killed_at=5, reclaimed=None)
    [name, *_] = left.released()
    left.simulation.patch("Pod", "default", name, {"metadata": {"labels": {"app": "quarantine"}}})
    for second in (230, 290, 350, 410):
        left.sweep_at(second)
    found = left.simulation.get("Pod", "default", name)
    assert found is None or LABEL_RELEASED not in found["metadata"]["labels"]


# --- two kinds of drain of one node


def test_a_spot_notice_of_a_node_that_a_person_drains_is_finished_by_the_sweep() -> None:
    web = deployment("web", {"spot-a": 20, "od-1": 20}, annotations=times(10, 2))
    simulation = Simulation(
        [node("spot-a"), node("od-1"), *web, budget("web", {"app": "web"}, maxUnavailable=1)], at(-1)
    )
    mark = Mark(instance_id("spot-a"), "maintenance", None, at(-300), at(86400))
    simulation.patch(
        "Node",
        "",
        "spot-a",
        {
            "metadata": {
                "labels": {LABEL_DRAINING: "true"},
                "annotations": {ANNOTATION_MARK: encode_mark(mark, Former())},
            },
            "spec": {"unschedulable": True},
        },
    )
    simulation.run_until(at(0))
    simulation.reclaim("spot-a", at(120))
    port = simulation.cluster()
    simulation.schedule(at(5), port.kill)
    with pytest.raises(Killed):
        evacuate([Request(notice())], Ports(simulation.clock, port, InlineBackground(), CollectingReporter()))
    simulation.run_until(at(60))
    swept(simulation, MemoryDirectory([Instance(instance_id("spot-a"), state="running")]))
    simulation.run_until(at(121))
    assert [s.pod.name for s in simulation.journal.on("spot-a") if s.killed_at] == []


# --- races


class Late:
    """A `Cluster` whose answers to one kind of action come so much later than they were true."""

    clock: Any = None

    def __init__(self, port: Any, kind: type, by: timedelta) -> None:
        self._port, self._kind, self._by = port, kind, by
        self.start, self.observe, self.wake, self.close = port.start, port.observe, port.wake, port.close
        self._kept: list[Any] = []

    def wait(self, until: Any) -> Any:
        answers = list(self._port.wait(min([until, *(at for at, _ in self._kept)])))
        self._kept += [(a.at + self._by, a) for a in answers if isinstance(a.action, self._kind)]
        ripe = [(at, a) for at, a in self._kept if at <= self._port_now()]
        self._kept = [k for k in self._kept if k not in ripe]
        return [a for a in answers if not isinstance(a.action, self._kind)] + [a for _, a in ripe]

    def _port_now(self) -> Any:
        return self.clock.now()


def test_a_drain_that_begins_while_a_sweep_undoes_an_older_one_keeps_its_node_and_its_releases() -> None:
    """The host was not taken; a second notice comes while the sweep reads workloads (it may take 12 s)."""
    left = Left(killed_at=5, reclaimed=None)
    simulation = left.simulation
    simulation.run_until(at(230))
    simulation.reclaim("spot-a", at(352))
    simulation.faults.add(Fault(Conflict("slow"), verb="get", resource="none"))
    from lambdas.domain.values.actions import ObserveWorkloads

    late = Late(simulation.cluster(), ObserveWorkloads, timedelta(seconds=10))
    late.clock = simulation.clock

    uncordoned: list[float] = []

    def watch() -> None:
        found = simulation.get("Node", "", "spot-a")
        if found and not found["spec"].get("unschedulable"):
            uncordoned.append((simulation.clock.now() - at(0)).total_seconds())

    for tenth in range(2320, 2600):
        simulation.schedule(at(tenth / 10), watch)

    def living() -> None:
        port = simulation.cluster()
        port.wait(at(231))
        evacuate(
            [Request(notice(seconds=231))],
            Ports(simulation.clock, port, InlineBackground(), CollectingReporter()),
            owner="alive",
        )

    def sweeping() -> None:
        ports = Ports(simulation.clock, late, InlineBackground(), CollectingReporter(), directory=left.directory)
        sweep(ports, owner="sweep", until=at(400))

    simulation.side_by_side(living, sweeping)
    assert uncordoned == []


def test_a_host_that_is_about_to_be_taken_waits_for_nothing_that_another_node_left() -> None:
    """One namespace of an old drain cannot be read: it costs the dying node none of its time."""
    left = Left(killed_at=5)
    simulation = left.simulation
    other = template({"app": "old"})
    simulation.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "slow"}})
    from lambdas.domain.values.actions import ObserveWorkloads

    late = Late(simulation.cluster(), ObserveWorkloads, timedelta(seconds=14))
    late.clock = simulation.clock
    simulation.run_until(at(60))
    ports = Ports(simulation.clock, late, InlineBackground(), CollectingReporter(), directory=left.directory)
    before = {s.pod.name for s in simulation.journal.on("spot-a") if s.signalled_at}
    sweep(ports, owner="sweep", until=at(235))
    first = min(
        (s.signalled_at for s in simulation.journal.on("spot-a") if s.signalled_at and s.pod.name not in before),
        default=None,
    )
    assert other
    assert first is not None
    assert first < at(65)
