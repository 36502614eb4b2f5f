"""Turns at budgets, and what is remembered of requests: the small rules that only absurd days show."""

from dataclasses import replace
from datetime import timedelta

import pytest

from lambdas.domain.decisions.attempts import Attempt, pause_after
from lambdas.domain.decisions.budgets import BudgetIndex
from lambdas.domain.decisions.deadline import Deadline, notice_that_counts
from lambdas.domain.decisions.plan import Plan, plan
from lambdas.domain.decisions.steps import Go, Hold, Stay
from lambdas.domain.values.actions import Delete, Evict
from lambdas.domain.values.answers import Absent, Blocked, Done, Forbidden, Throttled
from lambdas.domain.values.kubernetes import Budget, Pod, PodRef
from lambdas.domain.values.notices import Notice, Reason
from lambdas.domain.values.selectors import Selector
from lambdas.domain.values.settings import BudgetMode, Settings
from tests.unit.builders import SETTINGS, at, budget, current, doomed, pod

STRICT = Settings(budgets=BudgetMode.NEVER)
GRACE = timedelta(seconds=30)


def planned(
    *pods: Pod,
    budgets: tuple[Budget, ...],
    now: float = 0,
    settings: Settings = SETTINGS,
    attempts: tuple[Attempt, ...] = (),
) -> Plan:
    return plan(doomed(*pods), current(*budgets), {a.pod: a for a in attempts}, settings, at(now))


def going(result: Plan) -> list[PodRef]:
    return [ref for ref, decision in result.decisions.items() if isinstance(decision, Go)]


def asked(of: Pod, when: float) -> tuple[Evict, Attempt]:
    ask = Evict(of.ref, GRACE)
    return ask, Attempt(of.ref).asking(ask, {budget().ref: "1"}, at(when))


# --- the order and the turns


def test_of_the_same_moment_and_grace_an_unready_pod_goes_first() -> None:
    ready, unready = pod("a"), pod("b", ready=False)
    assert going(planned(ready, unready, budgets=(budget(allowed=1),))) == [unready.ref]


def test_at_the_moment_room_is_kept_for_as_many_as_wait_their_turn_and_the_rest_is_deleted() -> None:
    pods = [pod(name) for name in "abc"]
    result = planned(*pods, budgets=(budget(allowed=2),), now=85)
    first, second, third = (result.decisions[p.ref] for p in pods)
    assert isinstance(first, Go)
    assert isinstance(first.ask, Evict)
    assert isinstance(second, Stay)
    assert second.hold is Hold.TURN
    assert isinstance(third, Go)
    assert isinstance(third.ask, Delete)


def test_unready_pods_that_cost_a_budget_nothing_go_side_by_side() -> None:
    pods = [pod(name, ready=False) for name in "abc"]
    unmoved = budget(allowed=0, always_allows_unhealthy=True)
    assert going(planned(*pods, budgets=(unmoved,))) == [p.ref for p in pods]


def test_a_budget_not_counted_yet_lets_no_unready_pod_go_either() -> None:
    uncounted = budget(allowed=1, always_allows_unhealthy=True, is_observed=False)
    assert going(planned(pod(ready=False), budgets=(uncounted,))) == []


def test_a_pod_that_was_gone_when_it_was_asked_for_takes_no_room_from_the_others() -> None:
    gone, other = pod("a"), pod("b")
    ask, attempt = asked(gone, 0)
    absent = attempt.answered(ask, Absent(), at(0.1))
    assert going(planned(gone, other, budgets=(budget(allowed=1),), now=0.2, attempts=(absent,))) == [other.ref]


def test_many_budgets_are_found_by_labels_and_by_expressions_alike() -> None:
    pair = Selector.from_json({"matchExpressions": [{"key": "app", "operator": "In", "values": ["web", "db"]}]})
    everything = Selector.from_json({})
    found = (budget("one"), replace(budget("two"), selector=pair), replace(budget("three"), selector=everything))
    others = [budget(f"other-{i}", labels={"app": f"a{i}"}) for i in range(300)]
    names = [b.ref.name for b in BudgetIndex([*others, *found]).of(pod())]
    assert names == ["one", "three", "two"]


# --- strict settings


def test_switched_off_a_refused_eviction_is_tried_again_and_never_becomes_a_delete() -> None:
    ask, attempt = asked(pod(), 84)
    blocked = attempt.answered(ask, Blocked("not now"), at(84.1))
    decision = planned(pod(), budgets=(budget(allowed=1, version="2"),), now=86, settings=STRICT, attempts=(blocked,))
    [go] = decision.decisions.values()
    assert isinstance(go, Go)
    assert isinstance(go.ask, Evict)


def test_a_delete_that_is_forbidden_gives_way_to_an_eviction_though_the_budget_is_shut() -> None:
    of = pod()
    ask = Delete(of.ref, GRACE)
    refused = Attempt(of.ref).asking(ask, {}, at(85)).answered(ask, Forbidden("no delete"), at(85.1))
    [go] = planned(of, budgets=(budget(),), now=86, attempts=(refused,)).decisions.values()
    assert isinstance(go, Go)
    assert isinstance(go.ask, Evict)


# --- what is remembered


def test_the_first_request_that_was_served_is_the_one_that_counts() -> None:
    ask, attempt = asked(pod(), 0)
    delete = Delete(pod().ref, GRACE)
    both = attempt.asking(delete, {}, at(2)).answered(ask, Done(), at(3)).answered(delete, Done(), at(4))
    assert (both.signalled, both.signalled_at) == (ask, at(3))


def test_a_long_retry_after_is_cut_to_what_two_minutes_bear() -> None:
    assert pause_after(Throttled(timedelta(minutes=10)), 1, "seed") == timedelta(seconds=2)


@pytest.mark.parametrize("now", [114.5, 115, 500])
def test_what_is_left_is_never_less_than_a_second(now: float) -> None:
    assert Deadline(at(120), SETTINGS).left(at(now)) == timedelta(seconds=1)


def test_an_archived_notice_never_counts_before_a_fresh_one() -> None:
    fresh = Notice("i-1", Reason.SPOT_INTERRUPTION, at(0), at(120))
    replayed = replace(fresh, reclaim_at=at(60), is_replayed=True)
    hibernating = replace(fresh, reclaim_at=at(0))
    assert notice_that_counts([replayed, fresh], at(0)) is fresh
    assert notice_that_counts([fresh, hibernating, replayed], at(0)) is hibernating
    assert notice_that_counts([fresh, hibernating], at(61)) is fresh
