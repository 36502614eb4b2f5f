"""All filters beside room that a node has to pass for one pod, cheapest first."""

from collections.abc import Callable

from evac.simulator.objects import Raw, spec_of
from evac.simulator.pods import is_finished
from evac.simulator.scheduling.affinity import PodAffinity
from evac.simulator.scheduling.nodes import admits
from evac.simulator.scheduling.spread import spread_filter
from evac.simulator.scheduling.volumes import Volumes
from evac.simulator.store import Change, Store


class Filters:
    """What of a cluster keeps a pod away from a node."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._affinity = PodAffinity(store)
        self._volumes = Volumes(store)

    def on_change(self, change: Change) -> None:
        """Let the filters that remember follow."""
        self._affinity.on_change(change)
        self._volumes.on_change(change)

    def of(self, pod: Raw) -> Callable[[Raw], bool]:
        """Whether a node may take the pod, as the cluster is now."""
        ports = host_ports(pod)
        rest = (self._volumes.filter_for(pod), self._affinity.filter_for(pod), spread_filter(self._store, pod))
        return lambda node: (
            admits(node, pod) and not (ports and self._taken(node) & ports) and all(passes(node) for passes in rest)
        )

    def _taken(self, node: Raw) -> set[tuple[int, str]]:
        """Ports of the node in use. One address is taken for all: who binds a port on one address is rare."""
        pods = self._store.pods_on(node["metadata"]["name"])
        return {port for pod in pods if not is_finished(pod) for port in host_ports(pod)}


def host_ports(pod: Raw) -> set[tuple[int, str]]:
    """The ports of its node that a pod takes, with their protocol."""
    return {
        (int(port["hostPort"]), port.get("protocol") or "TCP")
        for container in spec_of(pod).get("containers") or ()
        for port in container.get("ports") or ()
        if port.get("hostPort")
    }
