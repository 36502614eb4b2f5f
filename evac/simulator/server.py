"""The API server: each request of ours at the moment it takes effect, and what it is answered."""

from collections.abc import Callable
from datetime import timedelta

from evac.simulator.deletions import Deletions, sent_grace
from evac.simulator.evictions import Evictions
from evac.simulator.journal import Hand
from evac.simulator.node_patches import cordoned, excluded, restored
from evac.simulator.objects import Key, Raw, labels_of, uid_of, written_time
from evac.simulator.pod_patches import released, taken_back, tidied, woken
from evac.simulator.store import Store
from lambdas.contract import LABEL_DRAINING, LABEL_RELEASED
from lambdas.domain.values.actions import (
    Announce,
    Cordon,
    Delete,
    Evict,
    ExcludeFromLoadBalancers,
    Locate,
    Release,
    Restore,
    TakeBack,
    TidyUp,
    Wake,
)
from lambdas.domain.values.answers import Absent, Conflict, Done, Forbidden, Found, Located, Refused, Result
from lambdas.domain.values.manifests import read_node, read_pod

OfReleased = Release | TakeBack | TidyUp | Wake


class ApiServer:
    """Requests, without their way there and back."""

    def __init__(
        self, store: Store, deletions: Deletions, evictions: Evictions, *, admits_ownerless: bool = True
    ) -> None:
        self.store = store
        self._deletions = deletions
        self._evictions = evictions
        self._admits_ownerless = admits_ownerless

    def evict(self, action: Evict, writing: timedelta, reply: Callable[[Result], None]) -> None:
        """POST pods/eviction."""
        self._evictions.evict(action, writing, reply)

    def delete_pod(self, action: Delete) -> Result:
        """DELETE with a UID precondition; nobody's budget is asked."""
        pod = self.store.get(Key("Pod", action.pod.namespace, action.pod.name))
        if pod is None or uid_of(pod) != action.pod.uid:
            return Absent()
        self._deletions.ask(pod, sent_grace(action, pod), Hand.DELETED)
        return Done()

    def patch_pod(self, action: OfReleased) -> Result:
        """The four patches of a pod; their tests come first, then admission."""
        pod = self.store.get(Key("Pod", action.pod.namespace, action.pod.name))
        if pod is None or uid_of(pod) != action.pod.uid:
            return Absent()
        changed = _patched_pod(pod, action)
        if isinstance(changed, Conflict | Refused):
            return changed
        if isinstance(action, Release) and not self._admits_ownerless:
            return Forbidden(f'pods "{action.pod.name}" is forbidden: an admission policy wants an owner')
        if changed != pod:
            self.store.put(changed)
        return Done()

    def find_released(self) -> Result:
        """A listing of all pods that carry our label, in whatever state."""
        return Found(pods=tuple(read_pod(p) for p in self.store.of_kind("Pod") if LABEL_RELEASED in labels_of(p)))

    def find_marked(self) -> Result:
        """A listing of all nodes that carry our label."""
        return Found(nodes=tuple(read_node(n) for n in self.store.of_kind("Node") if LABEL_DRAINING in labels_of(n)))

    def patch_node(self, action: Cordon | ExcludeFromLoadBalancers | Restore) -> Result:
        """The three patches of a node."""
        node = self.store.get(Key("Node", "", action.node_name))
        if node is None:
            return Absent()
        changed = _patched(node, action)
        if changed != node:
            self.store.put(changed)
        return Done()

    def find_node(self, action: Locate) -> Result:
        """A listing of all nodes, searched by provider id."""
        for raw in self.store.of_kind("Node"):
            node = read_node(raw)
            if node.instance_id == action.instance_id:
                return Located(node)
        return Absent()

    def announce(self, action: Announce) -> Result:
        """A new Event: on the node, in the namespace where events about nodes are kept, or on a pod, in its own."""
        now = written_time(self.store.timeline.now())
        uid = self.store.new_uid()
        involved = _involved(action)
        namespace = involved.get("namespace", "default")
        event = {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {"name": f"{involved['name']}.{uid[:8]}", "namespace": namespace, "uid": uid},
            "involvedObject": involved,
            "reason": action.reason,
            "message": action.message,
            "type": action.kind,
            "firstTimestamp": now,
            "lastTimestamp": now,
        }
        self.store.put(event)
        return Done()


def _involved(action: Announce) -> dict[str, str]:
    pod = action.involved
    if pod is None:
        return {"apiVersion": "v1", "kind": "Node", "name": action.node_name, "uid": action.node_uid}
    return {"apiVersion": "v1", "kind": "Pod", "namespace": pod.namespace, "name": pod.name, "uid": pod.uid}


def _patched(node: Raw, action: Cordon | ExcludeFromLoadBalancers | Restore) -> Raw:
    match action:
        case Cordon(mark=mark):
            return cordoned(node, mark)
        case ExcludeFromLoadBalancers():
            return excluded(node)
        case Restore():
            return restored(node)


def _patched_pod(pod: Raw, action: OfReleased) -> Raw | Conflict | Refused:
    match action:
        case Release():
            return released(pod, action)
        case TakeBack():
            return taken_back(pod)
        case TidyUp():
            return tidied(pod)
        case Wake(at=at):
            return woken(pod, at)
