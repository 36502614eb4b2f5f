"""Deployments roll to a new template within their bounds."""

from hypothesis import given, settings
from hypothesis import strategies as st

from evac.simulator import Key, Simulation
from tests.scenes import at, deployment, node, times
from tests.unit.simulator.stage import pods, run_until, seconds, simulate, staying

SPOT, ROOM = node("spot-a", pods=500), node("od-1", pods=500)
WEB = Key("Deployment", "default", "web")


def roll(simulation: Simulation) -> None:
    simulation.patch("Deployment", "default", "web", {"spec": {"template": {"metadata": {"labels": {"v": "2"}}}}})


@given(
    replicas=st.integers(1, 8),
    surge=st.sampled_from([0, 1, 3, "25%", "100%"]),
    unavailable=st.sampled_from([0, 1, "25%", "50%"]),
)
@settings(max_examples=25, deadline=None)
def test_a_rollout_keeps_within_its_bounds_and_ends(replicas: int, surge: int | str, unavailable: int | str) -> None:
    owner, *rest = deployment("web", {"spot-a": replicas}, annotations=times(2, 1))
    owner["spec"]["strategy"]["rollingUpdate"] = {"maxSurge": surge, "maxUnavailable": unavailable}
    simulation = simulate(SPOT, ROOM, owner, *rest)
    up = -(-replicas * int(surge[:-1]) // 100) if isinstance(surge, str) else surge
    down = replicas * int(unavailable[:-1]) // 100 if isinstance(unavailable, str) else unavailable
    up, down = (0, 1) if up == down == 0 else (up, down)
    roll(simulation)
    most = 0
    while {p["metadata"]["labels"].get("v") for p in staying(simulation)} != {"2"} or len(
        staying(simulation)
    ) != replicas:
        simulation.run_for(at(0.02) - at(0))
        most = max(most, len(staying(simulation)))
        assert seconds(simulation) < 200
    assert most <= replicas + up
    assert simulation.history.fewest_ready(WEB) >= replicas - down


def test_recreate_has_no_pod_in_between() -> None:
    owner, *rest = deployment("web", {"spot-a": 2}, annotations=times(2, 1))
    owner["spec"]["strategy"] = {"type": "Recreate"}
    simulation = simulate(SPOT, owner, *rest)
    roll(simulation)
    run_until(simulation, lambda: {p["metadata"]["labels"].get("v") for p in pods(simulation)} == {"2"})
    assert all(s.gone_at for s in simulation.journal if s.created_at < at(0))
    assert simulation.history.fewest_ready(WEB) == 0


def test_a_paused_deployment_does_not_roll() -> None:
    owner, *rest = deployment("web", {"spot-a": 2})
    owner["spec"]["paused"] = True
    simulation = simulate(SPOT, owner, *rest)
    roll(simulation)
    simulation.run_until(at(60))
    assert len(simulation.list("ReplicaSet")) == 1


def test_min_ready_seconds_are_waited_for() -> None:
    owner, sets, *made = deployment("web", {"spot-a": 2}, annotations=times(1, 1))
    owner["spec"]["minReadySeconds"] = sets["spec"]["minReadySeconds"] = 20
    simulation = simulate(SPOT, ROOM, owner, sets, *made)
    roll(simulation)
    run_until(simulation, lambda: all(s.gone_at for s in simulation.journal if s.created_at < at(0)))
    assert seconds(simulation) > 20
