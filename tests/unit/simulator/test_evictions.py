"""The corners of the eviction API that real time is too slow, or too busy, to show."""

from dataclasses import replace
from datetime import timedelta

import pytest

from evac.simulator import Hand, Key, Raw, SimulatorOptions
from lambdas.domain.values.actions import Delete, Evict
from lambdas.domain.values.answers import Absent, Blocked, Done, Passing, Unknown
from lambdas.domain.values.kubernetes import BudgetRef
from tests.scenes import at, bare, budget, deployment, node, times
from tests.unit.simulator.stage import GRACE, ask, collect, delete, evict, pods, ref, seconds, simulate, story

SPOT = node("spot-a")
NOBODYS = "11111111-1111-4111-8111-111111111111"


def web(replicas: int = 5) -> list[Raw]:
    return deployment("web", {"spot-a": replicas})


def test_a_new_budget_is_closed_until_its_controller_has_looked() -> None:
    simulation = simulate(SPOT, *web())
    simulation.apply(budget("web", {"app": "web"}, maxUnavailable=1))
    answer = evict(simulation, pods(simulation)[0]["metadata"]["name"])
    assert isinstance(answer, Done | Blocked)
    late = simulate(SPOT, *web(), options=_with_controllers(timedelta(seconds=1)))
    late.apply(budget("web", {"app": "web"}, maxUnavailable=1))
    name = pods(late)[0]["metadata"]["name"]
    refused = evict(late, name)
    assert isinstance(refused, Blocked)
    assert "still being processed" in refused.message
    assert refused.budget == BudgetRef("default", "web")
    late.run_until(at(2))
    assert evict(late, name) == Done()


def _with_controllers(delay: timedelta) -> SimulatorOptions:
    options = SimulatorOptions()
    return replace(options, latencies=replace(options.latencies, controllers=delay))


def test_a_changed_budget_is_closed_until_its_controller_has_looked_again() -> None:
    simulation = simulate(
        SPOT, *web(), budget("web", {"app": "web"}, maxUnavailable=1), options=_with_controllers(timedelta(seconds=1))
    )
    simulation.patch("PodDisruptionBudget", "default", "web", {"spec": {"maxUnavailable": 5}})
    assert isinstance(evict(simulation, pods(simulation)[0]["metadata"]["name"]), Blocked)


def test_evictions_at_once_under_one_budget_collide_and_come_half_a_second_apart() -> None:
    simulation = simulate(SPOT, *web(), budget("web", {"app": "web"}, maxUnavailable="100%"))
    refs = [ref(simulation, p["metadata"]["name"]) for p in pods(simulation)]
    answers = collect(simulation, simulation.cluster(), *(Evict(r, GRACE) for r in refs))
    assert [a.result for a in answers] == [Done()] * 5
    first, second, *_, last = [(a.at - at(0)).total_seconds() for a in answers]
    assert first < 0.02
    assert second > 0.5
    assert last > 1


def test_evictions_at_once_under_several_budgets_do_not_collide() -> None:
    apps = [o for app in "abcd" for o in deployment(app, {"spot-a": 1})]
    guards = [budget(app, {"app": app}, maxUnavailable=1) for app in "abcd"]
    simulation = simulate(SPOT, *apps, *guards)
    refs = [ref(simulation, p["metadata"]["name"]) for p in simulation.list("Pod")]
    answers = collect(simulation, simulation.cluster(), *(Evict(r, GRACE) for r in refs))
    assert {a.result for a in answers} == {Done()}
    assert seconds(simulation) < 0.02


def test_a_stale_uid_whose_namesake_is_pending_is_only_told_after_ten_seconds() -> None:
    waiting = bare("p", "", nodeSelector={"nowhere": "true"})
    waiting["status"] = {"phase": "Pending"}
    simulation = simulate(SPOT, waiting)
    stale = replace(ref(simulation, "p"), uid=NOBODYS)
    assert ask(simulation, Evict(stale, GRACE)) == Absent()
    assert 9 < seconds(simulation) < 10.5


def test_a_client_does_not_wait_longer_than_its_read_time_out() -> None:
    waiting = bare("p", "", nodeSelector={"nowhere": "true"})
    waiting["status"] = {"phase": "Pending"}
    simulation = simulate(SPOT, waiting, options=SimulatorOptions(read_timeout=timedelta(seconds=3)))
    stale = replace(ref(simulation, "p"), uid=NOBODYS)
    assert isinstance(ask(simulation, Evict(stale, GRACE)), Unknown)
    assert seconds(simulation) == pytest.approx(3)


@pytest.mark.parametrize(
    ("status", "words"),
    [
        ({"disruptionsAllowed": -1}, "negative"),
        ({"disruptionsAllowed": 1, "disruptedPods": {f"p{i}": "x" for i in range(2001)}}, "unconfirmed"),
    ],
)
def test_a_budget_that_cannot_be_believed_blocks(status: dict[str, object], words: str) -> None:
    simulation = simulate(SPOT, *web(), budget("web", {"app": "web"}, maxUnavailable=1))
    simulation.patch("PodDisruptionBudget", "default", "web", {"status": status})
    answer = evict(simulation, pods(simulation)[0]["metadata"]["name"])
    assert isinstance(answer, Blocked)
    assert words in answer.message


