"""The `Cluster` port over the simulated API server: what the drain loop talks to.

Law: `wait` is what moves virtual time, to the next thing this port would notice, or to `until`.
"""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from functools import partial

from evac.simulator.faults import GUARDS, Faults
from evac.simulator.objects import Key, Raw
from evac.simulator.observing import Observing
from evac.simulator.options import SimulatorOptions
from evac.simulator.requests import Requests
from evac.simulator.server import ApiServer
from evac.simulator.timeline import Timeline
from evac.simulator.turns import Killed
from lambdas.domain.values.actions import (
    Action,
    Announce,
    CheckGuard,
    Cordon,
    Delete,
    Evict,
    ExcludeFromLoadBalancers,
    ListMarked,
    ListReleased,
    Locate,
    Observe,
    ObserveWorkloads,
    OfPod,
    Restore,
)
from lambdas.domain.values.answers import Absent, Answer, Done, Located, Refused, Result
from lambdas.domain.values.manifests import read_node
from lambdas.domain.values.observation import Observation

OfOneNode = Cordon | ExcludeFromLoadBalancers | Restore | Announce
WaitUntil = Callable[[datetime, Callable[[], bool]], None]


class SimulatedCluster:
    """One client of the simulated API server."""

    def __init__(self, server: ApiServer, faults: Faults, options: SimulatorOptions, run_until: WaitUntil) -> None:
        self._server = server
        self._timeline: Timeline = server.store.timeline
        self._options = options
        self._run_until = run_until
        self._requests = Requests(self._timeline, faults, options)
        self._observing = Observing(server.store, faults, self._requests, options, self._notice)
        self._answers: list[Answer] = []
        self._has_news = False
        self._is_closed = False
        self._is_killed = False

    @property
    def requests_sent(self) -> Sequence[tuple[datetime, str, str]]:
        """Every request of this client: when, verb, resource. Watches are not requests."""
        return tuple(self._requests.sent)

    def start(self, action: Action) -> None:
        """Send it; the answer comes from `wait`."""
        if self._is_closed:
            return
        done = partial(self._answered, action)
        took = self._options.latencies
        match action:
            case Observe(node_name):
                self._observing.observe(node_name, done)
            case ObserveWorkloads(namespace):
                self._observing.observe_workloads(namespace, done)
            case Locate():
                self._locate(action, list(action.names), done)
            case CheckGuard():
                self._send("get", GUARDS, took.get, Done, done)
            case ListReleased():
                self._send("list", "pods", took.list, self._server.find_released, done)
            case ListMarked():
                self._send("list", "nodes", took.list, self._server.find_marked, done)
            case Cordon() | ExcludeFromLoadBalancers() | Restore() | Announce():
                self._ask_of_node(action, done)
            case _:
                self._ask_of_pod(action, done)

    def _ask_of_node(self, action: OfOneNode, done: Callable[[Result], None]) -> None:
        took = self._options.latencies
        match action:
            case Announce():
                self._send("create", "events", took.create, partial(self._server.announce, action), done)
            case _:
                self._send("patch", "nodes", took.patch, partial(self._server.patch_node, action), done)

    def _ask_of_pod(self, action: OfPod, done: Callable[[Result], None]) -> None:
        took = self._options.latencies
        match action:
            case Evict():
                effect = partial(self._server.evict, action, took.evict * 0.3)
                self._requests.send("create", "pods/eviction", took.evict * 0.7, effect, done)
            case Delete():
                self._send("delete", "pods", took.delete, partial(self._server.delete_pod, action), done)
            case _:
                self._send("patch", "pods", took.patch, partial(self._server.patch_pod, action), done)

    def _send(
        self, verb: str, resource: str, latency: timedelta, serve: Callable[[], Result], done: Callable[[Result], None]
    ) -> None:
        self._requests.send(verb, resource, latency, lambda reply: reply(serve()), done)

    def _locate(self, action: Locate, names: list[str], done: Callable[[Result], None]) -> None:
        """Each name by a request of its own; the node's provider id decides, not its name."""
        if not action.instance_id and not action.is_by_name:
            done(Refused("an instance without an id cannot be looked for"))
        elif names:
            then = partial(self._located, action, names[1:], done)
            self._send("get", "nodes", self._options.latencies.get, lambda: self._named(names[0], action), then)
        elif action.may_list:
            self._send("list", "nodes", self._options.latencies.list, lambda: self._server.find_node(action), done)
        else:
            done(Absent())

    def _named(self, name: str, action: Locate) -> Result:
        return _as_located(self._server.store.get(Key("Node", "", name)), action)

    def _located(self, action: Locate, names: list[str], done: Callable[[Result], None], result: Result) -> None:
        if isinstance(result, Absent):
            self._locate(action, names, done)
        else:
            done(result)

    def _answered(self, action: Action, result: Result) -> None:
        if not self._is_closed:
            self._answers.append(Answer(action, result, self._timeline.now()))
            self._notice()

    def _notice(self) -> None:
        self._has_news = True

    def wait(self, until: datetime) -> Sequence[Answer]:
        """Let virtual time pass until there is news for this client, or to `until`."""
        if not self._has_news:
            self._run_until(until, lambda: self._has_news)
        if self._is_killed:
            raise Killed
        self._has_news = False
        answers, self._answers = self._answers, []
        return answers

    def observe(self) -> Observation:
        """What this client has been told so far."""
        return self._observing.observation()

    def wake(self) -> None:
        """End the current or next wait."""
        self._has_news = True

    def kill(self) -> None:
        """The process of this client dies: its `wait` never returns, requests that have begun go on at the server."""
        self._is_killed = True
        self.wake()
        self.close()

    def close(self) -> None:
        """Hear nothing any more; what has begun at the server goes on there."""
        self._is_closed = True
        self._requests.drop()
        self._observing.close()


def _as_located(node: Raw | None, action: Locate) -> Result:
    if node is None:
        return Absent()
    value = read_node(node)
    return Located(value) if action.is_by_name or value.instance_id == action.instance_id else Absent()
