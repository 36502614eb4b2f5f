"""The kubelets: pods start, become Ready, complete and shut down; with a host that is taken, all stops.

Law: a pod's start-up and shutdown take what its annotations say, else the options; a deletion's grace caps the latter.
"""

from datetime import datetime, timedelta

from evac.simulator.deletions import Deletions
from evac.simulator.durations import COMPLETES, READY, SHUTDOWN, STARTUP, annotated, read_duration
from evac.simulator.journal import Journal
from evac.simulator.objects import Key, Raw, annotations_of, key_of, revised, uid_of
from evac.simulator.options import SimulatorOptions
from evac.simulator.pods import (
    condition_of,
    ended,
    is_active,
    is_finished,
    is_ready,
    is_terminating,
    node_of,
    phase_of,
    started,
)
from evac.simulator.scheduling.volumes import is_held_elsewhere
from evac.simulator.store import Change, Store

MIRROR = "kubernetes.io/config.mirror"
_NOTHING_TO_STOP = timedelta(milliseconds=100)
_MIRRORED_AGAIN = timedelta(seconds=1)


class Kubelets:
    """One kubelet a node, as long as the node's host lives."""

    def __init__(self, store: Store, deletions: Deletions, journal: Journal, options: SimulatorOptions) -> None:
        self._store = store
        self._timeline = store.timeline
        self._deletions = deletions
        self._journal = journal
        self._options = options
        self._taken: set[str] = set()
        self._starting: set[str] = set()
        self._completing: set[str] = set()
        self._unattached: dict[str, Key] = {}
        """Pods by uid whose volumes another node still holds."""
        self._stops: dict[str, tuple[datetime, datetime]] = {}
        """By uid: when it was signalled, and when it will have stopped."""

    def runs(self, node_name: str) -> bool:
        """Whether the node has a kubelet that can be reached."""
        node = self._store.get(Key("Node", "", node_name))
        if node is None or node_name in self._taken:
            return False
        ready = condition_of(node, "Ready")
        return ready is None or ready.get("status") != "Unknown"

    def take_host(self, node_name: str) -> None:
        """The host is gone: whatever ran there is dead, and the API does not know yet."""
        self._taken.add(node_name)
        for pod in self._store.pods_on(node_name):
            self._journal.host_taken(pod)

    def is_dead(self, pod: Raw) -> bool:
        """Whether the pod's host was taken."""
        return node_of(pod) in self._taken

    def on_change(self, change: Change) -> None:
        """Begin what the change asks of a kubelet."""
        match change:
            case Change(Key(kind="Node", name=name), new=None):
                self._timeline.after(
                    timedelta(0), lambda: self._taken.discard(name) if not self._exists(name) else None
                )
            case Change(Key(kind="Pod"), old=old, new=None) if old is not None:
                self._forget(old)
            case Change(Key(kind="Pod"), new=new) if new is not None and self.runs(node_of(new)):
                self._look_at(new)

    def _exists(self, node_name: str) -> bool:
        return self._store.get(Key("Node", "", node_name)) is not None

    def _look_at(self, pod: Raw) -> None:
        if is_terminating(pod):
            self._begin_stop(pod)
        elif phase_of(pod) == "Pending":
            self._begin_start(pod)
        elif is_ready(pod) and COMPLETES in annotations_of(pod):
            self._begin_completion(pod)

    def _begin_start(self, pod: Raw) -> None:
        uid, key = uid_of(pod), key_of(pod)
        if is_held_elsewhere(self._store, pod):
            self._unattached[uid] = key
        elif uid not in self._starting:
            self._starting.add(uid)
            delay = annotated(pod, STARTUP, self._options.startup)
            self._timeline.after(delay, lambda: self._start(key, uid))

    def _start(self, key: Key, uid: str) -> None:
        pod = self._alive(key, uid)
        if pod is not None and is_active(pod) and phase_of(pod) == "Pending":
            self._store.put(started(pod, self._timeline.now(), ready=annotations_of(pod).get(READY) != "false"))

    def _begin_completion(self, pod: Raw) -> None:
        uid, key = uid_of(pod), key_of(pod)
        delay = read_duration(str(annotations_of(pod)[COMPLETES]))
        if uid not in self._completing and delay is not None:
            self._completing.add(uid)
            self._timeline.after(delay, lambda: self._complete(key, uid))

    def _complete(self, key: Key, uid: str) -> None:
        pod = self._alive(key, uid)
        if pod is None or is_finished(pod):
            return
        over = self._store.put(ended(pod, "Succeeded", self._timeline.now()))
        if is_terminating(over):
            self._timeline.after(self._options.latencies.controllers, lambda: self._remove(key, uid))

    def _begin_stop(self, pod: Raw) -> None:
        """Called again where the grace was shortened, with the same signal."""
        uid, key, now = uid_of(pod), key_of(pod), self._timeline.now()
        signalled_at, former = self._stops.get(uid, (now, datetime.max.replace(tzinfo=now.tzinfo)))
        ends = max(now, signalled_at + min(self._shutdown(pod), self._grace(pod)))
        self._stops[uid] = (signalled_at, ends)
        if ends < former:
            self._timeline.at(ends, lambda: self._stop(key, uid, ends))

    def _shutdown(self, pod: Raw) -> timedelta:
        if is_finished(pod):
            return timedelta(0)
        if phase_of(pod) == "Pending":
            return _NOTHING_TO_STOP
        return annotated(pod, SHUTDOWN, self._options.shutdown)

    @staticmethod
    def _grace(pod: Raw) -> timedelta:
        return timedelta(seconds=pod["metadata"].get("deletionGracePeriodSeconds") or 0)

    def _stop(self, key: Key, uid: str, ends: datetime) -> None:
        pod = self._alive(key, uid)
        if pod is None or self._stops.get(uid, (ends, ends))[1] != ends:
            return
        if self._shutdown(pod) > self._grace(pod):
            self._journal.cut_short(uid)
        if not is_finished(pod):
            self._store.put(ended(pod, "Failed", self._timeline.now()))
        self._timeline.after(self._options.latencies.controllers, lambda: self._remove(key, uid))

    def _remove(self, key: Key, uid: str) -> None:
        pod = self._alive(key, uid)
        if pod is not None:
            self._deletions.finish(pod)

    def _alive(self, key: Key, uid: str) -> Raw | None:
        pod = self._store.get(key)
        if pod is None or uid_of(pod) != uid or not self.runs(node_of(pod)):
            return None
        return pod

    def _forget(self, pod: Raw) -> None:
        uid = uid_of(pod)
        self._unattached.pop(uid, None)
        self._attach_again()
        self._starting.discard(uid)
        self._completing.discard(uid)
        self._stops.pop(uid, None)
        if MIRROR in annotations_of(pod) and self.runs(node_of(pod)):
            self._timeline.after(_MIRRORED_AGAIN, lambda: self._mirror_again(pod))

    def _attach_again(self) -> None:
        """A pod is gone: volumes that it held may be free."""
        waiting, self._unattached = self._unattached, {}
        for uid, key in waiting.items():
            pod = self._alive(key, uid)
            if pod is not None:
                self._look_at(pod)

    def _mirror_again(self, pod: Raw) -> None:
        """A static pod runs on whatever the API says: its mirror comes back under a new uid."""
        if self.runs(node_of(pod)) and self._store.get(key_of(pod)) is None:
            anew = {
                "uid": None,
                "creationTimestamp": None,
                "deletionTimestamp": None,
                "deletionGracePeriodSeconds": None,
            }
            mirror = revised(pod, metadata=anew, status={"phase": "Pending", "conditions": None})
            self._store.put(started(mirror, self._timeline.now(), ready=True))
