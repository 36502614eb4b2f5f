"""What goes wrong between a client and the API server."""

from datetime import timedelta

import pytest

from evac.simulator import Fault, Simulation
from lambdas.domain.values.actions import Action, Cordon, Evict, Locate, Mark, Observe, Restore
from lambdas.domain.values.answers import (
    Absent,
    Done,
    Forbidden,
    NamespaceTerminating,
    Passing,
    Throttled,
    Unauthenticated,
    Unknown,
)
from lambdas.domain.values.observation import Freshness
from tests.scenes import at, bare, budget, instance_id, node, times
from tests.unit.simulator.stage import GRACE, SECOND, ask, collect, observing, ref, seconds, simulate, story

SPOT = node("spot-a")
FIND: Action = Locate(instance_id("spot-a"), ("spot-a",))
MARK = Mark(instance_id("spot-a"), "spot-interruption", at(120), at(0), at(3600))


def cluster() -> Simulation:
    pod = bare("p", "spot-a", {"app": "web"}, annotations=times(1, 1))
    return simulate(SPOT, pod, budget("web", {"app": "web"}, minAvailable=0))


def test_nobody_is_reached_while_the_api_is_away() -> None:
    simulation = cluster()
    simulation.faults.api_away(at(1), at(3))
    port = observing(simulation)
    simulation.run_until(at(2))
    assert isinstance(ask(simulation, Restore("spot-a"), port), Passing)
    assert port.observe().budgets.freshness is Freshness.STALE
    assert port.observe().nodes["spot-a"].freshness is Freshness.STALE
    simulation.run_until(at(3.1))
    assert ask(simulation, Restore("spot-a"), port) == Done()
    assert port.observe().budgets.freshness is Freshness.CURRENT


def test_what_was_missed_while_the_api_was_away_is_listed_when_it_is_back() -> None:
    simulation = cluster()
    port = observing(simulation)
    simulation.faults.api_away(at(1), at(20))
    simulation.schedule(at(5), lambda: simulation.delete("Pod", "default", "p"))
    simulation.run_until(at(19.9))
    assert len(port.observe().nodes["spot-a"].pods) == 1
    simulation.run_until(at(20.1))
    assert port.observe().nodes["spot-a"].pods == ()


def test_one_401_costs_a_new_token_and_a_second_one_is_told() -> None:
    simulation = cluster()
    simulation.faults.token_expired()
    port = simulation.cluster()
    assert ask(simulation, Restore("spot-a"), port) == Done()
    assert len(port.requests_sent) == 2
    simulation.faults.token_expired(times=2)
    assert isinstance(ask(simulation, Restore("spot-a"), port), Unauthenticated)
    assert ask(simulation, Restore("spot-a"), port) == Done()


@pytest.mark.parametrize(
    ("action", "verb", "resource"),
    [
        (FIND, "get", "nodes"),
        (Locate(instance_id("spot-a")), "list", "nodes"),
        (Restore("spot-a"), "patch", "nodes"),
        (Cordon("spot-a", MARK), "patch", "nodes"),
        (Observe("spot-a"), "list", "pods"),
        (Observe("spot-a"), "list", "nodes"),
    ],
)
def test_403_strikes_one_verb_on_one_resource(action: Action, verb: str, resource: str) -> None:
    simulation = cluster()
    simulation.faults.forbidden(verb, "secrets")
    simulation.faults.forbidden("deletecollection", resource)
    simulation.faults.forbidden(verb, resource, since=at(5), until=at(6))
    assert not isinstance(ask(simulation, action), Forbidden)
    simulation.run_until(at(5))
    assert ask(simulation, action) == Forbidden(f"403: may not {verb} {resource}")
    simulation.run_until(at(6))
    assert not isinstance(ask(simulation, action), Forbidden)


def test_budgets_that_may_not_be_read_are_unreadable_and_say_why() -> None:
    simulation = cluster()
    simulation.faults.forbidden("list", "poddisruptionbudgets", until=at(5))
    port = observing(simulation)
    listing = port.observe().budgets
    assert (listing.freshness, listing.items) == (Freshness.UNREADABLE, ())
    assert "poddisruptionbudgets" in listing.why
    assert port.observe().services.freshness is Freshness.CURRENT
    simulation.run_until(at(11))
    assert port.observe().budgets.freshness is Freshness.CURRENT


def test_a_watch_that_may_not_be_had_leaves_listing() -> None:
    simulation = cluster()
    simulation.faults.forbidden("watch", "pods")
    port = observing(simulation)
    assert port.observe().nodes["spot-a"].freshness is Freshness.STALE
    simulation.delete("Pod", "default", "p")
    simulation.run_until(at(4.1))
    assert port.observe().nodes["spot-a"].pods == ()


