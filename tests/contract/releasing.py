"""Releasing a pod from its ReplicaSet: what one patch leaves, who replaces it, and what is answered."""

from dataclasses import replace

from lambdas.contract import LABEL_RELEASED, RELEASED_PREFIX
from lambdas.domain.values.answers import Absent, Conflict, Done
from lambdas.domain.values.kubernetes import Owner
from lambdas.domain.values.releases import DELETION_COST, WRITTEN_ON_RELEASE
from tests.contract.releases import again, hash_of, memory_of, release, releasing, seen_by, web_on_spot
from tests.contract.steps import (
    NOBODYS,
    NS,
    QUICK,
    all_ready,
    ask,
    counted,
    evict,
    is_ready,
    pods_of,
    ref_of,
)
from tests.contract.workloads import owner
from tests.contract.world import Json, World
from tests.scenes import budget, times


def test_a_released_pod_runs_on_without_an_owner_and_remembers_where_it_came_from(world: World) -> None:
    [old] = web_on_spot(world)
    action, port = releasing(world, old), world.cluster()
    seen_by(world, port)
    assert ask(world, port, action) == Done()
    new = again(world, old)
    assert new["metadata"]["uid"] == old["metadata"]["uid"]
    assert is_ready(new)
    assert not new["metadata"].get("ownerReferences")
    assert hash_of(new) == RELEASED_PREFIX + hash_of(old)
    assert new["metadata"]["labels"][LABEL_RELEASED] == "true"
    assert new["metadata"]["labels"]["app"] == "web"
    assert WRITTEN_ON_RELEASE.items() <= new["metadata"]["annotations"].items()
    memory = memory_of(new)
    assert memory
    assert (memory.replica_set, memory.replica_set_uid) == (action.replica_set.name, action.replica_set.uid)
    assert (memory.deployment, memory.deployment_uid) == (action.deployment.name, action.deployment.uid)
    assert (memory.hash, memory.at) == (action.hash, action.at)
    assert memory.former == dict.fromkeys(WRITTEN_ON_RELEASE)


def test_a_release_remembers_the_annotations_that_it_overwrites(world: World) -> None:
    [old] = web_on_spot(world, annotations={**QUICK, DELETION_COST: "7", "note": "x"})
    assert release(world, world.cluster(), old) == Done()
    memory = memory_of(again(world, old))
    assert memory
    assert memory.former == {**dict.fromkeys(WRITTEN_ON_RELEASE), DELETION_COST: "7"}
    assert again(world, old)["metadata"]["annotations"]["note"] == "x"


def test_a_released_pod_is_replaced_at_once_and_counts_in_its_budget_until_it_is_evicted(world: World) -> None:
    old = web_on_spot(world, 2, annotations=times(2, 1))
    counted(world, budget("web", {"app": "web"}, maxUnavailable=0), expectedPods=2, disruptionsAllowed=0)
    port = world.cluster()
    assert release(world, port, old[0]) == Done()
    world.until(lambda: len(pods_of(world, "web")) == 3, within=1)
    assert _counts(world) == (2, 2, 0)
    world.until(lambda: _counts(world) == (2, 3, 1))
    assert evict(world, port, ref_of(old[0])) == Done()
    world.until(lambda: _counts(world) == (2, 2, 0))


def test_a_budget_over_nothing_but_released_pods_allows_none(world: World) -> None:
    [old] = web_on_spot(world)
    counted(world, budget("web", {"app": "web"}, maxUnavailable=1), expectedPods=1, disruptionsAllowed=1)
    port = world.cluster()
    assert release(world, port, old) == Done()
    world.patch("Deployment", NS, "web", {"spec": {"replicas": 0}})
    all_ready(world, "web", 1)
    world.until(lambda: _counts(world) == (0, 1, 0))
    assert evict(world, port, ref_of(old)) != Done()


def _counts(world: World) -> tuple[int, int, int]:
    status: Json = (world.get("PodDisruptionBudget", NS, "web") or {})["status"]
    expected, healthy, allowed = (status.get(f, 0) for f in ("expectedPods", "currentHealthy", "disruptionsAllowed"))
    return expected, healthy, allowed


def test_releasing_a_pod_whose_name_another_has_now_is_absent_and_leaves_that_one_alone(world: World) -> None:
    [old] = web_on_spot(world)
    port = world.cluster()
    seen_by(world, port)
    action = releasing(world, old)
    assert ask(world, port, replace(action, pod=replace(action.pod, uid=NOBODYS))) == Absent()
    assert owner(again(world, old))


def test_releasing_a_pod_that_is_gone_is_absent(world: World) -> None:
    web_on_spot(world)
    [pod] = pods_of(world, "web")
    action, port = releasing(world, pod), world.cluster()
    seen_by(world, port)
    assert ask(world, port, replace(action, pod=replace(action.pod, name="nobody"))) == Absent()


def test_releasing_by_another_hash_or_from_another_owner_is_a_conflict_and_changes_nothing(world: World) -> None:
    [old] = web_on_spot(world)
    port = world.cluster()
    seen_by(world, port)
    action = releasing(world, old)
    other = Owner("ReplicaSet", action.replica_set.name, NOBODYS, "apps/v1")
    assert isinstance(ask(world, port, replace(action, hash="5d4f8c7b9")), Conflict)
    assert isinstance(ask(world, port, replace(action, replica_set=other)), Conflict)
    assert again(world, old)["metadata"]["labels"] == old["metadata"]["labels"]
    assert owner(again(world, old)) == action.replica_set.name


def test_releasing_a_pod_twice_is_a_conflict_and_keeps_what_it_remembers(world: World) -> None:
    [old] = web_on_spot(world)
    action, port = releasing(world, old), world.cluster()
    seen_by(world, port)
    assert ask(world, port, action) == Done()
    memory = memory_of(again(world, old))
    assert isinstance(ask(world, port, action), Conflict)
    assert memory_of(again(world, old)) == memory
