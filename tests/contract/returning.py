"""A released pod given back to its ReplicaSet, the last traces taken off it, and a ReplicaSet woken."""

from datetime import datetime

from lambdas.application.ports import Cluster
from lambdas.contract import ANNOTATION_RELEASED_FROM, ANNOTATION_WOKEN_AT, LABEL_RELEASED
from lambdas.domain.values.actions import ListReleased, TakeBack, TidyUp, Wake
from lambdas.domain.values.answers import Absent, Done, Found
from lambdas.domain.values.kubernetes import PodRef
from lambdas.domain.values.releases import DELETION_COST, DO_NOT_DISRUPT, WRITTEN_ON_RELEASE
from tests.contract.releases import again, hash_of, memory_of, release, web_on_spot
from tests.contract.steps import NOBODYS, NS, QUICK, all_ready, ask, is_ready, pods_of, ref_of
from tests.contract.workloads import cordon, names, owner
from tests.contract.world import Json, World

COST = {DELETION_COST: "7"}


def released(world: World, port: Cluster, *, has_room: bool, annotations: Json | None = None) -> Json:
    """The one pod of a Deployment, released; its replacement Ready where there is room for it, else pending."""
    [old] = web_on_spot(world, annotations={**QUICK, **(annotations or {})})
    if not has_room:
        world.delete("Node", "", "od-1")
        cordon(world)
    assert release(world, port, old) == Done()
    if has_room:
        all_ready(world, "web", 2)
    else:
        world.until(lambda: len(pods_of(world, "web")) == 2)
    return old


def swept(world: World, port: Cluster, pod: Json) -> PodRef:
    """The pod as a sweep finds it."""
    found = ask(world, port, ListReleased())
    assert isinstance(found, Found)
    assert [p.ref for p in found.pods] == [ref_of(pod)]
    return found.pods[0].ref


def test_a_released_pod_taken_back_is_the_first_to_go_where_its_replacement_is_ready(world: World) -> None:
    port = world.cluster()
    old = released(world, port, has_room=True)
    assert ask(world, port, TakeBack(ref_of(old))) == Done()
    [left] = all_ready(world, "web", 1)
    assert names([left]) != names([old])


def test_a_released_pod_taken_back_stays_where_its_replacement_found_no_room(world: World) -> None:
    port = world.cluster()
    old = released(world, port, has_room=False)
    sweeper = world.cluster()
    assert ask(world, sweeper, TakeBack(swept(world, sweeper, old))) == Done()
    [left] = all_ready(world, "web", 1)
    assert left["metadata"]["uid"] == old["metadata"]["uid"]
    world.until(lambda: owner(again(world, old)) == owner(old))
    new = again(world, old)
    assert is_ready(new)
    assert hash_of(new) == hash_of(old)
    assert new["metadata"]["labels"][LABEL_RELEASED] == "returned"
    annotations = new["metadata"]["annotations"]
    assert annotations[DELETION_COST] == WRITTEN_ON_RELEASE[DELETION_COST]
    assert not (WRITTEN_ON_RELEASE.keys() - {DELETION_COST}) & annotations.keys()
    assert memory_of(new)


def test_a_released_pod_taken_back_has_the_annotations_again_that_the_release_overwrote(world: World) -> None:
    port = world.cluster()
    old = released(world, port, has_room=False, annotations={DO_NOT_DISRUPT: "false"})
    assert ask(world, port, TakeBack(swept(world, port, old))) == Done()
    assert again(world, old)["metadata"]["annotations"][DO_NOT_DISRUPT] == "false"


def test_a_released_pod_once_taken_back_is_still_listed_until_it_is_tidied_up(world: World) -> None:
    port = world.cluster()
    old = released(world, port, has_room=False, annotations=COST)
    assert ask(world, port, TakeBack(swept(world, port, old))) == Done()
    all_ready(world, "web", 1)
    assert ask(world, port, TidyUp(swept(world, port, old))) == Done()
    new = again(world, old)
    assert LABEL_RELEASED not in new["metadata"]["labels"]
    assert ANNOTATION_RELEASED_FROM not in new["metadata"]["annotations"]
    assert new["metadata"]["annotations"][DELETION_COST] == "7"
    assert ask(world, port, ListReleased()) == Found()


