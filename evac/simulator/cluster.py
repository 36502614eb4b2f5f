"""The parts of the control plane, put together: who is told of a change, and in which order."""

from datetime import timedelta

from evac.simulator.controllers.autoscalers import Autoscalers
from evac.simulator.controllers.collector import Collector
from evac.simulator.controllers.daemonsets import DaemonSets
from evac.simulator.controllers.deployments import Deployments
from evac.simulator.controllers.disruption import Disruption
from evac.simulator.controllers.jobs import Jobs
from evac.simulator.controllers.node_lifecycle import NodeLifecycle
from evac.simulator.controllers.reconciler import Reconciler
from evac.simulator.controllers.replicasets import ReplicaSets
from evac.simulator.controllers.statefulsets import StatefulSets
from evac.simulator.deletions import Deletions
from evac.simulator.evictions import Evictions
from evac.simulator.history import History
from evac.simulator.journal import Hand, Journal
from evac.simulator.kubelets import Kubelets
from evac.simulator.objects import Key, Raw, key_of
from evac.simulator.options import SimulatorOptions
from evac.simulator.pods import is_terminating
from evac.simulator.scheduling.scheduler import Scheduler
from evac.simulator.selections import Selections
from evac.simulator.server import ApiServer
from evac.simulator.store import Store


class ControlPlane:
    """API server, controllers, scheduler and kubelets over one store."""

    def __init__(self, store: Store, journal: Journal, options: SimulatorOptions) -> None:
        self.store = store
        self._options = options
        self._deletions = Deletions(store, journal)
        self._kubelets = Kubelets(store, self._deletions, journal, options)
        selections = Selections(store)
        self.history = History(store, selections, self._kubelets.is_dead)
        self._disruption = Disruption(store, selections, options.latencies.controllers)
        evictions = Evictions(store, self._deletions, self._disruption)
        self.server = ApiServer(store, self._deletions, evictions, admits_ownerless=options.admits_ownerless)
        for follow in (selections.on_change, journal.on_change, self.history.on_change, self._kubelets.on_change):
            store.subscribe(follow)
        for controller in self._controllers(selections):
            store.subscribe(controller.on_change)

    def _controllers(self, selections: Selections) -> tuple[Reconciler, ...]:
        store, deletions, options = self.store, self._deletions, self._options
        delay = options.latencies.controllers
        return (
            Scheduler(store, options),
            ReplicaSets(store, selections, deletions, options),
            Deployments(store, delay),
            StatefulSets(store, deletions, options),
            DaemonSets(store, selections, deletions, options),
            Jobs(store, selections, deletions, options),
            Autoscalers(store, selections, delay),
            self._disruption,
            NodeLifecycle(store, delay),
            Collector(store, deletions, options),
        )

    def settle_budgets(self) -> None:
        """A cluster that has been running has true budgets: count them before anything happens."""
        for budget in list(self.store.of_kind("PodDisruptionBudget")):
            self._disruption.reconcile(key_of(budget))

    def write(self, raw: Raw) -> None:
        """Store a changed object; one that only its finalizers kept goes with the last of them."""
        metadata = raw["metadata"]
        is_kept = metadata.get("finalizers") or metadata.get("deletionGracePeriodSeconds")
        if is_terminating(raw) and not is_kept:
            self.store.remove(key_of(raw))
        else:
            self.store.put(raw)

    def delete(self, key: Key, grace: timedelta | None) -> None:
        """Delete an object: a pod gracefully, anything else at once. (A namespace's content stays.)"""
        raw = self.store.get(key)
        if raw is not None and key.kind == "Pod":
            self._deletions.ask(raw, None if grace is None else grace // timedelta(seconds=1), Hand.DELETED)
        elif raw is not None:
            self.store.remove(key)

    def take_host(self, node_name: str) -> None:
        """The host dies; after a while the cloud controller removes its Node."""
        key = Key("Node", "", node_name)
        if self.store.get(key) is None:
            return
        self._kubelets.take_host(node_name)
        self.history.host_taken(list(self.store.pods_on(node_name)))
        if self._options.node_removed_after is not None:
            self.store.timeline.after(self._options.node_removed_after, lambda: self.store.remove(key))