def test_broken_watches_are_polled_and_come_back() -> None:
    simulation = cluster()
    port = observing(simulation)
    simulation.faults.watches_broken(at(1), at(9), "poddisruptionbudgets")
    simulation.run_until(at(1))
    assert port.observe().budgets.freshness is Freshness.STALE
    assert port.observe().services.freshness is Freshness.CURRENT
    before = len(port.requests_sent)
    simulation.patch("PodDisruptionBudget", "default", "web", {"spec": {"minAvailable": 1}})
    simulation.run_until(at(3.1))
    assert [b.min_available for b in port.observe().budgets.items] == ["1"]
    assert len(port.requests_sent) == before + 1
    simulation.run_until(at(9.1))
    assert port.observe().budgets.freshness is Freshness.CURRENT


def test_late_watches_keep_the_order() -> None:
    simulation = cluster()
    port = observing(simulation)
    simulation.faults.watches_late(timedelta(seconds=3), since=at(1), until=at(2))
    simulation.schedule(at(1.9), lambda: simulation.patch("Node", "", "spot-a", {"metadata": {"labels": {"n": "1"}}}))
    simulation.schedule(at(2.1), lambda: simulation.patch("Node", "", "spot-a", {"metadata": {"labels": {"n": "2"}}}))
    simulation.run_until(at(4.8))
    node_seen = port.observe().nodes["spot-a"].node
    assert node_seen
    assert "n" not in node_seen.labels
    simulation.run_until(at(5))
    node_seen = port.observe().nodes["spot-a"].node
    assert node_seen
    assert node_seen.labels["n"] == "2"


def test_a_listing_that_fails_does_not_hurt_a_watch_that_works() -> None:
    simulation = cluster()
    port = observing(simulation)
    simulation.faults.add(Fault(Passing("500"), verb="list", resource="pods", times=1))
    assert isinstance(ask(simulation, Observe("spot-a"), port), Passing)
    assert port.observe().nodes["spot-a"].freshness is Freshness.CURRENT


def test_a_first_listing_that_fails_is_tried_again() -> None:
    simulation = cluster()
    simulation.faults.add(Fault(Passing("500"), verb="list", resource="pods", times=1))
    port = simulation.cluster()
    assert isinstance(ask(simulation, Observe("spot-a"), port), Passing)
    assert port.observe().nodes == {}
    simulation.run_until(at(3))
    assert port.observe().nodes["spot-a"].pods


@pytest.mark.parametrize("every", [1, 2, 10])
def test_every_nth_request_fails(every: int) -> None:
    simulation = cluster()
    simulation.faults.failing(every=every)
    results = [isinstance(ask(simulation, Restore("spot-a")), Passing) for _ in range(20)]
    assert [i + 1 for i, failed in enumerate(results) if failed] == list(range(every, 21, every))


@pytest.mark.parametrize("is_served", [True, False])
def test_a_time_out_leaves_open_whether_it_was_served(is_served: bool) -> None:
    simulation = cluster()
    simulation.faults.timed_out(timedelta(seconds=5), verb="create", resource="pods/eviction", is_served=is_served)
    assert isinstance(ask(simulation, Evict(ref(simulation, "p"), GRACE)), Unknown)
    assert seconds(simulation) == pytest.approx(5)
    assert bool(story(simulation, "p").signalled_at) is is_served


@pytest.mark.parametrize("is_served", [True, False])
def test_a_reset_does_too(is_served: bool) -> None:
    simulation = cluster()
    simulation.faults.reset(is_served=is_served)
    assert isinstance(ask(simulation, Evict(ref(simulation, "p"), GRACE)), Passing)
    simulation.run_for(SECOND)
    assert bool(story(simulation, "p").signalled_at) is is_served


def test_throttling_says_how_long_to_wait() -> None:
    simulation = cluster()
    simulation.faults.throttled(times=1, retry_after=timedelta(seconds=7))
    assert ask(simulation, Restore("spot-a")) == Throttled(timedelta(seconds=7))
    assert ask(simulation, Restore("spot-a")) == Done()


def test_any_answer_can_be_asked_for() -> None:
    simulation = cluster()
    simulation.faults.add(Fault(NamespaceTerminating(), verb="create", resource="pods/eviction"))
    assert ask(simulation, Evict(ref(simulation, "p"), GRACE)) == NamespaceTerminating()


def test_requests_of_one_kind_wait_for_a_place_and_others_do_not() -> None:
    pods = [bare(f"p{i}", "spot-a", annotations=times(1, 1)) for i in range(40)]
    simulation = simulate(node("spot-a", pods=200), *pods)
    actions: list[Action] = [Evict(ref(simulation, f"p{i}"), GRACE) for i in range(40)]
    answers = collect(simulation, simulation.cluster(), *actions, Restore("spot-a"), Locate("i-0", may_list=False))
    took = [(a.at - at(0)).total_seconds() for a in answers if isinstance(a.action, Evict)]
    assert [sum(lower < t <= lower + 0.008 for t in took) for lower in (0.0, 0.008, 0.016)] == [16, 16, 8]
    assert [a.at < at(0.007) for a in answers if isinstance(a.action, Restore)] == [True]


def test_an_instance_without_an_id_is_not_looked_for() -> None:
    assert not isinstance(ask(cluster(), Locate("")), Done | Absent)
