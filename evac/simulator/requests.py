"""One client's requests on their way: so many at once, each with its latency, each perhaps hit by a fault.

Law: each is answered exactly once, unless its client was closed before it began. Evictions, deletions and the rest have
lanes of their own.
"""

from collections import Counter, defaultdict, deque
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from evac.simulator.faults import Faults
from evac.simulator.options import SimulatorOptions
from evac.simulator.timeline import Timeline
from lambdas.domain.values.answers import Result, Unauthenticated, Unknown

Done = Callable[[Result], None]
Effect = Callable[[Done], None]


@dataclass(frozen=True, slots=True)
class _Request:
    verb: str
    resource: str
    latency: timedelta
    effect: Effect
    done: Done


class Requests:
    """What one client sends."""

    def __init__(self, timeline: Timeline, faults: Faults, options: SimulatorOptions) -> None:
        self._timeline = timeline
        self._faults = faults
        self._options = options
        self._waiting: dict[str, deque[_Request]] = defaultdict(deque)
        self._under_way: Counter[str] = Counter()
        self.sent: list[tuple[datetime, str, str]] = []
        """Every request that was sent: when, verb, resource."""

    def send(self, verb: str, resource: str, latency: timedelta, effect: Effect, done: Done) -> None:
        """Send when there is a place for it. `effect` happens half-way, and calls back with the server's answer."""
        lane = f"{verb} {resource}"
        self._waiting[lane].append(_Request(verb, resource, latency, effect, done))
        self._fill(lane)

    def drop(self) -> None:
        """Forget what has not begun."""
        self._waiting.clear()

    def _fill(self, lane: str) -> None:
        while self._waiting[lane] and self._under_way[lane] < self._options.connections:
            self._under_way[lane] += 1
            self._begin(self._waiting[lane].popleft(), tries=2)

    def _begin(self, request: _Request, tries: int) -> None:
        self.sent.append((self._timeline.now(), request.verb, request.resource))
        fault = self._faults.strike(request.verb, request.resource)
        if fault is None:
            self._serve(request)
            return
        if fault.is_served:
            self._timeline.after(request.latency / 2, lambda: request.effect(lambda _: None))
        if isinstance(fault.result, Unauthenticated) and tries > 1:
            self._timeline.after(request.latency, lambda: self._begin(request, tries - 1))
        else:
            result = fault.result
            self._timeline.after(fault.takes, lambda: self._end(request, result))

    def _serve(self, request: _Request) -> None:
        """Half the latency on the way there, half on the way back; past the read time-out nobody listens any more."""
        patience = self._timeline.now() + self._options.read_timeout
        is_over: list[bool] = []

        def end(result: Result) -> None:
            if not is_over:
                is_over.append(True)
                self._end(request, result)

        def answered(result: Result) -> None:
            if self._timeline.now() >= patience:
                return
            self._timeline.after(request.latency / 2, lambda: end(result))

        self._timeline.after(request.latency / 2, lambda: request.effect(answered))
        limit = f"no answer within {self._options.read_timeout.total_seconds():g} s"
        self._timeline.at(patience, lambda: end(Unknown(limit)))

    def _end(self, request: _Request, result: Result) -> None:
        lane = f"{request.verb} {request.resource}"
        self._under_way[lane] -= 1
        request.done(result)
        self._fill(lane)
