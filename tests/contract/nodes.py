"""Cordoning nodes, taking them out of load balancers, and taking back what is ours."""

from datetime import timedelta

import pytest

from lambdas.contract import (
    ANNOTATION_MARK,
    LABEL_DRAINING,
    LABEL_EXCLUDE_FROM_LOAD_BALANCERS,
    TAINT_INTERRUPTED,
)
from lambdas.domain.values.actions import Action, Announce, Cordon, ExcludeFromLoadBalancers, Restore
from lambdas.domain.values.answers import Absent, Done
from lambdas.domain.values.kubernetes import PodRef
from lambdas.domain.values.marks import Former, decode_mark
from tests.contract.steps import ask, mark_of, view, watch_until
from tests.contract.world import Json, World
from tests.scenes import node

UNSCHEDULABLE = "node.kubernetes.io/unschedulable"
FOREIGN = {"key": "team", "value": "a", "effect": "PreferNoSchedule"}


def the_node(world: World, name: str = "spot-a") -> Json:
    found = world.get("Node", "", name)
    assert found
    return found


def taints(world: World) -> list[str]:
    return [taint["key"] for taint in the_node(world)["spec"].get("taints") or ()]


def labels(world: World) -> dict[str, str]:
    found: dict[str, str] = the_node(world)["metadata"].get("labels") or {}
    return found


def former(world: World) -> Former:
    """What our mark remembers."""
    marked = decode_mark(the_node(world)["metadata"]["annotations"][ANNOTATION_MARK])
    assert marked
    return marked[1]


def is_unschedulable(world: World) -> bool:
    return bool(the_node(world)["spec"].get("unschedulable"))


def do(world: World, *actions: Action) -> None:
    port = world.cluster()
    for action in actions:
        assert ask(world, port, action) == Done()


# --- cordoning ------------------------------------------------------------------------------------------------------


def test_a_cordoned_node_is_unschedulable_and_carries_our_label_mark_and_taint(world: World) -> None:
    world.apply(node("spot-a"))
    mark = mark_of(world)
    do(world, Cordon("spot-a", mark))
    assert is_unschedulable(world)
    assert labels(world)[LABEL_DRAINING] == "true"
    assert decode_mark(the_node(world)["metadata"]["annotations"][ANNOTATION_MARK]) == (mark, Former())
    [taint] = [t for t in the_node(world)["spec"]["taints"] if t["key"] == TAINT_INTERRUPTED]
    assert (taint["value"], taint["effect"]) == ("spot-interruption", "NoSchedule")


def test_other_hands_taints_stay_and_the_lifecycle_controllers_comes(world: World) -> None:
    world.apply(node("spot-a", taints=[FOREIGN]))
    do(world, Cordon("spot-a", mark_of(world)))
    world.until(lambda: UNSCHEDULABLE in taints(world))
    assert set(taints(world)) == {"team", TAINT_INTERRUPTED, UNSCHEDULABLE}


def test_cordoning_remembers_what_was_there_before(world: World) -> None:
    world.apply(node("spot-a", unschedulable=True, labels={LABEL_EXCLUDE_FROM_LOAD_BALANCERS: ""}))
    do(world, Cordon("spot-a", mark_of(world)))
    assert former(world) == Former(unschedulable=True, excluded=True)


def test_cordoning_twice_keeps_what_was_there_before(world: World) -> None:
    world.apply(node("spot-a"))
    first, second = mark_of(world), mark_of(world, reason="instance-stopping")
    do(world, Cordon("spot-a", first), ExcludeFromLoadBalancers("spot-a"), Cordon("spot-a", second))
    assert former(world) == Former()
    assert taints(world).count(TAINT_INTERRUPTED) == 1
    do(world, Restore("spot-a"))
    assert not is_unschedulable(world)
    assert LABEL_EXCLUDE_FROM_LOAD_BALANCERS not in labels(world)


def test_a_node_that_was_uncordoned_under_our_mark_is_cordoned_again(world: World) -> None:
    world.apply(node("spot-a"))
    do(world, Cordon("spot-a", mark_of(world)))
    world.patch("Node", "", "spot-a", {"spec": {"unschedulable": None}})
    do(world, Cordon("spot-a", mark_of(world)))
    assert is_unschedulable(world)
    assert former(world) == Former()


