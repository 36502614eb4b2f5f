"""The cases that fit into real seconds, on the real control plane. An old notice brings the last safe moment near."""

from itertools import pairwise

import pytest

from controlplane import Api, ControlPlane
from lambdas.contract import LABEL_DRAINING, LABEL_EXCLUDE_FROM_LOAD_BALANCERS, TAINT_INTERRUPTED
from lambdas.domain.values.drains import Departure, Ending
from lambdas.domain.values.journal import Happening
from lambdas.domain.values.settings import BudgetMode, Settings
from tests.cluster.drains import budget_is, drained, pods, ready_counts, room, settle, without_pods
from tests.cluster.rig import grant
from tests.scenes import Json, bare, budget, deployment, job, node, service, stateful_set, times

pytestmark = pytest.mark.cluster

QUICK = times(1, 1)


@pytest.fixture(autouse=True)
def spot(api: Api) -> None:
    """The function's rights, and the node that will go."""
    grant(api)
    api.apply(node("spot-a"))


def test_d4_a_stateful_set_leaves_one_by_one_within_its_budget(plane: ControlPlane, api: Api) -> None:
    settle(api, without_pods(stateful_set("db", ["spot-a"] * 3, annotations=QUICK)), ready=3)
    settle(api, [budget("db", {"app": "db"}, maxUnavailable=1)])
    budget_is(api, "db", disruptionsAllowed=1)
    room(api)
    result = drained(plane)
    assert result.record.ending is Ending.DRAINED
    assert {fate.departure for fate in result.record.pods} == {Departure.EVICTED}
    first, second, third = sorted(result.signalled().values())
    assert second - first > 1.5
    assert third - second > 1.5


def test_d6b_without_room_the_single_replica_is_deleted_at_its_last_safe_moment(plane: ControlPlane, api: Api) -> None:
    settle(api, without_pods(deployment("web", {"spot-a": 1}, annotations=QUICK)), ready=1)
    settle(api, [budget("web", {"app": "web"}, minAvailable=1)])
    budget_is(api, "web", expectedPods=1)
    result = drained(plane, age=80)
    [fate] = result.record.pods
    assert fate.departure is Departure.DELETED_AGAINST_BUDGET
    assert list(result.signalled().values()) == pytest.approx([85], abs=1)
    assert [str(ref) for ref in fate.held_by] == ["default/web"]


def test_d7_a_bare_pod_has_its_sigterm_at_once_with_its_own_grace_clamped(plane: ControlPlane, api: Api) -> None:
    settle(api, [bare("alone", "spot-a", grace=600, annotations=QUICK)], ready=1)
    result = drained(plane)
    grace = result.fate("alone").grace_given
    assert grace
    assert 112 <= grace.total_seconds() <= 115
    assert result.record.ending is Ending.DRAINED


def test_d8_a_job_that_ends_by_itself_is_left_alone(plane: ControlPlane, api: Api) -> None:
    settle(api, without_pods(job("sum", "spot-a", annotations=times(1, 1, completes=4))), total=1)
    result = drained(plane)
    assert {fate.departure for fate in result.record.pods} == {Departure.FINISHED}


def test_d9_a_long_job_is_evicted_at_its_last_safe_moment(plane: ControlPlane, api: Api) -> None:
    settle(api, without_pods(job("sum", "spot-a", annotations=QUICK)), ready=1)
    result = drained(plane, age=81)
    [fate] = result.record.pods
    assert fate.departure is Departure.EVICTED
    assert list(result.signalled().values()) == pytest.approx([85], abs=1)


@pytest.mark.parametrize(
    ("other", "departure"),
    [(1, Departure.DELETED_SEVERAL_BUDGETS), (0, Departure.DELETED_AGAINST_BUDGET)],
)
def test_d10_under_two_budgets_a_pod_is_deleted_when_both_have_room(
    plane: ControlPlane, api: Api, other: int, departure: Departure
) -> None:
    settle(api, without_pods(stateful_set("db", ["spot-a"], annotations=QUICK)), ready=1)
    settle(api, [budget("one", {"app": "db"}, maxUnavailable=1), budget("two", {"app": "db"}, maxUnavailable=other)])
    budget_is(api, "one", disruptionsAllowed=1)
    budget_is(api, "two", disruptionsAllowed=other, expectedPods=1)
    [fate] = drained(plane, age=0 if other else 81).record.pods
    assert fate.departure is departure


