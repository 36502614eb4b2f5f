"""The plan: who goes now, by which request, and why the others stay."""

from dataclasses import replace
from datetime import timedelta

import pytest

from lambdas.domain.decisions.attempts import Attempt
from lambdas.domain.decisions.plan import Plan, plan
from lambdas.domain.decisions.steps import Await, Decision, Doomed, Go, Hold, Skip, Stay
from lambdas.domain.values.actions import Delete, Evict
from lambdas.domain.values.answers import Blocked, Done, Forbidden, Passing, Result, SeveralBudgets
from lambdas.domain.values.kubernetes import Budget, Pod, PodRef
from lambdas.domain.values.observation import Freshness, Listing
from lambdas.domain.values.settings import BudgetMode, Settings
from tests.unit.builders import SETTINGS, at, budget, current, doomed, pod, terminating


def planned(
    pods: list[Doomed],
    budgets: Listing[Budget] | None = None,
    *,
    now: float = 0,
    attempts: dict[PodRef, Attempt] | None = None,
    settings: Settings = SETTINGS,
) -> Plan:
    return plan(pods, budgets or current(), attempts or {}, settings, at(now))


def going(result: Plan) -> list[str]:
    return [ref.name for ref, decision in result.decisions.items() if isinstance(decision, Go)]


def decision_of(result: Plan, of: Pod) -> Decision:
    return result.decisions[of.ref]


def after(of: Pod, result: Result, *, when: float, version: str = "1", ask: Evict | Delete | None = None) -> Attempt:
    sent = ask or Evict(of.ref, timedelta(seconds=30))
    asked = Attempt(of.ref).asking(sent, {budget().ref: version}, at(when))
    return asked.answered(sent, result, at(when))


def asked(of: Pod, *, when: float, ask: Evict | Delete | None = None) -> Attempt:
    return Attempt(of.ref).asking(ask or Evict(of.ref, timedelta(seconds=30)), {budget().ref: "1"}, at(when))


def test_pods_without_a_budget_all_go_at_once() -> None:
    assert going(planned(doomed(*[pod(f"web-{i}") for i in range(9)]))) == [f"web-{i}" for i in range(9)]


def test_of_one_budget_one_goes_at_a_time_and_of_two_budgets_one_each() -> None:
    pods = [pod("a-1"), pod("a-2"), pod("b-1", labels={"app": "b"}), pod("b-2", labels={"app": "b"})]
    result = planned(doomed(*pods), current(budget(allowed=2), budget("b", allowed=2, labels={"app": "b"})))
    assert going(result) == ["a-1", "b-1"]
    assert decision_of(result, pods[1]) == Stay(Hold.TURN, at(85), (budget().ref,))


def test_a_closed_budget_holds_its_pods_until_their_last_safe_moment() -> None:
    shut = budget(desired=39, expected=40, healthy=39, max_unavailable="1")
    result = planned(doomed(pod()), current(shut))
    detail = "default/web (maxUnavailable 1) needs 39 of 40 healthy and has 39"
    assert decision_of(result, pod()) == Stay(Hold.BUDGET, at(85), (shut.ref,), detail)
    assert result.look_again_at == at(85)


def test_a_budget_whose_status_lags_its_spec_is_closed() -> None:
    assert going(planned(doomed(pod()), current(budget(allowed=5, is_observed=False)))) == []


def test_room_is_not_spent_twice_before_its_budget_has_changed() -> None:
    first, second = pod("a"), pod("b")
    done = {first.ref: after(first, Done(), when=0)}
    assert going(planned(doomed(first, second), current(budget(allowed=1)), now=0.1, attempts=done)) == []
    assert going(planned(doomed(first, second), current(budget(allowed=2)), now=0.1, attempts=done)) == ["b"]
    changed = budget(allowed=1, version="2")
    assert going(planned(doomed(first, second), current(changed), now=0.1, attempts=done)) == ["b"]


@pytest.mark.parametrize(
    ("of", "shut", "goes"),
    [
        (pod(ready=False), budget(), False),
        (pod(ready=False), budget(always_allows_unhealthy=True), True),
        (pod(ready=False), budget(healthy=3, desired=3, expected=3), True),
        (pod(ready=False), budget(healthy=0, desired=0), False),
        (pod(ready=True), budget(always_allows_unhealthy=True), False),
        (pod(ready=False, phase="Pending"), budget(), True),
    ],
)
def test_unready_pods_go_where_the_api_lets_them(of: Pod, shut: Budget, *, goes: bool) -> None:
    assert bool(going(planned(doomed(of), current(shut)))) is goes