def test_a_mark_that_nobody_can_read_is_written_anew(world: World) -> None:
    world.apply(node("spot-a"))
    world.patch("Node", "", "spot-a", {"metadata": {"annotations": {ANNOTATION_MARK: "{not json"}}})
    do(world, Cordon("spot-a", mark_of(world)))
    assert former(world) == Former()


def test_an_observed_node_shows_its_cordon(world: World) -> None:
    world.apply(node("spot-a"))
    port = world.cluster()
    assert not (view(world, port).node or pytest.fail("no node")).unschedulable
    assert ask(world, port, Cordon("spot-a", mark_of(world))) == Done()
    watch_until(world, port, lambda o: (n := o.nodes["spot-a"].node) and n.unschedulable)


# --- load balancers, and taking back --------------------------------------------------------------------------------


def test_restoring_takes_everything_that_is_ours(world: World) -> None:
    world.apply(node("spot-a", taints=[FOREIGN], labels={"zone": "b"}))
    do(world, Cordon("spot-a", mark_of(world)), ExcludeFromLoadBalancers("spot-a"))
    assert LABEL_EXCLUDE_FROM_LOAD_BALANCERS in labels(world)
    do(world, Restore("spot-a"))
    assert not is_unschedulable(world)
    assert not {LABEL_DRAINING, LABEL_EXCLUDE_FROM_LOAD_BALANCERS} & labels(world).keys()
    assert labels(world)["zone"] == "b"
    assert ANNOTATION_MARK not in the_node(world)["metadata"].get("annotations", {})
    world.until(lambda: taints(world) == ["team"])


def test_restoring_takes_only_what_is_ours(world: World) -> None:
    world.apply(node("spot-a", unschedulable=True, labels={LABEL_EXCLUDE_FROM_LOAD_BALANCERS: "yes"}))
    do(world, Cordon("spot-a", mark_of(world)), ExcludeFromLoadBalancers("spot-a"), Restore("spot-a"))
    assert is_unschedulable(world)
    assert labels(world)[LABEL_EXCLUDE_FROM_LOAD_BALANCERS] == "yes"
    assert TAINT_INTERRUPTED not in taints(world)
    assert LABEL_DRAINING not in labels(world)


def test_restoring_a_node_without_our_mark_leaves_its_cordon(world: World) -> None:
    world.apply(node("spot-a", unschedulable=True, labels={LABEL_EXCLUDE_FROM_LOAD_BALANCERS: "true"}))
    do(world, Restore("spot-a"))
    assert is_unschedulable(world)
    assert LABEL_EXCLUDE_FROM_LOAD_BALANCERS in labels(world)


def test_a_node_that_is_gone_is_absent(world: World) -> None:
    port = world.cluster()
    for action in (Cordon("gone", mark_of(world)), ExcludeFromLoadBalancers("gone"), Restore("gone")):
        assert ask(world, port, action) == Absent()


def test_an_announcement_appears_as_an_event_on_the_node(world: World) -> None:
    made = world.apply(node("spot-a"))
    uid = made["metadata"]["uid"]
    do(world, Announce("spot-a", uid, "Drained", "30 pods left in 36 s", "Warning"))
    [event] = [e for e in world.list("Event") if e["reason"] == "Drained"]
    assert event["involvedObject"] | {"kind": "Node", "name": "spot-a", "uid": uid} == event["involvedObject"]
    assert (event["message"], event["type"]) == ("30 pods left in 36 s", "Warning")


def test_an_announcement_about_a_pod_appears_as_an_event_in_its_namespace(world: World) -> None:
    made = world.apply(node("spot-a"))
    pod = PodRef("default", "web-1", "uid-web-1")
    announced = Announce("spot-a", made["metadata"]["uid"], "PodLost", "held by its budget", "Warning", involved=pod)
    do(world, announced)
    [event] = [e for e in world.list("Event") if e["reason"] == "PodLost"]
    about = {"kind": "Pod", "namespace": "default", "name": "web-1", "uid": "uid-web-1"}
    assert event["involvedObject"] | about == event["involvedObject"]
    assert (event["metadata"]["namespace"], event["type"]) == ("default", "Warning")


def test_a_mark_outlives_its_cordon_by_its_expiry(world: World) -> None:
    world.apply(node("spot-a"))
    mark = mark_of(world)
    do(world, Cordon("spot-a", mark))
    marked = decode_mark(the_node(world)["metadata"]["annotations"][ANNOTATION_MARK])
    assert marked
    assert marked[0].expires_at - marked[0].since == timedelta(hours=1)