def test_d12_unready_pods_behind_a_shut_budget_leave_in_time_and_the_cure_is_named(
    plane: ControlPlane, api: Api
) -> None:
    annotations = times(1, 1, ready=False)
    settle(api, without_pods(stateful_set("db", ["spot-a"] * 2, annotations=annotations)), total=2)
    settle(api, [budget("db", {"app": "db"}, minAvailable="100%")])
    budget_is(api, "db", expectedPods=2)
    result = drained(plane, age=80)
    assert {fate.departure for fate in result.record.pods} == {Departure.DELETED_AGAINST_BUDGET}
    assert all("AlwaysAllow" in fate.note for fate in result.record.pods)


def test_d13_of_one_budget_the_longest_grace_goes_first(plane: ControlPlane, api: Api) -> None:
    graces = (10, 30, 60, 90)
    for grace in graces:
        made = deployment(f"g{grace}", {"spot-a": 1}, surge=0, grace=grace, annotations=times(2, 1))
        settle(api, without_pods(made))
    settle(api, [], ready=4)
    settle(api, [budget("all", {}, maxUnavailable=1)])
    budget_is(api, "all", disruptionsAllowed=1, expectedPods=4)
    room(api)
    result = drained(plane)
    order = [name.split("-")[0] for name, _ in sorted(result.signalled().items(), key=lambda item: item[1])]
    assert order == ["g90", "g60", "g30", "g10"]
    assert {fate.departure for fate in result.record.pods} == {Departure.EVICTED}


def test_d14_what_must_not_be_touched_is_not_and_the_drain_is_over_at_once(plane: ControlPlane, api: Api) -> None:
    agent: Json = {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": "agent", "namespace": "default"},
        "spec": {
            "selector": {"matchLabels": {"app": "agent"}},
            "template": {
                "metadata": {"labels": {"app": "agent"}, "annotations": QUICK},
                "spec": {"containers": [{"name": "c", "image": "x"}]},
            },
        },
    }
    settle(api, [agent], total=1)
    result = drained(plane)
    assert [ref.name.split("-")[0] for ref, _ in result.record.skipped] == ["agent"]
    assert result.record.pods == ()
    assert len(pods(api)) == 1


def test_d15_critical_pods_leave_when_the_others_are_gone(plane: ControlPlane, api: Api) -> None:
    others = [bare(f"p{i}", "spot-a", annotations=times(1, 2)) for i in range(9)]
    dns = bare("coredns", "spot-a", annotations=QUICK, priorityClassName="system-cluster-critical")
    settle(api, [*others, dns], ready=10)
    result = drained(plane)
    signalled = result.signalled()
    assert max(signalled[f"p{i}"] for i in range(9)) < 1.5
    assert signalled["coredns"] > 2


def test_d16_a_pod_without_a_budget_is_evicted_at_once_and_the_node_is_marked(plane: ControlPlane, api: Api) -> None:
    settle(api, without_pods(deployment("web", {"spot-a": 3}, annotations=QUICK)), ready=3)
    room(api)
    result = drained(plane)
    assert {fate.departure for fate in result.record.pods} == {Departure.EVICTED}
    found = api.get("/api/v1/nodes/spot-a")[1]
    assert found["spec"]["unschedulable"] is True
    assert TAINT_INTERRUPTED in [taint["key"] for taint in found["spec"]["taints"]]
    assert {LABEL_DRAINING, LABEL_EXCLUDE_FROM_LOAD_BALANCERS} <= set(found["metadata"]["labels"])
    events = api.get("/api/v1/namespaces/default/events")[1]["items"]
    assert {"SpotInterruption", "Drained"} <= {event["reason"] for event in events}


