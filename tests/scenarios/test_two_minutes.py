"""Drains on the simulator and the outcome that a good plan reaches; the ids are the cases'. Seconds from the notice."""

from datetime import timedelta

import pytest

from evac.simulator import Simulation
from lambdas.domain.values.drains import Departure, Ending
from lambdas.domain.values.journal import Happening
from lambdas.domain.values.settings import BudgetMode, Settings
from tests.scenarios.stage import drain
from tests.scenes import READY, at, bare, budget, deployment, job, node, pod, service, stateful_set, times

SPOT = node("spot-a")
ROOM = node("od-1")


def test_d1b_paced_all_30_leave_and_never_more_than_four_are_missing() -> None:
    web = deployment("web", {"spot-a": 30, "od-1": 10}, surge=0, annotations=times(10, 2))
    outcome = drain(SPOT, ROOM, *web, budget("web", {"app": "web"}, maxUnavailable=1))
    assert outcome.graceful == 30
    assert outcome.most_short("web") <= 4
    assert max(outcome.signalled().values()) < 85.5
    assert "4 at a time" in " ".join(fate.note for fate in outcome.record.pods)


def test_d1b_strict_until_the_last_safe_moment_the_rest_goes_at_once() -> None:
    web = deployment("web", {"spot-a": 30, "od-1": 10}, surge=0, annotations=times(10, 2))
    shut = budget("web", {"app": "web"}, maxUnavailable=1)
    outcome = drain(SPOT, ROOM, *web, shut, settings=Settings(budgets=BudgetMode.DEADLINE))
    assert outcome.graceful == 30
    assert outcome.most_short("web") > 20
    assert max(outcome.signalled().values()) == pytest.approx(85, abs=0.5)


def test_d2b_nothing_is_exceeded_before_there_is_room_and_then_by_the_least() -> None:
    web = deployment("web", {"spot-a": 30, "od-1": 10}, surge=0, annotations=times(4, 2))

    def room_from_40_on(simulation: Simulation) -> None:
        def join() -> None:
            simulation.apply(node("od-2"))

        simulation.schedule(at(40), join)

    shut = budget("web", {"app": "web"}, maxUnavailable=1)
    outcome = drain(SPOT, node("od-1", pods=10), *web, shut, prepare=room_from_40_on)
    assert outcome.graceful == 30
    assert outcome.most_short("web", until=44) == 1
    assert outcome.most_short("web") <= 3


def test_d3_what_the_budget_lets_go_in_time_is_left_to_the_budget() -> None:
    web = deployment("web", {"spot-a": 5, "od-1": 35}, surge=0, annotations=times(4, 2))
    outcome = drain(SPOT, ROOM, *web, budget("web", {"app": "web"}, maxUnavailable=1))
    assert outcome.graceful == 5
    assert outcome.most_short("web") == 1
    assert not outcome.exceeded("web")


def test_d29_pods_unready_elsewhere_are_not_added_to_while_they_are_more_than_the_pace() -> None:
    web = deployment("web", {"spot-a": 30}, surge=0, annotations=times(10, 2))
    for index in range(10):
        unready = pod(f"web-5d4f8c7b9-u{index}", "od-1", web[1]["spec"]["template"], owner=web[1], ready=False)
        unready["metadata"]["annotations"][READY] = "false"
        web.append(unready)
    web[0]["spec"]["replicas"] = web[1]["spec"]["replicas"] = 40
    outcome = drain(SPOT, ROOM, *web, budget("web", {"app": "web"}, maxUnavailable=1))
    assert outcome.graceful == 30
    assert outcome.most_short("web", until=64) == 10


def test_d31_where_no_replacement_can_be_in_time_nothing_is_exceeded_early() -> None:
    web = deployment("web", {"spot-a": 30, "od-1": 10}, surge=0, annotations=times(120, 2))
    outcome = drain(SPOT, ROOM, *web, budget("web", {"app": "web"}, maxUnavailable=1))
    assert outcome.graceful == 30
    assert outcome.most_short("web", until=84) == 1


def test_d4_a_stateful_set_leaves_one_by_one_within_its_budget() -> None:
    db = stateful_set("db", ["spot-a"] * 3, annotations=times(10, 5))
    outcome = drain(SPOT, ROOM, *db, budget("db", {"app": "db"}, maxUnavailable=1))
    assert outcome.graceful == 3
    assert not outcome.exceeded("db")
    assert outcome.departures(Departure.EVICTED) == ["db-0", "db-1", "db-2"]


def test_d5_the_third_of_a_slow_stateful_set_leaves_at_its_last_safe_moment() -> None:
    db = stateful_set("db", ["spot-a"] * 3, annotations=times(60, 5))
    outcome = drain(SPOT, ROOM, *db, budget("db", {"app": "db"}, maxUnavailable=1))
    assert outcome.graceful == 3
    assert outcome.signalled() == pytest.approx({"db-0": 0, "db-1": 65, "db-2": 85}, abs=0.6)
    assert outcome.departures(Departure.DELETED_AGAINST_BUDGET) == ["db-2"]


