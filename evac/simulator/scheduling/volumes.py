"""Where a pod's volumes let it go.

Law: a PersistentVolume's node affinity decides where it is known. Where it is not (`kubectl get pvc` prints none), a
claim that one node at a time may use lives in the zone where it was first seen in use, as EBS volumes do.
"""

from collections.abc import Callable, Iterator

from evac.simulator.objects import Key, Raw, annotations_of, key_of, labels_of, spec_of
from evac.simulator.pods import is_finished, node_of
from evac.simulator.scheduling.nodes import term_holds
from evac.simulator.store import Change, Store

ZONE = "topology.kubernetes.io/zone"
_SELECTED_NODE = "volume.kubernetes.io/selected-node"
_ONE_NODE = {"ReadWriteOnce", "ReadWriteOncePod"}


def claims_of(pod: Raw) -> list[Key]:
    """The claims that a pod mounts, generic ephemeral volumes included."""
    name, namespace = pod["metadata"]["name"], key_of(pod).namespace
    claims = []
    for volume in spec_of(pod).get("volumes") or ():
        if volume.get("persistentVolumeClaim"):
            claims.append(volume["persistentVolumeClaim"]["claimName"])
        elif volume.get("ephemeral"):
            claims.append(f"{name}-{volume['name']}")
    return [Key("PersistentVolumeClaim", namespace, claim) for claim in claims]


def is_for_one_node(claim: Raw) -> bool:
    """Whether only one node at a time may mount it."""
    modes = set(spec_of(claim).get("accessModes") or ())
    return bool(modes) and modes <= _ONE_NODE


def holders_of(store: Store, claim: Key) -> Iterator[Raw]:
    """The bound pods that mount a claim."""
    for pod in store.pods_in(claim.namespace):
        if node_of(pod) and not is_finished(pod) and claim in claims_of(pod):
            yield pod


def is_held_elsewhere(store: Store, pod: Raw) -> bool:
    """Whether another node still has a volume attached that only one node at a time may mount."""
    return any(
        node_of(other) != node_of(pod)
        for key in claims_of(pod)
        if (claim := store.get(key)) is not None and is_for_one_node(claim)
        for other in holders_of(store, key)
    )


class Volumes:
    """The zones that claims were seen in."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._zones: dict[Key, str] = {}

    def on_change(self, change: Change) -> None:
        """Remember where a bound pod's claims are."""
        pod = change.new
        if change.key.kind == "Pod" and pod is not None and node_of(pod):
            for claim in claims_of(pod):
                self._zones.setdefault(claim, self._zone_of(node_of(pod)))

    def _zone_of(self, node_name: str) -> str:
        node = self._store.get(Key("Node", "", node_name))
        return labels_of(node).get(ZONE, "") if node else ""

    def filter_for(self, pod: Raw) -> Callable[[Raw], bool]:
        """Whether the pod's volumes can be had on a node; claims that are not known ask nothing."""
        claims = [claim for key in claims_of(pod) if (claim := self._store.get(key)) is not None]
        limits = [self._limit(claim) for claim in claims]
        return lambda node: all(limit(node) for limit in limits)

    def _limit(self, claim: Raw) -> Callable[[Raw], bool]:
        volume = self._store.get(Key("PersistentVolume", "", spec_of(claim).get("volumeName") or ""))
        if volume is not None:
            terms = ((spec_of(volume).get("nodeAffinity") or {}).get("required") or {}).get("nodeSelectorTerms")
            return lambda node: terms is None or any(term_holds(term, node) for term in terms)
        if "ReadWriteOncePod" in (spec_of(claim).get("accessModes") or ()):
            key = key_of(claim)
            if any(True for _ in holders_of(self._store, key)):
                return lambda _: False
        zone = self._known_zone(claim) if is_for_one_node(claim) else ""
        return lambda node: not zone or labels_of(node).get(ZONE) == zone

    def _known_zone(self, claim: Raw) -> str:
        return self._zones.get(key_of(claim)) or self._zone_of(annotations_of(claim).get(_SELECTED_NODE, ""))
