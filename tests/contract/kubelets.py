"""How long pods take, as their annotations say."""

from datetime import datetime, timedelta

from lambdas.domain.values.answers import Done
from tests.contract.steps import NS, evict, is_ready, phase, running
from tests.contract.world import World
from tests.scenes import bare, node, times

LATE = timedelta(seconds=1.5)
"""Real kubelets poll, and the machine is shared; virtual ones are on time."""


def moment(world: World) -> datetime:
    return world.clock.now()


def test_a_pod_is_ready_when_its_startup_is_over(world: World) -> None:
    world.apply(node("spot-a"))
    world.apply(bare("web", "spot-a", annotations=times(1.5, 0.5)))
    began = moment(world)
    world.idle(0.8)
    assert not is_ready(world.get("Pod", NS, "web"))
    assert phase(world.get("Pod", NS, "web")) == "Pending"
    world.until(lambda: is_ready(world.get("Pod", NS, "web")))
    assert moment(world) - began < timedelta(seconds=1.5) + LATE


def test_a_pod_is_gone_when_its_shutdown_is_over(world: World) -> None:
    pod = running(world, annotations=times(0.3, 1.5))
    assert evict(world, world.cluster(), pod, timedelta(seconds=30)) == Done()
    began = moment(world)
    world.idle(0.8)
    assert world.get("Pod", NS, "web")
    world.until(lambda: world.get("Pod", NS, "web") is None)
    assert moment(world) - began < timedelta(seconds=1.5) + LATE


def test_a_shutdown_is_cut_off_by_the_grace(world: World) -> None:
    pod = running(world, annotations=times(0.3, 60))
    assert evict(world, world.cluster(), pod, timedelta(seconds=1)) == Done()
    began = moment(world)
    world.until(lambda: world.get("Pod", NS, "web") is None)
    assert moment(world) - began < timedelta(seconds=1) + LATE


def test_a_pod_may_run_and_never_be_ready(world: World) -> None:
    running(world, annotations=times(0.3, 0.5, ready=False))
    world.idle(0.5)
    assert phase(world.get("Pod", NS, "web")) == "Running"
    assert not is_ready(world.get("Pod", NS, "web"))


def test_a_pod_may_end_by_itself(world: World) -> None:
    running(world, annotations=times(0.3, 0.5, completes=1), restartPolicy="Never")
    world.until(lambda: phase(world.get("Pod", NS, "web")) == "Succeeded")
    assert not is_ready(world.get("Pod", NS, "web"))