def test_d27_a_local_service_keeps_the_node_in_its_load_balancer_until_the_last_is_signalled(
    plane: ControlPlane, api: Api
) -> None:
    settle(api, without_pods(deployment("web", {"spot-a": 2}, annotations=times(3, 1))), ready=2)
    local = service("web", {"app": "web"}, externalTrafficPolicy="Local", type="LoadBalancer")
    settle(api, [local, budget("web", {"app": "web"}, maxUnavailable=1)])
    budget_is(api, "web", disruptionsAllowed=1)
    room(api)
    result = drained(plane)
    assert result.record.ending is Ending.DRAINED
    last = max(result.signalled().values())
    assert last > 2
    assert last <= result.told(Happening.EXCLUDED) < last + 1
    fields = api.get("/api/v1/nodes/spot-a")[1]["metadata"]
    assert LABEL_EXCLUDE_FROM_LOAD_BALANCERS in fields["labels"]


def test_d28_a_notice_that_comes_late_uses_all_that_is_left(plane: ControlPlane, api: Api) -> None:
    settle(api, without_pods(deployment("web", {"spot-a": 30}, annotations=QUICK)), ready=30)
    settle(api, [budget("web", {"app": "web"}, maxUnavailable=1)])
    budget_is(api, "web", disruptionsAllowed=1)
    result = drained(plane, age=100)
    assert len(result.record.pods) == 30
    assert all(100 <= when < 104 for when in result.signalled().values())
    graces = [fate.grace_given.total_seconds() for fate in result.record.pods if fate.grace_given]
    assert all(10 <= grace <= 15 for grace in graces)
    assert result.record.count(Departure.LOST) == 0


def test_evictions_go_on_the_moment_a_budget_opens(plane: ControlPlane, api: Api) -> None:
    settle(api, without_pods(deployment("web", {"spot-a": 6}, annotations=QUICK)), ready=6)
    settle(api, [budget("web", {"app": "web"}, maxUnavailable=1)])
    budget_is(api, "web", disruptionsAllowed=1)
    room(api)
    result = drained(plane)
    assert result.record.count(Departure.EVICTED) == 6
    moments = sorted(result.signalled().values())
    gaps = [later - earlier for earlier, later in pairwise(moments)]
    assert max(gaps) < 3  # start-up 1 s, and not kubectl's 5 s between its tries


def test_switched_off_a_held_pod_is_left_to_die_and_its_budget_named(plane: ControlPlane, api: Api) -> None:
    settle(api, without_pods(deployment("web", {"spot-a": 1}, annotations=QUICK)), ready=1)
    settle(api, [budget("web", {"app": "web"}, maxUnavailable=0)])
    budget_is(api, "web", expectedPods=1)
    result = drained(plane, age=115, settings=Settings(budgets=BudgetMode.NEVER))
    [fate] = result.record.pods
    assert (result.record.ending, fate.departure) == (Ending.PODS_LOST, Departure.LOST)
    assert [str(ref) for ref in fate.held_by] == ["default/web"]


def test_a_budget_that_cannot_be_kept_is_exceeded_by_the_least(plane: ControlPlane, api: Api) -> None:
    """D1b in small: 12 of 16 pods, start-up 5 s, 25 s to the last safe moment: two or three at a time, not one."""
    api.apply(node("spot-a", pods=12))
    settle(api, without_pods(deployment("web", {"spot-a": 12}, surge=0, annotations=times(5, 1))), ready=12)
    room(api)
    api.patch("/apis/apps/v1/namespaces/default/deployments/web", {"spec": {"replicas": 16}})
    settle(api, [], ready=16)
    settle(api, [budget("web", {"app": "web"}, maxUnavailable=1)])
    budget_is(api, "web", disruptionsAllowed=1)
    with ready_counts(api, "app=web") as counts:
        result = drained(plane, age=60)
    assert len(result.record.pods) == 12
    assert result.record.ending is Ending.DRAINED
    assert any(fate.note.startswith("paced: ") for fate in result.record.pods)
    assert max(result.signalled().values()) < 87
    assert min(counts) >= 12  # one at a time, six would be left at the last safe moment: 10
