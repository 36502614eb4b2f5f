"""How much room each node has, kept as pods come and go.

Law: a pod holds its room from its binding until it is finished or its object is gone, terminating or not.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping

from evac.simulator.objects import Raw, controller_of, status_of, uid_of
from evac.simulator.pods import is_finished, node_of
from evac.simulator.quantities import amounts
from evac.simulator.scheduling.requests import requests_of
from evac.simulator.store import Change

_PODS_WHERE_UNSAID = 110_000


class _Everything(dict[str, int]):
    """Room without end."""

    def get(self, name: str, default: object = None) -> int:
        """Enough of anything, save of `pods`."""
        return _PODS_WHERE_UNSAID if name == "pods" else 10**18


_EVERYTHING = _Everything()


class Room:
    """Used resources by node."""

    def __init__(self) -> None:
        self._used: dict[str, Counter[str]] = defaultdict(Counter)
        self._held: dict[str, tuple[str, str, Mapping[str, int]]] = {}
        """By pod uid: its node, its controller's uid, and what it holds."""
        self._alike: Counter[tuple[str, str]] = Counter()

    def on_change(self, change: Change) -> None:
        """Follow a pod's binding and its end."""
        if change.key.kind != "Pod":
            return
        new = change.new
        if new is not None and node_of(new) and not is_finished(new):
            self._hold(new)
        elif new is not None or change.old is not None:
            self._release(uid_of(new or change.old or {}))

    def _hold(self, pod: Raw) -> None:
        uid = uid_of(pod)
        if uid not in self._held:
            node, owner, requests = node_of(pod), (controller_of(pod) or {}).get("uid") or "", requests_of(pod)
            self._held[uid] = node, owner, requests
            self._used[node].update(requests)
            self._alike[node, owner] += 1

    def _release(self, uid: str) -> None:
        node, owner, requests = self._held.pop(uid, ("", "", {}))
        if node:
            self._used[node].subtract(requests)
            self._alike[node, owner] -= 1

    def used(self, node_name: str) -> Counter[str]:
        """What the node's pods hold."""
        return self._used[node_name]

    def alike(self, node_name: str, pod: Raw) -> int:
        """How many pods of the same controller the node has."""
        owner = (controller_of(pod) or {}).get("uid")
        return self._alike[node_name, owner] if owner else 0

    def fits(self, node: Raw, requests: Mapping[str, int]) -> bool:
        """Whether the node's allocatable has room; a resource that it does not name it does not have."""
        free = allocatable(node)
        used = self._used[node["metadata"]["name"]]
        return all(used[name] + amount <= free.get(name, 0) for name, amount in requests.items())


def allocatable(node: Raw) -> Mapping[str, int]:
    """What the node offers; where it says nothing at all (a sketched node), everything is to be had, 110 pods of it."""
    status = status_of(node)
    offered = amounts(status.get("allocatable") or status.get("capacity"))
    if not offered:
        return _EVERYTHING
    return {"pods": _PODS_WHERE_UNSAID, **offered}
