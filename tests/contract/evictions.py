"""Evicting and deleting pods: what is answered, and what happens to the pod.

Where a rule is the API's: `policy/v1` Eviction, pkg/registry/core/pod/storage/eviction.go.
"""

from dataclasses import replace
from datetime import timedelta

from lambdas.domain.values.answers import Absent, Blocked, Done, SeveralBudgets
from lambdas.domain.values.kubernetes import PodRef
from tests.contract.steps import (
    NOBODYS,
    NS,
    all_ready,
    condition,
    counted,
    delete,
    evict,
    is_ready,
    owned,
    phase,
    pod_in,
    ref_of,
    running,
    shut,
    view,
    watch_until,
)
from tests.contract.world import Json, World
from tests.scenes import bare, budget, node, times


def raw(world: World, pod: PodRef) -> Json | None:
    """The pod if it is that incarnation."""
    found = world.get("Pod", pod.namespace, pod.name)
    return found if found and found["metadata"]["uid"] == pod.uid else None


def is_leaving(world: World, pod: PodRef) -> bool:
    found = raw(world, pod)
    return found is None or bool(found["metadata"].get("deletionTimestamp"))


def test_an_accepted_eviction_shows_the_pod_terminating_and_then_gone(world: World) -> None:
    port = world.cluster()
    pod = running(world)
    view(world, port)
    assert evict(world, port, pod) == Done()
    seen = watch_until(world, port, lambda _: (p := pod_in(port, "web")) and p.deletion)
    assert seen
    assert seen.grace == timedelta(seconds=5)
    watch_until(world, port, lambda _: pod_in(port, "web") is None)
    assert raw(world, pod) is None


def test_an_eviction_sets_the_disruption_target_condition_and_a_delete_does_not(world: World) -> None:
    evicted, deleted = (running(world, name, annotations=times(0.3, 3)) for name in ("evicted", "deleted"))
    port = world.cluster()
    assert evict(world, port, evicted) == Done()
    assert delete(world, port, deleted) == Done()
    world.until(lambda: is_leaving(world, evicted) and is_leaving(world, deleted))
    assert condition(raw(world, evicted), "DisruptionTarget") == "True"
    assert condition(raw(world, deleted), "DisruptionTarget") == ""


def test_an_eviction_behind_a_closed_budget_is_blocked_and_names_it(world: World) -> None:
    pod = running(world)
    ref = shut(world)
    answer = evict(world, world.cluster(), pod)
    assert isinstance(answer, Blocked)
    assert answer.budget == ref
    assert "web" in answer.message
    assert not is_leaving(world, pod)
    assert condition(raw(world, pod), "DisruptionTarget") == ""


def test_an_eviction_uses_its_budget_up_before_the_next(world: World) -> None:
    world.apply(node("spot-a"))
    world.apply(owned("ReplicaSet", "web", 3, annotations=times(3, 0.5)))
    first, second, _ = map(ref_of, all_ready(world, "web", 3))
    counted(world, budget("web", {"app": "web"}, maxUnavailable=1), disruptionsAllowed=1)
    port = world.cluster()
    assert evict(world, port, first) == Done()
    assert isinstance(evict(world, port, second), Blocked)


def test_a_pod_under_two_budgets_cannot_be_evicted_and_can_be_deleted(world: World) -> None:
    pod = running(world)
    for name in ("one", "two"):
        counted(world, budget(name, {"app": "web"}, minAvailable=0), currentHealthy=1)
    port = world.cluster()
    assert isinstance(evict(world, port, pod), SeveralBudgets)
    assert not is_leaving(world, pod)
    assert delete(world, port, pod) == Done()
    world.until(lambda: raw(world, pod) is None)


def test_an_unready_pod_stays_behind_a_budget_that_lacks_healthy_ones(world: World) -> None:
    pod = running(world, annotations=times(0.3, 0.5, ready=False))
    counted(world, budget("web", {"app": "web"}, minAvailable=1), disruptionsAllowed=0, currentHealthy=0)
    assert isinstance(evict(world, world.cluster(), pod), Blocked)


