"""Who replaces a pod of a ReplicaSet, a ReplicationController or a Deployment, and which goes first."""

from lambdas.domain.values.answers import Done
from tests.contract.steps import (
    NS,
    QUICK,
    all_ready,
    counted,
    evict,
    is_ready,
    owned,
    pods_of,
    ref_of,
)
from tests.contract.workloads import cordon, names, on_spot, owner
from tests.contract.world import Json, World
from tests.scenes import bare, budget, times


def test_a_replica_set_replaces_an_evicted_pod_while_it_still_shuts_down_and_not_on_the_cordoned_node(
    world: World,
) -> None:
    old = on_spot(world, owned("ReplicaSet", "web", 2, annotations=times(0.3, 5)), 2)
    cordon(world)
    port = world.cluster()
    assert evict(world, port, ref_of(old[0])) == Done()
    pods = all_ready(world, "web", 2)
    [new] = [pod for pod in pods if pod["metadata"]["name"] not in names(old)]
    assert new["spec"]["nodeName"] == "od-1"
    assert owner(new) == "web"
    assert world.get("Pod", NS, old[0]["metadata"]["name"])


def test_a_replication_controller_replaces_too(world: World) -> None:
    [old] = on_spot(world, owned("ReplicationController", "web", 1), 1)
    cordon(world)
    assert evict(world, world.cluster(), ref_of(old)) == Done()
    [new] = all_ready(world, "web", 1)
    assert new["spec"]["nodeName"] == "od-1"


def test_a_replica_set_lets_go_of_a_pod_whose_labels_no_longer_match_and_replaces_it(world: World) -> None:
    [old] = on_spot(world, owned("ReplicaSet", "web", 1), 1)
    name = old["metadata"]["name"]
    world.patch("Pod", NS, name, {"metadata": {"labels": {"app": "free"}}})
    all_ready(world, "web", 1)
    world.until(lambda: owner(world.get("Pod", NS, name)) == "")
    assert is_ready(world.get("Pod", NS, name))


def test_a_replica_set_adopts_an_ownerless_pod_that_matches_and_gives_up_the_surplus(world: World) -> None:
    on_spot(world, owned("ReplicaSet", "web", 1), 1)
    world.apply(bare("stray", "spot-a", {"app": "free"}, annotations=QUICK))
    world.until(lambda: is_ready(world.get("Pod", NS, "stray")))
    world.patch("ReplicaSet", NS, "web", {"spec": {"replicas": 2}})
    all_ready(world, "web", 2)
    world.patch("Pod", NS, "stray", {"metadata": {"labels": {"app": "web"}}})
    world.until(lambda: len([p for p in world.list("Pod") if p["metadata"]["labels"].get("app") == "web"]) == 2)
    assert all(owner(pod) == "web" for pod in pods_of(world, "web"))


def test_a_surplus_takes_the_unready_pod_first_then_the_cheapest(world: World) -> None:
    made = on_spot(world, owned("ReplicaSet", "web", 3), 3)
    cheap = made[1]["metadata"]["name"]
    cost = {"controller.kubernetes.io/pod-deletion-cost": "-1"}
    world.patch("Pod", NS, cheap, {"metadata": {"annotations": cost}})
    world.idle(0.2)
    world.patch("ReplicaSet", NS, "web", {"spec": {"replicas": 2}})
    left = all_ready(world, "web", 2)
    assert cheap not in names(left)
    world.apply(bare("sick", "spot-a", {"app": "web"}, annotations=times(0.3, 0.5, ready=False)))
    world.until(lambda: names(pods_of(world, "web")) == names(left))


def test_a_deployment_scales_its_replica_set(world: World) -> None:
    on_spot(world, owned("Deployment", "web", 1), 1)
    world.patch("Deployment", NS, "web", {"spec": {"replicas": 3}})
    pods = all_ready(world, "web", 3)
    [replica_set] = [r for r in world.list("ReplicaSet") if owner(r) == "web"]
    assert {owner(pod) for pod in pods} == {replica_set["metadata"]["name"]}
    assert all("pod-template-hash" in pod["metadata"]["labels"] for pod in pods)
    world.patch("Deployment", NS, "web", {"spec": {"replicas": 0}})
    all_ready(world, "web", 0)


def test_a_deployment_rolls_to_a_new_template(world: World) -> None:
    old = on_spot(world, owned("Deployment", "web", 2), 2)
    world.patch("Deployment", NS, "web", {"spec": {"template": {"metadata": {"labels": {"version": "2"}}}}})
    world.until(lambda: {p["metadata"]["labels"].get("version") for p in pods_of(world, "web")} == {"2"})
    new = all_ready(world, "web", 2)
    assert not names(old) & names(new)


def test_a_deleted_deployments_pods_go_with_it(world: World) -> None:
    on_spot(world, owned("Deployment", "web", 2), 2)
    world.delete("Deployment", NS, "web")
    world.until(lambda: not [p for p in world.list("Pod") if p["metadata"]["labels"].get("app") == "web"])


def test_a_pod_released_in_one_patch_is_replaced_at_once_and_both_count_in_its_budget(world: World) -> None:
    old = on_spot(world, owned("Deployment", "web", 2), 2)
    counted(world, budget("web", {"app": "web"}, maxUnavailable=1), desiredHealthy=1, disruptionsAllowed=1)
    name, labels = old[0]["metadata"]["name"], {"pod-template-hash": "released"}
    world.patch("Pod", NS, name, {"metadata": {"labels": labels, "ownerReferences": None}})
    all_ready(world, "web", 3)
    world.until(lambda: _counts(world) == {"expectedPods": 2, "currentHealthy": 3, "disruptionsAllowed": 2})
    assert owner(world.get("Pod", NS, name)) == ""


def _counts(world: World) -> Json:
    status: Json = (world.get("PodDisruptionBudget", NS, "web") or {})["status"]
    return {name: status.get(name, 0) for name in ("expectedPods", "currentHealthy", "disruptionsAllowed")}


def test_a_released_pod_whose_labels_come_back_is_adopted_again(world: World) -> None:
    [old] = on_spot(world, owned("Deployment", "web", 1), 1)
    name, hashed = old["metadata"]["name"], old["metadata"]["labels"]["pod-template-hash"]
    free = {"labels": {"pod-template-hash": "released"}, "ownerReferences": None}
    world.patch("Pod", NS, name, {"metadata": free})
    [new] = [p for p in all_ready(world, "web", 2) if p["metadata"]["name"] != name]
    back = {"labels": {"pod-template-hash": hashed}}
    world.patch("Pod", NS, name, {"metadata": back})
    left = all_ready(world, "web", 1)
    assert owner(left[0]) == owner(new)
