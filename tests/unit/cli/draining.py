"""`evac drain` on the simulator: what the command carries out, without the way to a server."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from evac.cli.showing import View, show
from evac.replay.live import Due, carry_out
from evac.replay.maintenance import Maintenance
from evac.replay.outcome import Replay
from evac.replay.places import place_of
from evac.replay.recording import Listener
from evac.replay.story import Line
from evac.simulator import Simulation
from lambdas.application.ports import Cluster
from lambdas.domain.values.answers import Answer
from lambdas.domain.values.kubernetes import BudgetRef
from lambdas.domain.values.settings import Settings
from tests.scenes import NOTICE, Json, at


class Impatient:
    """A cluster whose person presses Ctrl-C at a moment."""

    def __init__(self, cluster: Cluster, now: Callable[[], datetime], until: datetime) -> None:
        self._now = now
        self._until = until
        self.start, self.observe, self.wake, self.close = cluster.start, cluster.observe, cluster.wake, cluster.close
        self._wait = cluster.wait

    def wait(self, until: datetime) -> Sequence[Answer]:
        if self._now() >= self._until:
            raise KeyboardInterrupt
        return self._wait(min(until, self._until))


@dataclass(slots=True)
class Drained:
    """What came of it: as it is told, and as it truly was."""

    simulation: Simulation
    replay: Replay
    lines: list[Line] = field(default_factory=list)

    def told(self, what: str) -> list[str]:
        """The details of the lines of one kind."""
        return [line.detail for line in self.lines if line.what == what]

    def exceeded(self, name: str) -> int:
        """By how many pods the budget was truly exceeded at the worst moment."""
        return self.simulation.history.budget_exceeded(BudgetRef("default", name), since=at(0))

    def node(self, name: str = "spot-a") -> Json:
        """The node as it is now."""
        found = self.simulation.get("Node", "", name)
        assert found
        return found


def drained(
    objects: Sequence[Json],
    *nodes: str,
    within: float | None = None,
    settings: Settings = Settings(needs_guard=False),  # noqa: B008 - it is frozen
    meanwhile: Callable[[Simulation], object] | None = None,
    interrupted_at: float | None = None,
) -> Drained:
    """Drain the nodes of a cluster of these objects."""
    simulation = Simulation(objects, NOTICE)
    if meanwhile:
        meanwhile(simulation)
    lines: list[Line] = []
    replay = _carry_out(simulation, nodes or ("spot-a",), within, settings, interrupted_at)(lambda _zero: lines.append)
    return Drained(simulation, replay, lines)


def shown(
    objects: Sequence[Json],
    *nodes: str,
    within: float | None = None,
    settings: Settings = Settings(needs_guard=False),  # noqa: B008 - it is frozen
) -> int:
    """The same before a person's eyes; the exit code."""
    simulation = Simulation(objects, NOTICE)
    return show(_carry_out(simulation, nodes or ("spot-a",), within, settings, None), View(is_live=True))


def _carry_out(
    simulation: Simulation, nodes: Sequence[str], within: float | None, settings: Settings, interrupted_at: float | None
) -> Callable[[Listener], Replay]:
    maintenance = Maintenance(None if within is None else timedelta(seconds=within))
    found = [simulation.get("Node", "", name) for name in nodes]
    places = [place_of(node) for node in found if node]
    heard = [maintenance.notice(place, simulation.clock.now()) for place in places]
    named = {h.notices[0].instance_id: place.node_name for h, place in zip(heard, places, strict=True)}
    cluster: Cluster = simulation.cluster()
    if interrupted_at is not None:
        cluster = Impatient(cluster, simulation.clock.now, at(interrupted_at))
    return lambda listener: carry_out(Due(heard, settings, named), cluster, simulation.clock, listener)