def test_d6b_without_room_a_single_replica_runs_until_its_last_safe_moment() -> None:
    web = deployment("web", {"spot-a": 1}, annotations=times(10, 2))
    outcome = drain(SPOT, node("od-1", pods=0), *web, budget("web", {"app": "web"}, minAvailable=1))
    assert outcome.graceful == 1
    assert outcome.signalled() == pytest.approx({"web-5d4f8c7b9-00": 85}, abs=0.2)
    assert outcome.departures(Departure.DELETED_AGAINST_BUDGET) == ["web-5d4f8c7b9-00"]


def test_d7_a_bare_pod_has_its_sigterm_at_once_with_its_own_grace_clamped() -> None:
    outcome = drain(SPOT, bare("alone", "spot-a", grace=600, annotations=times(1, 2)))
    assert outcome.graceful == 1
    assert outcome.signalled() == pytest.approx({"alone": 0}, abs=0.2)
    assert outcome.fate("alone").grace_given == timedelta(seconds=114)  # 115 less the moments until then, whole seconds


def test_d8_a_job_that_ends_by_itself_is_left_alone() -> None:
    outcome = drain(SPOT, *job("sum", "spot-a", annotations=times(1, 2, completes=60)))
    assert outcome.departures(Departure.FINISHED) == ["sum-x"]
    assert outcome.signalled() == {}
    assert outcome.ended == pytest.approx(60, abs=1)


def test_d9_a_long_job_is_evicted_at_its_last_safe_moment_with_the_disruption_condition() -> None:
    outcome = drain(SPOT, *job("sum", "spot-a", annotations=times(1, 2)))
    assert outcome.signalled() == pytest.approx({"sum-x": 85}, abs=0.2)
    assert outcome.departures(Departure.EVICTED) == ["sum-x"]
    assert outcome.has_disruption_target("sum-x")


@pytest.mark.parametrize(("other", "when"), [({"maxUnavailable": 1}, 0), ({"maxUnavailable": 0}, 85)])
def test_d10_under_two_budgets_a_pod_is_deleted_when_both_have_room(other: dict[str, int], when: float) -> None:
    db = stateful_set("db", ["spot-a", "od-1", "od-1"], annotations=times(4, 2))
    budgets = [budget("one", {"app": "db"}, maxUnavailable=1), budget("two", {"app": "db"}, **other)]
    outcome = drain(SPOT, ROOM, *db, *budgets)
    assert outcome.graceful == 1
    assert outcome.signalled() == pytest.approx({"db-0": when}, abs=0.5)
    if when:
        assert [str(ref) for ref in outcome.fate("db-0").held_by] == ["default/two"]
        assert outcome.departures(Departure.DELETED_AGAINST_BUDGET) == ["db-0"]
    else:
        assert outcome.departures(Departure.DELETED_SEVERAL_BUDGETS) == ["db-0"]
        assert outcome.fate("db-0").note == "several budgets, all with room: default/one, default/two"


def test_d12_unready_pods_behind_a_shut_budget_leave_in_time_and_the_cure_is_named() -> None:
    db = stateful_set("db", ["spot-a"] * 2, ready=False, annotations=times(1, 2, ready=False))
    outcome = drain(SPOT, ROOM, *db, budget("db", {"app": "db"}, minAvailable="100%"))
    assert outcome.graceful == 2
    assert outcome.signalled() == pytest.approx({"db-0": 85, "db-1": 85}, abs=0.5)
    assert [str(ref) for ref in outcome.fate("db-0").held_by] == ["default/db"]
    assert "AlwaysAllow" in outcome.fate("db-0").note


def test_d13_of_one_budget_the_longest_grace_goes_first_and_none_is_late() -> None:
    made = [deployment(f"g{g}", {"spot-a": 1}, surge=0, grace=g, annotations=times(20, 2)) for g in (10, 30, 60, 90)]
    shared = budget("all", {}, maxUnavailable=1)
    outcome = drain(SPOT, ROOM, *[thing for objects in made for thing in objects], shared)
    by_name = {name.split("-")[0]: when for name, when in outcome.signalled().items()}
    assert by_name == pytest.approx({"g90": 0, "g60": 20, "g30": 40, "g10": 60}, abs=0.5)
    assert not outcome.exceeded("all")
    assert outcome.graceful == 4


