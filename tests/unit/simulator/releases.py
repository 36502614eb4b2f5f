"""A Deployment in the simulator and the release of its pods."""

from evac.simulator import Key, Raw, Simulation
from lambdas.domain.values.actions import Release
from lambdas.domain.values.answers import Result
from lambdas.domain.values.kubernetes import Owner
from tests.scenes import deployment, node, times
from tests.unit.simulator.stage import ask, pods, ref

SPOT, ROOM = node("spot-a"), node("od-1")
HASH = "5d4f8c7b9"
OWNER, WEB = Owner("Deployment", "web", "Deployment-web"), Key("Deployment", "default", "web")


def web(count: int = 3) -> list[Raw]:
    """So many pods on spot-a, each 10 s from placed to Ready."""
    return deployment("web", {"spot-a": count}, annotations=times(10, 2))


def releasing(simulation: Simulation, name: str) -> Release:
    """What releases the pod."""
    sets = Owner("ReplicaSet", f"web-{HASH}", f"ReplicaSet-web-{HASH}")
    return Release(ref(simulation, name), HASH, sets, OWNER, simulation.clock.now())


def release(simulation: Simulation, name: str) -> Result:
    """Release the pod."""
    return ask(simulation, releasing(simulation, name))


def first(simulation: Simulation) -> str:
    """The name of a pod."""
    return str(pods(simulation)[0]["metadata"]["name"])


def scale(simulation: Simulation, replicas: int) -> None:
    """The Deployment's replicas from now on."""
    simulation.patch(*WEB, {"spec": {"replicas": replicas}})


def owner_of(simulation: Simulation, name: str) -> str:
    """The pod's owner, empty where there is none."""
    pod = simulation.get("Pod", "default", name) or {"metadata": {}}
    return next((str(o["name"]) for o in pod["metadata"].get("ownerReferences") or ()), "")
