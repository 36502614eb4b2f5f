"""A node's pods and its namespace's workloads come by two watches, and either may lag behind the other."""

from collections import deque
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from evac.memory import CollectingReporter, InlineBackground
from evac.simulator import Simulation
from lambdas.application.evacuation import evacuate
from lambdas.application.ports import Clock, Cluster
from lambdas.application.requests import Ports, Request
from lambdas.domain.values.actions import Action
from lambdas.domain.values.answers import Answer
from lambdas.domain.values.drains import Ending
from lambdas.domain.values.observation import NamespaceView, Observation
from lambdas.domain.values.settings import ReleaseMode, Settings
from tests.scenarios.stage import notice
from tests.scenes import at, autoscaler, budget, deployment, node, times


class Lagging:
    """A cluster whose namespaces are seen as they were `by` ago."""

    def __init__(self, port: Cluster, clock: Clock, by: timedelta) -> None:
        self._port = port
        self._clock = clock
        self._by = by
        self._seen: deque[tuple[datetime, dict[str, NamespaceView]]] = deque()

    def start(self, action: Action) -> None:
        self._port.start(action)

    def wait(self, until: datetime) -> Sequence[Answer]:
        return self._port.wait(min(until, self._clock.now() + self._by))

    def wake(self) -> None:
        self._port.wake()

    def close(self) -> None:
        self._port.close()

    def observe(self) -> Observation:
        now, seen = self._clock.now(), self._port.observe()
        self._seen.append((now, dict(seen.namespaces)))
        while len(self._seen) > 1 and self._seen[1][0] <= now - self._by:
            self._seen.popleft()
        return replace(seen, namespaces=self._seen[0][1])


@pytest.mark.parametrize("lag", [0.02, 0.1, 0.5])
@pytest.mark.parametrize("is_autoscaled", [True, False])
def test_workloads_that_are_seen_later_than_their_pods_make_no_wave_larger(lag: float, is_autoscaled: bool) -> None:
    web = deployment("web", {"spot-a": 30, "od-1": 10}, annotations=times(10, 2))
    scalers = [autoscaler("web", least=10, most=100)] if is_autoscaled else []
    objects = [node("spot-a"), node("od-1"), *web, budget("web", {"app": "web"}, maxUnavailable=1), *scalers]
    simulation = Simulation(objects, at(-1))
    simulation.run_until(at(0))
    port = Lagging(simulation.cluster(), simulation.clock, timedelta(seconds=lag))
    mode = ReleaseMode.ALL if is_autoscaled else ReleaseMode.ENOUGH
    ports = Ports(simulation.clock, port, InlineBackground(), CollectingReporter())
    [fate] = evacuate([Request(notice())], ports, Settings(release=mode))
    assert fate.record.ending is Ending.DRAINED
    first = [f for f in fate.record.pods if f.released_at and f.released_at < at(5)]
    assert len(first) == 10
