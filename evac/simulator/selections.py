"""Which workloads and budgets select which pods, kept as either changes."""

from collections import defaultdict
from collections.abc import Iterator

from evac.simulator.labels import has_all, selects
from evac.simulator.objects import Key, Raw, key_of, labels_of, spec_of
from evac.simulator.store import Change, Store

REPLICATED = ("ReplicaSet", "ReplicationController")
WORKLOADS = ("Deployment", *REPLICATED, "StatefulSet")
ADOPTING = (*REPLICATED, "DaemonSet", "Job")
"""Those that take any ownerless pod that they select for their own."""
BUDGET = "PodDisruptionBudget"
_KINDS = {*WORKLOADS, *ADOPTING, BUDGET}


def selects_pod(selecting: Raw, labels: dict[str, str]) -> bool:
    """Whether a workload or budget selects these labels; only a ReplicationController has a plain map for selector."""
    selector = spec_of(selecting).get("selector")
    if selecting["kind"] == "ReplicationController":
        wanted = selector or ((spec_of(selecting).get("template") or {}).get("metadata") or {}).get("labels") or {}
        return bool(wanted) and has_all(wanted, labels)
    return selects(selector, labels)


class Selections:
    """Law: told of a change before all others, so that they may ask."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._over: dict[Key, frozenset[Key]] = {}
        self._pods: dict[Key, dict[Key, None]] = defaultdict(dict)
        self._alike: dict[tuple[str, frozenset[tuple[str, str]]], frozenset[Key]] = {}
        """By namespace and labels: pods alike are selected alike."""
        self.touched: frozenset[Key] = frozenset()
        """What selects the pod of the newest change, or selected it before."""

    def over(self, pod: Raw) -> frozenset[Key]:
        """The keys of what selects a stored pod."""
        return self._over.get(key_of(pod), frozenset())

    def pods_of(self, key: Key) -> Iterator[Raw]:
        """The pods that an object selects, oldest first."""
        for pod_key in list(self._pods.get(key, ())):
            pod = self._store.get(pod_key)
            if pod is not None:
                yield pod

    def on_change(self, change: Change) -> None:
        """Follow a pod's labels, or a selector."""
        self.touched = frozenset()
        if change.key.kind == "Pod":
            self._follow_pod(change)
        elif change.key.kind in _KINDS and _has_other_selector(change):
            self._alike.clear()
            for pod in list(self._store.pods_in(change.key.namespace)):
                self._move(key_of(pod), self._selecting(pod))

    def _follow_pod(self, change: Change) -> None:
        before = self._over.get(change.key, frozenset())
        if change.new is None or change.old is None or labels_of(change.old) != labels_of(change.new):
            self._move(change.key, self._selecting(change.new) if change.new else frozenset())
        self.touched = before | self._over.get(change.key, frozenset())

    def _move(self, pod: Key, after: frozenset[Key]) -> None:
        before = self._over.pop(pod, frozenset())
        if after:
            self._over[pod] = after
        for key in before - after:
            self._pods[key].pop(pod, None)
        for key in after - before:
            self._pods[key][pod] = None

    def _selecting(self, pod: Raw) -> frozenset[Key]:
        namespace, labels = key_of(pod).namespace, labels_of(pod)
        likeness = namespace, frozenset(labels.items())
        known = self._alike.get(likeness)
        if known is None:
            known = self._alike[likeness] = frozenset(
                key_of(raw)
                for kind in sorted(_KINDS)
                for raw in self._store.of_kind(kind)
                if key_of(raw).namespace == namespace and selects_pod(raw, labels)
            )
        return known


def _has_other_selector(change: Change) -> bool:
    if change.old is None or change.new is None:
        return True
    return spec_of(change.old).get("selector") != spec_of(change.new).get("selector")
