"""What StatefulSets, Jobs and DaemonSets make of a drain; and nobody, of a bare pod."""

from lambdas.domain.values.answers import Done
from tests.contract.steps import (
    NS,
    all_ready,
    condition,
    evict,
    is_ready,
    owned,
    phase,
    pods_of,
    ref_of,
    running,
)
from tests.contract.workloads import cordon, daemons, on_spot, owner, places
from tests.contract.world import Json, World
from tests.scenes import node, times


def test_a_stateful_set_makes_the_same_name_with_a_new_uid_once_the_old_pod_is_gone(world: World) -> None:
    slow = times(0.3, 2)
    [old] = on_spot(world, owned("StatefulSet", "db", 1, spec={"serviceName": "db"}, annotations=slow), 1)
    cordon(world)
    assert evict(world, world.cluster(), ref_of(old)) == Done()
    world.idle(1)
    still = world.get("Pod", NS, "db-0")
    assert still
    assert still["metadata"]["uid"] == old["metadata"]["uid"]
    [new] = all_ready(world, "db", 1)
    assert new["metadata"]["name"] == "db-0"
    assert new["metadata"]["uid"] != old["metadata"]["uid"]
    assert new["spec"]["nodeName"] == "od-1"


def test_an_ordered_stateful_set_brings_its_pods_up_one_after_the_other(world: World) -> None:
    world.apply(node("spot-a"))
    world.apply(owned("StatefulSet", "db", 2, spec={"serviceName": "db"}, annotations=times(1, 0.5)))
    world.until(lambda: world.get("Pod", NS, "db-0"))
    assert world.get("Pod", NS, "db-1") is None
    world.until(lambda: world.get("Pod", NS, "db-1"))
    assert is_ready(world.get("Pod", NS, "db-0"))
    all_ready(world, "db", 2)


def test_a_parallel_stateful_set_brings_its_pods_up_side_by_side(world: World) -> None:
    world.apply(node("spot-a"))
    spec = {"serviceName": "db", "podManagementPolicy": "Parallel"}
    world.apply(owned("StatefulSet", "db", 2, spec=spec, annotations=times(2, 0.5)))
    world.until(lambda: len(pods_of(world, "db")) == 2)
    assert not any(map(is_ready, pods_of(world, "db")))


def job(world: World, **spec: object) -> Json:
    """A Job's one pod, running."""
    world.apply(node("spot-a"))
    world.apply(owned("Job", "batch", restartPolicy="Never", spec={"completions": 1, "parallelism": 1, **spec}))
    [pod] = all_ready(world, "batch", 1)
    return pod


def test_a_jobs_evicted_pod_has_the_disruption_target_and_its_policy_may_ignore_the_failure(world: World) -> None:
    rule = {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]}
    pod = job(world, backoffLimit=0, podFailurePolicy={"rules": [rule]})
    assert evict(world, world.cluster(), ref_of(pod)) == Done()
    leaving = world.until(lambda: world.get("Pod", NS, pod["metadata"]["name"]))
    assert condition(leaving, "DisruptionTarget") == "True"
    world.until(lambda: world.get("Pod", NS, pod["metadata"]["name"]) is None)
    [new] = world.until(lambda: [p for p in pods_of(world, "batch") if ref_of(p) != ref_of(pod)], within=30)
    assert owner(new) == "batch"
    assert condition(world.get("Job", NS, "batch"), "Failed") == ""


def test_a_jobs_deleted_pod_counts_as_a_failure(world: World) -> None:
    pod = job(world, backoffLimit=0)
    world.delete("Pod", NS, pod["metadata"]["name"])
    world.until(lambda: condition(world.get("Job", NS, "batch"), "Failed") == "True")
    assert pods_of(world, "batch") == []


def test_a_job_is_complete_when_its_pod_has_ended_by_itself(world: World) -> None:
    world.apply(node("spot-a"))
    ends = times(0.3, 0.5, completes=0.5)
    world.apply(owned("Job", "batch", restartPolicy="Never", annotations=ends, spec={"completions": 1}))
    world.until(lambda: condition(world.get("Job", NS, "batch"), "Complete") == "True")
    assert {phase(pod) for pod in pods_of(world, "batch")} == {"Succeeded"}


def test_a_daemon_sets_pod_is_put_straight_back_on_the_cordoned_node(world: World) -> None:
    [old] = daemons(world)
    world.patch("Node", "", "spot-a", {"spec": {"unschedulable": True}})
    assert evict(world, world.cluster(), ref_of(old)) == Done()
    new = world.until(lambda: [p for p in all_ready(world, "agent", 1) if ref_of(p) != ref_of(old)])
    assert places(new) == {"spot-a"}


def test_a_bare_pod_is_not_replaced(world: World) -> None:
    pod = running(world)
    assert evict(world, world.cluster(), pod) == Done()
    world.until(lambda: world.get("Pod", NS, "web") is None)
    world.idle(0.5)
    assert pods_of(world, "web") == []
