"""Where pods may go: room, selectors, taints, affinity, spread, ports."""

from typing import Any

from tests.contract.steps import NS, QUICK, all_ready, condition, owned, pods_of, running
from tests.contract.world import Json, World
from tests.scenes import bare, node

HOSTNAME = "kubernetes.io/hostname"
ZONE = "topology.kubernetes.io/zone"
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def floating(name: str = "web", **of: Any) -> Json:
    """A pod that the scheduler is to place."""
    pod = bare(name, "", {"app": name}, annotations=QUICK, **of)
    del pod["spec"]["nodeName"]
    return pod


def place(world: World, name: str = "web") -> str:
    """Where the pod is bound, "" where it is not."""
    found = world.get("Pod", NS, name) or {"spec": {}}
    return str(found["spec"].get("nodeName") or "")


def waits(world: World, name: str = "web") -> bool:
    """The scheduler has looked and found no place."""
    return condition(world.get("Pod", NS, name), "PodScheduled") == "False"


def test_a_pod_waits_until_there_is_room(world: World) -> None:
    world.apply(node("spot-a", pods=1))
    running(world, "there")
    world.apply(floating())
    world.until(lambda: waits(world))
    world.apply(node("od-1"))
    world.until(lambda: place(world) == "od-1")


def test_a_pod_that_goes_leaves_its_room(world: World) -> None:
    world.apply(node("spot-a", pods=1))
    running(world, "there")
    world.apply(floating())
    world.until(lambda: waits(world))
    world.delete("Pod", NS, "there")
    world.until(lambda: place(world) == "spot-a")


def test_requests_are_summed_up(world: World) -> None:
    world.apply(node("spot-a"))
    half = [{"name": "c", "image": "x", "resources": {"requests": {"cpu": "33"}}}]
    world.apply(floating("one", containers=half))
    world.until(lambda: place(world, "one"))
    world.apply(floating("two", containers=half))
    world.until(lambda: waits(world, "two"))


def test_a_resource_that_the_node_does_not_name_it_does_not_have(world: World) -> None:
    world.apply(node("spot-a"))
    wanted = {"limits": {"nvidia.com/gpu": "1"}}
    world.apply(floating(containers=[{"name": "c", "image": "x", "resources": wanted}]))
    world.until(lambda: waits(world))


def test_node_selectors_and_node_affinity_choose(world: World) -> None:
    world.apply(node("spot-a", labels={"tier": "spot"}))
    world.apply(node("od-1", labels={"tier": "steady", "cores": "8"}))
    world.apply(floating("one", nodeSelector={"tier": "steady"}))
    wants = [{"key": "cores", "operator": "Gt", "values": ["4"]}, {"key": "tier", "operator": "Exists"}]
    affinity = {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": [{"matchExpressions": wants}]}}}
    world.apply(floating("two", affinity=affinity))
    world.until(lambda: place(world, "one") == place(world, "two") == "od-1")


def test_only_who_tolerates_a_taint_gets_in(world: World) -> None:
    world.apply(node("spot-a", taints=[{"key": "team", "value": "a", "effect": "NoSchedule"}]))
    world.apply(floating("guest"))
    tolerations = [{"key": "team", "operator": "Equal", "value": "a"}]
    world.apply(floating("member", tolerations=tolerations))
    world.until(lambda: place(world, "member") == "spot-a")
    world.until(lambda: waits(world, "guest"))


def test_pods_that_repel_each_other_are_kept_apart_in_both_directions(world: World) -> None:
    world.apply(node("spot-a"))
    term = {"labelSelector": {"matchLabels": {"app": "shy"}}, "topologyKey": HOSTNAME}
    term_of_guest = {"labelSelector": {"matchLabels": {"app": "guest"}}, "topologyKey": HOSTNAME}
    world.apply(floating("shy", affinity={"podAntiAffinity": {REQUIRED: [term, term_of_guest]}}))
    world.until(lambda: place(world, "shy"))
    world.apply(floating("guest"))
    world.until(lambda: waits(world, "guest"))
    world.apply(node("od-1"))
    world.apply(later := _renamed(floating("guest"), "later"))
    world.until(lambda: place(world, later["metadata"]["name"]) == "od-1")


def _renamed(pod: Json, name: str) -> Json:
    return {**pod, "metadata": {**pod["metadata"], "name": name}}


def test_a_workload_with_anti_affinity_to_itself_has_one_pod_a_node(world: World) -> None:
    for name in ("spot-a", "od-1"):
        world.apply(node(name))
    term = {"labelSelector": {"matchLabels": {"app": "web"}}, "topologyKey": HOSTNAME}
    world.apply(owned("ReplicaSet", "web", 3, affinity={"podAntiAffinity": {REQUIRED: [term]}}))
    world.until(lambda: sum(1 for p in pods_of(world, "web") if condition(p, "PodScheduled") == "False") == 1)
    world.until(lambda: sum(1 for p in pods_of(world, "web") if p["spec"].get("nodeName")) == 2)
    placed = [p["spec"]["nodeName"] for p in pods_of(world, "web") if p["spec"].get("nodeName")]
    assert sorted(placed) == ["od-1", "spot-a"]


def test_a_pod_follows_the_one_it_has_affinity_to(world: World) -> None:
    world.apply(node("spot-a", labels={ZONE: "a"}))
    world.apply(node("od-1", labels={ZONE: "b"}))
    running(world, "cache", on="od-1")
    term = {"labelSelector": {"matchLabels": {"app": "cache"}}, "topologyKey": ZONE}
    world.apply(floating("near", affinity={"podAffinity": {REQUIRED: [term]}}))
    world.until(lambda: place(world, "near") == "od-1")
    alone = {"labelSelector": {"matchLabels": {"app": "nobody"}}, "topologyKey": ZONE}
    world.apply(floating("lost", affinity={"podAffinity": {REQUIRED: [alone]}}))
    world.until(lambda: waits(world, "lost"))


def test_the_first_of_a_group_with_affinity_to_itself_may_go_anywhere(world: World) -> None:
    world.apply(node("spot-a", labels={ZONE: "a"}))
    term = {"labelSelector": {"matchLabels": {"app": "web"}}, "topologyKey": ZONE}
    world.apply(owned("ReplicaSet", "web", 2, affinity={"podAffinity": {REQUIRED: [term]}}))
    all_ready(world, "web", 2)


def test_a_spread_that_must_hold_keeps_a_pod_waiting(world: World) -> None:
    world.apply(node("spot-a", labels={ZONE: "a"}))
    world.apply(node("od-1", labels={ZONE: "b"}, unschedulable=True))
    spread = {
        "maxSkew": 1,
        "topologyKey": ZONE,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": "web"}},
    }
    world.apply(owned("ReplicaSet", "web", 2, topologySpreadConstraints=[spread]))
    world.until(lambda: sorted(bool(p["spec"].get("nodeName")) for p in pods_of(world, "web")) == [False, True])
    world.until(lambda: any(condition(p, "PodScheduled") == "False" for p in pods_of(world, "web")))
    world.patch("Node", "", "od-1", {"spec": {"unschedulable": None}})
    placed = all_ready(world, "web", 2)
    assert {p["spec"]["nodeName"] for p in placed} == {"spot-a", "od-1"}


def test_a_port_of_the_host_is_taken_once(world: World) -> None:
    world.apply(node("spot-a"))
    containers = [{"name": "c", "image": "x", "ports": [{"containerPort": 80, "hostPort": 8080}]}]
    world.apply(floating("one", containers=containers))
    world.until(lambda: place(world, "one"))
    world.apply(floating("two", containers=containers))
    world.until(lambda: waits(world, "two"))
