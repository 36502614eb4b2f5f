"""What nobody owns any more is collected: the dependents of deleted owners, the pods of nodes that are gone.

Rules: the garbage collector (background), the pod collector (orphaned pods are deleted without grace).
"""

from collections.abc import Iterator

from evac.simulator.controllers.reconciler import Reconciler
from evac.simulator.deletions import Deletions
from evac.simulator.journal import Hand
from evac.simulator.objects import Key, Raw, controller_of, key_of, uid_of
from evac.simulator.options import SimulatorOptions
from evac.simulator.store import Change, Store

_COLLECTED = ("ReplicaSet", "Job", "Pod")


class Collector(Reconciler):
    """Garbage and orphans."""

    def __init__(self, store: Store, deletions: Deletions, options: SimulatorOptions) -> None:
        super().__init__(store, options.latencies.controllers)
        self._deletions = deletions
        self._options = options

    def on_change(self, change: Change) -> None:
        """A gone node's pods; a gone owner's dependents."""
        if change.new is not None or change.old is None:
            return
        if change.key.kind == "Node":
            self.enqueue(change.key, after=self._options.orphans_collected_after + self._options.latencies.controllers)
        elif change.key.kind != "Pod":
            self.enqueue(Key("uid", "", uid_of(change.old)))

    def reconcile(self, key: Key) -> None:
        """Collect, unless the node is back."""
        if key.kind == "Node":
            if self.store.get(key) is None:
                for pod in self.store.pods_on(key.name):
                    self._deletions.ask(pod, 0, Hand.COLLECTED)
            return
        for dependent in list(self._dependents(key.name)):
            if dependent["kind"] == "Pod":
                self._deletions.ask(dependent, None, Hand.COLLECTED)
            else:
                self.store.remove(key_of(dependent))

    def _dependents(self, uid: str) -> Iterator[Raw]:
        for kind in _COLLECTED:
            for raw in self.store.owned_by(uid, kind):
                owner = controller_of(raw)
                if owner is not None and owner.get("uid") == uid:
                    yield raw
