"""One drain on the simulator, and what its oracle says of it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta

from evac.memory import CollectingReporter, InlineBackground
from evac.simulator import Key, Simulation, SimulatorOptions
from lambdas.application.evacuation import evacuate
from lambdas.application.requests import Ports, Request
from lambdas.contract import LABEL_EXCLUDE_FROM_LOAD_BALANCERS
from lambdas.domain.values.drains import Departure, DrainRecord, PodFate
from lambdas.domain.values.journal import Happening
from lambdas.domain.values.kubernetes import BudgetRef
from lambdas.domain.values.notices import Notice, Reason
from lambdas.domain.values.settings import Settings
from tests.scenes import Json, at, instance_id


@dataclass(slots=True)
class Outcome:
    """What the product says (`record`) and what truly happened (`simulation`)."""

    record: DrainRecord
    simulation: Simulation
    reporter: CollectingReporter
    node_name: str

    @property
    def _stories(self) -> dict[str, PodFate]:
        return {fate.pod.name: fate for fate in self.record.pods}

    @property
    def graceful(self) -> int:
        """Pods that truly had their SIGTERM and were gone before the host."""
        return sum(1 for story in self.simulation.journal.on(self.node_name) if story.was_graceful)

    @property
    def lost(self) -> list[str]:
        """Pods that truly died with the host."""
        return [story.pod.name for story in self.simulation.journal.on(self.node_name) if story.killed_at]

    @property
    def ended(self) -> float:
        """Seconds from the notice to the record."""
        assert self.record.ended_at
        return (self.record.ended_at - at(0)).total_seconds()

    @property
    def is_cordoned(self) -> bool:
        """Whether the node was cordoned in the end."""
        found = self.simulation.get("Node", "", self.node_name)
        return bool(found and found["spec"].get("unschedulable"))

    @property
    def excluded_at(self) -> float:
        """Seconds from the notice until the node left its load balancers."""
        found = self.simulation.get("Node", "", self.node_name)
        assert found is None or LABEL_EXCLUDE_FROM_LOAD_BALANCERS in found["metadata"]["labels"]
        [entry] = self.reporter.of(Happening.EXCLUDED)
        return (entry.at - at(0)).total_seconds()

    def fate(self, name: str) -> PodFate:
        """What the record says of one pod."""
        return self._stories[name]

    def departures(self, departure: Departure) -> list[str]:
        """The pods that the record says left in this way."""
        return [fate.pod.name for fate in self.record.pods if fate.departure is departure]

    def signalled(self) -> dict[str, float]:
        """When each pod truly had its SIGTERM: seconds from the notice."""
        stories = self.simulation.journal.on(self.node_name)
        return {s.pod.name: (s.signalled_at - at(0)).total_seconds() for s in stories if s.signalled_at}

    def exceeded(self, name: str) -> int:
        """By how many pods the budget was truly exceeded at the worst moment."""
        return self.simulation.history.budget_exceeded(BudgetRef("default", name), since=at(0))

    def most_short(self, name: str, until: float = 120) -> int:
        """By how many Ready pods the Deployment was truly short at the worst moment of that time."""
        return self.simulation.history.most_short(Key("Deployment", "default", name), at(0), at(until))

    def has_disruption_target(self, name: str) -> bool:
        """Whether the pod had the condition that only an eviction sets."""
        return any(s.had_disruption_target for s in self.simulation.journal.named("default", name))


def notice(node_name: str = "spot-a", seconds: float = 0) -> Notice:
    """A spot interruption notice for the node."""
    return Notice(instance_id(node_name), Reason.SPOT_INTERRUPTION, at(seconds), at(seconds + 120))


def drain(
    *objects: Json,
    begins: float = 0,
    reclaimed: float = 120,
    settings: Settings = Settings(),  # noqa: B008 - it is frozen
    prepare: Callable[[Simulation], None] = lambda _: None,
    nodes: Sequence[str] = ("spot-a",),
    options: SimulatorOptions = SimulatorOptions(),  # noqa: B008 - it is frozen
) -> Outcome:
    """Notice the nodes at 0, begin at `begins`, take the hosts at `reclaimed`; the outcome of the first."""
    simulation = Simulation(objects, at(-1), options=options)
    simulation.run_until(at(begins))
    for name in nodes:
        simulation.reclaim(name, at(reclaimed))
    prepare(simulation)
    reporter = CollectingReporter()
    ports = Ports(simulation.clock, simulation.cluster(), InlineBackground(), reporter)
    fates = evacuate([Request(notice(name)) for name in nodes], ports, settings)
    simulation.run_until(max(at(reclaimed), simulation.clock.now()) + timedelta(milliseconds=1))
    record = next(f.record for f in fates if f.request.notice.instance_id == instance_id(nodes[0]))
    return Outcome(record, simulation, reporter, nodes[0])