def test_several_budgets_need_room_in_each_and_then_the_pod_is_deleted() -> None:
    both = (budget("one", allowed=1), budget("two", allowed=1))
    result = planned(doomed(pod()), current(*both))
    decision = decision_of(result, pod())
    assert isinstance(decision, Go)
    assert decision.ask == Delete(pod().ref, timedelta(seconds=30))
    held = planned(doomed(pod()), current(both[0], budget("two")))
    assert decision_of(held, pod()) == Stay(
        Hold.BUDGET, at(85), (budget("two").ref,), "default/two needs 0 of 0 healthy and has 0"
    )


def test_at_its_last_safe_moment_a_held_pod_is_deleted_against_its_budget() -> None:
    decision = decision_of(planned(doomed(pod()), current(budget()), now=85), pod())
    assert isinstance(decision, Go)
    assert decision.ask == Delete(pod().ref, timedelta(seconds=30), (budget().ref,))


def test_at_the_last_safe_moment_open_room_is_used_by_evictions_jobs_first() -> None:
    pods = [pod("a"), pod("b"), pod("job", owner="Job")]
    result = planned(doomed(*pods), current(budget(allowed=1)), now=85)
    asks = {d.ask.pod.name: type(d.ask) for d in result.decisions.values() if isinstance(d, Go)}
    assert asks == {"job": Evict, "a": Delete, "b": Delete}


def test_past_its_moment_a_pod_waits_a_second_for_its_turn_and_no_longer() -> None:
    pods = doomed(pod("a"), pod("b"))
    flying = {pod("a").ref: asked(pod("a"), when=84.9)}
    waits = planned(pods, current(budget(allowed=2)), now=85, attempts=flying)
    assert decision_of(waits, pod("b")) == Stay(Hold.TURN, at(86), (budget().ref,))
    assert going(planned(pods, current(budget(allowed=2)), now=86, attempts=flying)) == ["b"]


def test_switched_off_the_budget_has_the_last_word() -> None:
    settings = replace(SETTINGS, budgets=BudgetMode.NEVER)
    result = planned(doomed(pod(), settings=settings), current(budget()), now=90, settings=settings)
    decision = decision_of(result, pod())
    assert isinstance(decision, Stay)
    assert (decision.hold, decision.until) == (Hold.BUDGET, None)
    opened = planned(doomed(pod(), settings=settings), current(budget(allowed=1)), now=90, settings=settings)
    assert isinstance(decision_of(opened, pod()), Go)


def test_left_to_finish_until_the_last_safe_moment_then_evicted() -> None:
    job = pod("job", owner="Job", labels={})
    stays = decision_of(planned(doomed(job), now=84.9), job)
    assert isinstance(stays, Stay)
    assert (stays.hold, stays.until) == (Hold.FINISH, at(85))
    goes = decision_of(planned(doomed(job), now=85), job)
    assert isinstance(goes, Go)
    assert isinstance(goes.ask, Evict)


def test_critical_pods_wait_for_those_on_their_way_but_not_for_the_blocked() -> None:
    dns = pod("dns", owner=None, labels={}, priority_class="system-cluster-critical")
    blocked = pod("blocked")
    on_its_way = pod("gone-soon", labels={}, deletion=terminating(0))
    shut = current(budget())
    assert going(planned(doomed(dns, blocked, on_its_way), shut)) == []
    assert going(planned(doomed(dns, blocked), shut)) == ["dns"]
    assert set(going(planned(doomed(dns, on_its_way), now=85))) == {"dns"}


def test_critical_pods_wait_only_for_their_own_node() -> None:
    dns = pod("dns", owner=None, labels={}, priority_class="system-cluster-critical")
    elsewhere = doomed(pod("leaving", labels={}, deletion=terminating(0)), node="spot-b")
    assert going(planned(doomed(dns) + elsewhere)) == ["dns"]