def test_a_budget_that_changes_all_the_time_times_out_in_the_server() -> None:
    simulation = simulate(SPOT, *web(), budget("web", {"app": "web"}, maxUnavailable=2))

    def touch() -> None:
        number = str(simulation.clock.now())
        simulation.patch("PodDisruptionBudget", "default", "web", {"metadata": {"annotations": {"touched": number}}})
        simulation.schedule(simulation.clock.now() + timedelta(milliseconds=1), touch)

    simulation.schedule(at(0), touch)
    answer = evict(simulation, pods(simulation)[0]["metadata"]["name"])
    assert isinstance(answer, Passing)
    assert "conflicts" in answer.message


def test_an_evicted_pod_is_counted_out_before_its_deletion_is_seen() -> None:
    simulation = simulate(SPOT, *web(), budget("web", {"app": "web"}, maxUnavailable=1))
    port = simulation.cluster()
    first, second = (ref(simulation, p["metadata"]["name"]) for p in pods(simulation)[:2])
    assert ask(simulation, Evict(first, GRACE), port) == Done()
    assert isinstance(ask(simulation, Evict(second, GRACE), port), Blocked)


def test_a_pod_that_was_counted_out_and_not_deleted_counts_again_after_two_minutes() -> None:
    simulation = simulate(SPOT, *web(), budget("web", {"app": "web"}, maxUnavailable=1))
    name = pods(simulation)[0]["metadata"]["name"]
    status = {"disruptedPods": {name: "2026-11-02T03:04:05Z"}}
    simulation.patch("PodDisruptionBudget", "default", "web", {"spec": {"maxUnavailable": 2}, "status": status})
    simulation.run_until(at(1))
    assert _healthy(simulation.get("PodDisruptionBudget", "default", "web")) == 4
    simulation.run_until(at(122))
    assert _healthy(simulation.get("PodDisruptionBudget", "default", "web")) == 5


def _healthy(found: Raw | None) -> int:
    assert found
    return int(found["status"]["currentHealthy"])


def test_the_journal_tells_how_a_pod_was_signalled_and_with_what_grace() -> None:
    names = ("evicted", "deleted", "hurried")
    simulation = simulate(SPOT, *(bare(n, "spot-a", annotations=times(1, 8), grace=20) for n in names))
    assert evict(simulation, "evicted", timedelta(seconds=60)) == Done()
    assert delete(simulation, "deleted", timedelta(seconds=5)) == Done()
    evict(simulation, "hurried")
    simulation.run_until(at(2))
    assert delete(simulation, "hurried", timedelta(seconds=6)) == Done()
    simulation.run_until(at(30))
    told = {n: story(simulation, n) for n in names}
    assert [told[n].hand for n in names] == [Hand.EVICTED, Hand.DELETED, Hand.EVICTED]
    assert [told[n].grace for n in names] == [timedelta(seconds=s) for s in (20, 5, 6)]
    assert [told[n].was_cut_short for n in names] == [False, True, True]
    assert [told[n].had_disruption_target for n in names] == [True, False, True]
    assert all(s.was_graceful for s in told.values())
    lived = [(s.gone_at - s.signalled_at).total_seconds() for s in told.values() if s.gone_at and s.signalled_at]
    assert lived == pytest.approx([8, 5, 6], abs=0.02)


def test_a_pod_with_a_foreign_finalizer_stays_until_it_is_taken_off() -> None:
    pod = bare("p", "spot-a", annotations=times(1, 1))
    pod["metadata"]["finalizers"] = ["example.org/keep"]
    simulation = simulate(SPOT, pod)
    assert evict(simulation, "p") == Done()
    simulation.run_until(at(60))
    assert simulation.get("Pod", "default", "p")
    simulation.patch("Pod", "default", "p", {"metadata": {"finalizers": None}})
    assert simulation.get("Pod", "default", "p") is None


def test_a_deleted_pod_without_grace_of_its_own_gets_a_second_from_us() -> None:
    simulation = simulate(SPOT, bare("p", "spot-a", annotations=times(1, 5), grace=0))
    assert ask(simulation, Delete(ref(simulation, "p"), GRACE)) == Done()
    assert story(simulation, "p").grace == timedelta(seconds=1)


def test_budgets_answer_for_pods_of_their_own_namespace_only() -> None:
    foreign = budget("web", {"app": "web"}, minAvailable=100)
    foreign["metadata"]["namespace"] = "other"
    simulation = simulate(SPOT, *web(1), foreign)
    assert evict(simulation, pods(simulation)[0]["metadata"]["name"]) == Done()
    assert simulation.history.fewest_ready(Key("Deployment", "default", "web")) == 0
