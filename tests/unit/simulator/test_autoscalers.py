"""HorizontalPodAutoscalers over a load that is constant in total."""

from typing import Any

import pytest

from evac.simulator import Raw, Simulation
from lambdas.domain.values.answers import Done
from tests.scenes import at, node
from tests.unit.simulator.releases import ROOM, SPOT, WEB, first, release, scale, web
from tests.unit.simulator.stage import evict, pods, simulate


def autoscaler(load: float, window: int | None = None, **bounds: int) -> Raw:
    spec: dict[str, Any] = {"scaleTargetRef": {"kind": "Deployment", "name": "web"}, "maxReplicas": 100, **bounds}
    if window is not None:
        spec["behavior"] = {"scaleDown": {"stabilizationWindowSeconds": window}}
    metadata = {"name": "web", "namespace": "default", "annotations": {"replay.spot-evac.dev/load": str(load)}}
    return {"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", "metadata": metadata, "spec": spec}


def replicas(simulation: Simulation) -> int:
    return int((simulation.get(*WEB) or {})["spec"]["replicas"])


def after(simulation: Simulation, second: float) -> int:
    simulation.run_until(at(second))
    return replicas(simulation)


def test_a_load_of_as_many_pods_as_there_are_changes_nothing() -> None:
    simulation = simulate(SPOT, ROOM, *web(10), autoscaler(10))
    assert after(simulation, 600) == 10


def test_within_a_tenth_nothing_changes() -> None:
    assert after(simulate(SPOT, ROOM, *web(10), autoscaler(10.9)), 60) == 10
    assert after(simulate(SPOT, ROOM, *web(10), autoscaler(11.5)), 60) == 12


def test_more_load_scales_up_by_four_pods_or_the_double_a_step() -> None:
    simulation = simulate(SPOT, ROOM, *web(2), autoscaler(12))
    assert after(simulation, 14) == 2
    assert after(simulation, 16) == 6
    assert after(simulation, 60) == 12


def test_less_load_scales_down_only_after_five_minutes() -> None:
    simulation = simulate(SPOT, ROOM, *web(10), autoscaler(5))
    assert after(simulation, 299) == 10
    assert after(simulation, 320) == 5


def test_bounds_hold() -> None:
    assert after(simulate(SPOT, ROOM, *web(3), autoscaler(50, maxReplicas=5)), 120) == 5
    assert after(simulate(SPOT, ROOM, *web(3), autoscaler(0.1, 0, minReplicas=2)), 120) == 2


@pytest.mark.parametrize(("window", "left"), [(300, 10), (0, 5)])
def test_a_surplus_of_released_pods_makes_an_autoscaler_with_a_short_window_run_away(window: int, left: int) -> None:
    """It knows what each pod used while there were twice as many, and counts those that are left."""
    simulation = simulate(SPOT, ROOM, node("od-2"), *web(10), autoscaler(10, window))
    names = [pod["metadata"]["name"] for pod in pods(simulation)]
    assert [release(simulation, name) for name in names] == [Done()] * 10
    simulation.run_until(at(35))
    assert [evict(simulation, name) for name in names] == [Done()] * 10
    assert after(simulation, 46) == left


def test_one_without_a_load_and_one_scaled_to_nothing_are_left_alone() -> None:
    without = autoscaler(10)
    del without["metadata"]["annotations"]
    assert after(simulate(SPOT, *web(2), without), 60) == 2
    simulation = simulate(SPOT, *web(2), autoscaler(10))
    scale(simulation, 0)
    assert after(simulation, 120) == 0


def test_a_deleted_autoscaler_looks_no_more() -> None:
    simulation = simulate(SPOT, ROOM, *web(2), autoscaler(12))
    simulation.delete("HorizontalPodAutoscaler", "default", "web")
    assert after(simulation, 120) == 2
    assert first(simulation)
