"""The `Cluster` port: actions handed to lanes, answers and changes handed to the loop.

Law: `start` neither blocks nor raises, and what was started is answered exactly once, whatever goes wrong in here.
"""

import logging
import time
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from functools import partial

from lambdas.adapters.kubernetes import bodies, calls, patches
from lambdas.adapters.kubernetes.answers import result_of
from lambdas.adapters.kubernetes.calls import Call, Server
from lambdas.adapters.kubernetes.lanes import Lane
from lambdas.adapters.kubernetes.listing import Unlisted
from lambdas.adapters.kubernetes.mailbox import Mailbox
from lambdas.adapters.kubernetes.nodes import Nodes
from lambdas.adapters.kubernetes.paths import BadName
from lambdas.adapters.kubernetes.pods import Pods
from lambdas.adapters.kubernetes.watching import Watching
from lambdas.application.ports import Clock
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
    OfNode,
    OfPod,
    Release,
    Restore,
    TakeBack,
    TidyUp,
    Wake,
)
from lambdas.domain.values.answers import Answer, Done, Located, Passing, Refused, Result
from lambdas.domain.values.observation import Observation

_log = logging.getLogger(__name__)

_NODE_WORKERS = 8
_WORKLOADS = 8
"""Namespaces read at a time, each by its lists, of which _LISTINGS go at a time."""
_LISTINGS = 12
_LONGEST_REST = 0.02
"""Seconds. What waits for a replacement to be Ready is noticed no later than this."""
_FAREWELL = 0.3
"""Seconds for all threads to end in order; one that is still making a connection ends by itself."""


