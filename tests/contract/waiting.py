"""What ends a wait, and what answers it brings."""

import threading
from datetime import timedelta

from lambdas.domain.values.actions import Action, Cordon, Evict, Locate, Observe
from lambdas.domain.values.answers import Absent, Answer, Done
from lambdas.domain.values.observation import Observation
from tests.contract.steps import (
    GRACE,
    QUICK,
    all_ready,
    ask,
    collect,
    condition,
    counted,
    mark_of,
    owned,
    pod_in,
    pods_of,
    ref_of,
    running,
    settle,
    view,
    watch_until,
)
from tests.contract.world import World
from tests.scenes import bare, budget, node, times


def test_waiting_ends_at_its_moment_where_nothing_happens(world: World) -> None:
    world.apply(node("spot-a"))
    port = world.cluster()
    view(world, port)
    settle(world, port)
    until = world.clock.now() + timedelta(milliseconds=300)
    for _ in range(10):  # a real cluster is never quite still: a change may end some of them early
        assert port.wait(until) == []
        if world.clock.now() >= until:
            break
    assert until <= world.clock.now() < until + timedelta(seconds=1)


def test_waiting_for_what_is_past_ends_at_once(world: World) -> None:
    port = world.cluster()
    began = world.clock.now()
    assert port.wait(began - timedelta(seconds=5)) == []
    assert world.clock.now() - began < timedelta(milliseconds=500)


def test_a_change_since_the_last_wait_ends_the_next(world: World) -> None:
    world.apply(node("spot-a"))
    port = world.cluster()
    view(world, port)
    settle(world, port)
    world.apply(bare("web", "spot-a", annotations=times(60, 0.5)))
    world.idle(0.5)
    began = world.clock.now()
    port.wait(began + timedelta(seconds=10))
    assert world.clock.now() - began < timedelta(seconds=1)
    assert pod_in(port, "web")


def test_a_wake_ends_a_wait(world: World) -> None:
    port = world.cluster()
    settle(world, port)
    waker = threading.Thread(target=port.wake)
    waker.start()
    began = world.clock.now()
    waker.join()
    port.wait(began + timedelta(seconds=10))
    assert world.clock.now() - began < timedelta(seconds=1)


def test_each_answer_comes_once_and_says_when(world: World) -> None:
    pod = running(world)
    port = world.cluster()
    began = world.clock.now()
    actions: list[Action] = [Locate("i-00000000000000000"), Evict(pod, GRACE), Observe("spot-a")]
    answers = collect(world, port, *actions)
    assert {_key(a) for a in answers} == {_key(Answer(x, Done(), began)) for x in actions}
    assert [a.result for a in answers if isinstance(a.action, Locate)] == [Absent()]
    assert all(began <= a.at <= world.clock.now() for a in answers)
    world.idle(0.3)
    assert port.wait(world.clock.now()) == []


def _key(answer: Answer) -> str:
    return type(answer.action).__name__


def test_twenty_evictions_side_by_side_are_all_answered(world: World) -> None:
    world.apply(node("spot-a"))
    world.apply(owned("ReplicaSet", "web", 20, grace=2))
    pods = [ref_of(pod) for pod in all_ready(world, "web", 20)]
    port = world.cluster()
    view(world, port)
    assert ask(world, port, Cordon("spot-a", mark_of(world))) == Done()
    answers = collect(world, port, *(Evict(pod, GRACE) for pod in pods))
    assert [a.result for a in answers] == [Done()] * 20
    watch_until(world, port, lambda o: not o.nodes["spot-a"].pods)
    world.until(lambda: len(pods_of(world, "web")) == 20)


def test_evictions_of_one_budget_never_exceed_it_even_side_by_side(world: World) -> None:
    world.apply(node("spot-a"))
    world.apply(owned("ReplicaSet", "web", 5, annotations=times(3, 0.5)))
    pods = [ref_of(pod) for pod in all_ready(world, "web", 5)]
    counted(world, budget("web", {"app": "web"}, maxUnavailable=2), disruptionsAllowed=2)
    answers = collect(world, world.cluster(), *(Evict(pod, GRACE) for pod in pods))
    assert [a.result for a in answers].count(Done()) == 2
    assert sum(condition(p, "DisruptionTarget") == "True" for p in world.list("Pod")) <= 2


def test_a_closed_port_hears_nothing(world: World) -> None:
    world.apply(node("spot-a"))
    port = world.cluster()
    view(world, port)
    before: Observation = port.observe()
    port.close()
    world.apply(bare("late", "spot-a", annotations=QUICK))
    world.idle(0.3)
    assert port.observe().nodes == before.nodes