def test_longest_own_grace_first_where_the_counted_grace_makes_ties() -> None:
    pods = doomed(pod("g10", grace=10), pod("g30"), pod("g60", grace=60), pod("g90", grace=90))
    assert list(planned(pods, current(budget(allowed=1))).decisions) == [
        p.ref for p in (pod("g90"), pod("g60"), pod("g30"), pod("g10"))
    ]


def test_budgets_are_counted_over_all_nodes() -> None:
    pods = doomed(pod("a"), node="spot-a") + doomed(pod("b"), node="spot-b")
    assert going(planned(pods, current(budget(allowed=1)))) == ["a"]


@pytest.mark.parametrize(
    ("of", "decision"),
    [
        (pod(owner="DaemonSet"), Skip("DaemonSet pod: its controller would put it straight back")),
        (pod(deletion=terminating(0)), Await("already terminating")),
    ],
)
def test_what_filters_protect_is_never_asked_for(of: Pod, decision: Decision) -> None:
    for now in (0, 85, 119, 200):
        assert decision_of(planned(doomed(of), now=now), of) == decision


def test_a_blocked_pod_is_tried_when_its_budget_changes_not_before() -> None:
    blocked = {pod().ref: after(pod(), Blocked("needs 39 healthy", budget().ref), when=10)}
    same = planned(doomed(pod()), current(budget(allowed=1)), now=10.5, attempts=blocked)
    assert going(same) == []
    assert same.look_again_at == at(12)
    changed = current(budget(allowed=1, version="2"))
    assert going(planned(doomed(pod()), changed, now=10.5, attempts=blocked)) == ["web-1"]


def test_evictions_and_deletes_take_turns_at_the_last_safe_moment() -> None:
    forbidden = {pod().ref: after(pod(), Forbidden("cannot create pods/eviction"), when=80)}
    result = planned(doomed(pod()), now=85, attempts=forbidden)
    decision = decision_of(result, pod())
    assert isinstance(decision, Go)
    assert isinstance(decision.ask, Delete)
    deleted = after(pod(), Forbidden("cannot delete"), when=85, ask=Delete(pod().ref, timedelta(seconds=30)))
    again = decision_of(planned(doomed(pod()), now=85.3, attempts={pod().ref: deleted}), pod())
    assert isinstance(again, Go)
    assert isinstance(again.ask, Evict)


def test_an_eviction_unanswered_past_the_moment_gets_a_delete_beside_it() -> None:
    flying = {pod().ref: asked(pod(), when=84)}
    waits = planned(doomed(pod()), now=86.9, attempts=flying)
    assert going(waits) == []
    assert waits.look_again_at == at(87)
    decision = decision_of(planned(doomed(pod()), now=87, attempts=flying), pod())
    assert isinstance(decision, Go)
    assert isinstance(decision.ask, Delete)


def test_several_budgets_that_we_did_not_see_hold_the_pod_until_its_moment() -> None:
    told = {pod().ref: after(pod(), SeveralBudgets("more than one PodDisruptionBudget"), when=0)}
    assert going(planned(doomed(pod()), now=50, attempts=told)) == []
    decision = decision_of(planned(doomed(pod()), now=85, attempts=told), pod())
    assert isinstance(decision, Go)
    assert isinstance(decision.ask, Delete)


@pytest.mark.parametrize("seconds", [0.0, 84.0])
def test_a_passing_failure_is_tried_again_within_seconds(seconds: float) -> None:
    attempt = after(pod(), Passing("500"), when=seconds)
    result = planned(doomed(pod()), now=seconds, attempts={pod().ref: attempt})
    assert result.look_again_at is not None
    assert result.look_again_at <= at(seconds + 0.1)
    assert going(planned(doomed(pod()), now=seconds + 0.1, attempts={pod().ref: attempt})) == ["web-1"]


def test_budgets_not_read_yet_are_waited_for_and_unreadable_ones_are_not() -> None:
    assert going(planned(doomed(pod()), Listing())) == []
    assert going(planned(doomed(pod()), Listing((), Freshness.UNREADABLE))) == ["web-1"]


def test_the_same_input_gives_the_same_plan_in_any_order() -> None:
    pods = doomed(*[pod(f"web-{i}", grace=g) for i, g in enumerate((10, 30, 30, 90))])
    shut = current(budget(allowed=1))
    forwards, backwards = planned(pods, shut), planned(pods[::-1], shut)
    assert list(forwards.decisions.items()) == list(backwards.decisions.items())