def test_tidying_up_takes_off_a_deletion_cost_that_the_released_pod_never_had(world: World) -> None:
    port = world.cluster()
    old = released(world, port, has_room=False)
    assert ask(world, port, TakeBack(swept(world, port, old))) == Done()
    assert ask(world, port, TidyUp(swept(world, port, old))) == Done()
    assert again(world, old)["metadata"]["annotations"].keys() == old["metadata"]["annotations"].keys()


def test_a_released_pod_taken_back_and_released_again_remembers_what_the_first_release_overwrote(world: World) -> None:
    port = world.cluster()
    old = released(world, port, has_room=False, annotations=COST)
    assert ask(world, port, TakeBack(swept(world, port, old))) == Done()
    all_ready(world, "web", 1)
    world.until(lambda: owner(again(world, old)))
    assert release(world, port, again(world, old)) == Done()
    memory = memory_of(again(world, old))
    assert memory
    assert memory.former == {**dict.fromkeys(WRITTEN_ON_RELEASE), **COST}


def test_a_released_pod_is_taken_back_though_nobody_can_read_where_it_was_released_from(world: World) -> None:
    port = world.cluster()
    old = released(world, port, has_room=False)
    world.patch("Pod", NS, old["metadata"]["name"], {"metadata": {"annotations": {ANNOTATION_RELEASED_FROM: "?"}}})
    assert ask(world, port, TakeBack(swept(world, port, old))) == Done()
    assert ask(world, port, TidyUp(swept(world, port, old))) == Done()
    new = again(world, old)
    assert hash_of(new) == hash_of(old)
    assert new["metadata"]["annotations"].keys() == old["metadata"]["annotations"].keys()


def test_a_pod_that_is_still_released_is_not_tidied_up(world: World) -> None:
    port = world.cluster()
    old = released(world, port, has_room=True)
    before = again(world, old)["metadata"]
    assert ask(world, port, TidyUp(swept(world, port, old))) == Done()
    assert again(world, old)["metadata"]["labels"] == before["labels"]
    assert again(world, old)["metadata"]["annotations"] == before["annotations"]


def test_taking_back_and_tidying_up_a_released_pod_twice_changes_nothing_more(world: World) -> None:
    port = world.cluster()
    old = released(world, port, has_room=False)
    for action in (TakeBack(swept(world, port, old)), TidyUp(ref_of(old))):
        assert ask(world, port, action) == Done()
        before = again(world, old)["metadata"]
        assert ask(world, port, action) == Done()
        assert again(world, old)["metadata"]["labels"] == before["labels"]
        assert again(world, old)["metadata"]["annotations"] == before["annotations"]


def test_what_is_asked_of_a_released_pod_that_is_gone_is_absent(world: World) -> None:
    [old] = web_on_spot(world)
    other = PodRef(NS, old["metadata"]["name"], NOBODYS)
    port, now = world.cluster(), world.clock.now()
    for pod in (other, PodRef(NS, "nobody", NOBODYS)):
        for action in (TakeBack(pod), TidyUp(pod), Wake(pod, now)):
            assert ask(world, port, action) == Absent()
    assert ANNOTATION_WOKEN_AT not in again(world, old)["metadata"]["annotations"]


def test_a_released_pods_replica_set_that_backs_off_is_woken_by_a_touch_of_a_pod_that_it_owns(world: World) -> None:
    old = web_on_spot(world, 2)
    world.apply(quota("2"))
    world.until(lambda: _used(world) == ("2", "2"))
    port = world.cluster()
    assert release(world, port, old[0]) == Done()
    world.idle(6)
    assert len(pods_of(world, "web")) == 2
    world.patch("ResourceQuota", NS, "few", {"spec": {"hard": {"pods": "5"}}})
    world.until(lambda: _used(world) == ("2", "5"))
    now = world.clock.now()
    assert ask(world, port, Wake(ref_of(old[1]), now)) == Done()
    world.until(lambda: len(pods_of(world, "web")) == 3, within=1)
    assert datetime.fromisoformat(again(world, old[1])["metadata"]["annotations"][ANNOTATION_WOKEN_AT]) == now.replace(
        microsecond=0
    )


def _used(world: World) -> tuple[str, str]:
    status = (world.get("ResourceQuota", NS, "few") or {}).get("status") or {}
    return str((status.get("used") or {}).get("pods")), str((status.get("hard") or {}).get("pods"))


def quota(pods: str) -> Json:
    """Room for so many pods."""
    metadata = {"name": "few", "namespace": NS}
    return {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": metadata, "spec": {"hard": {"pods": pods}}}
