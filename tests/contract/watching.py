"""What is observed, and how it is kept current."""

from datetime import timedelta

from lambdas.domain.values.actions import Cordon, Observe
from lambdas.domain.values.answers import Done
from lambdas.domain.values.observation import Freshness
from tests.contract.steps import (
    NS,
    QUICK,
    all_ready,
    ask,
    budget_in,
    collect,
    evict,
    mark_of,
    owned,
    pod_in,
    ref_of,
    running,
    shut,
    view,
    watch_until,
)
from tests.contract.world import World
from tests.scenes import bare, node, service, times


def test_nothing_is_observed_before_it_is_asked_for(world: World) -> None:
    running(world)
    observation = world.cluster().observe()
    assert observation.nodes == {}
    assert observation.budgets.freshness is Freshness.PENDING
    assert observation.services.freshness is Freshness.PENDING


def test_a_node_is_observed_with_its_pods_and_the_clusters_budgets_and_services(world: World) -> None:
    here, there = running(world, "here"), running(world, "there", on="od-1")
    shut(world, "here")
    world.apply(service("front", {"app": "here"}, type="NodePort", externalTrafficPolicy="Local"))
    port = world.cluster()
    seen = view(world, port)
    assert seen.node
    assert seen.node.name == "spot-a"
    assert [pod.ref for pod in seen.pods] == [here]
    assert there not in [pod.ref for pod in seen.pods]
    assert seen.freshness is Freshness.CURRENT
    assert budget_in(port, "here")
    assert [s.is_local for s in port.observe().services.items if s.name == "front"] == [True]


def test_a_pod_is_read_as_the_api_shows_it(world: World) -> None:
    ref = running(world, annotations={**QUICK, "note": "x"}, grace=7)
    port = world.cluster()
    [pod] = view(world, port).pods
    assert (pod.ref, pod.node_name, pod.phase, pod.owner) == (ref, "spot-a", "Running", None)
    assert pod.grace == timedelta(seconds=7)
    assert pod.annotations["note"] == "x"
    assert pod.labels["app"] == "web"  # newer servers copy the node's zone and region beside it
    watch_until(world, port, lambda _: (p := pod_in(port, "web")) and p.ready)
    seen = pod_in(port, "web")
    assert seen
    assert seen.ready_at
    assert seen.created_at
    assert seen.ready_at >= seen.created_at


def test_pods_bound_after_the_cordon_are_seen_without_asking_again(world: World) -> None:
    running(world, "first")
    port = world.cluster()
    view(world, port)
    assert ask(world, port, Cordon("spot-a", mark_of(world))) == Done()
    world.apply(bare("late", "spot-a", annotations=QUICK))
    watch_until(world, port, lambda _: pod_in(port, "late"))


def test_observing_again_lists_again(world: World) -> None:
    running(world)
    port = world.cluster()
    before = view(world, port).listed_at
    world.idle(0.1)
    asked_at = world.clock.now()
    assert ask(world, port, Observe("spot-a")) == Done()
    assert before < asked_at <= port.observe().nodes["spot-a"].listed_at


def test_the_watch_brings_a_budgets_opening_without_a_request(world: World) -> None:
    running(world)
    port = world.cluster()
    shut(world)
    view(world, port)
    sent = world.requests_of(port)
    world.patch("PodDisruptionBudget", NS, "web", {"spec": {"minAvailable": 0}})
    watch_until(world, port, lambda _: (b := budget_in(port, "web")) and b.is_observed and b.allowed == 1)
    assert world.requests_of(port) == sent


def test_a_budget_that_is_made_or_deleted_comes_and_goes(world: World) -> None:
    world.apply(node("spot-a"))
    port = world.cluster()
    view(world, port)
    shut(world)
    watch_until(world, port, lambda _: budget_in(port, "web"))
    world.delete("PodDisruptionBudget", NS, "web")
    watch_until(world, port, lambda _: budget_in(port, "web") is None)


def test_a_pod_that_becomes_ready_or_is_relabelled_is_seen(world: World) -> None:
    world.apply(node("spot-a"))
    port = world.cluster()
    view(world, port)
    world.apply(bare("web", "spot-a", annotations=times(1, 0.5)))
    assert watch_until(world, port, lambda _: (p := pod_in(port, "web")) and not p.ready)
    watch_until(world, port, lambda _: (p := pod_in(port, "web")) and p.ready)
    world.patch("Pod", NS, "web", {"metadata": {"labels": {"app": "other"}}})
    watch_until(world, port, lambda _: (p := pod_in(port, "web")) and p.labels.get("app") == "other")


def test_a_pod_of_another_node_with_the_same_name_is_not_the_one_that_left(world: World) -> None:
    world.apply(node("spot-a"))
    world.apply(owned("StatefulSet", "db", 1, spec={"serviceName": "db"}))
    [old] = all_ready(world, "db", 1)
    world.apply(node("od-1"))
    port = world.cluster()
    view(world, port)
    assert ask(world, port, Cordon("spot-a", mark_of(world))) == Done()
    assert evict(world, port, ref_of(old)) == Done()
    watch_until(world, port, lambda o: not o.nodes["spot-a"].pods)
    [new] = all_ready(world, "db", 1)
    assert new["metadata"]["name"] == old["metadata"]["name"]
    assert new["spec"]["nodeName"] == "od-1"
    world.idle(0.1)
    port.wait(world.clock.now())
    assert pod_in(port, "db-0") is None


def test_two_nodes_are_observed_at_once(world: World) -> None:
    for name in ("spot-a", "spot-b"):
        running(world, f"on-{name}", on=name)
    port = world.cluster()
    collect(world, port, Observe("spot-a"), Observe("spot-b"))
    seen = {n: [p.ref.name for p in v.pods] for n, v in port.observe().nodes.items()}
    assert seen == {"spot-a": ["on-spot-a"], "spot-b": ["on-spot-b"]}


def test_a_node_that_is_not_there_is_observed_as_none_until_it_comes(world: World) -> None:
    port = world.cluster()
    assert view(world, port).node is None
    world.apply(node("spot-a"))
    watch_until(world, port, lambda o: o.nodes["spot-a"].node)


def test_a_node_whose_object_is_deleted_is_none(world: World) -> None:
    world.apply(node("spot-a"))
    port = world.cluster()
    view(world, port)
    world.delete("Node", "", "spot-a")
    watch_until(world, port, lambda o: o.nodes["spot-a"].node is None)
