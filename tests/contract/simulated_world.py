"""The contract's world on the simulator, in virtual time."""

from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from typing import TypeVar

from evac.simulator import SimulatedCluster, Simulation, SimulatorOptions
from lambdas.application.ports import Clock, Cluster
from tests.contract.world import Json

T = TypeVar("T")

_BEGIN = datetime(2026, 11, 2, 3, 4, 5, 678_000, tzinfo=UTC)
_POLL = timedelta(milliseconds=30)


class SimulatedWorld:
    """An empty simulation."""

    def __init__(self, objects: Iterable[Json] = (), options: SimulatorOptions | None = None) -> None:
        second = timedelta(seconds=1)
        options = options or SimulatorOptions(startup=second, shutdown=second)
        self.simulation = Simulation(objects, _BEGIN, options=options)
        self._ports: list[SimulatedCluster] = []

    @property
    def clock(self) -> Clock:
        """The virtual clock."""
        return self.simulation.clock

    def apply(self, manifest: Json) -> Json:
        """Create."""
        return self.simulation.apply(manifest)

    def patch(self, kind: str, namespace: str, name: str, patch: Json) -> None:
        """Merge-patch."""
        self.simulation.patch(kind, namespace, name, patch)

    def delete(self, kind: str, namespace: str, name: str) -> None:
        """Delete."""
        self.simulation.delete(kind, namespace, name)

    def get(self, kind: str, namespace: str, name: str) -> Json | None:
        """Read."""
        return self.simulation.get(kind, namespace, name)

    def list(self, kind: str) -> list[Json]:
        """List."""
        return self.simulation.list(kind)

    def cluster(self) -> Cluster:
        """A port."""
        port = self.simulation.cluster()
        self._ports.append(port)
        return port

    def without_guard(self) -> None:
        """By a fault: the simulator has no policies."""
        self.simulation.faults.guard_absent()

    def requests_of(self, cluster: Cluster) -> int:
        """Count."""
        return next(len(port.requests_sent) for port in self._ports if port is cluster)

    def until(self, holds: Callable[[], T], within: float = 20) -> T:
        """Look every 30 ms of virtual time."""
        deadline = self.clock.now() + timedelta(seconds=within)
        while not (value := holds()):
            assert self.clock.now() < deadline, f"not within {within} s"
            self.simulation.run_for(_POLL)
        return value

    def idle(self, seconds: float) -> None:
        """Pass."""
        self.simulation.run_for(timedelta(seconds=seconds))

    def close(self) -> None:
        """Close all ports."""
        for port in self._ports:
            port.close()
