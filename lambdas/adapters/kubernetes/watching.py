"""Everything that is kept current, and the observation made of it.

Law: observing costs no request, and a node is in the observation from its first full list on.
"""

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lambdas.adapters.kubernetes.calls import Server
from lambdas.adapters.kubernetes.kinds import BUDGETS, MARKED_NODES, NODES, SERVICES, pods_on, the_node
from lambdas.adapters.kubernetes.listing import Unlisted
from lambdas.adapters.kubernetes.namespaces import NamespaceWatch, Submit
from lambdas.adapters.kubernetes.reflector import Reflector
from lambdas.adapters.kubernetes.rounds import Rounds
from lambdas.adapters.kubernetes.store import Store
from lambdas.application.ports import Clock
from lambdas.domain.values.kubernetes import Budget, Node, Pod, PodRef, Service
from lambdas.domain.values.observation import Freshness, Listing, NodeView, Observation

_NAMESPACES_WATCHED = 40
"""Three watches each, of the 1,024 threads and open files that Lambda gives; what is beyond is listed in turn."""

_WORST_FIRST = (Freshness.UNREADABLE, Freshness.PENDING, Freshness.STALE, Freshness.CURRENT)


@dataclass(frozen=True, slots=True)
class _Watched:
    name: str
    node: Reflector[Node]
    pods: Reflector[Pod]

    def view(self) -> NodeView | None:
        nodes, pods = self.node.store.listing(), self.pods.store.listing()
        listed_at = self.pods.store.listed_at
        if listed_at is None or self.node.store.listed_at is None:
            return None
        freshness = min(nodes.freshness, pods.freshness, key=_WORST_FIRST.index)
        return NodeView(self._node(nodes), pods.items, listed_at, freshness, pods.why or nodes.why)

    def _node(self, nodes: Listing[Node]) -> Node | None:
        """None means that it is gone; one that cannot be read is there."""
        if nodes.items:
            return nodes.items[0]
        return None if self.node.store.is_empty else Node(self.name)


class Watching:
    """The watched nodes, budgets, services and workloads; safe for any thread."""

    def __init__(self, server: Server, clock: Clock, changed: Callable[[], None]) -> None:
        self._server = server
        self._clock = clock
        self._changed = changed
        self._lock = threading.Lock()
        self._nodes: dict[str, _Watched] = {}
        self._located: dict[str, Node] = {}
        self._is_closed = False
        self._budgets: Store[Budget] = Store(changed)
        self._services: Store[Service] = Store(changed)
        self._marked: Store[Node] = Store(changed)
        self._namespaces: dict[str, NamespaceWatch] = {}
        self._wide: tuple[Reflector[Any], ...] = (
            Reflector("budgets", BUDGETS, self._budgets, server, clock),
            Reflector("services", SERVICES, self._services, server, clock),
            Reflector("marked-nodes", MARKED_NODES, self._marked, server, clock),
        )
        self._rounds = Rounds()
        self._is_wide = False

    def start(self) -> None:
        """Begin with what is watched over the whole cluster, if that has not begun."""
        with self._lock:
            begins, self._is_wide = not self._is_wide and not self._is_closed, True
        if begins:
            for reflector in self._wide:
                reflector.start()

    def observe_node(self, name: str) -> Unlisted | None:
        """List the node and its pods now, and watch them from then on; what went wrong, if anything did.

        Watched also where the list failed: it is tried again there. Raises BadName.
        """
        self.start()
        watched, is_new = self._watched(name)
        self._close_if_over((watched.node, watched.pods))
        troubles = [watched.node.refresh(), watched.pods.refresh()]
        if is_new:
            watched.node.start()
            watched.pods.start()
        return next((trouble for trouble in reversed(troubles) if trouble), None)

    def observe_workloads(self, namespace: str, submit: Submit) -> Unlisted | None:
        """List the namespace's workloads now, by jobs handed to `submit`, and watch those that move.

        What went wrong, if anything did. Raises BadName.
        """
        with self._lock:
            rounds = self._rounds if len(self._namespaces) >= _NAMESPACES_WATCHED else None
            made = NamespaceWatch(namespace, self._server, self._clock, self._changed, rounds)
            watched = self._namespaces.setdefault(namespace, made)
        self._close_if_over(watched.reflectors)
        return watched.look(submit)

    def observation(self) -> Observation:
        """The newest state."""
        with self._lock:
            nodes, namespaces = dict(self._nodes), dict(self._namespaces)
        return Observation(
            nodes={name: view for name, watched in nodes.items() if (view := watched.view())},
            budgets=self._budgets.listing(),
            services=self._services.listing(),
            marked=self._marked.listing(),
            namespaces={name: watched.view() for name, watched in namespaces.items()},
        )

    def known(self, node_name: str) -> Node | None:
        """The node as last read by anybody here."""
        with self._lock:
            watched, located = self._nodes.get(node_name), self._located.get(node_name)
        nodes = watched.node.store.listing().items if watched else ()
        return nodes[0] if nodes else located

    def remember(self, item: Mapping[str, Any]) -> Node | None:
        """A node as the API server just gave it. None where it cannot be read."""
        seen = NODES.seen(item)
        if seen.value is None:
            return None
        with self._lock:
            self._located[seen.value.name] = seen.value
            watched = self._nodes.get(seen.value.name)
        if watched:
            watched.node.store.put(seen)
        return seen.value

    def pod(self, ref: PodRef) -> Pod | None:
        """The pod, if it is on a watched node, or of a Deployment in a watched namespace."""
        with self._lock:
            nodes, namespace = list(self._nodes.values()), self._namespaces.get(ref.namespace)
        on_node = next((pod for watched in nodes if (pod := watched.pods.store.find(ref.uid))), None)
        return on_node or (namespace.pod(ref) if namespace else None)

    def close(self) -> None:
        """End every watch soon."""
        with self._lock:
            self._is_closed = True
        self._rounds.close()
        for reflector in self._reflectors():
            reflector.close()

    def _close_if_over(self, reflectors: Sequence[Reflector[Any]]) -> None:
        """What was asked for just before the end was not there to be closed with the others."""
        if self._is_closed:
            for reflector in reflectors:
                reflector.close()

    @property
    def threads(self) -> Sequence[threading.Thread]:
        """Those that watch."""
        threads = [*(reflector.thread for reflector in self._reflectors()), self._rounds.thread]
        return [thread for thread in threads if thread is not None and thread.is_alive()]

    def _reflectors(self) -> list[Reflector[Any]]:
        with self._lock:
            watched, namespaces = list(self._nodes.values()), list(self._namespaces.values())
        of_nodes = [reflector for w in watched for reflector in (w.node, w.pods)]
        return [*self._wide, *of_nodes, *(r for namespace in namespaces for r in namespace.reflectors)]

    def _watched(self, name: str) -> tuple[_Watched, bool]:
        node, pods = the_node(name), pods_on(name)
        with self._lock:
            known = self._nodes.get(name)
            if known:
                return known, False
            made = _Watched(
                name,
                Reflector(f"node-{name}", node, Store(self._changed), self._server, self._clock),
                Reflector(f"pods-{name}", pods, Store(self._changed), self._server, self._clock),
            )
            self._nodes[name] = made
            return made, True
