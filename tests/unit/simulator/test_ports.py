"""Several clients, clients that die, and what history and journal make of a drain."""

from datetime import datetime, timedelta

import pytest

from evac.simulator import Key, Killed, Simulation
from lambdas.domain.values.actions import Evict, Observe
from lambdas.domain.values.answers import Blocked, Done
from lambdas.domain.values.kubernetes import BudgetRef
from tests.scenes import at, bare, budget, deployment, node, stateful_set, times
from tests.unit.simulator.stage import GRACE, ask, observing, pods, ref, seconds, simulate

SPOT, ROOM = node("spot-a"), node("od-1")
WEB = Key("Deployment", "default", "web")


def test_handlers_side_by_side_share_the_clock_and_each_hears_its_own_answers() -> None:
    simulation = simulate(SPOT, ROOM, bare("a", "spot-a"), bare("b", "od-1"))
    log: list[tuple[str, float]] = []

    def handler(name: str, node_name: str, pauses: list[float]) -> str:
        port = simulation.cluster()
        ask(simulation, Observe(node_name), port)
        for pause in pauses:
            until = simulation.clock.now() + timedelta(seconds=pause)
            while simulation.clock.now() < until:
                port.wait(until)
            log.append((name, round(seconds(simulation), 3)))
        return f"{name} saw {[p.ref.name for p in port.observe().nodes[node_name].pods]}"

    results = simulation.side_by_side(
        lambda: handler("first", "spot-a", [1, 4]), lambda: handler("second", "od-1", [2, 2])
    )
    assert results == ["first saw ['a']", "second saw ['b']"]
    assert log == [("first", 1.008), ("second", 2.008), ("second", 4.008), ("first", 5.008)]


def test_one_handler_dies_and_the_other_goes_on() -> None:
    simulation = simulate(SPOT)
    ports = [simulation.cluster(), simulation.cluster()]

    def handler(index: int) -> datetime:
        while simulation.clock.now() < at(10):
            ports[index].wait(at(10))
        return simulation.clock.now()

    simulation.schedule(at(3), ports[0].kill)
    assert simulation.side_by_side(lambda: handler(0), lambda: handler(1)) == [None, at(10)]


def test_what_one_handler_raises_comes_out_when_all_have_ended() -> None:
    simulation = simulate(SPOT)
    ended: list[datetime] = []

    def fails() -> None:
        simulation.cluster().wait(at(1))
        raise RuntimeError("boom")

    def ends() -> None:
        simulation.cluster().wait(at(5))
        ended.append(simulation.clock.now())

    with pytest.raises(RuntimeError, match="boom"):
        simulation.side_by_side(fails, ends)
    assert ended == [at(5)]


def test_what_happens_to_all_of_them_ends_all_of_them() -> None:
    simulation = simulate(SPOT)

    def blow_up() -> None:
        raise KeyboardInterrupt

    simulation.schedule(at(1), blow_up)
    with pytest.raises(KeyboardInterrupt):
        simulation.side_by_side(lambda: simulation.cluster().wait(at(5)), lambda: simulation.cluster().wait(at(5)))


def test_a_killed_client_never_returns_from_its_wait_and_what_it_sent_is_served() -> None:
    simulation = simulate(SPOT, bare("p", "spot-a", annotations=times(1, 1)))
    port = observing(simulation)
    port.start(Evict(ref(simulation, "p"), GRACE))
    simulation.schedule(simulation.clock.now() + timedelta(milliseconds=1), port.kill)
    with pytest.raises(Killed):
        port.wait(at(10))
    simulation.run_until(at(5))
    assert simulation.get("Pod", "default", "p") is None


def test_a_closed_client_sends_nothing_more() -> None:
    simulation = simulate(SPOT, bare("p", "spot-a"))
    port = simulation.cluster()
    port.close()
    port.start(Evict(ref(simulation, "p"), GRACE))
    assert port.wait(at(5)) == []
    assert port.requests_sent == ()
    assert simulation.get("Pod", "default", "p")


