"""At the notice, room for all pods of the node is asked for at once (S4); the plan is a function of what is seen."""

from copy import deepcopy
from typing import Any

import pytest

import lambdas.application.pod_moves
from evac.memory import CollectingReporter, InlineBackground, MemoryReplacements
from evac.simulator import Simulation
from lambdas.application.evacuation import evacuate
from lambdas.application.requests import Fate, Ports, Request
from lambdas.domain.decisions.plan import plan
from lambdas.domain.errors import PassingError
from lambdas.domain.values.drains import Ending
from tests.scenarios.stage import drain, notice
from tests.scenes import at, budget, deployment, node, quota, times

ONE = budget("web", {"app": "web"}, maxUnavailable=1)


def without_room(replacements: MemoryReplacements, joins: float = 40) -> tuple[Simulation, Fate]:
    """30 of 40 on the node, and no room anywhere before `joins`."""
    web = deployment("web", {"spot-a": 30, "od-1": 10}, annotations=times(10, 2))
    simulation = Simulation([node("spot-a"), node("od-1", pods=10), *web, ONE], at(0))
    simulation.reclaim("spot-a", at(120))
    simulation.schedule(at(joins), lambda: simulation.apply(node("od-2")))
    ports = Ports(
        simulation.clock, simulation.cluster(), InlineBackground(), CollectingReporter(), replacements=replacements
    )
    [fate] = evacuate([Request(notice())], ports)
    return simulation, fate


def test_room_is_asked_for_all_pods_as_soon_as_the_first_replacement_finds_none() -> None:
    replacements = MemoryReplacements()
    without_room(replacements)
    first, wanted = replacements.told[0]
    assert first < at(1)
    assert set(wanted) == {"default/web"}
    assert max(wants.get("default/web", 0) for _, wants in replacements.told) == 30


def test_when_all_have_found_room_that_is_told_too() -> None:
    replacements = MemoryReplacements()
    _, fate = without_room(replacements)
    assert fate.record.ending is Ending.DRAINED
    assert replacements.wanted == {}


def test_where_there_is_room_nobody_is_asked() -> None:
    replacements = MemoryReplacements()
    simulation = Simulation([node("spot-a"), node("od-1"), *deployment("web", {"spot-a": 5}), ONE], at(0))
    ports = Ports(
        simulation.clock, simulation.cluster(), InlineBackground(), CollectingReporter(), replacements=replacements
    )
    evacuate([Request(notice())], ports)
    assert replacements.told == []


def test_a_port_that_fails_is_said_and_costs_no_drain() -> None:
    replacements = MemoryReplacements()
    replacements.error = PassingError("nobody launches anything")
    _, fate = without_room(replacements)
    assert fate.record.ending is Ending.DRAINED
    assert "nobody launches anything" in " ".join(problem.message for problem in fate.record.problems)


def test_the_plan_is_a_function_of_what_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same observation, memory and moment give the same plan, and planning leaves both as they were."""
    steps: list[Any] = []

    def twice(*args: Any) -> Any:
        memory = deepcopy(args[-1].memory)
        first, second = plan(*args), plan(*args)
        assert first == second
        assert memory == args[-1].memory
        steps.append(first)
        return first

    monkeypatch.setattr(lambdas.application.pod_moves, "plan", twice)
    web = deployment("web", {"spot-a": 8, "od-1": 4}, annotations=times(4, 2))
    paced = deployment("old", {"spot-a": 4, "od-1": 2}, surge=0, annotations=times(20, 2))
    outcome = drain(node("spot-a"), node("od-1"), *web, *paced, ONE, budget("old", {"app": "old"}, maxUnavailable=1))
    assert outcome.graceful == 12
    assert len(steps) > 20


def test_a_replica_set_that_backs_off_on_a_quota_is_woken_once_there_is_room_again() -> None:
    """D17, the race: another takes the last room of the quota just after it was read."""

    def taken(simulation: Simulation) -> None:
        greedy = deployment("greedy", {"od-1": 2}, annotations=times(1, 1))
        simulation.schedule(at(0.04), lambda: [simulation.apply(thing) for thing in greedy[:2]])
        simulation.schedule(
            at(30), lambda: simulation.patch("ResourceQuota", "default", "q", {"spec": {"hard": {"pods": "40"}}})
        )

    web = deployment("web", {"spot-a": 3, "od-1": 3}, annotations=times(2, 2))
    outcome = drain(node("spot-a"), node("od-1"), *web, ONE, quota("q", {"pods": "6"}, pods="8"), prepare=taken)
    assert outcome.graceful == 3
    assert outcome.most_short("web") <= 1  # the one that its budget let go
    assert outcome.ended < 40