def test_d14_what_must_not_be_touched_is_not_and_the_drain_is_over_at_once() -> None:
    agent = {"kind": "DaemonSet", "apiVersion": "apps/v1", "metadata": {"name": "agent", "uid": "ds"}, "spec": {}}
    daemon = bare("agent-x", "spot-a")
    daemon["metadata"]["ownerReferences"] = [
        {"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "agent", "uid": "ds", "controller": True}
    ]
    static = bare("kube-proxy", "spot-a")
    static["metadata"]["annotations"]["kubernetes.io/config.mirror"] = "x"
    done = bare("done", "spot-a")
    done["status"]["phase"] = "Succeeded"
    outcome = drain(SPOT, ROOM, agent, daemon, static, done)
    assert outcome.record.ending is Ending.DRAINED
    assert outcome.signalled() == {}
    assert {ref.name for ref, _ in outcome.record.skipped} == {"agent-x", "kube-proxy", "done"}
    assert outcome.ended < 1


def test_d15_critical_pods_leave_when_the_others_are_gone_but_not_after_the_blocked_one() -> None:
    plain = [bare(f"p{i}", "spot-a", annotations=times(1, 2)) for i in range(9)]
    blocked = bare("blocked", "spot-a", {"run": "blocked"}, annotations=times(1, 2))
    dns = bare("coredns", "spot-a", annotations=times(1, 2), priorityClassName="system-cluster-critical")
    outcome = drain(SPOT, ROOM, *plain, blocked, dns, budget("b", {"run": "blocked"}, maxUnavailable=0))
    signalled = outcome.signalled()
    assert all(signalled[f"p{i}"] < 1 for i in range(9))
    assert signalled["coredns"] == pytest.approx(2, abs=0.6)
    assert signalled["blocked"] == pytest.approx(85, abs=0.5)
    assert outcome.lost == []


def test_a_pod_without_a_budget_that_cannot_be_released_is_evicted_at_once() -> None:
    web = deployment("web", {"spot-a": 1, "od-1": 2}, surge=0, annotations=times(10, 2))
    outcome = drain(SPOT, ROOM, *web)
    assert outcome.departures(Departure.EVICTED) == ["web-5d4f8c7b9-00"]
    assert outcome.ended < 4


def test_d27_a_local_service_keeps_the_node_in_its_load_balancer_until_the_last_is_signalled() -> None:
    web = deployment("web", {"spot-a": 2, "od-1": 1}, annotations=times(10, 2))
    local = service("web", {"app": "web"}, externalTrafficPolicy="Local", type="LoadBalancer")
    outcome = drain(SPOT, ROOM, *web, local, budget("web", {"app": "web"}, maxUnavailable=1))
    last = max(outcome.signalled().values())
    assert last > 10
    assert outcome.excluded_at == pytest.approx(last, abs=0.2)


def test_without_a_local_service_the_node_leaves_its_load_balancers_at_once() -> None:
    web = deployment("web", {"spot-a": 2, "od-1": 1}, annotations=times(10, 2))
    outcome = drain(SPOT, ROOM, *web, service("web", {"app": "web"}, type="LoadBalancer"))
    assert outcome.excluded_at < 0.3


def test_d28_a_notice_that_comes_late_uses_all_that_is_left() -> None:
    web = deployment("web", {"spot-a": 30, "od-1": 10}, annotations=times(10, 2))
    outcome = drain(SPOT, ROOM, *web, budget("web", {"app": "web"}, maxUnavailable=1), begins=100)
    assert outcome.graceful == 30
    assert all(when == pytest.approx(100, abs=1) for when in outcome.signalled().values())
    assert {f.grace_given.total_seconds() for f in outcome.record.pods if f.grace_given} <= {14.0, 15.0}


def test_after_the_deadline_everything_goes_at_once_with_the_least_grace() -> None:
    web = deployment("web", {"spot-a": 3, "od-1": 1}, annotations=times(10, 1))
    outcome = drain(SPOT, ROOM, *web, budget("web", {"app": "web"}, maxUnavailable=1), begins=130, reclaimed=150)
    assert outcome.record.is_late
    assert all(when == pytest.approx(130, abs=1) for when in outcome.signalled().values())
    assert {f.grace_given.total_seconds() for f in outcome.record.pods if f.grace_given} == {1.0}


def test_hours_after_the_deadline_nothing_is_touched() -> None:
    web = deployment("web", {"spot-a": 3, "od-1": 1})
    outcome = drain(SPOT, ROOM, *web, begins=3600, reclaimed=7200)
    assert outcome.record.ending is Ending.STALE
    assert outcome.signalled() == {}
    assert not outcome.is_cordoned


def test_switched_off_a_held_pod_is_lost_and_its_budget_named() -> None:
    web = deployment("web", {"spot-a": 1}, surge=0, annotations=times(10, 2))
    settings = Settings(budgets=BudgetMode.NEVER)
    shut = budget("web", {"app": "web"}, maxUnavailable=0)
    outcome = drain(SPOT, ROOM, *web, shut, settings=settings)
    assert outcome.record.ending is Ending.PODS_LOST
    assert outcome.lost == ["web-5d4f8c7b9-00"]
    assert [str(ref) for ref in outcome.fate("web-5d4f8c7b9-00").held_by] == ["default/web"]


def test_a_pod_whose_containers_have_ended_is_gone_only_when_its_uid_is() -> None:
    web = deployment("web", {"spot-a": 20, "od-1": 20}, annotations=times(1, 2))
    outcome = drain(SPOT, ROOM, *web)
    assert all(fate.gone_at for fate in outcome.record.pods)
    assert len(outcome.reporter.of(Happening.GONE)) == 20
