"""The scheduler: pending pods onto nodes with room, by priority, then age.

Rules: the filter plugins of kube-scheduler. Not simulated: preemption, scoring plugins beyond spreading and least use,
and the wait of pods that were found unschedulable: here they are tried again as soon as anything changes, while a real
scheduler backs off (1 s to 10 s) and overlooks some changes (a pod that only another's anti-affinity keeps away is not
tried again when a node joins, for up to 5 min: InterPodAffinity's isSchedulableAfterNodeChange, 1.37).
"""

from collections.abc import Iterator

from evac.simulator.controllers.reconciler import Reconciler
from evac.simulator.objects import Key, Raw, controller_of, key_of, labels_of, spec_of
from evac.simulator.options import SimulatorOptions
from evac.simulator.pods import bound, condition_of, is_active, node_of, with_condition
from evac.simulator.scheduling.filters import Filters
from evac.simulator.scheduling.requests import requests_of
from evac.simulator.scheduling.room import Room, allocatable
from evac.simulator.store import Change, Store

_ROUND = Key("Scheduler", "", "round")


class Scheduler(Reconciler):
    """One round over all pending pods, a moment after anything changed that may give one a place."""

    def __init__(self, store: Store, options: SimulatorOptions) -> None:
        super().__init__(store, options.latencies.controllers)
        self._room = Room()
        self._filters = Filters(store)
        self._pending: dict[Key, None] = {}

    def on_change(self, change: Change) -> None:
        """Remember who waits; look again where room, nodes, volumes or a waiting pod changed."""
        self._room.on_change(change)
        self._filters.on_change(change)
        if change.key.kind == "Pod":
            self._follow(change)
        elif change.key.kind in {"Node", "PersistentVolume", "PersistentVolumeClaim", "Namespace"} and self._pending:
            self.enqueue(_ROUND)

    def _follow(self, change: Change) -> None:
        new = change.new
        if new is not None and not node_of(new) and is_active(new):
            if change.old is None or spec_of(change.old) is not spec_of(new) or labels_of(change.old) != labels_of(new):
                self._pending[change.key] = None
                self.enqueue(_ROUND)
            return
        self._pending.pop(change.key, None)
        if self._pending and (new is None or not is_active(new) or change.old is None or _relabelled(change)):
            self.enqueue(_ROUND)

    def reconcile(self, _: Key) -> None:
        """Pods alike share their fate: where one finds no place, the rest of its kind need not be tried."""
        hopeless: set[object] = set()
        nodes = list(self.store.of_kind("Node"))
        for pod in sorted(self._waiting(), key=_turn):
            likeness = _likeness(pod)
            if likeness in hopeless:
                self._tell(pod)
                continue
            node = self._place(pod, nodes)
            if node is None:
                hopeless.add(likeness)
                self._tell(pod)
            else:
                self.store.put(bound(pod, node["metadata"]["name"], self.timeline.now()))

    def _waiting(self) -> Iterator[Raw]:
        for key in list(self._pending):
            pod = self.store.get(key)
            if pod is not None and not spec_of(pod).get("schedulingGates"):
                yield pod

    def _place(self, pod: Raw, nodes: list[Raw]) -> Raw | None:
        requests = requests_of(pod)
        fit = self._filters.of(pod)
        free = [node for node in nodes if self._room.fits(node, requests) and fit(node)]
        return min(free, key=lambda node: self._burden(node, pod), default=None)

    def _burden(self, node: Raw, pod: Raw) -> tuple[int, float, str]:
        """Spread a workload's pods, then use the emptiest node; by name at last, so that runs repeat."""
        name = node["metadata"]["name"]
        used, offered = self._room.used(name), allocatable(node)
        shares = [used[resource] / max(offered.get(resource, 0), 1) for resource in ("cpu", "memory", "pods")]
        return self._room.alike(name, pod), sum(shares), name

    def _tell(self, pod: Raw) -> None:
        told = condition_of(pod, "PodScheduled")
        if told is None or told.get("status") != "False":
            message = "no node has room for it and lets it in"
            now = self.timeline.now()
            self.store.put(with_condition(pod, "PodScheduled", "False", now, reason="Unschedulable", message=message))


def _relabelled(change: Change) -> bool:
    return change.old is not None and change.new is not None and labels_of(change.old) != labels_of(change.new)


def _turn(pod: Raw) -> tuple[int, str]:
    return -(spec_of(pod).get("priority") or 0), pod["metadata"].get("creationTimestamp") or ""


def _likeness(pod: Raw) -> object:
    """Pods of one controller with the same labels differ in nothing that a filter reads, save volumes of their own."""
    owner = controller_of(pod)
    if owner is None or owner["kind"] in {"StatefulSet", "DaemonSet"}:
        return key_of(pod)
    return owner.get("uid"), frozenset(labels_of(pod).items())
