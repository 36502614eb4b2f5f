"""The API server: each request of ours at the moment it takes effect, and what it is answered."""

from collections.abc import Callable
from datetime import timedelta

from evac.simulator.deletions import Deletions, sent_grace
from evac.simulator.evictions import Evictions
from evac.simulator.journal import Hand
from evac.simulator.node_patches import cordoned, excluded, restored
from evac.simulator.objects import Key, Raw, uid_of, written_time
from evac.simulator.store import Store
from lambdas.domain.values.actions import (
    Announce,
    Cordon,
    Delete,
    Evict,
    ExcludeFromLoadBalancers,
    Locate,
    Restore,
)
from lambdas.domain.values.answers import Absent, Done, Located, Result
from lambdas.domain.values.manifests import read_node


class ApiServer:
    """Requests, without their way there and back."""

    def __init__(self, store: Store, deletions: Deletions, evictions: Evictions) -> None:
        self.store = store
        self._deletions = deletions
        self._evictions = evictions

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
        """A new Event on the node, in the namespace where events about nodes are kept."""
        now = written_time(self.store.timeline.now())
        uid = self.store.new_uid()
        involved = {"apiVersion": "v1", "kind": "Node", "name": action.node_name, "uid": action.node_uid}
        event = {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {"name": f"{action.node_name}.{uid[:8]}", "namespace": "default", "uid": uid},
            "involvedObject": involved,
            "reason": action.reason,
            "message": action.message,
            "type": action.kind,
            "firstTimestamp": now,
            "lastTimestamp": now,
        }
        self.store.put(event)
        return Done()


def _patched(node: Raw, action: Cordon | ExcludeFromLoadBalancers | Restore) -> Raw:
    match action:
        case Cordon(mark=mark):
            return cordoned(node, mark)
        case ExcludeFromLoadBalancers():
            return excluded(node)
        case Restore():
            return restored(node)
