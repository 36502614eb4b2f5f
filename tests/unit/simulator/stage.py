"""A small simulation for one rule at a time."""

from collections.abc import Callable
from datetime import timedelta

from evac.simulator import PodStory, Raw, SimulatedCluster, Simulation, SimulatorOptions
from lambdas.domain.values.actions import Action, Delete, Evict, Observe
from lambdas.domain.values.answers import Answer, Result
from lambdas.domain.values.kubernetes import PodRef
from tests.scenes import at

GRACE = timedelta(seconds=30)
SECOND = timedelta(seconds=1)


def simulate(*objects: Raw, options: SimulatorOptions | None = None) -> Simulation:
    """A cluster at the moment `at(0)`."""
    return Simulation(objects, at(0), options=options or SimulatorOptions())


def seconds(simulation: Simulation) -> float:
    """The virtual time since the beginning."""
    return (simulation.clock.now() - at(0)).total_seconds()


def ref(simulation: Simulation, name: str) -> PodRef:
    """A pod as it is now."""
    pod = simulation.get("Pod", "default", name)
    assert pod
    return PodRef("default", name, pod["metadata"]["uid"])


def collect(simulation: Simulation, port: SimulatedCluster, *actions: Action) -> list[Answer]:
    """Start them side by side; the answers in the order in which they came."""
    for action in actions:
        port.start(action)
    answers: list[Answer] = []
    while len(answers) < len(actions):
        answers += port.wait(simulation.clock.now() + timedelta(seconds=60))
    return answers


def ask(simulation: Simulation, action: Action, port: SimulatedCluster | None = None) -> Result:
    """One action's result."""
    [answer] = collect(simulation, port or simulation.cluster(), action)
    return answer.result


def evict(simulation: Simulation, name: str, grace: timedelta = GRACE) -> Result:
    """Evict a pod by name."""
    return ask(simulation, Evict(ref(simulation, name), grace))


def delete(simulation: Simulation, name: str, grace: timedelta = GRACE) -> Result:
    """Delete a pod by name."""
    return ask(simulation, Delete(ref(simulation, name), grace))


def observing(simulation: Simulation, node_name: str = "spot-a") -> SimulatedCluster:
    """A port that observes a node, everything read once."""
    port = simulation.cluster()
    ask(simulation, Observe(node_name), port)
    return port


def run_until(simulation: Simulation, holds: Callable[[], object], within: float = 300) -> float:
    """Let time pass in steps of 5 ms until it holds; the seconds since the beginning."""
    while not holds():
        assert seconds(simulation) < within, f"not within {within} s"
        simulation.run_for(timedelta(milliseconds=5))
    return seconds(simulation)


def story(simulation: Simulation, name: str) -> PodStory:
    """The only pod that ever had this name."""
    [found] = simulation.journal.named("default", name)
    return found


def pods(simulation: Simulation, app: str = "web") -> list[Raw]:
    """The pods of an app, on their way out or not."""
    return [p for p in simulation.list("Pod") if p["metadata"]["labels"].get("app") == app]


def staying(simulation: Simulation, app: str = "web") -> list[Raw]:
    """The pods of an app that are not on their way out."""
    return [p for p in pods(simulation, app) if not p["metadata"].get("deletionTimestamp")]
