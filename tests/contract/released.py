"""Who else has to do with a released pod: who sees it, lists it, and takes it for its own."""

from lambdas.contract import LABEL_DRAINING
from lambdas.domain.values.actions import CheckGuard, Cordon, ListMarked, ListReleased
from lambdas.domain.values.answers import Absent, Done, Found
from lambdas.domain.values.kubernetes import Pod, PodRef
from lambdas.domain.values.observation import NamespaceView
from lambdas.domain.values.releases import DO_NOT_DISRUPT
from tests.contract.releases import again, memory_of, release, web_on_spot
from tests.contract.steps import (
    NS,
    all_ready,
    ask,
    mark_of,
    owned,
    pods_of,
    ref_of,
    running,
    watch_until,
)
from tests.contract.workloads import names, owner
from tests.contract.world import World
from tests.scenes import node


def test_a_release_is_seen_by_whoever_observes_the_namespace(world: World) -> None:
    [old] = web_on_spot(world)
    port = world.cluster()
    assert release(world, port, old) == Done()
    pods = watch_until(world, port, lambda o: _once_released(o.namespaces[NS], ref_of(old)))
    assert pods[ref_of(old)].owner is None
    assert pods[ref_of(old)].annotations[DO_NOT_DISRUPT] == "true"
    assert {pod.ref.name for pod in pods.values() if pod.owner} == names(pods_of(world, "web")) - names([old])


def _once_released(seen: NamespaceView, old: PodRef) -> dict[PodRef, Pod]:
    """The pods, once the released one and its replacement are there."""
    pods = {pod.ref: pod for pod in seen.pods.items}
    return pods if len(pods) == 2 and pods[old].released else {}


def test_released_pods_are_listed_over_the_whole_cluster(world: World) -> None:
    old = web_on_spot(world, 2)
    running(world, "other")
    assert ask(world, world.cluster(), ListReleased()) == Found()
    assert release(world, world.cluster(), old[0]) == Done()
    found = ask(world, world.cluster(), ListReleased())
    assert isinstance(found, Found)
    [pod] = found.pods
    assert pod.ref == ref_of(old[0])
    assert pod.released == memory_of(again(world, old[0]))


def test_marked_nodes_are_listed_for_who_sweeps_released_pods(world: World) -> None:
    for name in ("spot-a", "od-1"):
        world.apply(node(name))
    port = world.cluster()
    assert ask(world, port, ListMarked()) == Found()
    assert ask(world, port, Cordon("spot-a", mark_of(world))) == Done()
    found = ask(world, world.cluster(), ListMarked())
    assert isinstance(found, Found)
    assert [n.name for n in found.nodes] == ["spot-a"]
    assert found.nodes[0].labels[LABEL_DRAINING] == "true"


def test_the_guard_of_releases_stands_until_it_is_taken_away(world: World) -> None:
    port = world.cluster()
    assert ask(world, port, CheckGuard()) == Done()
    world.without_guard()
    assert ask(world, port, CheckGuard()) == Absent()


def test_a_released_pod_that_a_daemon_set_selects_is_adopted_by_it_and_deleted(world: World) -> None:
    world.apply(node("spot-a"))
    world.apply(owned("DaemonSet", "web"))
    all_ready(world, "web", 1)
    world.idle(1)  # of several the oldest stays, by whole seconds
    world.apply(owned("Deployment", "web", 1))
    [old] = [pod for pod in all_ready(world, "web", 2) if owner(pod) != "web"]
    assert release(world, world.cluster(), old) == Done()
    world.until(lambda: names([old]).isdisjoint(names(pods_of(world, "web"))))


def test_a_released_pod_that_a_job_selects_is_adopted_by_it_and_deleted(world: World) -> None:
    [old] = web_on_spot(world)
    spec = {"suspend": True, "manualSelector": True, "selector": {"matchLabels": {"app": "web"}}}
    job = owned("Job", "batch", spec=spec, restartPolicy="Never")
    job["spec"]["template"]["metadata"]["labels"] = {"app": "web"}
    world.apply(job)
    assert release(world, world.cluster(), old) == Done()
    world.until(lambda: names([old]).isdisjoint(names(pods_of(world, "web"))))
