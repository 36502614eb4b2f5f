"""Which nodes and namespaces one client observes, and what it has seen of them, of budgets and of services."""

from collections.abc import Callable
from dataclasses import dataclass

from evac.simulator.faults import Faults
from evac.simulator.namespaces import NamespaceWatch
from evac.simulator.objects import Key, Raw, labels_of
from evac.simulator.options import SimulatorOptions
from evac.simulator.pods import node_of
from evac.simulator.quotas import Quotas
from evac.simulator.requests import Requests
from evac.simulator.store import Store
from evac.simulator.watches import Watch, Watches
from lambdas.contract import LABEL_DRAINING
from lambdas.domain.values.answers import Done, Result
from lambdas.domain.values.kubernetes import Node, Pod
from lambdas.domain.values.manifests import read_budget, read_node, read_pod, read_service
from lambdas.domain.values.observation import Freshness, NodeView, Observation

Tell = Callable[[], None]
_WORST_FIRST = (Freshness.UNREADABLE, Freshness.PENDING, Freshness.STALE, Freshness.CURRENT)


@dataclass(slots=True)
class _NodeWatch:
    """A node and its pods; its view is made afresh only where something changed."""

    node: Watch[Node]
    pods: Watch[Pod]
    view: NodeView | None = None


class Observing:
    """The answers to `Observe` and `ObserveWorkloads`, and `observe()`."""

    def __init__(self, store: Store, faults: Faults, requests: Requests, options: SimulatorOptions, tell: Tell) -> None:
        self._tell = tell
        self._nodes: dict[str, _NodeWatch] = {}
        self._namespaces: dict[str, NamespaceWatch] = {}
        self._quotas = Quotas(store)
        self._watches = Watches(store, faults, requests, options)
        self._budgets = Watch("PodDisruptionBudget", "poddisruptionbudgets", _any, read_budget, self._changed)
        self._services = Watch("Service", "services", _any, read_service, self._changed)
        self._marked = Watch("Node", "nodes", _is_marked, read_node, self._changed)
        self._observation: Observation | None = None

    def close(self) -> None:
        """Hear nothing any more."""
        self._watches.close()

    def _changed(self) -> None:
        self._observation = None
        self._tell()

    def observe(self, node_name: str, done: Callable[[Result], None]) -> None:
        """List the node and its pods, side by side; with the first node, what is watched over the whole cluster."""
        if not self._nodes:
            self._watches.list(self._budgets)
            self._watches.list(self._services)
            self._watches.list(self._marked)
        watched = self._nodes.get(node_name)
        if watched is None:
            watched = self._nodes[node_name] = self._new(node_name)
        results: list[Result] = []

        def both(result: Result) -> None:
            results.append(result)
            if len(results) == 2:
                done(next((r for r in results if not isinstance(r, Done)), Done()))

        self._watches.list(watched.node, both)
        self._watches.list(watched.pods, both)

    def observe_workloads(self, namespace: str, done: Callable[[Result], None]) -> None:
        """List what decides about releases in the namespace, and keep some of it current."""
        if namespace not in self._namespaces:
            self._namespaces[namespace] = NamespaceWatch(namespace, self._quotas, self._changed)
            self._changed()
        self._namespaces[namespace].list(self._watches, done)

    def _new(self, node_name: str) -> _NodeWatch:
        def changed() -> None:
            watched.view = None
            self._changed()

        watched = _NodeWatch(
            Watch("Node", "nodes", lambda raw: bool(raw["metadata"]["name"] == node_name), read_node, changed),
            Watch("Pod", "pods", lambda raw: node_of(raw) == node_name, read_pod, changed),
        )
        return watched

    def observation(self) -> Observation:
        """Everything that was told so far."""
        if self._observation is None:
            views = {name: _view(name, watched) for name, watched in self._nodes.items()}
            self._observation = Observation(
                nodes={name: view for name, view in views.items() if view is not None},
                budgets=self._budgets.listing(),
                services=self._services.listing(),
                marked=self._marked.listing(),
                namespaces={name: watched.view() for name, watched in self._namespaces.items()},
            )
        return self._observation


def _view(name: str, watched: _NodeWatch) -> NodeView | None:
    if watched.node.listed_at is None or watched.pods.listed_at is None:
        return None
    if watched.view is None:
        watched.view = NodeView(
            node=watched.node.items.get(Key("Node", "", name)),
            pods=tuple(watched.pods.items.values()),
            listed_at=watched.pods.listed_at,
            freshness=min(watched.node.freshness, watched.pods.freshness, key=_WORST_FIRST.index),
            why=watched.pods.why or watched.node.why,
        )
    return watched.view


def _any(_: Raw) -> bool:
    return True


def _is_marked(node: Raw) -> bool:
    return LABEL_DRAINING in labels_of(node)