def test_an_unready_pod_goes_where_enough_others_are_healthy(world: World) -> None:
    sick = running(world, "sick", labels={"app": "web"}, annotations=times(0.3, 0.5, ready=False))
    running(world, "well", labels={"app": "web"})
    counted(world, budget("web", {"app": "web"}, minAvailable=1), disruptionsAllowed=0, currentHealthy=1)
    assert evict(world, world.cluster(), sick) == Done()


def test_an_unready_pod_goes_where_the_budget_always_allows_it(world: World) -> None:
    pod = running(world, annotations=times(0.3, 0.5, ready=False))
    lenient = budget("web", {"app": "web"}, minAvailable=1, unhealthyPodEvictionPolicy="AlwaysAllow")
    counted(world, lenient, disruptionsAllowed=0, currentHealthy=0)
    assert evict(world, world.cluster(), pod) == Done()


def test_a_pending_pod_goes_whatever_its_budget_says(world: World) -> None:
    shut(world)
    made = world.apply(bare("web", "", {"app": "web"}, nodeSelector={"nowhere": "true"}) | {"status": {}})
    assert evict(world, world.cluster(), ref_of(made)) == Done()
    world.until(lambda: world.get("Pod", NS, "web") is None)


def test_a_finished_pod_goes_whatever_its_budget_says(world: World) -> None:
    pod = running(world, annotations=times(0.3, 0.5, completes=0.2), restartPolicy="Never")
    shut(world)
    world.until(lambda: phase(raw(world, pod)) == "Succeeded")
    assert evict(world, world.cluster(), pod) == Done()
    world.until(lambda: raw(world, pod) is None)


def test_a_pod_that_never_was_is_absent(world: World) -> None:
    port = world.cluster()
    assert evict(world, port, PodRef(NS, "nobody", NOBODYS)) == Absent()
    assert delete(world, port, PodRef(NS, "nobody", NOBODYS)) == Absent()


def test_a_stale_uid_is_absent_and_its_namesake_is_left_alone(world: World) -> None:
    pod = running(world)
    port = world.cluster()
    assert evict(world, port, replace(pod, uid=NOBODYS)) == Absent()
    assert delete(world, port, replace(pod, uid=NOBODYS)) == Absent()
    world.idle(0.2)
    assert not is_leaving(world, pod)


def test_a_stale_uid_behind_a_closed_budget_is_still_blocked(world: World) -> None:
    pod = running(world)
    shut(world)
    assert isinstance(evict(world, world.cluster(), replace(pod, uid=NOBODYS)), Blocked)


def test_a_shorter_grace_shortens_a_deletion_and_a_longer_one_changes_nothing(world: World) -> None:
    pod = running(world, annotations=times(0.3, 60), grace=60)
    port = world.cluster()
    assert evict(world, port, pod, timedelta(seconds=60)) == Done()
    assert evict(world, port, pod, timedelta(seconds=30)) == Done()
    assert _grace(world, pod) == 30
    assert evict(world, port, pod, timedelta(seconds=40)) == Done()
    assert _grace(world, pod) == 30
    assert delete(world, port, pod, timedelta(seconds=1)) == Done()
    world.until(lambda: raw(world, pod) is None, within=5)


def test_no_pod_gets_more_grace_than_its_own(world: World) -> None:
    pod = running(world, annotations=times(0.3, 3), grace=4)
    port = world.cluster()
    view(world, port)
    assert evict(world, port, pod, timedelta(seconds=60)) == Done()
    assert _grace(world, pod) == 4


def test_a_delete_asks_no_budget(world: World) -> None:
    pod = running(world)
    shut(world)
    assert delete(world, world.cluster(), pod) == Done()
    world.until(lambda: raw(world, pod) is None)


def _grace(world: World, pod: PodRef) -> int:
    found = raw(world, pod)
    assert found
    return int(found["metadata"]["deletionGracePeriodSeconds"])


def test_a_grace_below_a_second_is_one_second(world: World) -> None:
    pod = running(world, annotations=times(0.3, 60))
    assert delete(world, world.cluster(), pod, timedelta(milliseconds=200)) == Done()
    assert _grace(world, pod) == 1
    assert is_ready(raw(world, pod))