# --- history --------------------------------------------------------------------------------------------------------


def drained(simulation: Simulation, *seconds_between: float) -> None:
    """Delete the pods of the node, one after the other, whatever their budget says."""
    for pod, pause in zip(pods(simulation), seconds_between, strict=False):
        simulation.delete("Pod", "default", pod["metadata"]["name"])
        simulation.run_for(timedelta(seconds=pause))


def test_history_tells_the_fewest_ready_the_shortage_and_by_how_much_a_budget_was_exceeded() -> None:
    web = deployment("web", {"spot-a": 4, "od-1": 4}, annotations=times(10, 1))
    simulation = simulate(SPOT, ROOM, *web, budget("web", {"app": "web"}, maxUnavailable=1))
    simulation.run_until(at(1))
    drained(simulation, 1, 1, 20)
    assert simulation.history.fewest_ready(WEB) == 5
    assert simulation.history.most_short(WEB) == 3
    assert simulation.history.budget_exceeded(BudgetRef("default", "web")) == 2
    assert simulation.history.fewest_ready(WEB, since=at(15)) == 8
    assert simulation.history.fewest_ready(WEB, until=at(1.5)) == 7
    assert simulation.history.ready_over_time(WEB)[0] == (at(0), 8)


def test_pods_missing_from_the_beginning_exceed_nothing() -> None:
    simulation = simulate(
        SPOT, *stateful_set("db", ["spot-a"] * 2, ready=False), budget("db", {"app": "db"}, minAvailable="100%")
    )
    simulation.run_until(at(10))
    assert simulation.history.budget_exceeded(BudgetRef("default", "db")) == 0


def test_a_scale_down_is_no_shortage() -> None:
    simulation = simulate(SPOT, *deployment("web", {"spot-a": 4}))
    simulation.patch("Deployment", "default", "web", {"spec": {"replicas": 1}})
    simulation.run_until(at(30))
    assert simulation.history.most_short(WEB) == 0
    assert simulation.history.ready_over_time(WEB)[-1][1] == 1


def test_a_pod_that_was_let_go_of_still_counts_for_whoever_selects_it() -> None:
    simulation = simulate(SPOT, ROOM, *deployment("web", {"spot-a": 1}, annotations=times(1, 1)))
    name = pods(simulation)[0]["metadata"]["name"]
    simulation.patch("Pod", "default", name, {"metadata": {"labels": {"pod-template-hash": "released"}}})
    simulation.run_until(at(5))
    assert simulation.history.ready_over_time(WEB)[-1][1] == 2
    assert simulation.history.fewest_ready(WEB) == 1


def test_two_runs_are_the_same_to_the_last_detail() -> None:
    def run() -> list[str]:
        web = deployment("web", {"spot-a": 6, "od-1": 2}, annotations=times(3, 1))
        simulation = simulate(SPOT, ROOM, *web, budget("web", {"app": "web"}, maxUnavailable=2))
        port = observing(simulation)
        for pod in port.observe().nodes["spot-a"].pods:
            port.start(Evict(pod.ref, GRACE))
        simulation.reclaim("spot-a", at(20))
        simulation.run_until(at(90))
        return [repr(story) for story in simulation.journal] + [repr(port.wait(at(90)))]

    assert run() == run()


def test_a_budget_opens_and_shuts_as_seen_by_a_client() -> None:
    web = deployment("web", {"spot-a": 3}, annotations=times(2, 1))
    simulation = simulate(SPOT, ROOM, *web, budget("web", {"app": "web"}, maxUnavailable=1))
    port = observing(simulation)
    first, second, _ = port.observe().nodes["spot-a"].pods
    assert ask(simulation, Evict(first.ref, GRACE), port) == Done()
    assert isinstance(ask(simulation, Evict(second.ref, GRACE), port), Blocked)
    while not port.observe().budgets.items[0].allowed:
        port.wait(at(10))
    assert seconds(simulation) == pytest.approx(2, abs=0.1)
    assert ask(simulation, Evict(second.ref, GRACE), port) == Done()