class KubernetesCluster:
    """`Cluster` on a server's answers. `workers`: that many evictions, and as many deletions, at a time."""

    def __init__(self, server: Server, clock: Clock, *, prefetch: bool = False, workers: int = 16) -> None:
        """`prefetch`: begin to read budgets and services now, beside the search for the node."""
        self.server = server
        self._clock = clock
        self._mailbox = Mailbox(clock)
        self._watching = Watching(server, clock, self._mailbox.changed)
        self._nodes = Nodes(server, self._watching)
        self._pods = Pods(server, self._watching)
        self._node_lane = Lane("node", _NODE_WORKERS, self._work)
        self._evictions = Lane("evict", workers, self._work)
        self._deletions = Lane("delete", workers, self._work)
        self._patches = Lane("patch", workers, self._work)
        self._workloads = Lane("workloads", _WORKLOADS, self._work)
        self._listings: Lane[Callable[[], None]] = Lane("list", _LISTINGS, _run)
        self._is_closed = False
        self._returned_at: float | None = None
        if prefetch:
            self._watching.start()

    def start(self, action: Action) -> None:
        """Hand the action to its lane; never blocks, never raises. Its answer comes from `wait`, exactly once."""
        if not self._lane_of(action).submit(action) and not self._is_closed:
            self._answer(action, Passing("this process cannot start another thread"))

    def wait(self, until: datetime) -> Sequence[Answer]:
        """Block until something changed (an answer, a watched object, `wake`) or `until`; the answers since then.

        A loop that has just worked for some milliseconds rests as long first (unless an answer is there), so that a
        storm of events costs half a processor, and the threads that carry requests have the other.
        """
        if self._returned_at is not None and not self._mailbox.has_answers:
            worked = time.monotonic() - self._returned_at
            left = (until - self._clock.now()).total_seconds()
            time.sleep(max(0.0, min(worked, _LONGEST_REST, left)))
        answers = self._mailbox.wait(until)
        self._returned_at = time.monotonic()
        return answers

    def observe(self) -> Observation:
        """The newest state seen of what `Observe` asked for. Never blocks, costs no request."""
        return self._watching.observation()

    def wake(self) -> None:
        """End the current or next `wait`; any thread may."""
        self._mailbox.changed()

    def close(self) -> None:
        """Stop watches and lanes, and cut the connections; actions not yet begun are dropped. Takes well under 1 s."""
        self._is_closed = True
        lanes = (self._node_lane, self._evictions, self._deletions, self._patches, self._workloads)
        for lane in (*lanes, self._listings):
            lane.close()
        self._watching.close()
        self.server.close()
        threads = [*self._watching.threads, *(t for lane in (*lanes, self._listings) for t in lane.threads)]
        until = time.monotonic() + _FAREWELL
        for thread in threads:
            thread.join(max(0.0, until - time.monotonic()))

    def _lane_of(self, action: Action) -> Lane[Action]:
        match action:
            case Evict():
                return self._evictions
            case Delete():
                return self._deletions
            case Release() | TakeBack() | TidyUp() | Wake() | CheckGuard():
                return self._patches  # which wait for it, and it for no namespace
            case ObserveWorkloads() | ListReleased() | ListMarked():
                return self._workloads
            case _:
                return self._node_lane

    def _work(self, action: Action) -> None:
        try:
            result = self._perform(action)
        except BadName as error:
            result = Refused(str(error))
        except Exception as error:  # noqa: BLE001 - the loop waits for an answer to everything it started
            if self._is_closed:
                return
            _log.error("a fault in carrying out %s", type(action).__name__, exc_info=True)
            result = Refused(f"a fault in evac: {type(error).__name__}: {error}")
        self._answer(action, result)

    def _answer(self, action: Action, result: Result) -> None:
        if not self._is_closed:
            self._mailbox.put(Answer(action, result, self._clock.now()))

    def _perform(self, action: Action) -> Result:
        match action:
            case Locate():
                return self._locate(action)
            case ObserveWorkloads(namespace):
                return _answer_to(self._watching.observe_workloads(namespace, self._listings.submit))
            case CheckGuard():
                return self._pods.check_guard()
            case ListReleased():
                return self._pods.list_released()
            case ListMarked():
                return self._pods.list_marked()
            case Evict() | Delete() | Release() | TakeBack() | TidyUp() | Wake():
                return self._perform_on_a_pod(action)
            case _:
                return self._perform_on_a_node(action)

    def _perform_on_a_pod(self, action: OfPod) -> Result:
        match action:
            case Evict():
                return self._ask(calls.evict(action.pod, bodies.eviction(action.pod, self._grace(action))))
            case Delete():
                return self._ask(calls.delete_pod(action.pod, bodies.deletion(action.pod, self._grace(action))))
            case Release():
                return self._pods.release(action)
            case _:
                return self._pods.change(action)

    def _perform_on_a_node(self, action: OfNode) -> Result:
        match action:
            case Observe(node_name):
                return _answer_to(self._watching.observe_node(node_name))
            case Cordon(node_name, mark):
                return self._nodes.patch(node_name, partial(patches.cordon, mark=mark))
            case ExcludeFromLoadBalancers(node_name):
                return self._nodes.patch(node_name, patches.exclude_from_load_balancers)
            case Restore(node_name):
                return self._nodes.patch(node_name, patches.restore, reads_first=True)
            case Announce():
                return self._ask(calls.create_event(bodies.event(action, self._clock.now())))

    def _locate(self, action: Locate) -> Result:
        """A node that is found will be observed: what that takes of the whole cluster is read meanwhile."""
        result = self._nodes.locate(action)
        if isinstance(result, Located):
            self._watching.start()
        return result

    def _grace(self, action: Evict | Delete) -> timedelta:
        """Never more than the pod's own, where that is known."""
        pod = self._watching.pod(action.pod)
        return min(action.grace, pod.grace) if pod else action.grace

    def _ask(self, call: Call) -> Result:
        return result_of(call, self.server.ask(call))


def _answer_to(trouble: Unlisted | None) -> Result:
    return result_of(trouble.call, trouble.reply) if trouble else Done()


def _run(job: Callable[[], None]) -> None:
    """A job that failed has told whoever waits for it."""
    try:
        job()
    except Exception:  # noqa: BLE001 - the lane's thread lives on
        _log.error("a fault in reading a namespace", exc_info=True)
